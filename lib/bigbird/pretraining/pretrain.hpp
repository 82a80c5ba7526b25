// SPDX-License-Identifier: Apache-2.0
// Pretraining from a token corpus to a run directory.
#pragma once

#include "bigbird/corpus/tokens/example_stream.hpp"
#include "bigbird/model/files/config.hpp"
#include "bigbird/pretraining/corpora.hpp"
#include "bigbird/pretraining/masked/cost.hpp"
#include "bigbird/pretraining/mlm_task.hpp"
#include "bigbird/pretraining/specs/pretrain_spec.hpp"
#include "bigbird/training/training_loop.hpp"

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace bigbird::pretraining {

/// A pretraining run in this process: the options with all defaults filled in, and the device.
struct PretrainRun {
    model::BigBirdConfig config;   ///< vocab_size is the tokenizer's
    std::filesystem::path model;   ///< folder of the initial weights; empty: they are drawn from task.seed
    corpus::ExampleSpec examples;  ///< training examples; held-out ones have every chosen token masked
    MlmTaskSpec task;
    double epochs = 0;        ///< determines loop's steps unless 0
    training::LoopSpec loop;  ///< fixed_options must contain those of the inputs; pretrain() adds its own

    /// Throws ConfigError: the options do not fit each other.
    void validate() const;
};

/// The run that `spec` describes, before a device is opened and the inputs are known; spec.model is empty or
/// a folder with config.json. Throws ConfigError, InputError.
PretrainRun run_of(const PretrainSpec& spec);

/// Rounds a length up to full blocks.
std::int64_t padded_length(const PretrainRun& spec);

/// Padded tokens to compute at once: `sequences` sequences of spec's length or, with 0, a number that suits
/// the device.
std::int64_t micro_batch_tokens(std::int64_t sequences, const PretrainRun& spec);

/// The work that one process of the run computes at once; the specification already has the tokenizer's
/// vocab_size.
MemoryLoad memory_load(const PretrainRun& spec);

/// Text on how much of the available `bytes` the run needs, and which options would make it fit, the mildest
/// first: fewer sequences at once, recomputing, shorter sequences, a smaller network.
std::string memory_advice(const PretrainRun& spec, double bytes);

/// The same text if the run is not expected to fit, else nullopt.
std::optional<std::string> memory_warning(const PretrainRun& spec, double bytes);

/// A forecast of a run, without starting it: parameters, operations and memory counted, tokens of an epoch,
/// and the time projected from one micro-batch measured on this device. {"parameters", "flops_per_token",
/// "program_bytes", "state_bytes", "activation_bytes", "available_bytes" (null: not known),
/// "tokens_per_step", "steps", "epoch_tokens", "epoch_sequences", "epochs", "padding_share", "documents",
/// "micro_batch_sequences", "seconds_per_step", "tokens_per_second", "hours", "measured_memory_bytes"}.
Json plan_pretraining(PretrainRun spec, const tokenizer::DnaTokenizer& tokenizer,
                      const PretrainCorpora& corpora);

/// The same of the run that options describe, on the device of this rank. Throws ConfigError, InputError.
Json plan_pretraining(const PretrainSpec& spec, const training::RankSpec& rank);

/// The plan as text, one fact per line.
std::vector<std::string> plan_lines(const Json& plan);

/// Trains RUN/model. The network's initial weights come from spec.model or spec.task.seed. Provenance goes
/// into config.json under "bigbird_dna". Throws what run_training() throws, and InputError if a corpus is too
/// small.
training::LoopResult pretrain(PretrainRun spec, const tokenizer::DnaTokenizer& tokenizer,
                              const PretrainCorpora& corpora, const std::filesystem::path& run_directory);
/// The same of the run that options describe, into spec.output, as one of the processes that train together;
/// `rank` counts threads over all processes that share processors. Looks at the inputs before it reads them.
training::LoopResult pretrain(const PretrainSpec& spec, const training::RankSpec& rank);

}  // namespace bigbird::pretraining
