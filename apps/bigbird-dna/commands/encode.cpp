// SPDX-License-Identifier: Apache-2.0
// encode and decode.
#include "commands/commands.hpp"

#include "bigbird/core/log.hpp"
#include "bigbird/core/words.hpp"
#include "bigbird/corpus/documents/sequence_lines.hpp"

#include <filesystem>

namespace bigbird::cli {

namespace {

struct LineOptions {
    std::filesystem::path tokenizer, input = "-";
    OutputOptions output;
    bool offsets = false;
    int threads = 0;
};

void add_line_options(CLI::App& command, LineOptions& options, const std::string& input,
                      const std::string& output) {
    add_value(command, "--tokenizer", "MODEL", options.tokenizer,
              "Tokenizer: a .model of train-tokenizer, a Hugging Face tokenizer.json (such as "
              "GENA-LM's), or a model folder")
        ->required();
    add_value(command, "--input", "FILE|-", options.input, input);
    add_stream_output_options(command, options.output, output);
    add_own_threads_option(command, options.threads);
}

/// Writes what `convert`, one of corpus/documents/sequence_lines.hpp, makes of the input's lines.
int run_on_lines(const LineOptions& options, decltype(corpus::encode_lines)* convert) {
    const auto tokenizer = tokenizer::DnaTokenizer::load(options.tokenizer);
    genome::TextInput input(options.input);
    genome::TextOutput output(options.output.output, options.output.overwrite);
    const auto counts = convert(input, tokenizer, options.threads, output);
    output.commit();
    log_debug("{}, {}, {}", counted(counts.lines, "line"), counted(counts.bases, "base"),
              counted(counts.tokens, "token"));
    return 0;
}

}  // namespace

void setup_encode(Program& program) {
    const auto [command, options] = program.add<LineOptions>(
        "encode", rare_group, "Encode sequences, one per line, as token ids separated by blanks", "",
        {{"Token ids of each line",
          "--tokenizer tokenizer/tokenizer.model --input ../test_data/tokenizer/sentences.txt --output "
          "ids.txt"},
         {"The bases of each token",
          "--tokenizer tokenizer/tokenizer.model --input ../test_data/tokenizer/sentences.txt --offsets"}},
        [](const LineOptions& given) {
            return run_on_lines(given, given.offsets ? corpus::encode_offsets : corpus::encode_lines);
        });
    add_line_options(command, options, "Sequences, one per line, upper or lower case, plain or gzip",
                     "Token ids, one line per input line, without [CLS] and [SEP]");
    command.add_flag("--offsets", options.offsets,
                     "Write a row per token: line, start, end (0-based, half-open), id, token");
}

void setup_decode(Program& program) {
    const auto [command, options] = program.add<LineOptions>(
        "decode", rare_group, "Decode token ids, one sequence per line, into sequences", "",
        {{"The sequences of the ids that encode wrote",
          "--tokenizer tokenizer/tokenizer.model --input ids.txt"},
         {"The same with the tokenizer of a model, into a file",
          "--tokenizer pretrained/model --input ids.txt --output sequences.txt"}},
        [](const LineOptions& given) { return run_on_lines(given, corpus::decode_lines); });
    add_line_options(command, options, "Token ids separated by blanks, one sequence per line, plain or gzip",
                     "Decoded sequences, one per input line; special tokens are omitted");
}

}  // namespace bigbird::cli
