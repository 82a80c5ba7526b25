// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "support/small_tokenizer.hpp"
#include "support/temp_dir.hpp"
#include "support/testing.hpp"

#include "bigbird/corpus/tokens/example_stream.hpp"
#include "bigbird/model/bigbird.hpp"
#include "bigbird/pretraining/pretrain.hpp"

#include <optional>
#include <sstream>

namespace bigbird::testing {

/// 100 kb of real sequence, `sentences` of 700 bases to a document, or the sentences from `first` on.
inline corpus::TokenCorpus small_corpus(std::size_t first = 0, std::size_t last = 1000,
                                        std::size_t sentences = 5) {
    std::vector<corpus::Document> documents;
    std::istringstream lines(read_file(test_data("tokenizer/sentences.txt")));
    std::size_t number = 0;
    for (std::string line; std::getline(lines, line); ++number) {
        if (number < first || number >= last) continue;
        if (documents.empty() || documents.back().sentences.size() == sentences) documents.emplace_back();
        documents.back().sentences.push_back(line);
    }
    std::size_t next = 0;
    const auto stream = [&]() -> std::optional<corpus::Document> {
        return next < documents.size() ? std::optional(documents[next++]) : std::nullopt;
    };
    return corpus::TokenCorpus::from_documents(stream, small_tokenizer(), 1);
}

/// Two layers of 32 with blocks of 16, sparse above 112 tokens.
inline model::BigBirdConfig small_corpus_config() {
    model::BigBirdConfig config;
    config.vocab_size = small_tokenizer().vocab_size();
    config.hidden_size = 32;
    config.num_hidden_layers = 2;
    config.num_attention_heads = 2;
    config.intermediate_size = 64;
    config.max_position_embeddings = 256;
    config.pattern.block_size = 16;
    config.pattern.random_blocks = 1;
    return config;
}

inline model::PreTrainingModel small_network(double initializer_range = 0.1) {
    model::BigBirdConfig config = small_corpus_config();
    config.initializer_range = initializer_range;
    model::PreTrainingModel network(config);
    model::initialise(*network, config, 3);
    return network;
}

inline corpus::ExampleSource small_source(bool nsp = true, corpus::MaskingSpec masking = {}) {
    return {small_corpus(), small_tokenizer(),
            corpus::ExampleSpec{.sequence_length = 128, .nsp = nsp, .masking = masking, .seed = 4}};
}

inline pretraining::PretrainRun small_pretraining(std::int64_t steps) {
    pretraining::PretrainRun spec;
    spec.config = small_corpus_config();
    spec.examples = {.sequence_length = 128, .seed = 4};
    spec.task.batch_size = 4;
    spec.task.seed = 4;
    spec.loop.learning_rate = {.peak = 2e-3, .warmup_steps = 2, .total_steps = steps};
    spec.loop.run.checkpoint_every = 3;
    return spec;
}

inline pretraining::PretrainCorpora small_corpora(bool held_out = false) {
    pretraining::PretrainCorpora corpora{.train = [] { return small_corpus(0, 110); }, .held_out = {}};
    if (held_out) corpora.held_out = [] { return small_corpus(110); };
    return corpora;
}

}  // namespace bigbird::testing
