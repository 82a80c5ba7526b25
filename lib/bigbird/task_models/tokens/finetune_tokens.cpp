// SPDX-License-Identifier: Apache-2.0
#include "bigbird/task_models/tokens/finetune_tokens.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/formats/checksum.hpp"
#include "bigbird/core/log.hpp"
#include "bigbird/core/parallel.hpp"
#include "bigbird/examples/hold_outs.hpp"
#include "bigbird/model/device/device.hpp"
#include "bigbird/model/model_directory.hpp"
#include "bigbird/task_models/bigbird_windows.hpp"
#include "bigbird/task_models/finetune/finetune_loop.hpp"
#include "bigbird/task_models/finetune/starting_model.hpp"
#include "bigbird/task_models/finetune/task_card.hpp"
#include "bigbird/task_models/token_bins.hpp"
#include "bigbird/task_models/tokens/tokens_task.hpp"
#include "bigbird/training/find_model.hpp"
#include "bigbird/training/ranks/rank_device.hpp"

#include <algorithm>
#include <functional>

namespace bigbird::task_models {
namespace fs = std::filesystem;

namespace {

constexpr std::size_t contigs_kept = 100;

/// The labels and what of the genome is learned from.
struct Data {
    std::unique_ptr<genome::ReferenceGenome> reference;
    std::unique_ptr<examples::BaseLabels> labels;
    examples::HoldOuts held_out;
    LabelSplits splits;
};

genome::IntervalSet included(const FinetuneTokensSpec& spec, const genome::ReferenceGenome& reference,
                             const examples::BaseLabels& labels) {
    if (spec.include.empty()) return genome::IntervalSet(labels.extents());
    return genome::read_region_set(reference, spec.include, "--include");
}

Data load_data(const FinetuneTokensSpec& spec, int threads) {
    std::unique_ptr<genome::ReferenceGenome> reference = genome::open_references(spec.references);
    auto labels = std::make_unique<examples::BaseLabels>(
        examples::BaseLabels::read(*reference, spec.labels, spec.none_label));
    examples::HoldOuts held_out(*reference, spec.validation, spec.test);
    const genome::IntervalSet all = included(spec, *reference, *labels);
    const genome::IntervalSet &validation = held_out.regions(examples::Split::validation),
                              &test = held_out.regions(examples::Split::test);
    LabelSplits splits{LabelWindows(*reference, *labels, all.without(validation.united(test)), threads),
                       LabelWindows(*reference, *labels, all.intersected(validation), threads)};
    return {std::move(reference), std::move(labels), std::move(held_out), std::move(splits)};
}

/// What is trained, decided before anything is built.
struct Plan {
    fs::path pretrained;
    model::BigBirdConfig config{};
    TokensInfo info{};
};

Plan plan_of(const FinetuneTokensSpec& spec, const Data& data) {
    constexpr std::int64_t samples = 64, sample_bases = 4096;
    Plan plan;
    plan.pretrained = training::find_model(spec.pretrained);
    plan.config =
        classifier_config(spec, plan.pretrained, static_cast<std::int64_t>(data.labels->names().size()));
    if (data.splits.train.bases() == 0) {
        throw InputError("no base is left to learn from that is neither N nor held out", spec.labels);
    }
    const tokenizer::DnaTokenizer tokenizer = model::read_tokenizer(plan.pretrained, plan.config);
    const std::int64_t fitting =
        fitting_bins(data.splits.train.samples(samples, sample_bases), tokenizer, 1, max_tokens(plan.config));
    plan.info.window = spec.window_bases(fitting);
    plan.info.margin = spec.margin_bases(plan.info.window);
    const auto contigs = data.reference->contigs();
    plan.info.contigs.assign(contigs.begin(), contigs.end());
    std::ranges::stable_sort(plan.info.contigs, std::ranges::greater(), &genome::Contig::length);
    plan.info.contigs.resize(std::min(plan.info.contigs.size(), contigs_kept));
    return plan;
}

Json checksums_of(const std::vector<fs::path>& references) {
    Json all = Json::array();
    for (const fs::path& reference : references)
        all.push_back("sha256:" + sha256_of_file(genome::fasta_of(reference)));
    return all;
}

Json fixed_options(const FinetuneTokensSpec& spec, const Data& data, const Plan& plan,
                   const training::LoopSpec& loop) {
    Json options = {{"--labels", "sha256:" + sha256_of_file(spec.labels)},
                    {"--reference", checksums_of(spec.references)},
                    {"--none-label", spec.none_label},
                    {"--include", spec.include},
                    {"--window", plan.info.window},
                    {"--margin", plan.info.margin},
                    {"--label-weights", word_of(label_weight_choices, spec.label_weights)}};
    if (!spec.calibrates) options["--calibration"] = "none";
    options.update(optimization_options(spec, loop));
    options.update(Json{{"--strand-augmentation", strand_augmentation(spec)},
                        {"--evaluate-every", loop.evaluate_every},
                        {"--patience", spec.patience},
                        {"--dtype", spec.dtype},
                        {"--seed", spec.seed}});
    const Json held_out = data.held_out.describe();
    options["--validation"] = held_out.at("validation");
    options["--test"] = held_out.at("test");
    options.update(starting_options(spec, plan.pretrained));
    return options;
}

rows::LabelTable label_table(const Data& data) {
    std::vector<rows::Label> labels;
    for (std::size_t i = 0; i < data.labels->names().size(); ++i)
        labels.push_back({".", data.labels->names()[i], data.splits.train.counts()[i]});
    return rows::LabelTable(std::move(labels));
}

std::optional<std::string> metric_of(const LabelWindows& validation, bool speaks) {
    if (validation.bases() == 0) {
        if (speaks) log_info("no base of --validation is in --include: the last step's model is kept");
        return std::nullopt;
    }
    return validation.counts()[0] < validation.bases() ? "eval_auroc" : "eval_loss";
}

void say_what_is_trained(const FinetuneTokensSpec& spec, const Data& data, const Plan& plan,
                         std::int64_t steps) {
    const LabelWindows& train = data.splits.train;
    const double seen = static_cast<double>(steps * spec.batch_size * plan.info.window);
    log_info(
        "{} bases to learn from, {} for validation; {} steps of {} windows of {} bases, each seen {:.1f} "
        "times",
        train.bases(), data.splits.validation.bases(), steps, spec.batch_size, plan.info.window,
        seen / static_cast<double>(train.bases()));
    for (std::size_t i = 0; i < train.counts().size(); ++i) {
        log_info("label {}: {:.3g} % of the bases to learn from", data.labels->names()[i],
                 100.0 * static_cast<double>(train.counts()[i]) / static_cast<double>(train.bases()));
    }
}

CardFacts card_facts(const Data& data, const Plan& plan) {
    const std::int64_t validation = data.splits.validation.bases();
    CardFacts facts{.task = "tokens",
                    .architecture = "bigbird",
                    .reads = "each base",
                    .labels = data.labels->names().size(),
                    .options = plan.info.training};
    if (validation > 0) facts.validation = with_commas(validation) + " bases";
    facts.data = {{"bases of train", with_commas(data.splits.train.bases())},
                  {"bases of validation", with_commas(validation)}};
    return facts;
}

}  // namespace

training::LoopResult finetune_tokens(const FinetuneTokensSpec& spec, const training::RankSpec& place) {
    spec.validate();
    const int threads = place.share_of(resolve_threads(spec.threads));
    const Data data = load_data(spec, threads);
    Plan plan = plan_of(spec, data);
    training::LearningRateSpec rate =
        spec.rate_over(data.splits.train.bases(), spec.batch_size * plan.info.window);
    rate.peak = spec.peak_of(plan.config.hidden_size);
    training::LoopSpec loop = finetune_loop(spec, rate, metric_of(data.splits.validation, place.is_first()));
    loop.fixed_options = fixed_options(spec, data, plan, loop);
    plan.info.training = loop.fixed_options;
    loop.card = [&](const training::TrainedModel& model) {
        return model::to_text(task_card(card_facts(data, plan), model));
    };
    if (const auto finished = training::finished_run(spec.output, loop)) return *finished;
    model::set_compute_threads(threads);
    const at::Device device = model::open_device(training::device_of(place, spec.device));
    loop.ranks = std::make_shared<training::Ranks>(place, device);
    const Computing computing = parse_computing(spec.dtype, spec.attention, device);
    loop.compute = computing.type;
    plan.config.extra["task_model"] = to_json(plan.info);
    auto labeller =
        std::make_unique<TokenLabeller>(starting_classifier(spec, plan.config, plan.pretrained, device),
                                        model::read_tokenizer(plan.pretrained, plan.config), computing);
    TokensTask task(std::move(labeller), data.splits, plan.info, label_table(data), spec, threads,
                    loop.ranks);
    if (place.is_first()) say_what_is_trained(spec, data, plan, loop.learning_rate.total_steps);
    return training::run_training(task, loop, spec.output);
}

}  // namespace bigbird::task_models
