// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bigbird/baselines/sequence/baselines.hpp"
#include "bigbird/core/files.hpp"
#include "bigbird/corpus/documents/document_builder.hpp"
#include "bigbird/corpus/tokens/example_stream.hpp"
#include "bigbird/model/files/config.hpp"
#include "bigbird/tokenizer/tokenizer.hpp"
#include "bigbird/training/specs/run_spec.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace bigbird::pretraining {

/// The data for pretraining and for evaluation during it: token shards, documents in a file, or documents
/// drawn from the reference.
struct CorporaSpec {
    std::filesystem::path corpus = {}, documents = {};  ///< one of them, or none: drawn from the references
    tokenizer::InputSpec input = {};                    ///< without a tokenizer: the one in the corpus
    std::vector<std::filesystem::path> references = {};
    corpus::DrawingSpec drawing = {};
    std::vector<std::string> hold_out = {};  ///< for drawn documents: contigs, regions, BED files
    std::filesystem::path evaluate_corpus = {}, evaluate_documents = {};

    bool draws() const { return corpus.empty() && documents.empty(); }
    bool holds_out() const {
        return !hold_out.empty() || !evaluate_corpus.empty() || !evaluate_documents.empty();
    }
    /// Throws ConfigError if options are missing or exclude each other.
    void validate() const;
};

/// Token shards, or a file of documents, or neither.
struct CorpusPaths {
    std::filesystem::path corpus = {}, documents = {};
    bool empty() const { return corpus.empty() && documents.empty(); }
};

/// Options of evaluate-mlm.
struct MlmEvaluationSpec {
    std::filesystem::path model = {};  ///< run of pretrain, checkpoint, or model folder
    CorpusPaths held_out = {};
    CorpusPaths baseline = {};  ///< what the baselines are trained on; empty: no baselines
    std::vector<std::filesystem::path> references = {};
    std::int32_t sequence_length = 0;  ///< 0: as in the model's pretraining, or all its positions
    std::uint64_t seed = 0;
    baselines::BaselineSpec baselines{.orders = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12},
                                      .ngrams = {1, 2, 3},
                                      .two_sided = {1, 2, 3, 4, 5, 6}};
    std::int64_t max_sequences = 0;  ///< drawn by the seed; 0: all
    std::string device = "auto";
    int threads = 0;  ///< 0: all
};

/// Default values for each configuration: the paper's (base, large, files), and smaller ones for smaller
/// networks.
struct PretrainDefaults {
    std::int64_t steps = 1'000'000, batch_size = 256;
    std::int32_t sequence_length = 4096;
    double learning_rate = 1e-4, dropout = 0.1;
    training::OptimizerSpec optimizer = {};
};
PretrainDefaults pretrain_defaults(const std::string& configuration);

/// The default configuration where neither a configuration nor a model is named: a preset for the device.
std::string default_config(bool on_gpu);
inline constexpr double default_epochs = 10;

/// A run on a CPU with a longer projected time is started only with --max-hours.
inline constexpr double longest_unasked_hours = 72;

/// Options of MlmTask.
struct MlmSpec {
    std::int64_t batch_size = 0;  ///< sequences per step; 0: the configuration decides
    std::uint64_t seed = 0;       ///< seed of dropout masks and, in PretrainSpec, of everything random
    std::int64_t evaluation_sequences = 256;  ///< sequences of the held-out epoch; 0: all
    bool recompute = false;                   ///< activation checkpointing
    double repeat_weight = 1;                 ///< of soft-masked tokens in the loss; others have 1
};

/// Options of a pretraining run. `seed` is for drawn documents, examples, random attention, initial weights
/// and dropout.
struct PretrainSpec : MlmSpec {
    CorporaSpec corpora;
    std::filesystem::path output;  ///< run folder
    std::filesystem::path model;   ///< model whose weights the run starts from; empty: random weights
    std::string config;  ///< a preset's name, or a config.json; empty: the model's, or default_config()
    double epochs = 0;   ///< epochs over the corpus, if no steps are given; 0: the configuration's steps
    std::optional<double> dropout;  ///< none: the configuration decides
    /// If sequence_length, the peak learning rate or the steps are 0, the configuration decides. If the
    /// warm-up is -1, it follows from the steps.
    corpus::ExampleSpec examples{.sequence_length = 0};
    training::LearningRateSpec learning_rate{.peak = 0, .warmup_steps = -1, .total_steps = 0};
    training::OptimizerSpec optimizer;
    training::RunSpec run;
    std::int64_t evaluate_every = 500;

    std::int64_t micro_batch_size = 0;  ///< sequences computed at once; 0: what suits the device
    std::string device = "auto", dtype = "auto", attention = "automatic";
    int threads = 0;  ///< 0: all
    int processes = 1;
    bool dry_run = false;

    /// Returns a copy with the configuration's values for unset options.
    PretrainSpec with_defaults() const;
};

/// A preset's name, or a config.json. Throws ConfigError naming the presets, InputError.
model::BigBirdConfig read_configuration(const std::string& configuration);

/// The network's vocab_size is the tokenizer's. Throws InputError if a config.json has another.
void require_vocabulary(const std::string& configuration, const tokenizer::DnaTokenizer& tokenizer);

}  // namespace bigbird::pretraining
