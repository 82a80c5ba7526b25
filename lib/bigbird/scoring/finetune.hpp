// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bigbird/scoring/bigbird_windows.hpp"
#include "bigbird/scoring/classifier_task.hpp"
#include "bigbird/scoring/train_linear.hpp"
#include "bigbird/tasks/examples.hpp"
#include "bigbird/train/training_loop.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace bigbird::scoring {

/// What --architecture bigbird-bins is told besides.
struct BinsSpec {
    std::string config = "tiny";    ///< a preset (bins::preset), or a JSON file of bins::BinsConfig
    std::int64_t window_bins = 0;   ///< that go through the network at once; 0: the configuration's
    std::int64_t margin_bins = -1;  ///< -1: an eighth of the window, or the configuration's with its window
    std::int64_t shift = 3;         ///< BinsTaskSpec
    double averaging = 0.99;
    std::int64_t motifs = 0;  ///< BinsTaskSpec
};

struct FinetuneSpec {
    tasks::Task task = tasks::Task::chromatin;
    std::filesystem::path examples;        ///< of build-promoters or build-chromatin
    std::string architecture = "bigbird";  ///< "bigbird-bins", or a baseline's (baselines/architecture.hpp)
    std::filesystem::path pretrained;      ///< of bigbird: run or model folder, ours or transformers'
    /// The part of the examples' windows that the model sees; none: the one that a baseline was published
    /// for, else all.
    std::optional<tasks::WindowBounds> window;
    std::filesystem::path output;  ///< run folder

    std::int64_t steps = 0;  ///< 0: as many as `epochs` need
    double epochs = 1;
    std::int64_t batch_size = 32;
    double learning_rate = 1e-4;
    std::int64_t warmup_steps = -1;       ///< -1: a tenth of the steps, at most 10,000
    std::string head = "classification";  ///< or "linear": the paper's single layer on [CLS]
    Pooling pooling = Pooling::cls;
    std::optional<double> dropout;              ///< none: the pretrained model's
    std::optional<double> positive_weight = 1;  ///< none: balanced for each label
    Sampling sampling = Sampling::uniform;
    LinearSpec linear;  ///< of gkm-svm and kmer-ridge
    BinsSpec bins;      ///< of bigbird-bins
    bool both_strands = false;
    std::int64_t evaluate_every = -1;  ///< steps; -1: ten times a run; 0: only at the end
    std::int64_t patience = 0;         ///< evaluations without a better one after which it stops; 0: never
    std::int64_t batch_tokens = 0;     ///< padded tokens through the network at once; 0: fits the device
    std::uint64_t seed = 0;

    /// What finetune() does not set itself: optimizer, decay, checkpoints, resuming, max_hours.
    train::LoopSpec loop;
    std::string device = "auto", dtype = "auto", attention = "automatic";
    int threads = 0;
    train::RankSpec place;  ///< of this process among those that train together
};

/// Fine-tunes a pretrained model, or trains a baseline, on the rows of train; where there are rows of
/// validation the model with the best mean AUROC on them becomes RUN/model (the last step's else). Throws
/// InputError, ConfigError, DeviceError, WriteError, Stopped (after a checkpoint).
train::LoopResult finetune(const FinetuneSpec& spec);

}  // namespace bigbird::scoring
