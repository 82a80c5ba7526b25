// SPDX-License-Identifier: Apache-2.0
#include "commands/commands.hpp"
#include "options/option_groups.hpp"
#include "support/help_notes.hpp"

#include "bigbird/core/log.hpp"
#include "bigbird/core/parallel.hpp"
#include "bigbird/corpus/documents/sequence_lines.hpp"

#include <filesystem>

namespace bigbird::cli {

struct DecodeOptions {
    std::filesystem::path tokenizer, input = "-";
    OutputOptions output;
    int threads = 0;
};

namespace {

constexpr Examples examples{
    {{"The sequences of the ids that encode wrote",
      "bigbird-dna decode --tokenizer tokenizer/tokenizer.model --input ids.txt"},
     {"The same with the tokenizer of a model, into a file",
      "bigbird-dna decode --tokenizer pretrained/model --input ids.txt --output sequences.txt"}}};

int run_decode(const DecodeOptions& options) {
    const auto tokenizer = tokenizer::DnaTokenizer::load(options.tokenizer);
    genome::TextInput input(options.input);
    genome::TextOutput output(options.output.output, options.output.overwrite());
    const auto counts = corpus::decode_lines(input, tokenizer, resolve_threads(options.threads), output);
    output.commit();
    log_debug("{} lines, {} bases, {} tokens", counts.lines, counts.bases, counts.tokens);
    return 0;
}

}  // namespace

void setup_decode(Program& program) {
    auto options = std::make_shared<DecodeOptions>();
    CLI::App& command =
        program.add("decode", "Corpus and tokenizer",
                    "Decode token ids, one sequence per line, into sequences", options, run_decode);
    add_tokenizer_option(command, options->tokenizer);
    add_value(command, "--input", "FILE|-", options->input,
              "Token ids separated by blanks, one sequence per line, plain or gzip");
    add_stream_output_options(command, options->output,
                              "Decoded sequences, one per input line; special tokens are omitted");
    add_threads_option(command, options->threads);
    add_examples(command, examples);
}

}  // namespace bigbird::cli
