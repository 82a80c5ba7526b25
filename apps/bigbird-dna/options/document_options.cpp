// SPDX-License-Identifier: Apache-2.0
#include "options/document_options.hpp"

#include "options/option_groups.hpp"

#include <system_error>
#include <utility>

namespace bigbird::cli {

namespace {

void add_range_option(CLI::App& command, const std::string& name, corpus::Range& range,
                      const std::string& what) {
    const auto set = [name, &range](const std::string& text) {
        if (!parse_range(text, range.low, range.high))
            throw CLI::ValidationError(name, "'" + text + "' is not LOW:HIGH, two whole numbers");
    };
    command.add_option_function<std::string>(name, set, what)
        ->default_str(std::to_string(range.low) + ":" + std::to_string(range.high))
        ->type_name("LOW:HIGH")
        ->group("Documents");
}

}  // namespace

void take_shards(std::filesystem::path& documents, std::filesystem::path& corpus) {
    std::error_code absent;
    if (std::filesystem::is_directory(documents, absent)) corpus = std::exchange(documents, {});
}

void add_document_options(CLI::App& command, corpus::DrawingSpec& drawing) {
    const HelpGroup in_group(command, "Documents");
    corpus::DocumentSpec& documents = drawing.build.documents;
    add_value(command, "--passes", "N", documents.passes,
              "Number of times that each contig is cut into sentences, each time from a new start");
    add_range_option(command, "--sentences", documents.sentences,
                     "Sentences per document, a range with both ends included");
    add_range_option(command, "--sentence-length", documents.sentence_length,
                     "Bases per sentence, a range with both ends included");
    add_range_option(command, "--start-offset", documents.start_offset,
                     "Offset at which a pass starts on a contig, a range with both ends included");
    add_value(command, "--include", "REGION", drawing.include,
              "Keep only sentences completely inside these: contigs, regions (22:21000001-22000000) or "
              "BED files");
    add_value(command, "--exclude", "REGION", drawing.exclude,
              "Drop sentences that overlap these: contigs, regions or BED files (gaps, held-out sequence)");
    const auto set_strands = [&drawing](const std::string& text) {
        drawing.build.add_reverse_complement = text == "add";
    };
    command
        .add_option_function<std::string>("--reverse-complement", set_strands,
                                          "add: repeat each document from the other strand")
        ->check(CLI::IsMember({"none", "add"}))
        ->default_str("none")
        ->type_name("none|add");
    add_value(command, "--max-n-fraction", "SHARE", drawing.build.max_n_fraction,
              "Drop sentences with a larger share of N and split there; 1 keeps all, as in the paper");
}

}  // namespace bigbird::cli
