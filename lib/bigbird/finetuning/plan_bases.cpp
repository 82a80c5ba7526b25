// SPDX-License-Identifier: Apache-2.0
#include "bigbird/core/error.hpp"
#include "bigbird/core/formats/checksum.hpp"
#include "bigbird/examples/hold_outs.hpp"
#include "bigbird/finetuning/base_data.hpp"
#include "bigbird/finetuning/run_plan.hpp"
#include "bigbird/model/model_directory.hpp"
#include "bigbird/training/checkpoint_store.hpp"

namespace bigbird::tasks {
namespace fs = std::filesystem;

namespace {

/// The labels, and the parts of the genome to train on.
struct Labels {
    std::unique_ptr<genome::ReferenceGenome> reference;
    std::unique_ptr<examples::BaseLabels> labels;
    examples::HoldOuts held_out;
    LabelSplits splits;
};

std::shared_ptr<const Labels> load_labels(const FinetuneSpec& spec, int threads) {
    std::unique_ptr<genome::ReferenceGenome> reference = genome::open_references(spec.tokens.references);
    auto labels =
        std::make_unique<examples::BaseLabels>(examples::BaseLabels::read(*reference, spec.tokens.labels));
    examples::HoldOuts held_out(*reference, spec.tokens.validation, spec.tokens.test);
    const genome::IntervalSet all =
        spec.tokens.include.empty() ? genome::IntervalSet(labels->extents())
                                    : genome::read_region_set(*reference, spec.tokens.include, "--include");
    const genome::IntervalSet &validation = held_out.regions(examples::Split::validation),
                              &test = held_out.regions(examples::Split::test);
    LabelSplits splits{LabelWindows(*reference, *labels, all.without(validation.united(test)), threads),
                       LabelWindows(*reference, *labels, all.intersected(validation), threads)};
    return std::make_shared<const Labels>(
        Labels{std::move(reference), std::move(labels), std::move(held_out), std::move(splits)});
}

TaskInfo info_of(const FinetuneSpec& spec, const Labels& data, const model::BigBirdConfig& config,
                 const fs::path& pretrained) {
    constexpr std::int64_t samples = 64, sample_bases = 4096;
    if (data.splits.train.bases() == 0)
        throw InputError("no base is left to learn from that is neither N nor held out", spec.tokens.labels);
    const std::int64_t fitting =
        fitting_bins(data.splits.train.samples(samples, sample_bases),
                     model::read_tokenizer(pretrained, config), 1, max_tokens(config));
    const std::int64_t window = spec.tokens.window_bases(fitting);
    const auto contigs = data.reference->contigs();
    return bases_info(window, window / margin_share, {contigs.begin(), contigs.end()});
}

Json fixed_options(const FinetuneSpec& spec, const Labels& data, const TaskInfo& info,
                   const fs::path& pretrained, const training::LoopSpec& loop) {
    Json options = run_options(spec, loop, pretrained);
    Json references = Json::array();
    for (const fs::path& reference : spec.tokens.references)
        references.push_back("sha256:" + sha256_of_file(genome::fasta_of(reference)));
    const Json held_out = data.held_out.describe();
    options.update(
        Json{{"--labels", "sha256:" + sha256_of_file(spec.tokens.labels)},
             {"--reference", references},
             {"--none-label", examples::none_label},
             {"--include", spec.tokens.include},
             {"--window", info.window.size()},
             {"--margin", *info.margin},
             {"--label-weights", spec.positive_weight ? "uniform" : "balanced"},  // its earlier name
             {"--validation", held_out.at("validation")},
             {"--test", held_out.at("test")}});
    return chosen_options(
        options,
        "--labels --reference --none-label --include --window --margin --label-weights --calibration" +
            std::string(optimizer_options) +
            "--strand-augmentation --evaluate-every --patience --dtype --seed --validation --test" +
            starting_options);
}

rows::LabelTable label_table(const Labels& data) {
    std::vector<rows::Label> labels;
    for (std::size_t i = 0; i < data.labels->names().size(); ++i)
        labels.push_back({".", data.labels->names()[i], data.splits.train.counts()[i]});
    return rows::LabelTable(std::move(labels));
}

}  // namespace

RunPlan plan_bases(const FinetuneSpec& spec, int threads, bool speaks) {
    const std::shared_ptr<const Labels> data = load_labels(spec, threads);
    const fs::path pretrained = training::find_model(spec.pretrained);
    const model::BigBirdConfig config = classifier_config(spec, pretrained, data->labels->names().size());
    RunPlan plan;
    const TaskInfo info = plan.info = info_of(spec, *data, config, pretrained);
    const training::LearningRateSpec rate =
        spec.rate_over(data->splits.train.bases(), spec.batch_size * info.window.size());
    const LabelWindows& validation = data->splits.validation;
    std::optional<std::string> metric;
    if (validation.bases() > 0)
        metric = validation.counts()[0] < validation.bases() ? "eval_auroc" : "eval_loss";
    plan.loop = finetune_loop(spec, rate, metric, speaks);
    plan.loop.fixed_options = fixed_options(spec, *data, info, pretrained, plan.loop);
    plan.card = {.task = info.task,
                 .reads = "each base",
                 .labels = data->labels->names().size(),
                 .validation = validation.bases() > 0 ? with_commas(validation.bases()) + " bases" : "",
                 .data = {{"bases of train", with_commas(data->splits.train.bases())},
                          {"bases of validation", with_commas(validation.bases())}}};
    plan.make = [=, &spec](const Job& job) -> NetworkAndData {
        auto network = bigbird_tokens(starting_classifier(spec, config, pretrained, job.device),
                                      model::read_tokenizer(pretrained, config), job.computing);
        return {network, std::make_unique<BaseData>(network, data->splits, info, label_table(*data), spec,
                                                    job.threads)};
    };
    return plan;
}

}  // namespace bigbird::tasks
