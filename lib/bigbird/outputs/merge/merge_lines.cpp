// SPDX-License-Identifier: Apache-2.0
#include "bigbird/core/error.hpp"
#include "bigbird/core/interrupt.hpp"
#include "bigbird/genome/text/text_input.hpp"
#include "bigbird/outputs/merge/mergers.hpp"

#include <memory>
#include <string>

namespace bigbird::outputs {
namespace fs = std::filesystem;

namespace {

/// The lines up to the one that names the columns, but for the one that says which part this is.
std::string read_head(genome::TextInput& input, bool csv) {
    std::string head, line;
    if (csv && input.next(line)) return line + '\n';
    while (input.next(line) && line.starts_with('#')) {
        if (!line.starts_with("##shard=")) head += line + '\n';
        if (!line.starts_with("##")) return head;
    }
    throw InputError("holds no line that names its columns", input.path());
}

}  // namespace

std::unique_ptr<genome::TextOutput> merge_lines(const Merge& merge, std::span<const fs::path> inputs,
                                                const fs::path& output) {
    const bool csv = kind_of(output) == Kind::csv;
    std::vector<std::unique_ptr<genome::TextInput>> parts;
    std::string head;
    for (const fs::path& input : inputs) {
        parts.push_back(std::make_unique<genome::TextInput>(input));
        const std::string own = read_head(*parts.back(), csv);
        if (parts.size() == 1) head = own;
        if (own != head) throw InputError("has another head than " + inputs.front().string(), input);
    }
    auto out = std::make_unique<genome::TextOutput>(output, merge.overwrite, merge.threads);
    out->write(head);
    if (csv) rows::csv_of(rows::provenance_lines(merge.run.layout.provenance), output);  // for the log
    std::string line;
    for (const Piece& piece : merge.order) {
        stop_if_asked();
        genome::TextInput& part = *parts[piece.part];
        for (std::int64_t i = 0; i < piece.records; ++i) {
            if (!part.next(line)) throw miscounted(part.path(), "lines");
            out->write(line += '\n');
        }
    }
    for (const auto& part : parts)
        if (part->next(line)) throw miscounted(part->path(), "lines");
    return out;
}

}  // namespace bigbird::outputs
