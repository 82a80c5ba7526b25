// SPDX-License-Identifier: Apache-2.0
#include "bigbird/task_models/finetune/finetune_bins.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/formats/checksum.hpp"
#include "bigbird/core/log.hpp"
#include "bigbird/core/parallel.hpp"
#include "bigbird/model/device/device.hpp"
#include "bigbird/model/model_directory.hpp"
#include "bigbird/task_models/base_bins.hpp"
#include "bigbird/task_models/finetune/bins_task.hpp"
#include "bigbird/task_models/finetune/finetune_loop.hpp"
#include "bigbird/task_models/finetune/starting_model.hpp"
#include "bigbird/task_models/finetune/task_card.hpp"
#include "bigbird/task_models/token_bins.hpp"
#include "bigbird/training/find_model.hpp"
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

/// What is trained, decided before anything is built.
struct Plan {
    bins::Grid grid;
    bins::BinsConfig config;       ///< of bigbird-bins
    model::BigBirdConfig encoder;  ///< of BigBird with --head bins
    fs::path pretrained;           ///< likewise
};

/// Stretches of train, evenly spaced, their N left out.
std::vector<std::string> samples_of(const examples::LabelledBins& bins) {
    constexpr std::int64_t most = 64, length = 64;
    std::int64_t total = 0;
    for (const examples::BinStretch& stretch : bins.stretches())
        total += stretch.split == examples::Split::train ? stretch.count : 0;
    std::vector<std::string> samples;
    for (const examples::BinStretch& stretch : bins.stretches()) {
        if (stretch.split != examples::Split::train) continue;
        const std::int64_t size = bins.bin_size(), count = std::min(length, stretch.count);
        for (std::int64_t i = 0; i + count <= stretch.count; i += std::max(count, total / most)) {
            const std::int64_t begin = (stretch.first + i) * size;
            std::string dna = bins.sequence(stretch.contig, begin, begin + count * size);
            std::erase(dna, 'N');
            if (!dna.empty()) samples.push_back(std::move(dna));
        }
    }
    return samples;
}

Plan plan_of(const FinetuneSpec& spec, const examples::LabelledBins& bins) {
    Plan plan;
    if (!spec.is_bigbird()) {
        plan.config = bins_config(spec.bins, spec.dropout, bins.bin_size());
        plan.grid = plan.config.grid();
        return plan;
    }
    plan.pretrained = training::find_model(spec.pretrained);
    plan.encoder =
        classifier_config(spec, plan.pretrained, static_cast<std::int64_t>(bins.label_table().size()));
    plan.grid =
        token_grid(spec.bins, bins.bin_size(),
                   fitting_bins(samples_of(bins), model::read_tokenizer(plan.pretrained, plan.encoder),
                                bins.bin_size(), max_tokens(plan.encoder)));
    return plan;
}

Json fixed_options(const FinetuneSpec& spec, const Plan& plan, const training::LoopSpec& loop) {
    Json options = {{"--examples", examples_checksum(spec)}, {"--architecture", spec.architecture}};
    options.update(optimization_options(spec, loop));
    options.update(Json{{"--positive-weight", positive_weight_json(spec)},
                        {"--shift", spec.bins.shift},
                        {"--strand-augmentation", strand_augmentation(spec)},
                        {"--average-weights", spec.bins.averaging},
                        {"--evaluate-every", loop.evaluate_every},
                        {"--patience", spec.patience},
                        {"--dtype", spec.dtype},
                        {"--seed", spec.seed}});
    if (!spec.calibrates) options["--calibration"] = "none";
    if (spec.is_bigbird()) {
        options.update(starting_options(spec, plan.pretrained));
        options["--window-bins"] = plan.grid.window_bins;
        options["--margin-bins"] = plan.grid.margin_bins;
    } else {
        options["--config"] = bins::to_json(plan.config);
        options["--motifs"] = spec.bins.motifs;
    }
    return options;
}

TaskInfo task_info(const examples::ExampleSet& examples, const FinetuneSpec& spec, const bins::Grid& grid,
                   const training::LoopSpec& loop) {
    TaskInfo info = task_info_of(examples);
    info.architecture = spec.architecture;
    const std::int64_t bases = grid.window_bases();
    info.window = {-(bases / 2), bases - bases / 2};
    info.training = loop.fixed_options;
    return info;
}

