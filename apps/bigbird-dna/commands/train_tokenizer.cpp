// SPDX-License-Identifier: Apache-2.0
#include "commands/commands.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/formats/checksum.hpp"
#include "bigbird/core/log.hpp"
#include "bigbird/core/words.hpp"
#include "bigbird/corpus/tokens/tokenize.hpp"
#include "bigbird/tokenizer/tokenizer.hpp"
#include "bigbird/tokenizer/train/train.hpp"

#include <filesystem>
#include <map>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

namespace bigbird::cli {

struct TrainTokenizerOptions {
    std::filesystem::path documents;
    std::vector<std::filesystem::path> references;
    tokenizer::TrainSpec spec;
    OutputOptions output;
    std::filesystem::path report, hugging_face;
    int threads = 0;
};

namespace {

constexpr std::int64_t default_positions = 4096;  // positions of pretrain's networks

const std::map<std::string, tokenizer::OverlapCounting> overlaps{
    {"installed", tokenizer::OverlapCounting::installed},
    {"every", tokenizer::OverlapCounting::every},
    {"alternate", tokenizer::OverlapCounting::alternate}};

int run_train_tokenizer(const TrainTokenizerOptions& options) {
    if (options.documents.empty() && options.references.empty())
        throw ConfigError("nothing to train on: give --documents or --reference");
    tokenizer::TrainSpec spec = options.spec;
    spec.threads = options.threads;
    if (!options.report.empty()) prepare_output(options.report, options.output.overwrite);
    std::optional<PendingOutput> hugging_face;
    if (!options.hugging_face.empty())
        hugging_face.emplace(options.hugging_face, options.output.overwrite, PendingOutput::Kind::folder);
    tokenizer::TokenizerTrainer trainer(spec, options.output.output, options.output.overwrite);
    const auto genome = options.references.empty() ? nullptr : genome::open_references(options.references);
    if (options.documents.empty()) {
        corpus::add_genome(trainer, *genome, spec.seed, spec.threads);
    } else {
        corpus::DocumentReader documents(options.documents, genome.get());
        corpus::add_documents(trainer, documents);
    }
    std::optional<PendingOutput> report_file;
    const auto companions = [&](const tokenizer::TrainReport& of, const tokenizer::DnaTokenizer& tokenizer) {
        std::vector<PendingOutput*> outputs;
        if (!options.report.empty()) {
            report_file.emplace(options.report, options.output.overwrite);
            report_file->write(
                [&](std::ostream& out) { out << corpus::report_json(spec, of).dump(2) << '\n'; });
            outputs.push_back(&*report_file);
        }
        if (hugging_face) {
            tokenizer::write_tokenizer_files(tokenizer, default_positions, hugging_face->path());
            outputs.push_back(&*hugging_face);
        }
        return outputs;
    };
    const tokenizer::TrainReport report = trainer.finish(companions);
    log_info("{}, {:.3f} bases per token", counted(report.vocab_size, "piece"), report.bases_per_token());
    return 0;
}

}  // namespace

void setup_train_tokenizer(Program& program) {
    const auto [command, options] = program.add<TrainTokenizerOptions>(
        "train-tokenizer", "A genome without labels",
        "Train a DNA byte-pair encoding on documents or on a genome",
        "--documents --reference --vocab-size --output --hugging-face",
        {{"256 tokens, learned from documents",
          "--documents documents/train.txt.gz --vocab-size 256 --seed 1 --output tokenizer.model"},
         {"4,096 tokens, learned from a genome, also for transformers",
          "--reference ../test_data/genome/yeast.fa.gz --vocab-size 4096 --output yeast.model --hugging-face "
          "yeast-tokenizer"}},
        run_train_tokenizer);
    add_value(command, "--documents", "FILE", options.documents,
              "Documents of build-documents, text or (with --reference) coordinates; - is standard input");
    add_reference_option(command, options.references, false)
        ->description(
            "Genome of --documents' coordinates. Without --documents: the sequence to train on, read once");
    add_value(command, "--vocab-size", "N", options.spec.vocab_size,
              "Number of tokens, including the 5 special ones and A C G T N");
    command
        .add_option(
            "--count-overlaps", options.spec.overlaps,
            "How AA in AAA is counted. every: twice (SentencePiece 0.1.99 and later); alternate: once "
            "(up to 0.1.98); installed: like the installed SentencePiece")
        ->transform(CLI::Transformer(overlaps, CLI::ignore_case).description(""))
        ->type_name("installed|every|alternate")
        ->default_str("installed");
    command
        .add_option(
            "--max-memory", options.spec.max_memory,
            "Train on a sample of the sentences if all of them need more memory than this, such as 16GB")
        ->transform(CLI::AsSizeValue(true))
        ->type_name("SIZE")
        ->default_str("no limit");
    add_seed_option(command, options.spec.seed);
    add_output_options(command, options.output,
                       "SentencePiece model; also writes the tokens as text beside it (.vocab)");
    add_value(command, "--report", "JSON", options.report,
              "Also write sizes and the bases per token, as JSON")
        ->group("Output");
    add_value(command, "--hugging-face", "DIR", options.hugging_face,
              "Also write a folder (tokenizer.json, tokenizer_config.json) for transformers' "
              "AutoTokenizer, which gives the same ids")
        ->group("Output");
    add_own_threads_option(command, options.threads);
}

}  // namespace bigbird::cli
