// SPDX-License-Identifier: Apache-2.0
#include "bigbird/core/error.hpp"
#include "bigbird/core/formats/checksum.hpp"
#include "bigbird/finetuning/bin_data.hpp"
#include "bigbird/finetuning/finetune.hpp"
#include "bigbird/finetuning/run_plan.hpp"
#include "bigbird/model/model_directory.hpp"
#include "bigbird/model/weights.hpp"
#include "bigbird/tasks/bases_network.hpp"
#include "bigbird/training/checkpoint_store.hpp"

#include <algorithm>

namespace bigbird::tasks {
namespace fs = std::filesystem;

namespace {

/// Evenly spaced stretches of train, without N.
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

/// The network and its windows.
struct Shape {
    bins::Grid grid{};
    bins::BinsConfig config{};       ///< for bigbird-bins
    model::BigBirdConfig encoder{};  ///< for BigBird with --head bins
    fs::path pretrained{};           ///< a model with the initial weights, if any
};

/// The network of a bin model, for bins of `bin` bases.
bins::BinsConfig trunk_config(const FinetuneSpec& spec, const fs::path& pretrained, std::int64_t bin) {
    const TaskInfo info = read_task_info(pretrained);
    if (!info.row().scores_bins())
        throw InputError("is no bin model, which --architecture bigbird-bins could start from", pretrained);
    bins::BinsConfig config =
        bins::fitted_to(bins::config_from_json(info.network, pretrained / "config.json"), bin);
    if (spec.dropout) config.encoder.hidden_dropout_prob = config.head_dropout = *spec.dropout;
    config.validate();
    return config;
}

/// Copies all weights of a bin model except its head's, which has other labels. A profile head begins anew
/// where the model has none.
void take_trunk(bins::BinsNetworkImpl& network, const fs::path& pretrained) {
    const at::NoGradGuard no_gradients;
    const model::TensorMap weights = model::read_weights(pretrained);
    for (auto& item : network.named_parameters()) {
        const bool of_labels = item.key().starts_with("head.output") || item.key() == "head.motifs.weight";
        const bool is_new = item.key().starts_with("head.profile.") && !weights.contains(item.key());
        if (!of_labels && !is_new) item.value().copy_(weights.at(item.key()));
    }
}

Shape shape_of(const FinetuneSpec& spec, const examples::LabelledBins& bins) {
    Shape shape;
    const std::int64_t bin = bins.bin_size();
    if (!spec.pretrained.empty()) shape.pretrained = training::find_model(spec.pretrained);
    if (!spec.row().reads_tokens()) {
        shape.config = shape.pretrained.empty() ? bins_config(spec.bins, spec.dropout, bin)
                                                : trunk_config(spec, shape.pretrained, bin);
        shape.grid = shape.config.grid();
        return shape;
    }
    shape.encoder = classifier_config(spec, shape.pretrained, bins.label_table().size());
    const tokenizer::DnaTokenizer tokenizer = model::read_tokenizer(shape.pretrained, shape.encoder);
    shape.grid =
        token_grid(spec.bins, bin, fitting_bins(samples_of(bins), tokenizer, bin, max_tokens(shape.encoder)));
    return shape;
}

Json fixed_options(const FinetuneSpec& spec, const Shape& shape, const training::LoopSpec& loop,
                   bool numbers) {
    Json options = run_options(spec, loop, shape.pretrained);
    options.update(Json{{"--shift", spec.bins.shift},
                        {"--average-weights", spec.bins.averaging},
                        {"--window-bins", shape.grid.window_bins},
                        {"--margin-bins", shape.grid.margin_bins},
                        {"--config", spec.row().reads_tokens() ? Json() : bins::to_json(shape.config)},
                        {"--loss", word_of(coverage_losses, spec.bins.loss)},
                        {"--motifs", spec.bins.motifs}});
    if (!spec.bins.teacher.empty()) options["--teacher"] = "sha256:" + sha256_of_file(spec.bins.teacher);
    if (!shape.pretrained.empty()) options["--model"] = "sha256:" + model::weights_checksum(shape.pretrained);
    return chosen_options(
        options,
        "--examples --architecture" + std::string(optimizer_options) +
            "--positive-weight --shift --strand-augmentation --average-weights --evaluate-every --patience"
            " --dtype --seed --calibration" +
            (!spec.row().reads_tokens() && !shape.pretrained.empty() ? " --model" : "") +
            (spec.row().reads_tokens() ? starting_options + std::string("--window-bins --margin-bins")
                                       : " --config --motifs") +
            (numbers ? " --loss" : "") + (spec.bins.teacher.empty() ? "" : " --teacher"));
}

std::shared_ptr<BinNetwork> new_network(const FinetuneSpec& spec, const Shape& shape, std::size_t labels,
                                        const Job& job) {
    if (spec.row().reads_tokens()) {
        return bigbird_bins(starting_classifier(spec, shape.encoder, shape.pretrained, job.device),
                            model::read_tokenizer(shape.pretrained, shape.encoder), shape.grid,
                            job.computing);
    }
    bins::BinsNetwork network(shape.config, static_cast<std::int64_t>(labels));
    bins::initialise(*network, spec.seed);
    if (!shape.pretrained.empty()) take_trunk(*network, shape.pretrained);
    network->to(job.device);
    return base_bins(std::move(network), job.computing);
}

/// The bins of a window; 0: not given.
std::int64_t window_bins(const BinsSpec& spec, std::int64_t bin) {
    if (spec.window % bin != 0)
        throw ConfigError("--window must be a multiple of the " + std::to_string(bin) + " bases of a bin");
    return spec.window / bin;
}

/// Likewise metric_of().
std::optional<std::string> bins_metric(const examples::LabelledBins& bins) {
    std::vector<std::int64_t> ones(bins.label_table().size());
    std::int64_t rows = 0;
    for (const examples::BinStretch& stretch : bins.stretches()) {
        if (stretch.split != examples::Split::validation) continue;
        rows += stretch.count;
        for (std::int64_t i = 0; i < stretch.count && !bins.has_numbers(); ++i)
            bins.for_each_label(stretch.row + i, [&](std::size_t label) { ++ones[label]; });
    }
    if (rows == 0) return std::nullopt;
    return bins.has_numbers() ? "eval_loss" : metric_for(ones, rows);
}

}  // namespace

bins::BinsConfig bins_config(const BinsSpec& spec, std::optional<double> dropout, std::int64_t bin) {
    std::error_code ignored;
    const bool file = fs::is_regular_file(spec.config, ignored);
    bins::BinsConfig config = file ? bins::config_from_json(read_json(spec.config), spec.config)
                                   : bins::fitted_to(bins::preset(spec.config), bin);
    config.bin = bin;
    if (const std::int64_t bins = window_bins(spec, bin); bins > 0) {
        config.window_bins = bins;
        config.margin_bins = bins / margin_share;
    }
    config.motif_filters = std::min({config.motif_filters, spec.motifs, config.stages.front().channels});
    if (dropout) config.encoder.hidden_dropout_prob = config.head_dropout = *dropout;
    config.validate();
    return config;
}

bins::Grid token_grid(const BinsSpec& spec, std::int64_t bin, std::int64_t fitting) {
    bins::Grid grid{.bin = bin, .window_bins = window_bins(spec, bin)};
    if (grid.window_bins > fitting) {
        throw ConfigError("--window " + std::to_string(grid.window_bins * bin) +
                          ": the model's positions hold the tokens of " + std::to_string(fitting * bin) +
                          " bases");
    }
    if (grid.window_bins == 0)
        grid.window_bins = fitting > margin_share ? fitting / margin_share * margin_share : fitting;
    grid.margin_bins = grid.window_bins / margin_share;
    grid.validate();
    return grid;
}

RunPlan plan_bins(const FinetuneSpec& spec, int threads, bool speaks) {
    const auto examples = load_examples(spec);
    const auto bins =
        std::make_shared<const examples::LabelledBins>(examples::LabelledBins::load(spec.examples));
    const Shape shape = shape_of(spec, *bins);
    const bool by_epochs = spec.learning_rate.total_steps == 0;
    const bool numbers = bins->has_numbers();
    if (numbers && !spec.bins.teacher.empty())
        throw ConfigError("--teacher is for labels, these examples have coverage");
    const std::int64_t motifs = spec.bins.motifs, usual = bin_model_spec().bins.motifs;
    if (!spec.row().reads_tokens() && shape.config.has_profile() && motifs != 0 && motifs != usual)
        throw ConfigError("--motifs has no effect with bins of " + std::to_string(shape.grid.bin) +
                          " bp: it is for longer ones, in which motifs are found");
    const std::optional<std::string> metric = bins_metric(*bins);
    RunPlan plan;
    plan.info = task_info_of(*examples);
    std::int64_t usable = 0;
    if (by_epochs || numbers) {
        const BinWindows train(*bins, shape.grid, examples::Split::train, threads);
        usable = train.usable();
        if (numbers) {
            const std::vector<double> means = mean_numbers(train);
            plan.info.standardisation = Standardisation{std::vector<double>(means.size(), 0), means};
        }
    }
    plan.loop =
        finetune_loop(spec, spec.rate_over(usable, spec.batch_size * shape.grid.window_bins), metric, speaks);
    plan.loop.fixed_options = fixed_options(spec, shape, plan.loop, numbers);
    plan.info.architecture = spec.architecture;
    const std::int64_t bases = shape.grid.window_bases();
    plan.info.window = {-(bases / 2), bases - bases / 2};
    plan.card = facts_of(*examples);
    plan.card.reads = "each bin of " + std::to_string(shape.grid.bin) + " bases";
    plan.averaging = spec.bins.averaging;
    plan.make = [=, &spec](const Job& job) -> NetworkAndData {
        const std::shared_ptr<BinNetwork> network = new_network(spec, shape, bins->label_table().size(), job);
        BinsSpec of_bins = spec.bins;
        of_bins.motif_file = spec.output / motif_file;
        // A copied trunk already has motifs; in bins shorter than a position there are none to find.
        if (!spec.row().reads_tokens() && (!spec.pretrained.empty() || shape.config.has_profile()))
            of_bins.motifs = 0;
        const auto teacher = spec.bins.teacher.empty()
                                 ? nullptr
                                 : std::make_shared<Teacher>(spec.bins.teacher, *examples, *bins);
        return {network, std::make_unique<BinData>(network, *bins, spec, of_bins, job.threads, teacher)};
    };
    return plan;
}

}  // namespace bigbird::tasks
