// SPDX-License-Identifier: Apache-2.0
#include "options/input_options.hpp"

#include "options/option_groups.hpp"

#include "bigbird/core/parse_number.hpp"

namespace bigbird::cli {

namespace {

/// Parses a file, "bases" or "kmers:3".
void set_tokenizer(tokenizer::InputSpec& input, const std::string& text) {
    constexpr std::string_view kmers = "kmers:";
    if (text == "bases") {
        input.input = tokenizer::Input::bases;
    } else if (text.starts_with(kmers)) {
        input.input = tokenizer::Input::kmers;
        input.kmer_length = parse_number<int>(text.substr(kmers.size())).value_or(0);
    } else {
        input.tokenizer = text;
    }
}

}  // namespace

void add_input_options(CLI::App& command, tokenizer::InputSpec& input, const std::string& what) {
    command
        .add_option_function<std::string>(
            "--tokenizer", [&input](const std::string& text) { set_tokenizer(input, text); },
            what +
                "; or bases; or K-mers that do not overlap, K up to 12, where N and the bases left over "
                "at the end of a run of A C G T become single-letter tokens")
        ->type_name("MODEL|bases|kmers:K");
    add_choice_option(command, "--input", input.input, tokenizer::inputs, "");
    add_value(command, "--kmer-length", "K", input.kmer_length, "");
}

}  // namespace bigbird::cli
