// SPDX-License-Identifier: Apache-2.0
#include "bigbird/corpus/merge/merge_tokens.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/formats/json_file.hpp"
#include "bigbird/core/interrupt.hpp"
#include "bigbird/corpus/tokens/shard_writer.hpp"
#include "bigbird/genome/text/text_input.hpp"
#include "bigbird/genome/text/text_output.hpp"

#include <algorithm>
#include <array>
#include <deque>
#include <string>
#include <string_view>
#include <utility>

namespace bigbird::corpus {

namespace fs = std::filesystem;

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
    // The number of the line's document, the fourth column; empty where there is none.
    static std::string_view number_of(std::string_view line) {
        std::size_t position = 0;
        for (int column = 0; column < 3 && position < line.size(); ++column)
            position = std::min(line.find('\t', position), line.size() - 1) + 1;
        return line.substr(position, line.find('\t', position) - position);
    }
    std::string renumbered(std::int64_t number) const {
        const std::string_view mine = number_of(line_);
        const auto position = static_cast<std::size_t>(mine.data() - line_.data());
        return line_.substr(0, position) + std::to_string(number) + line_.substr(position + mine.size());
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

/// The manifest's entries that all parts share.
Json run_of(const Json& manifest, std::int64_t shard_tokens) {
    Json run;
    run["format_version"] = shard_format::version;  // a part without repeats has no marks
    for (const char* key : {"made_by", "vocabulary_sha256", "inputs"})
        run[key] = manifest.at(key);
    run["shard_tokens"] = shard_tokens;
    return run;
}

/// The documents of a part, one after another.
class PartDocuments {
public:
    explicit PartDocuments(const Part& part) : shards_(part.path) { shards_.require_rising_ends(); }

    const TokenShards& shards() const { return shards_; }
    /// Passes the next document to `writer`. All bases of the part are counted for its first sentence,
    /// because no file has them per sentence.
    void take(TokenShardWriter& writer) {
        const auto documents = shards_.document_ends();
        if (document_ >= documents.size()) throw miscounted(shards_.directory(), "documents");
        const auto sentences = shards_.sentence_ends();
        for (const std::int64_t end = documents[document_++]; sentence_ < end; ++sentence_) {
            const IndexRange tokens{token_, sentences[static_cast<std::size_t>(sentence_)]};
            ids_.clear();
            shards_.append_marked(tokens, ids_);
            writer.add_sentence(ids_, sentence_ == 0 ? shards_.counts().bases : 0);
            token_ = tokens.end;
        }
        writer.end_document();
    }
    /// Throws if documents are left.
    void require_end() const {
        if (document_ < shards_.document_ends().size()) throw miscounted(shards_.directory(), "documents");
    }

private:
    TokenShards shards_;
    std::size_t document_ = 0;
    std::int64_t sentence_ = 0, token_ = 0;
    std::vector<std::int32_t> ids_;
};

/// Calls take() for each document of the job, in order. Throws if a part has others than its record counts.
template <typename Documents, typename Take>
void take_all(std::span<const Part> parts, Documents& documents, const Take& take) {
    for (const Piece& piece : order_of(parts)) {
        stop_if_asked();
        for (std::int64_t i = 0; i < piece.records; ++i)
            take(documents[piece.part]);
    }
    for (const auto& part : documents)
        part.require_end();
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
    std::deque<DocumentLines> documents;  // cannot be moved
    for (const Part& part : parts)
        documents.emplace_back(part.path, coordinates);
    genome::TextOutput out(output, overwrite, threads);
    out.write(documents.front().head());
    std::int64_t number = 0;
    std::string text;
    take_all(parts, documents, [&](DocumentLines& part) {
        text = number > 0 && !coordinates ? "\n" : "";
        part.take(number++, text);
        out.write(text);
    });
    std::vector<PendingOutput*> outputs(also.begin(), also.end());
    if (PendingOutput* const file = out.finish()) outputs.push_back(file);
    commit_together(outputs);
}

std::unique_ptr<PendingOutput> pending_tokens_record(PendingOutput& directory, const Shard& shard,
                                                     std::int64_t shard_tokens,
                                                     std::vector<PartSegment> segments) {
    return pending_part_record({.kind = "tokens",
                                .shard = shard,
                                .run = run_of(TokenShards(directory.path()).manifest(), shard_tokens),
                                .segments = std::move(segments)},
                               directory);
}

std::vector<Part> open_token_parts(std::span<const fs::path> paths, int threads) {
    std::vector<Part> parts = open_parts(paths, threads);
    for (const Part& part : parts)
        TokenShards(part.path).verify(threads);
    return parts;
}

void merge_tokens(std::span<const Part> parts, const fs::path& output, Overwrite overwrite, int threads) {
    std::vector<PartDocuments> documents;
    for (const Part& part : parts)
        documents.emplace_back(part);
    const Json& run = parts.front().record.run;
    const Json shard_tokens = run.value("shard_tokens", Json());
    if (!shard_tokens.is_number_integer() || !run.contains("inputs")) {
        throw InputError("is damaged: it does not say how the part was made",
                         part_record_path(parts.front().path));
    }
    TokenShardWriter writer(output, documents.front().shards().tokenizer(), overwrite,
                            shard_tokens.get<std::int64_t>());
    take_all(parts, documents, [&](PartDocuments& part) { part.take(writer); });
    writer.commit(run.at("inputs"), threads);
}

}  // namespace bigbird::corpus
