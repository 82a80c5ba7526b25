// SPDX-License-Identifier: Apache-2.0
#include "bigbird/finetuning/finetune.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/formats/checksum.hpp"
#include "bigbird/core/log.hpp"
#include "bigbird/core/parallel.hpp"
#include "bigbird/core/words.hpp"
#include "bigbird/finetuning/run_plan.hpp"
#include "bigbird/finetuning/train_task.hpp"
#include "bigbird/model/adapter.hpp"
#include "bigbird/model/device/device.hpp"
#include "bigbird/model/model_directory.hpp"
#include "bigbird/model/weights.hpp"
#include "bigbird/training/device/autocast.hpp"

#include <algorithm>
#include <sstream>

namespace bigbird::tasks {
namespace fs = std::filesystem;

namespace {

constexpr std::int64_t evaluations_per_run = 10;

std::int64_t steps_between_evaluations(std::int64_t given, std::int64_t steps) {
    if (given > 0) return given;
    return given == 0 ? steps : (steps + evaluations_per_run - 1) / evaluations_per_run;
}

}  // namespace

std::string kept_by(const std::string& metric) {
    return metric == "eval_loss" ? "the lowest loss on validation"
                                 : "the highest AUROC on validation (of equal ones, the lowest loss)";
}

std::string metric_for(std::span<const std::int64_t> ones, std::int64_t rows) {
    std::int64_t positives = 0;
    for (const std::int64_t count : ones)
        positives += std::min(count, rows - count);
    return positives < few_positives ? "eval_loss" : "eval_auroc";
}

training::LoopSpec finetune_loop(const FinetuneSpec& spec, const training::LearningRateSpec& rate,
                                 const std::optional<std::string>& metric, bool speaks) {
    training::LoopSpec loop;
    loop.run = spec.run;
    loop.learning_rate = rate;
    if (rate.peak == 0)
        loop.learning_rate.peak =
            spec.peak_of(model::read_config(training::find_model(spec.pretrained)).hidden_size);
    loop.optimizer = spec.optimizer;
    if (metric) {
        loop.evaluate_every = steps_between_evaluations(spec.evaluate_every, rate.total_steps);
        loop.selection = training::Selection{
            .metric = *metric, .higher_is_better = *metric != "eval_loss", .patience = spec.waits_for()};
        if (speaks && !spec.row().is_solved()) log_info("kept is the step with {}", kept_by(*metric));
    } else if (speaks && spec.row().is_solved()) {
        log_info(
            "the examples have no validation rows: the penalty is the usual one, scores are not calibrated");
    } else if (speaks) {
        log_info(
            "the examples have no validation rows: training goes on for {} and keeps the last step's model",
            spec.length());
    }
    loop.free_options = spec.run.settings();
    loop.free_options["--attention"] = "automatic";
    return loop;
}

std::optional<std::string> still_improving(const FinetuneSpec& spec, const training::LoopResult& result) {
    const bool compared = steps_between_evaluations(spec.evaluate_every, result.steps) < result.steps;
    if (result.finished_before || !compared || result.best_step != result.steps) return std::nullopt;
    return fmt::format("still improving: the same command with --steps {} goes on from here",
                       2 * result.steps);
}

Json run_options(const FinetuneSpec& spec, const training::LoopSpec& loop, const fs::path& pretrained) {
    Json options{{"--architecture", spec.architecture},
                 {"--steps", loop.learning_rate.total_steps},
                 {"--batch-size", spec.batch_size},
                 {"--learning-rate", loop.learning_rate.peak},
                 {"--warmup-steps", loop.learning_rate.warmup_steps},
                 {"--schedule", word_of(training::decays, loop.learning_rate.decay)},
                 {"--betas", {loop.optimizer.beta1, loop.optimizer.beta2}},
                 {"--epsilon", loop.optimizer.epsilon},
                 {"--weight-decay", loop.optimizer.weight_decay},
                 {"--clip-norm", loop.optimizer.clip_norm},
                 {"--positive-weight", spec.positive_weight ? Json(*spec.positive_weight) : Json("balanced")},
                 {"--strand-augmentation", spec.both_strands ? "reverse-complement" : "none"},
                 {"--evaluate-every", loop.evaluate_every},
                 {"--patience", spec.waits_for()},
                 {"--dtype", spec.dtype},
                 {"--seed", spec.seed}};
    if (!spec.calibrates) options["--calibration"] = "none";
    if (!spec.examples.empty())  // the manifest holds the checksums of all files
        options["--examples"] = "sha256:" + sha256_of_file(spec.examples / "manifest.json");
    if (!spec.row().reads_tokens()) return options;
    options["--model"] = "sha256:" + model::weights_checksum(pretrained);
    options["--head"] = spec.head;
    options["--dropout"] = spec.dropout ? Json(*spec.dropout) : Json(nullptr);
    if (spec.random_weights) options["--random-weights"] = true;
    if (spec.lora.rank > 0) {
        options["--lora"] = spec.lora.rank;
        options["--lora-alpha"] = spec.lora.alpha_or_default();
        options["--lora-dropout"] = spec.lora.dropout;
    }
    return options;
}

Json chosen_options(const Json& options, const std::string& names) {
    Json chosen = Json::object();
    std::istringstream words(names);
    for (std::string name; words >> name;)
        if (options.contains(name)) chosen[name] = options[name];
    return chosen;
}

namespace {

/// Warns of labels and numbers that are the same in all rows of train.
void warn_of_constants(const examples::ExampleSet& examples) {
    const std::vector<std::int64_t> rows = examples.rows(examples::Split::train);
    if (rows.empty()) return;
    const auto value = [&](std::int64_t row, std::size_t column) {
        return examples.target() == examples::TargetKind::numbers
                   ? examples.numbers(row)[column]
                   : static_cast<float>(examples.label(row, column));
    };
    std::vector<std::string> same;
    for (std::size_t i = 0; i < examples.label_table().size(); ++i)
        if (std::ranges::all_of(rows, [&, first = value(rows.front(), i)](std::int64_t row) {
                return value(row, i) == first;
            }))
            same.push_back(examples.label_table()[i].name);
    if (!same.empty()) {
        log_warning("nothing can be learned of what is the same in all {} of train: {}",
                    counted(rows.size(), "row"), listed(same, ""));
    }
}

}  // namespace

std::shared_ptr<const examples::ExampleSet> load_examples(const FinetuneSpec& spec) {
    auto examples = std::make_shared<examples::ExampleSet>(examples::ExampleSet::load(spec.examples));
    if (examples->task() == spec.task) {
        warn_of_constants(*examples);
        return examples;
    }
    const std::string own(to_string(examples->task()));
    throw InputError("holds " + own + " examples; use finetune-" + own, spec.examples);
}

std::optional<std::string> metric_of(const examples::ExampleSet& examples) {
    const std::vector<std::int64_t> rows = examples.rows(examples::Split::validation);
    if (rows.empty()) return std::nullopt;
    if (examples.target() == examples::TargetKind::numbers) return "eval_loss";
    std::vector<std::uint8_t> row(examples.label_table().size());
    std::vector<std::int64_t> ones(row.size());
    for (const std::int64_t index : rows) {
        examples.copy_labels(index, row);
        for (std::size_t label = 0; label < row.size(); ++label)
            ones[label] += row[label];
    }
    return metric_for(ones, std::ssize(rows));
}

model::BigBirdConfig classifier_config(const FinetuneSpec& spec, const fs::path& pretrained,
                                       std::size_t labels) {
    model::BigBirdConfig config = model::read_config(pretrained);
    config.num_labels = static_cast<std::int64_t>(labels);
    config.classifier_head = spec.head;
    if (spec.dropout) {
        config.hidden_dropout_prob = *spec.dropout;
        config.classifier_dropout = *spec.dropout;
    }
    config.validate();
    return config;
}

model::SequenceClassifier starting_classifier(const FinetuneSpec& spec, const model::BigBirdConfig& config,
                                              const fs::path& pretrained, const at::Device& device) {
    model::SequenceClassifier classifier =
        spec.random_weights ? model::untrained_classifier(config, spec.seed, device)
                            : model::classifier_from_pretrained(pretrained, config, spec.seed, device);
    if (spec.lora.rank > 0) model::add_adapters(*classifier, lora_of(spec.lora), spec.seed);
    return classifier;
}

training::LoopResult carry_out(const FinetuneSpec& spec, const training::RankSpec& rank, int threads,
                               RunPlan plan) {
    training::LoopSpec& loop = plan.loop;
    plan.info.training = plan.card.options = loop.fixed_options;
    plan.card.architecture = plan.info.architecture;
    if (loop.selection && !plan.solve) plan.card.chosen_by = kept_by(loop.selection->metric);
    loop.card = [&](const training::TrainedModel& model) {
        return model::to_text(task_card(plan.card, model));
    };
    if (const auto finished = training::finished_run(spec.output, loop)) return *finished;
    model::set_compute_threads(threads);
    if (plan.solve) return training::solve_run(loop, spec.output, [&] { return plan.solve(threads); });
    const at::Device device = model::open_device(training::device_of(rank, spec.device));
    loop.ranks = std::make_shared<training::Ranks>(rank, device);
    const Job job{device, parse_compute_options(spec.dtype, device), spec.batch_tokens, threads};
    loop.compute = job.computing.type;
    if (spec.lora.rank > 0 && device.is_cpu()) training::keep_little_memory();
    auto [network, data] = plan.make(job);
    TrainTask task(network, std::move(data), plan.info, spec, plan.averaging, threads, loop.ranks);
    if (rank.is_first()) task.data().say(*network, loop.learning_rate.total_steps, spec.batch_size);
    return training::run_training(task, loop, spec.output);
}

namespace {

RunPlan plan_of(const FinetuneSpec& spec, int threads, bool speaks) {
    const Architecture& row = spec.row();
    if (row.scores_bins()) return plan_bins(spec, threads, speaks);
    if (row.scores == Scores::bases) return plan_bases(spec, threads, speaks);
    // Windows of bins with numbers are sequences for regression on k-mers.
    const bool records = traits_of(spec.task).has_records ||
                         (row.scores == Scores::windows_or_records &&
                          row.reads_records(spec.task, examples::ExampleSet::load(spec.examples).target()));
    return records ? plan_sequences(spec, speaks) : plan_windows(spec, speaks);
}

}  // namespace

training::LoopResult finetune(const FinetuneSpec& spec, const training::RankSpec& rank) {
    spec.validate();
    if (rank.size > 1 && spec.row().training != Training::steps) {
        throw ConfigError("--processes: " + spec.architecture + " is " +
                          (spec.row().is_solved() ? "solved" : "trained") + " by one process");
    }
    if (!spec.pretrained.empty()) refuse_profiles(spec.pretrained, "finetune");
    const int threads = rank.share_of(resolve_threads(spec.threads));
    FinetuneSpec own = spec;
    own.lora.base = spec.pretrained.string();
    return carry_out(own, rank, threads, plan_of(own, threads, rank.is_first()));
}

}  // namespace bigbird::tasks
