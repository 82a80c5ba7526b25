// SPDX-License-Identifier: Apache-2.0
#include "bigbird/task_models/finetune/finetune_bins.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/formats/checksum.hpp"
#include "bigbird/core/log.hpp"
#include "bigbird/core/parallel.hpp"
#include "bigbird/model/device/device.hpp"
#include "bigbird/task_models/finetune/bins_task.hpp"
#include "bigbird/task_models/finetune/finetune_loop.hpp"
#include "bigbird/training/ranks/rank_device.hpp"

#include <algorithm>
#include <optional>

namespace bigbird::task_models {
namespace fs = std::filesystem;

namespace {

constexpr std::int64_t margin_share = 8;

bool has_bins(const examples::LabelledBins& bins, examples::Split split) {
    return std::ranges::any_of(bins.stretches(),
                               [&](const examples::BinStretch& stretch) { return stretch.split == split; });
}

Json fixed_options(const FinetuneSpec& spec, const bins::BinsConfig& config, const training::LoopSpec& loop) {
    return {{"--examples", examples_checksum(spec)},
            {"--architecture", spec.architecture},
            {"--config", bins::to_json(config)},
            {"--steps", loop.learning_rate.total_steps},
            {"--batch-size", spec.batch_size},
            {"--learning-rate", loop.learning_rate.peak},
            {"--warmup-steps", loop.learning_rate.warmup_steps},
            {"--schedule", to_string(loop.learning_rate.decay)},
            {"--betas", {loop.optimizer.beta1, loop.optimizer.beta2}},
            {"--weight-decay", loop.optimizer.weight_decay},
            {"--clip-norm", loop.optimizer.clip_norm},
            {"--positive-weight", positive_weight_json(spec)},
            {"--shift", spec.bins.shift},
            {"--strand-augmentation", strand_augmentation(spec)},
            {"--average-weights", spec.bins.averaging},
            {"--motifs", spec.bins.motifs},
            {"--evaluate-every", loop.evaluate_every},
            {"--patience", spec.patience},
            {"--dtype", spec.dtype},
            {"--seed", spec.seed}};
}

TaskInfo task_info(const examples::ExampleSet& examples, const FinetuneSpec& spec,
                   const bins::BinsConfig& config, const training::LoopSpec& loop) {
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

training::LoopResult finetune_bins(const FinetuneSpec& spec, const training::RankSpec& place) {
    const examples::ExampleSet examples = examples::ExampleSet::load(spec.examples);
    if (examples.task() != spec.task) {
        throw InputError("holds promoter examples; use finetune-promoter", spec.examples);
    }
    const examples::LabelledBins bins = examples::LabelledBins::load(spec.examples);
    const bins::BinsConfig config = bins_config(spec.bins, spec.dropout, bins.bin_size());
    const int threads = place.share_of(resolve_threads(spec.threads));
    const bool by_epochs = spec.learning_rate.total_steps == 0;
    const std::int64_t usable =
        by_epochs ? BinWindows(bins, config, examples::Split::train, threads).usable() : 0;
    std::optional<std::string> metric;
    if (has_bins(bins, examples::Split::validation)) {
        metric = "eval_auroc";
    } else if (place.is_first()) {
        log_info("the examples have no bins for validation: the last step's model is kept");
    }
    training::LoopSpec loop =
        finetune_loop(spec, spec.rate_over(usable, spec.batch_size * config.window_bins), metric);
    loop.fixed_options = fixed_options(spec, config, loop);
    if (const auto finished = training::finished_run(spec.output, loop)) return *finished;
    model::set_compute_threads(threads);
    const at::Device device = model::open_device(training::device_of(place, spec.device));
    loop.ranks = std::make_shared<training::Ranks>(place, device);
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
    if (place.is_first()) say_what_is_trained(task, config, spec, loop.learning_rate.total_steps, parameters);
    return training::run_training(task, loop, spec.output);
}

}  // namespace bigbird::task_models
