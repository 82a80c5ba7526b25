// SPDX-License-Identifier: Apache-2.0
#include "bigbird/corpus/tokenizer_corpus.hpp"

#include "bigbird/core/version.hpp"
#include "bigbird/corpus/document_builder.hpp"

#include <utility>

namespace bigbird::corpus {

void add_documents(tokenizer::TokenizerTrainer& trainer, DocumentReader& documents) {
    while (auto document = documents.next()) {
        for (std::string& sentence : document->sentences) {
            trainer.add(std::move(sentence));
        }
    }
}

void add_genome(tokenizer::TokenizerTrainer& trainer, const genome::ReferenceGenome& genome,
                std::uint64_t seed, int threads) {
    const BuildSpec spec{.documents = {.passes = 1, .seed = seed}};
    build_documents(genome, spec, BuildText::yes, threads, [&](PlacedDocument&& document) {
        for (std::string& sentence : document.document().sentences) {
            trainer.add(std::move(sentence));
        }
    });
}

Json report_json(const tokenizer::TrainSpec& spec, const tokenizer::TrainReport& report) {
    Json json;
    json["made_by"] = "bigbird-dna " + std::string(version());
    json["engine"] = spec.engine == tokenizer::TrainEngine::exact ? "exact" : "sentencepiece";
    json["overlaps"] = report.overlaps == tokenizer::OverlapCounting::every ? "every" : "alternate";
    json["vocab_size"] = report.vocab_size;
    json["max_piece_length"] = spec.max_piece_length;
    json["max_sentences"] = spec.max_sentences;
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
