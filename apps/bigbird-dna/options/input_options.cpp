// SPDX-License-Identifier: Apache-2.0
#include "options/input_options.hpp"

#include "options/option_groups.hpp"

#include "bigbird/tokenizer/encode/kmer_encoder.hpp"

namespace bigbird::cli {

void add_input_options(CLI::App& command, tokenizer::InputSpec& input) {
    add_tokenizer_option(command, input.tokenizer, false);
    add_choice_option(command, "--input", input.input, tokenizer::inputs,
                      "What the network reads: tokens of --tokenizer, single bases, or k-mers that do not "
                      "overlap; bases and k-mers need no tokenizer");
    add_value(command, "--kmer-length", "K", input.kmer_length,
              "For --input kmers: bases per k-mer, 1 to " + std::to_string(tokenizer::KmerEncoder::longest) +
                  ". Bases left over at the end of a run of A C G T, and each N, become single-letter tokens")
        ->default_str(std::to_string(tokenizer::InputSpec::default_kmer_length));
}

}  // namespace bigbird::cli