std::shared_ptr<BinNetwork> new_network(const FinetuneSpec& spec, const Plan& plan, std::int64_t labels,
                                        const at::Device& device, const Computing& computing) {
    if (spec.is_bigbird()) {
        return token_bins(starting_classifier(spec, plan.encoder, plan.pretrained, device),
                          model::read_tokenizer(plan.pretrained, plan.encoder), plan.grid, computing);
    }
    bins::BinsNetwork network(plan.config, labels);
    bins::initialise(*network, spec.seed);
    network->to(device);
    return base_bins(std::move(network), computing);
}

void say_what_is_trained(const BinsTask& task, const BinNetwork& network, const FinetuneSpec& spec,
                         std::int64_t steps) {
    std::int64_t parameters = 0;
    for (const at::Tensor& parameter : network.trained_parameters())
        parameters += parameter.numel();
    const bins::Grid grid = network.grid();
    const double seen = static_cast<double>(steps * spec.batch_size * grid.window_bins);
    log_info(
        "{} bins to learn from, {} for validation; {} parameters; {} steps of {} windows of {} bins, each "
        "bin "
        "seen {:.1f} times",
        task.training().usable(), task.validation().usable(), parameters, steps, spec.batch_size,
        grid.window_bins, seen / static_cast<double>(task.training().usable()));
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
    config.motif_filters = std::min({config.motif_filters, spec.motifs, config.stages.front().channels});
    if (dropout) config.encoder.hidden_dropout_prob = config.head_dropout = *dropout;
    config.validate();
    return config;
}

bins::Grid token_grid(const BinsSpec& spec, std::int64_t bin, std::int64_t fitting) {
    bins::Grid grid{.bin = bin, .window_bins = spec.window_bins};
    if (spec.window_bins > fitting) {
        throw ConfigError("--window-bins " + std::to_string(spec.window_bins) +
                          ": the model's positions hold the tokens of " + std::to_string(fitting) + " bins");
    }
    if (spec.window_bins == 0)
        grid.window_bins = fitting > margin_share ? fitting / margin_share * margin_share : fitting;
    grid.margin_bins = spec.margin_bins >= 0 ? spec.margin_bins : grid.window_bins / margin_share;
    grid.validate();
    return grid;
}

training::LoopResult finetune_bins(const FinetuneSpec& spec, const training::RankSpec& place) {
    const examples::ExampleSet examples = examples::ExampleSet::load(spec.examples);
    if (examples.task() != spec.task) {
        throw InputError("holds promoter examples; use finetune-promoter", spec.examples);
    }
    const examples::LabelledBins bins = examples::LabelledBins::load(spec.examples);
    const Plan plan = plan_of(spec, bins);
    const int threads = place.share_of(resolve_threads(spec.threads));
    const bool by_epochs = spec.learning_rate.total_steps == 0;
    const std::int64_t usable =
        by_epochs ? BinWindows(bins, plan.grid, examples::Split::train, threads).usable() : 0;
    std::optional<std::string> metric;
    if (has_bins(bins, examples::Split::validation)) {
        metric = "eval_auroc";
    } else if (place.is_first()) {
        log_info("the examples have no bins for validation: the last step's model is kept");
    }
    training::LoopSpec loop =
        finetune_loop(spec, spec.rate_over(usable, spec.batch_size * plan.grid.window_bins), metric);
    loop.fixed_options = fixed_options(spec, plan, loop);
    if (const auto finished = training::finished_run(spec.output, loop)) return *finished;
    model::set_compute_threads(threads);
    const at::Device device = model::open_device(training::device_of(place, spec.device));
    loop.ranks = std::make_shared<training::Ranks>(place, device);
    const Computing computing = parse_computing(spec.dtype, spec.attention, device);
    loop.compute = computing.type;
    const std::shared_ptr<BinNetwork> network =
        new_network(spec, plan, static_cast<std::int64_t>(bins.label_table().size()), device, computing);
    const TaskInfo info = task_info(examples, spec, plan.grid, loop);
    loop.card = [&](const training::TrainedModel& model) {
        CardFacts facts = facts_of(examples);
        facts.architecture = info.architecture;
        facts.reads = "each bin of " + std::to_string(plan.grid.bin) + " bases";
        facts.options = info.training;
        return model::to_text(task_card(facts, model));
    };
    BinsTask task(network, bins, info, spec, spec.bins, threads, loop.ranks);
    if (place.is_first()) say_what_is_trained(task, *network, spec, loop.learning_rate.total_steps);
    return training::run_training(task, loop, spec.output);
}

}  // namespace bigbird::task_models
