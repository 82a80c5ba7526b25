// SPDX-License-Identifier: Apache-2.0
// This file is separate from tokenize.cpp, because the trainer links SentencePiece, which must not be loaded
// together with LibTorch.
#include "bigbird/core/log.hpp"
#include "bigbird/core/progress.hpp"
#include "bigbird/core/version.hpp"
#include "bigbird/corpus/documents/document_builder.hpp"
#include "bigbird/corpus/tokens/tokenize.hpp"

#include <utility>

namespace bigbird::corpus {

namespace {

constexpr std::int64_t bases_per_megabase = 1'000'000;

}  // namespace

void add_documents(tokenizer::TokenizerTrainer& trainer, DocumentReader& documents) {
    Progress progress("reading", "Mbp", 0);
    std::int64_t bases = 0;
    constexpr std::size_t sentences_at_once = 100;  // a file without blank lines is one document
    while (auto document = documents.next(sentences_at_once)) {
        for (std::string& sentence : document->sentences) {
            bases += static_cast<std::int64_t>(sentence.size());
            trainer.add(sentence);
        }
        progress.update(bases / bases_per_megabase);
    }
    progress.end();
}

void add_genome(tokenizer::TokenizerTrainer& trainer, const genome::ReferenceGenome& genome,
                std::uint64_t seed, int threads) {
    const BuildSpec spec{.documents = {.passes = 1, .seed = seed}};
    std::int64_t total = 0, bases = 0;
    for (const genome::Contig& contig : genome.contigs())
        total += contig.length;
    log_info("up to {} bases, for which the trainer would take about {:.1f} GB of memory", total,
             static_cast<double>(tokenizer::estimated_memory(total)) / 1e9);
    Progress progress("reading", "Mbp", total / bases_per_megabase);
    build_documents(genome, spec, BuildText::yes, threads, [&](PlacedDocument&& document) {
        for (std::string& sentence : document.document.sentences) {
            bases += static_cast<std::int64_t>(sentence.size());
            trainer.add(sentence);
        }
        progress.update(bases / bases_per_megabase);
    });
    progress.end();
}

Json report_json(const tokenizer::TrainSpec& spec, const tokenizer::TrainReport& report) {
    Json json;
    json["made_by"] = "bigbird-dna " + std::string(version());
    json["engine"] = "exact";
    json["overlaps"] = report.overlaps == tokenizer::OverlapCounting::every ? "every" : "alternate";
    json["vocab_size"] = report.vocab_size;
    json["max_piece_length"] = spec.max_piece_length;
    json["max_memory"] = spec.max_memory;
    json["seed"] = spec.seed;
    json["sentences"] = report.sentences;
    json["bases"] = report.bases;
    json["measured_bases"] = report.measured_bases;
    json["tokens"] = report.measured_tokens;
    json["bases_per_token"] = report.bases_per_token();
    return json;
}

}  // namespace bigbird::corpus
