// SPDX-License-Identifier: Apache-2.0
#include "options/corpus_options.hpp"

#include "options/option_groups.hpp"

#include "bigbird/core/parse_number.hpp"

#include <string_view>
#include <system_error>
#include <utility>

namespace bigbird::cli {

namespace {

constexpr Choices<bool, 2> strand_additions{{{false, "none"}, {true, "add"}}};

void add_range_option(CLI::App& command, const std::string& name, corpus::Range& range,
                      const std::string& what) {
    const auto set = [name, &range](const std::string& text) {
        if (!parse_range(text, range.low, range.high))
            throw CLI::ValidationError(name, "'" + text + "' is not LOW:HIGH, two whole numbers");
    };
    add_parsed(command, name, "LOW:HIGH", set, what,
               std::to_string(range.low) + ":" + std::to_string(range.high));
}

/// Parses a file, "bases" or "kmers:3".
void set_tokenizer(tokenizer::InputSpec& input, const std::string& text) {
    constexpr std::string_view kmers = "kmers:";
    if (text == "bases")
        input.kmer_length = 1;
    else if (text.starts_with(kmers))
        input.kmer_length = parse_number<int>(text.substr(kmers.size())).value_or(0);
    else
        input.tokenizer = text;
}

}  // namespace

void take_shards(std::filesystem::path& documents, std::filesystem::path& corpus) {
    std::error_code absent;
    if (std::filesystem::is_directory(documents, absent)) corpus = std::exchange(documents, {});
}

void add_region_options(CLI::App& command, corpus::DrawingSpec& drawing) {
    const HelpGroup in_group(command, "Documents");
    add_value(
        command, "--include", "REGION", drawing.include,
        "Keep only sentences completely inside these contigs, regions (22:21000001-22000000) or BED files");
    add_value(
        command, "--exclude", "REGION", drawing.exclude,
        "Drop sentences that overlap these contigs, regions or BED files, such as gaps or held-out sequence");
}

void add_document_options(CLI::App& command, corpus::DrawingSpec& drawing) {
    const HelpGroup in_group(command, "Documents");
    corpus::DocumentSpec& documents = drawing.build.documents;
    add_value(command, "--passes", "N", documents.passes,
              "Number of times that each contig is cut into sentences, each time from a new start");
    add_range_option(command, "--sentences", documents.sentences,
                     "Range of the number of sentences per document, both ends included");
    add_range_option(command, "--sentence-length", documents.sentence_length,
                     "Range of the number of bases per sentence, both ends included");
    add_range_option(command, "--start-offset", documents.start_offset,
                     "Range of the random offset at which a pass starts on a contig, both ends included");
    add_region_options(command, drawing);
    add_choice_option(command, "--reverse-complement", drawing.build.add_reverse_complement, strand_additions,
                      "add: repeat each document from the other strand");
    add_value(command, "--max-n-fraction", "SHARE", drawing.build.max_n_fraction,
              "Drop sentences with a larger share of N, and begin a new document after them; 1 keeps all "
              "sentences, as in the paper");
}

void add_input_options(CLI::App& command, tokenizer::InputSpec& input, const std::string& what) {
    add_parsed(
        command, "--tokenizer", "MODEL|bases|kmers:K",
        [&input](const std::string& text) { set_tokenizer(input, text); },
        what +
            "; bases: single bases; kmers:K: K-mers that do not overlap, K up to 12 (N and bases left over "
            "at the end of a run of A C G T become single-letter tokens)");
}

}  // namespace bigbird::cli
