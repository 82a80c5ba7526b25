// SPDX-License-Identifier: Apache-2.0
#include "commands/commands.hpp"
#include "options/option_groups.hpp"
#include "support/help_notes.hpp"

#include "bigbird/core/log.hpp"
#include "bigbird/core/parallel.hpp"
#include "bigbird/corpus/documents/sequence_lines.hpp"

#include <filesystem>

namespace bigbird::cli {

struct EncodeOptions {
    std::filesystem::path tokenizer, input = "-";
    OutputOptions output;
    bool offsets = false;
    int threads = 0;
};

namespace {

constexpr Examples examples{{{"Token ids of each line",
                              "bigbird-dna encode --tokenizer tokenizer/tokenizer.model --input "
                              "../test_data/tokenizer/sentences.txt --output ids.txt"},
                             {"The bases of each token",
                              "bigbird-dna encode --tokenizer tokenizer/tokenizer.model --input "
                              "../test_data/tokenizer/sentences.txt --offsets"}}};

int run_encode(const EncodeOptions& options) {
    const auto tokenizer = tokenizer::DnaTokenizer::load(options.tokenizer);
    genome::TextInput input(options.input);
    genome::TextOutput output(options.output.output, options.output.overwrite());
    const auto encode = options.offsets ? corpus::encode_offsets : corpus::encode_lines;
    const auto counts = encode(input, tokenizer, resolve_threads(options.threads), output);
    output.commit();
    log_debug("{} lines, {} bases, {} tokens", counts.lines, counts.bases, counts.tokens);
    return 0;
}

}  // namespace

void setup_encode(Program& program) {
    auto options = std::make_shared<EncodeOptions>();
    CLI::App& command =
        program.add("encode", "Corpus and tokenizer",
                    "Encode sequences, one per line, as token ids separated by blanks", options, run_encode);
    add_tokenizer_option(command, options->tokenizer);
    add_value(command, "--input", "FILE|-", options->input,
              "Sequences, one per line, upper or lower case, plain or gzip");
    add_stream_output_options(command, options->output,
                              "Token ids, one line per input line, without [CLS] and [SEP]");
    command.add_flag("--offsets", options->offsets,
                     "Write a row per token: line, start, end (0-based, half-open), id, token");
    add_threads_option(command, options->threads);
    add_examples(command, examples);
}

}  // namespace bigbird::cli
