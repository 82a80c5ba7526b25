// SPDX-License-Identifier: Apache-2.0
// Pretraining from a token corpus to a run directory.
#pragma once

#include "bigbird/corpus/tokens/example_stream.hpp"
#include "bigbird/corpus/tokens/token_corpus.hpp"
#include "bigbird/model/files/config.hpp"
#include "bigbird/pretraining/mlm_task.hpp"
#include "bigbird/training/training_loop.hpp"

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace bigbird::pretraining {

struct PretrainSpec {
    model::BigBirdConfig config;  ///< vocab_size is the tokenizer's
    corpus::ExampleSpec
        examples;  ///< of the training documents; held-out ones have every chosen token masked
    MlmTaskSpec task;
    training::LoopSpec loop;  ///< fixed_options: those of the inputs; pretrain() adds its own

    /// Throws ConfigError: the options do not fit each other.
    void validate() const;
};

/// What a configuration trains with where nothing is said: the paper's values (base, large, files), smaller
/// ones for smaller networks.
struct PretrainDefaults {
    std::int64_t steps = 1'000'000, batch_size = 256;
    std::int32_t sequence_length = 4096;
    double learning_rate = 1e-4;
};
PretrainDefaults pretrain_defaults(const std::string& configuration);

/// A preset's name, or a config.json. Throws ConfigError naming the presets, InputError.
model::BigBirdConfig read_configuration(const std::string& configuration);

/// The network's vocab_size is the tokenizer's. Throws InputError where a config.json says another.
void require_vocabulary(const std::string& configuration, const tokenizer::DnaTokenizer& tokenizer);

/// Rounds a length up to whole blocks.
std::int64_t padded_length(const PretrainSpec& spec);

/// Padded tokens to compute at once: `sequences` of spec's length, or, with 0, what suits spec's device.
std::int64_t micro_batch_tokens(std::int64_t sequences, const PretrainSpec& spec);

/// Tokenised documents, made only where there is something left to train.
struct PretrainCorpora {
    std::function<corpus::TokenCorpus()> train;
    std::function<corpus::TokenCorpus()> held_out;  ///< or none
};

/// What a run would be, without starting it: parameters, operations and memory counted, tokens of an epoch,
/// and the time projected from one micro-batch measured on this device. {"parameters", "flops_per_token",
/// "program_bytes", "state_bytes", "activation_bytes", "available_bytes" (null: not known),
/// "tokens_per_step", "steps", "epoch_tokens", "epoch_sequences", "epochs", "padding_share", "documents",
/// "micro_batch_sequences", "seconds_per_step", "tokens_per_second", "hours", "measured_memory_bytes"}.
Json plan_pretraining(PretrainSpec spec, const tokenizer::DnaTokenizer& tokenizer,
                      const PretrainCorpora& corpora);

/// The plan for people, a line each.
std::vector<std::string> plan_lines(const Json& plan);

/// Trains RUN/model. The network's first weights come from spec.task.seed. Provenance goes into config.json
/// under "bigbird_dna". Throws what run_training() throws, and InputError where a corpus is too small.
training::LoopResult pretrain(PretrainSpec spec, const tokenizer::DnaTokenizer& tokenizer,
                              const PretrainCorpora& corpora, const std::filesystem::path& run_directory);

}  // namespace bigbird::pretraining
