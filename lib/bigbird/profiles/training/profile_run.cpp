// SPDX-License-Identifier: Apache-2.0
#include "bigbird/profiles/training/profile_run.hpp"

#include "bigbird/core/log.hpp"
#include "bigbird/core/progress.hpp"
#include "bigbird/model/device/device.hpp"
#include "bigbird/model/files/model_card.hpp"
#include "bigbird/model/weights.hpp"
#include "bigbird/networks/files/profile_folder.hpp"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace bigbird::profiles {

namespace fs = std::filesystem;

namespace {

using examples::Split;

constexpr std::int64_t evaluations_per_run = 10;

/// All regions of train.
std::vector<Region> training_regions(const ProfileRun& run) {
    std::vector<Region> all = run.regions.of(Split::train, true);
    const auto& background = run.regions.of(Split::train, false);
    const auto drawn = std::min<std::ptrdiff_t>(run.background_per_epoch, std::ssize(background));
    all.insert(all.end(), background.begin(), background.begin() + drawn);
    return all;
}

double mean_log_count(const WindowSource& source, std::span<const Region> regions) {
    double sum = 0;
    for (const Region& region : regions)
        sum += std::log1p(static_cast<double>(source.total(region)));
    return sum / static_cast<double>(regions.size());
}

ProfileTask task_of(const ProfileRun& run, const WindowSource& source) {
    const std::vector<Region> all = training_regions(run);
    ProfileTaskSpec spec = run.task;
    spec.count_weight = count_weight_of(source, all);
    spec.bf16 = model::computes_bf16(at::kCPU);
    const networks::ProfileNet net =
        untrained_network(run.part, run.shape, spec.seed, mean_log_count(source, all));
    return {run.part,
            ProfilePair{net, run.bias},
            SampleOrder(run.regions.of(Split::train, true), run.regions.of(Split::train, false),
                        run.background_per_epoch, run.jitter, spec.seed),
            source,
            run.regions.of(Split::validation, true),
            run.regions.of(Split::validation, false),
            std::move(spec)};
}

std::string card_of(const ProfileRun& run, const training::TrainedModel& model) {
    model::ModelCard card;
    card.name = run.part == "bias" ? "The enzyme's bias in cut sites" : "Profiles of cut sites from sequence";
    card.summary = fmt::format(
        "This model gives, for a window of {} bases, the number of read ends in its "
        "middle {} bases and their profile.",
        run.shape.input, run.shape.output);
    card.tags = {"chromatin", "profiles"};
    card.results = {{.task = model::card_task("coverage"),
                     .split = "validation",
                     .data = "peaks held out to choose the step",
                     .metrics = model::card_metrics(model.evaluation)}};
    card.test_advice = "Not looked at yet.";
    card.after = {
        {"Training", fmt::format("The weights are those of step {}. It has the lowest loss on "
                                 "validation.\n\n",
                                 model.step) +
                         model::card_table("option", "value", model::card_options(run.loop.fixed_options))}};
    return model::to_text(card);
}

}  // namespace

training::LoopResult train_network(ProfileRun run, const WindowSource& source) {
    training::LoopSpec& loop = run.loop;
    const std::int64_t steps = loop.learning_rate.total_steps;
    loop.evaluate_every = (steps + evaluations_per_run - 1) / evaluations_per_run;
    loop.selection = training::Selection{};
    loop.card = [&run](const training::TrainedModel& model) { return card_of(run, model); };
    loop.memory_advice = "give a smaller --config";
    if (const auto finished = training::finished_run(run.folder, loop)) return *finished;
    run.task.training = loop.fixed_options;
    ProfileTask task = task_of(run, source);
    return training::run_training(task, loop, run.folder);
}

double seconds_per_step(ProfileRun run, const WindowSource& source) {
    constexpr std::int64_t steps = 6;
    ProfileTask task = task_of(run, source);
    training::Optimizer optimizer(task.module(), run.loop.optimizer);
    std::vector<double> seconds;
    for (std::int64_t step = 1; step <= steps; ++step) {
        seconds.push_back(seconds_of([&] {
            optimizer.zero_gradients();
            task.accumulate(step);
            optimizer.step(0);
            task.made(step);
        }));
    }
    return median(std::move(seconds));
}

ProfilePair open_pair(const fs::path& folder) {
    const Json config = read_json(folder / "config.json");
    const networks::ProfileModel model =
        networks::profile_model_from(config.at("bigbird_dna").at("task_model"), folder / "config.json");
    std::vector<networks::ProfileNet> nets;
    for (const networks::ProfilePart& part : model.parts) {
        networks::ProfileNet net(std::vector{std::pair(part.name, part.shape)});
        model::TensorMap weights = model::read_weights(folder);
        std::erase_if(weights, [&](const auto& tensor) {
            return !part.name.empty() && !tensor.first.starts_with(part.name + ".");
        });
        model::fill_parameters(*net, std::move(weights), {}, folder / "model.safetensors");
        freeze(*net);
        nets.push_back(net);
    }
    const bool swapped = model.parts.size() > 1 && model.parts.front().name == "bias";
    if (swapped) std::swap(nets[0], nets[1]);
    return {nets[0], nets.size() > 1 ? nets[1] : networks::ProfileNet(nullptr)};
}

std::int64_t counted_positions(const networks::ProfileShape& shape) {
    const std::int64_t trunk = shape.trunk_positions(shape.layers), read = shape.output + shape.head - 1;
    return trunk < read ? trunk : read - (trunk - read) % 2;
}

networks::ProfileShape shape_for(const WindowLengths& lengths, std::int64_t filters, std::int64_t layers) {
    networks::ProfileShape shape{
        .filters = filters, .layers = layers, .input = lengths.input, .output = lengths.output};
    shape.counts = counted_positions(shape);
    shape.validate();
    return shape;
}

}  // namespace bigbird::profiles
