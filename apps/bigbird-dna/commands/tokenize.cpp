// SPDX-License-Identifier: Apache-2.0
#include "bigbird/corpus/tokens/tokenize.hpp"

#include "commands/commands.hpp"
#include "options/corpus_options.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/log.hpp"
#include "bigbird/core/progress.hpp"
#include "bigbird/core/words.hpp"
#include "bigbird/corpus/merge/merge_tokens.hpp"
#include "bigbird/corpus/tokens/shard_writer.hpp"

#include <spdlog/fmt/fmt.h>

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

namespace bigbird::cli {

struct TokenizeOptions {
    std::filesystem::path documents;
    tokenizer::InputSpec input;
    std::vector<std::filesystem::path> references;
    OutputOptions output;
    std::optional<Shard> shard;
    int threads = 0;
};

namespace {

constexpr std::int64_t megabyte = 1'000'000;

int run_tokenize(const TokenizeOptions& options) {
    require_readable(options.documents);
    if (options.shard && options.documents == "-")
        throw ConfigError("--shard needs --documents as a file: a part is told by its checksum");
    const auto tokenizer = options.input.open();
    corpus::TokenShardWriter writer(options.output.output, tokenizer, options.output.overwrite);
    const auto genome = options.references.empty()
                            ? nullptr
                            : genome::open_references(options.references, genome::LetterCase::kept);
    corpus::DocumentReader documents(options.documents, genome.get(), genome::LetterCase::kept);
    corpus::InputChecksums inputs(options.documents, options.references);
    Progress progress("tokenize", "MB", documents.total_bytes() / megabyte);
    const auto show = [&](const corpus::TokenCounts& counts) {
        progress.update(documents.bytes_read() / megabyte,
                        fmt::format("{} M tokens", counts.tokens / megabyte));
    };
    std::vector<PartSegment> segments =
        corpus::tokenize_documents(documents, tokenizer, options.threads, writer, show, options.shard);
    if (options.shard && writer.counts().documents == 0) {
        throw InputError("has no document for part " + to_string(*options.shard) + ": give fewer parts",
                         options.documents);
    }
    PendingOutput& folder = writer.finish(inputs.get(), options.threads);
    if (options.shard) {
        const auto record = corpus::pending_tokens_record(
            folder, *options.shard, corpus::TokenShardWriter::default_shard_tokens, std::move(segments));
        commit_together(std::array{record.get(), &folder});
    } else {
        folder.commit();
        remove_part_record(options.output.output);
    }
    const corpus::TokenCounts& counts = writer.counts();
    const double seconds = progress.end();
    const auto bases = static_cast<double>(counts.bases);
    log_info("{}, {}, {} of {:.3f} bases; {}, {:.1f} Mbp/s", counted(counts.documents, "document"),
             counted(counts.sentences, "sentence"), counted(counts.tokens, "token"),
             bases / static_cast<double>(counts.tokens), Progress::duration(seconds), bases / 1e6 / seconds);
    return 0;
}

}  // namespace

void setup_tokenize(Program& program) {
    const auto [command, options] = program.add<TokenizeOptions>(
        "tokenize", "A genome without labels", "Encode documents once into token shards, for pretrain",
        "--documents --reference --tokenizer --output --shard",
        {{"Shards of tokens for pretrain --documents",
          "--documents documents/train.txt.gz --tokenizer tokenizer/tokenizer.model --output corpus"},
         {"Shards of 6-mers, which need no tokenizer",
          "--documents documents/train.txt.gz --tokenizer kmers:6 --output corpus-6-mers"}},
        run_tokenize);
    add_value(command, "--documents", "FILE", options.documents,
              "Documents of build-documents, text or (with --reference) coordinates; - is standard input")
        ->required();
    add_reference_option(command, options.references, false)
        ->description("The genome of --documents' coordinates: FASTA, plain, bgzip or gzip");
    add_input_options(command, options.input,
                      "Tokenizer: a .model of train-tokenizer, a Hugging Face tokenizer.json (such as "
                      "GENA-LM's), or a model folder");
    add_output_options(command, options.output, "Folder of shards (lib/bigbird/corpus/tokens/FORMAT.md)");
    add_shard_option(command, options.shard, "documents");
    add_own_threads_option(command, options.threads);
}

}  // namespace bigbird::cli
