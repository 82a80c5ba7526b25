// SPDX-License-Identifier: Apache-2.0
#include "bigbird/task_models/finetune/finetune.hpp"

#include "bigbird/baselines/window/architecture.hpp"
#include "bigbird/core/error.hpp"
#include "bigbird/core/formats/checksum.hpp"
#include "bigbird/core/log.hpp"
#include "bigbird/core/parallel.hpp"
#include "bigbird/model/device/device.hpp"
#include "bigbird/model/model_directory.hpp"
#include "bigbird/model/weights.hpp"
#include "bigbird/task_models/baseline_windows.hpp"
#include "bigbird/task_models/bins_model.hpp"
#include "bigbird/task_models/finetune/finetune_bins.hpp"
#include "bigbird/training/find_model.hpp"
#include "bigbird/training/metrics_log.hpp"
#include "bigbird/training/run_lock.hpp"
#include "bigbird/training/run_start.hpp"

#include <algorithm>
#include <cmath>

namespace bigbird::task_models {
namespace fs = std::filesystem;

namespace {

constexpr std::int64_t cpu_batch_tokens = 16'384, gpu_batch_tokens = 131'072;
constexpr std::int64_t longest_warmup = 10'000;  // the paper's, which would outlast short runs
constexpr std::int64_t evaluations_a_run = 10;
// The loss is a mean over labels, hundreds of them, so gradients are small: those of rare tokens' embeddings
// lie below the 1e-6 of pretraining, which would hold them back.
constexpr double adam_epsilon = 1e-8;

examples::ExampleSet load_examples(const FinetuneSpec& spec) {
    examples::ExampleSet examples = examples::ExampleSet::load(spec.examples);
    if (examples.task() != spec.task) {
        throw InputError("holds " + std::string(to_string(examples.task())) + " examples; use finetune-" +
                             std::string(to_string(examples.task())),
                         spec.examples);
    }
    return examples;
}

bool is_bigbird(const FinetuneSpec& spec) {
    return spec.architecture == "bigbird";
}

/// Throws ConfigError where options do not belong together.
void check_spec(const FinetuneSpec& spec) {
    if (is_bigbird(spec)) {
        if (spec.pretrained.empty()) {
            throw ConfigError(
                "--model is needed: the pretrained model to start from (--architecture bigbird)");
        }
        return;
    }
    baselines::require_architecture(spec.architecture);
    if (!spec.pretrained.empty()) {
        throw ConfigError("--model is for --architecture bigbird: " + spec.architecture +
                          " starts from nothing");
    }
    if (spec.place.size > 1 && !baselines::is_network(spec.architecture)) {
        throw ConfigError("--processes: " + spec.architecture + " is solved by one process");
    }
}

rows::WindowBounds window_of(const FinetuneSpec& spec, const examples::ExampleSet& examples) {
    rows::WindowBounds window = examples.bounds(), published;
    const bool own =
        !is_bigbird(spec) && baselines::published_window(spec.architecture, published.begin, published.end);
    if (spec.window) {
        window = *spec.window;
    } else if (own) {
        window = published;
    }
    if (window.begin < examples.bounds().begin || window.end > examples.bounds().end) {
        throw ConfigError("--window " + to_string(window) +
                          (spec.window ? std::string() : " of " + spec.architecture) +
                          " is not inside the examples' windows, " + to_string(examples.bounds()));
    }
    return window;
}

/// Positives and negatives of at least one label among the rows of validation.
bool has_auroc(const examples::ExampleSet& examples) {
    std::vector<std::uint8_t> row(examples.label_table().size()), some = row, all(row.size(), 1);
    for (const std::int64_t index : examples.rows(examples::Split::validation)) {
        examples.copy_labels(index, row);
        for (std::size_t label = 0; label < row.size(); ++label) {
            some[label] |= row[label];
            all[label] &= row[label];
        }
    }
    return some != all;
}

std::int64_t total_steps(const FinetuneSpec& spec, std::int64_t windows) {
    if (spec.steps > 0) return spec.steps;
    const double steps =
        std::ceil(spec.epochs * static_cast<double>(windows) / static_cast<double>(spec.batch_size));
    return std::max<std::int64_t>(1, static_cast<std::int64_t>(steps));
}

Json positive_weight_json(const FinetuneSpec& spec) {
    return spec.positive_weight ? Json(*spec.positive_weight) : Json("balanced");
}

/// What changes a linear baseline.
Json linear_options(const FinetuneSpec& spec) {
    Json options = {{"--kmer-length", spec.linear.word},
                    {"--informative-positions", spec.linear.informative}};
    if (spec.architecture == "gkm-svm") {
        options["--cost"] = spec.linear.cost;
        options["--most-windows"] = spec.linear.most_windows;
        options["--positive-weight"] = positive_weight_json(spec);
        options["--seed"] = spec.seed;
    } else {
        options["--penalty"] = spec.linear.penalty;
    }
    return options;
}

training::LoopSpec loop_spec(const FinetuneSpec& spec, const examples::ExampleSet& examples,
                             const rows::WindowBounds& window, const fs::path& pretrained) {
    training::LoopSpec loop = spec.loop;
    const auto windows = static_cast<std::int64_t>(examples.rows(examples::Split::train).size());
    const std::int64_t steps = total_steps(spec, windows);
    loop.optimizer.epsilon = adam_epsilon;
    loop.learning_rate.peak = spec.learning_rate;
    loop.learning_rate.total_steps = steps;
    loop.learning_rate.warmup_steps =
        spec.warmup_steps >= 0 ? spec.warmup_steps : std::min(longest_warmup, steps / 10);
    const bool validates = !examples.rows(examples::Split::validation).empty();
    if (validates) {
        loop.evaluate_every = spec.evaluate_every > 0 ? spec.evaluate_every
                              : spec.evaluate_every == 0
                                  ? steps
                                  : (steps + evaluations_a_run - 1) / evaluations_a_run;
        const bool by_auroc = has_auroc(examples);
        loop.selection = training::Selection{.metric = by_auroc ? "eval_auroc" : "eval_loss",
                                             .higher_is_better = by_auroc,
                                             .patience = spec.patience};
    } else if (spec.place.is_first()) {
        log_info("the examples have no rows for validation: the last step's model is kept");
    }
    loop.fixed_options = Json{{"--examples", "sha256:" + sha256_of_file(spec.examples / "manifest.json")},
                              {"--architecture", spec.architecture},
                              {"--window", to_string(window)},
                              {"--steps", steps},
                              {"--batch-size", spec.batch_size},
                              {"--learning-rate", spec.learning_rate},
                              {"--warmup-steps", loop.learning_rate.warmup_steps},
                              {"--decay", to_string(loop.learning_rate.decay)},
                              {"--weight-decay", loop.optimizer.weight_decay},
                              {"--clip-norm", loop.optimizer.clip_norm},
                              {"--positive-weight", positive_weight_json(spec)},
                              {"--sampling", to_string(spec.sampling)},
                              {"--strand-augmentation", spec.both_strands ? "reverse-complement" : "none"},
                              {"--evaluate-every", loop.evaluate_every},
                              {"--patience", spec.patience},
                              {"--seed", spec.seed}};
    const training::OptimizerSpec usual;
    if (loop.optimizer.beta1 != usual.beta1 || loop.optimizer.beta2 != usual.beta2) {
        loop.fixed_options["--betas"] = {loop.optimizer.beta1, loop.optimizer.beta2};
    }
    if (is_bigbird(spec)) {
        loop.fixed_options["--model"] = "sha256:" + model::weights_checksum(pretrained);
        loop.fixed_options["--head"] = spec.head;
        loop.fixed_options["--pooling"] = to_string(spec.pooling);
        loop.fixed_options["--dropout"] = spec.dropout ? Json(*spec.dropout) : Json(nullptr);
        loop.fixed_options["--dtype"] = spec.dtype;
    } else if (!baselines::is_network(spec.architecture)) {
        loop.fixed_options = {{"--examples", loop.fixed_options["--examples"]},
                              {"--architecture", spec.architecture},
                              {"--window", to_string(window)}};
        loop.fixed_options.update(linear_options(spec));
    }
    return loop;
}

TaskInfo task_info(const FinetuneSpec& spec, const examples::ExampleSet& examples,
                   const rows::WindowBounds& window, const training::LoopSpec& loop) {
    TaskInfo info = task_info_of(examples);
    info.architecture = spec.architecture;
    info.window = window;
    info.pooling = spec.pooling;
    info.training = loop.fixed_options;
    return info;
}

std::shared_ptr<WindowNetwork> pretrained_network(const FinetuneSpec& spec, const TaskInfo& info,
                                                  std::int64_t labels, const fs::path& pretrained,
                                                  const at::Device& device) {
    model::BigBirdConfig config = model::read_config(pretrained);
    config.num_labels = labels;
    config.classifier_head = spec.head;
    if (spec.dropout) {
        config.hidden_dropout_prob = *spec.dropout;
        config.classifier_dropout = *spec.dropout;
    }
    config.extra["task_model"] = to_json(info);
    config.validate();
    return bigbird_windows(model::classifier_from_pretrained(pretrained, config, spec.seed, device),
                           model::read_tokenizer(pretrained, config),
                           {.pooling = spec.pooling,
                            .window = info.window,
                            .computing = parse_computing(spec.dtype, spec.attention, device)},
                           device);
}

void say_what_is_trained(const ClassifierTask& task, const FinetuneSpec& spec, const training::LoopSpec& loop,
                         std::size_t labels) {
    const EncodedExamples& windows = task.training();
    const std::int64_t steps = loop.learning_rate.total_steps;
    log_info("{} windows to learn from, {} for validation, {} label{}; {} steps of {} ({:.1f} epochs)",
             windows.size(), task.validation().size(), labels, labels == 1 ? "" : "s", steps, spec.batch_size,
             static_cast<double>(steps * spec.batch_size) / static_cast<double>(windows.size()));
    if (windows.left_out() > 0) log_info("{} windows that are all N were left out", windows.left_out());
    if (windows.truncated() > 0) {
        log_warning(
            "{} of {} windows have more tokens than the model has positions: only their middle is used",
            windows.truncated(), windows.size());
    }
}

/// The run folder of what is solved at once: metrics.jsonl of one line, and model/.
training::LoopResult solve_linear(const FinetuneSpec& spec, TaskInfo info,
                                  const examples::ExampleSet& examples, const training::LoopSpec& loop) {
    const training::RunLock lock(spec.output);
    if (training::start_run(spec.output, loop).finished) {
        return {.finished_before = true, .model = spec.output / "model"};
    }
    const LinearTraining trained = train_linear(info, examples, spec.linear, spec.positive_weight, spec.seed,
                                                resolve_threads(spec.threads));
    training::MetricsLog(spec.output, 0).append(trained.metrics);
    log_info("{}", trained.metrics.dump());
    PendingOutput pending(spec.output / "model", Overwrite::allow, true);
    write_task_model(*trained.network, examples.label_table(), pending.path());
    pending.commit();
    return {.steps = 1, .model = spec.output / "model"};
}

}  // namespace

training::LoopResult finetune(const FinetuneSpec& spec) {
    if (spec.architecture == bins_architecture) return finetune_bins(spec);
    check_spec(spec);
    const examples::ExampleSet examples = load_examples(spec);
    const rows::WindowBounds window = window_of(spec, examples);
    const fs::path pretrained = is_bigbird(spec) ? training::find_model(spec.pretrained) : fs::path();
    training::LoopSpec loop = loop_spec(spec, examples, window, pretrained);
    if (training::run_is_finished(spec.output, loop)) {
        training::LoopResult result;
        result.steps = loop.learning_rate.total_steps;
        result.finished_before = true;
        result.model = spec.output / "model";
        return result;
    }
    const TaskInfo info = task_info(spec, examples, window, loop);
    const int threads = spec.place.share_of(resolve_threads(spec.threads));
    model::set_compute_threads(threads);
    if (!is_bigbird(spec) && !baselines::is_network(spec.architecture)) {
        return solve_linear(spec, info, examples, loop);
    }
    const at::Device device = model::open_device(spec.device);
    const auto labels = static_cast<std::int64_t>(examples.label_table().size());
    loop.ranks = std::make_shared<training::Ranks>(spec.place, device);
    const ClassifierSpec classifier{
        .batch_size = spec.batch_size,
        .positive_weight = spec.positive_weight,
        .sampling = spec.sampling,
        .window = window,
        .both_strands = spec.both_strands,
        .batch_tokens = spec.batch_tokens > 0 ? spec.batch_tokens
                                              : (device.is_cpu() ? cpu_batch_tokens : gpu_batch_tokens),
        .seed = spec.seed,
        .threads = threads,
        .ranks = loop.ranks};
    ClassifierTask task(is_bigbird(spec) ? pretrained_network(spec, info, labels, pretrained, device)
                                         : new_base_network(info, labels, spec.seed, device),
                        examples, classifier);
    // Only where the head sees tokens as they come. [CLS] is nearly the same for all windows behind little
    // pretraining, and so is what a new network gives: at base rates the gradients of labels cancel there,
    // and nothing is learnt for a hundred steps and more (lib/benchmarks.md).
    if (is_bigbird(spec) && spec.pooling != Pooling::cls) {
        task.start_at_base_rates();
    }
    if (spec.place.is_first()) say_what_is_trained(task, spec, loop, examples.label_table().size());
    return training::run_training(task, loop, spec.output);
}

}  // namespace bigbird::task_models
