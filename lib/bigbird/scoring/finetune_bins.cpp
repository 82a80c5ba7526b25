// SPDX-License-Identifier: Apache-2.0
#include "bigbird/scoring/finetune_bins.hpp"

#include "bigbird/core/checksum.hpp"
#include "bigbird/core/error.hpp"
#include "bigbird/core/log.hpp"
#include "bigbird/core/parallel.hpp"
#include "bigbird/model/device.hpp"
#include "bigbird/scoring/bins_task.hpp"

#include <algorithm>
#include <cmath>

namespace bigbird::scoring {
namespace fs = std::filesystem;

namespace {

constexpr std::int64_t evaluations_a_run = 10, longest_warmup = 10'000;
constexpr double adam_epsilon = 1e-8;  // as finetune() has it, for the same reason
constexpr std::int64_t margin_share = 8;

void check_spec(const FinetuneSpec& spec) {
    const auto refuse = [](bool given, const std::string& option, const std::string& why) {
        if (given) throw ConfigError(option + " is not of --architecture bigbird-bins: " + why);
    };
    if (spec.task != tasks::Task::chromatin) {
        throw ConfigError("--architecture bigbird-bins scores bins: use finetune-chromatin");
    }
    refuse(!spec.pretrained.empty(), "--model", "it starts from nothing");
    refuse(spec.window.has_value(), "--window", "give --window-bins, its context in bins");
    refuse(spec.sampling != Sampling::uniform, "--sampling", "every bin of a window is in the loss");
    if (spec.bins.averaging < 0 || spec.bins.averaging >= 1) {
        throw ConfigError("--average-weights must be at least 0 and below 1");
    }
}

std::int64_t total_steps(const FinetuneSpec& spec, const BinWindows& training,
                         const bins::BinsConfig& config) {
    if (spec.steps > 0) return spec.steps;
    const double bins_a_step = static_cast<double>(spec.batch_size * config.window_bins);
    return std::max<std::int64_t>(
        1, static_cast<std::int64_t>(
               std::ceil(spec.epochs * static_cast<double>(training.usable()) / bins_a_step)));
}

bool has_bins(const tasks::LabelledBins& bins, tasks::Split split) {
    return std::ranges::any_of(bins.stretches(),
                               [&](const tasks::BinStretch& stretch) { return stretch.split == split; });
}

Json fixed_options(const FinetuneSpec& spec, const bins::BinsConfig& config, const train::LoopSpec& loop) {
    return {{"--examples", "sha256:" + sha256_of_file(spec.examples / "manifest.json")},
            {"--architecture", spec.architecture},
            {"--config", bins::to_json(config)},
            {"--steps", loop.learning_rate.total_steps},
            {"--batch-size", spec.batch_size},
            {"--learning-rate", spec.learning_rate},
            {"--warmup-steps", loop.learning_rate.warmup_steps},
            {"--schedule", train::to_string(loop.learning_rate.decay)},
            {"--betas", {loop.optimizer.beta1, loop.optimizer.beta2}},
            {"--weight-decay", loop.optimizer.weight_decay},
            {"--clip-norm", loop.optimizer.clip_norm},
            {"--positive-weight", spec.positive_weight ? Json(*spec.positive_weight) : Json("balanced")},
            {"--shift", spec.bins.shift},
            {"--strand-augmentation", spec.both_strands ? "reverse-complement" : "none"},
            {"--average-weights", spec.bins.averaging},
            {"--motifs", spec.bins.motifs},
            {"--evaluate-every", loop.evaluate_every},
            {"--patience", spec.patience},
            {"--dtype", spec.dtype},
            {"--seed", spec.seed}};
}

train::LoopSpec loop_spec(const FinetuneSpec& spec, const bins::BinsConfig& config, std::int64_t steps,
                          bool validates) {
    train::LoopSpec loop = spec.loop;
    loop.optimizer.epsilon = adam_epsilon;
    loop.learning_rate.peak = spec.learning_rate;
    loop.learning_rate.total_steps = steps;
    loop.learning_rate.warmup_steps =
        spec.warmup_steps >= 0 ? spec.warmup_steps : std::min(longest_warmup, steps / 10);
    if (validates) {
        loop.evaluate_every = spec.evaluate_every > 0 ? spec.evaluate_every
                              : spec.evaluate_every == 0
                                  ? steps
                                  : (steps + evaluations_a_run - 1) / evaluations_a_run;
        loop.selection =
            train::Selection{.metric = "eval_auroc", .higher_is_better = true, .patience = spec.patience};
    } else if (spec.place.is_first()) {
        log_info("the examples have no bins for validation: the last step's model is kept");
    }
    loop.fixed_options = fixed_options(spec, config, loop);
    return loop;
}

TaskInfo task_info(const tasks::ExampleSet& examples, const FinetuneSpec& spec,
                   const bins::BinsConfig& config, const train::LoopSpec& loop) {
    TaskInfo info = task_info_of(examples);
    info.architecture = spec.architecture;
    const std::int64_t bases = config.window_bases();
    info.window = {-(bases / 2), bases - bases / 2};
    info.network = bins::to_json(config);
    info.training = loop.fixed_options;
    return info;
}

bins::BinsNetwork new_network(const bins::BinsConfig& config, std::int64_t labels, std::uint64_t seed,
                              const at::Device& device) {
    bins::BinsNetwork network(config, labels);
    bins::initialise(*network, seed);
    network->to(device);
    return network;
}

void say_what_is_trained(const BinsTask& task, const bins::BinsConfig& config, const FinetuneSpec& spec,
                         std::int64_t steps, std::int64_t parameters) {
    const double seen = static_cast<double>(steps * spec.batch_size * config.window_bins);
    log_info(
        "{} bins to learn from, {} for validation; {} parameters; {} steps of {} windows of {} bins, each "
        "bin "
        "seen {:.1f} times",
        task.training().usable(), task.validation().usable(), parameters, steps, spec.batch_size,
        config.window_bins, seen / static_cast<double>(task.training().usable()));
}

}  // namespace

bins::BinsConfig bins_config(const BinsSpec& spec, std::optional<double> dropout, std::int64_t bin) {
    std::error_code ignored;
    const bool file = fs::is_regular_file(spec.config, ignored);
    bins::BinsConfig config =
        file ? bins::config_from_json(read_json(spec.config), spec.config) : bins::preset(spec.config);
    config.bin = bin;
    if (spec.window_bins > 0) {
        config.window_bins = spec.window_bins;
        config.margin_bins = spec.window_bins / margin_share;
    }
    if (spec.margin_bins >= 0) config.margin_bins = spec.margin_bins;
    if (dropout) config.encoder.hidden_dropout_prob = config.head_dropout = *dropout;
    config.validate();
    return config;
}

train::LoopResult finetune_bins(const FinetuneSpec& spec) {
    check_spec(spec);
    const tasks::ExampleSet examples = tasks::ExampleSet::load(spec.examples);
    if (examples.task() != spec.task) {
        throw InputError("holds promoter examples; use finetune-promoter", spec.examples);
    }
    const tasks::LabelledBins bins = tasks::LabelledBins::load(spec.examples);
    const bins::BinsConfig config = bins_config(spec.bins, spec.dropout, bins.bin_size());
    const int threads = spec.place.share_of(resolve_threads(spec.threads));
    const std::int64_t steps =
        spec.steps > 0 ? spec.steps
                       : total_steps(spec, BinWindows(bins, config, tasks::Split::train, threads), config);
    train::LoopSpec loop = loop_spec(spec, config, steps, has_bins(bins, tasks::Split::validation));
    if (train::run_is_finished(spec.output, loop)) {
        return {.steps = steps, .finished_before = true, .model = spec.output / "model"};
    }
    model::set_compute_threads(threads);
    const at::Device device = model::open_device(spec.device);
    loop.ranks = std::make_shared<train::Ranks>(spec.place, device);
    const Computing computing = parse_computing(spec.dtype, spec.attention, device);
    loop.compute = computing.type;
    const bins::BinsNetwork network =
        new_network(config, static_cast<std::int64_t>(bins.label_table().size()), spec.seed, device);
    BinsTask task(network, bins, task_info(examples, spec, config, loop),
                  {.batch_size = spec.batch_size,
                   .batch_tokens = spec.batch_tokens,
                   .positive_weight = spec.positive_weight,
                   .shift = spec.bins.shift,
                   .both_strands = spec.both_strands,
                   .motifs = spec.bins.motifs,
                   .averaging = spec.bins.averaging,
                   .seed = spec.seed,
                   .threads = threads,
                   .computing = computing,
                   .ranks = loop.ranks});
    std::int64_t parameters = 0;
    for (const at::Tensor& parameter : network->parameters())
        parameters += parameter.numel();
    if (spec.place.is_first()) say_what_is_trained(task, config, spec, steps, parameters);
    return train::run_training(task, loop, spec.output);
}

}  // namespace bigbird::scoring
