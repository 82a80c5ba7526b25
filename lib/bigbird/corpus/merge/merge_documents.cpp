// SPDX-License-Identifier: Apache-2.0
#include "bigbird/corpus/merge/merge_documents.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/formats/json_file.hpp"
#include "bigbird/core/interrupt.hpp"
#include "bigbird/genome/text/text_input.hpp"
#include "bigbird/genome/text/text_output.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bigbird::corpus {

namespace {

constexpr std::array<const char*, 4> counted{"documents", "sentences", "bases", "sentences_dropped"};

/// The documents of a file, unchanged.
class DocumentLines {
public:
    DocumentLines(const std::filesystem::path& path, bool coordinates)
        : input_(path), coordinates_(coordinates) {
        more_ = input_.next(line_);
        while (coordinates_ && more_ && line_.starts_with('#')) {
            head_ += line_ + '\n';
            more_ = input_.next(line_);
        }
    }
    /// The lines at the beginning that start with #.
    const std::string& head() const { return head_; }
    /// Adds the next document, of the given number, to `text`.
    void take(std::int64_t number, std::string& text) {
        if (!more_) throw miscounted(input_.path(), "documents");
        if (coordinates_) {
            const std::string mine(number_of(line_));
            for (; more_ && number_of(line_) == mine; more_ = input_.next(line_))
                text += renumbered(number) + '\n';
        } else {
            for (; more_ && !line_.empty(); more_ = input_.next(line_))
                text += line_ + '\n';
            if (more_) more_ = input_.next(line_);
        }
    }
    /// Throws if documents are left.
    void require_end() const {
        if (more_) throw miscounted(input_.path(), "documents");
    }

private:
    static constexpr int number_column = 3;

    static std::size_t position_of_number(std::string_view line) {
        std::size_t position = 0;
        for (int i = 0; i < number_column && position != std::string_view::npos; ++i) {
            position = line.find('\t', position);
            if (position != std::string_view::npos) ++position;
        }
        return std::min(position, line.size());
    }
    static std::string_view number_of(std::string_view line) {
        const std::size_t position = position_of_number(line);
        return line.substr(position, line.find('\t', position) - position);
    }
    std::string renumbered(std::int64_t number) const {
        const std::size_t position = position_of_number(line_);
        return line_.substr(0, position) + std::to_string(number) +
               line_.substr(position + number_of(line_).size());
    }

    genome::TextInput input_;
    bool coordinates_;
    std::string head_, line_;
    bool more_ = false;
};

void add(Json& sum, const Json& value) {
    if (value.is_object()) {
        for (const auto& [key, part] : value.items())
            add(sum[key], part);
        return;
    }
    std::int64_t total = sum.is_null() ? 0 : sum.get<std::int64_t>();
    const bool fits = is_whole_number<std::int64_t>(value) &&
                      !__builtin_add_overflow(total, value.get<std::int64_t>(), &total);
    if (!fits) throw Json::out_of_range::create(406, "no count", &value);
    sum = total;
}

}  // namespace

PartRecord documents_record(const Json& manifest, const Shard& shard, std::vector<PartSegment> segments) {
    PartRecord record{.kind = "documents",
                      .shard = shard,
                      .run = manifest,
                      .counts = Json::object(),
                      .segments = std::move(segments)};
    for (const char* key : counted) {
        record.counts[key] = manifest.at(key);
        record.run.erase(key);
    }
    return record;
}

Json merged_manifest(std::span<const Part> parts) {
    Json manifest = parts.front().record.run, sums = Json::object();
    for (const Part& part : parts) {
        try {
            add(sums, part.record.counts);
        } catch (const Json::exception&) {
            throw InputError("is damaged: its counts are no numbers", part_record_path(part.path));
        }
    }
    manifest.update(sums);
    return manifest;
}

void merge_documents(std::span<const Part> parts, const std::filesystem::path& output, Overwrite overwrite,
                     int threads, std::span<PendingOutput* const> also) {
    const bool coordinates = parts.front().record.run.value("form", Json()) == "bed";
    std::vector<std::unique_ptr<DocumentLines>> lines;
    for (const Part& part : parts)
        lines.push_back(std::make_unique<DocumentLines>(part.path, coordinates));
    genome::TextOutput out(output, overwrite, threads);
    out.write(lines.front()->head());
    std::int64_t number = 0;
    std::string text;
    for (const Piece& piece : order_of(parts)) {
        stop_if_asked();
        for (std::int64_t i = 0; i < piece.records; ++i) {
            text = number > 0 && !coordinates ? "\n" : "";
            lines[piece.part]->take(number++, text);
            out.write(text);
        }
    }
    for (const auto& part : lines)
        part->require_end();
    std::vector<PendingOutput*> outputs(also.begin(), also.end());
    if (PendingOutput* const file = out.finish()) outputs.push_back(file);
    commit_together(outputs);
}

}  // namespace bigbird::corpus
