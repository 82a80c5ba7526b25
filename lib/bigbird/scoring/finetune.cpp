// SPDX-License-Identifier: Apache-2.0
#include "bigbird/scoring/finetune.hpp"

#include "bigbird/core/checksum.hpp"
#include "bigbird/core/error.hpp"
#include "bigbird/core/log.hpp"
#include "bigbird/core/parallel.hpp"
#include "bigbird/model/device.hpp"
#include "bigbird/model/model_directory.hpp"
#include "bigbird/scoring/classifier_task.hpp"
#include "bigbird/scoring/task_model.hpp"
#include "bigbird/train/find_model.hpp"

#include <algorithm>
#include <cmath>

namespace bigbird::scoring {
namespace fs = std::filesystem;

namespace {

constexpr std::int64_t cpu_batch_tokens = 16'384, gpu_batch_tokens = 131'072;
constexpr std::int64_t longest_warmup = 10'000;  // the paper's, which would outlast short runs
constexpr std::int64_t evaluations_a_run = 10;

tasks::ExampleSet load_examples(const FinetuneSpec& spec) {
    tasks::ExampleSet examples = tasks::ExampleSet::load(spec.examples);
    if (examples.task() != spec.task) {
        throw InputError("holds " + std::string(tasks::to_string(examples.task())) +
                             " examples; use finetune-" + std::string(tasks::to_string(examples.task())),
                         spec.examples);
    }
    return examples;
}

/// Positives and negatives of at least one label among the rows of validation.
bool has_auroc(const tasks::ExampleSet& examples) {
    std::vector<std::uint8_t> row(examples.label_table().size()), some = row, all(row.size(), 1);
    for (const std::int64_t index : examples.rows(tasks::Split::validation)) {
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

train::LoopSpec loop_spec(const FinetuneSpec& spec, const tasks::ExampleSet& examples,
                          const fs::path& pretrained) {
    train::LoopSpec loop = spec.loop;
    const auto windows = static_cast<std::int64_t>(examples.rows(tasks::Split::train).size());
    const std::int64_t steps = total_steps(spec, windows);
    loop.learning_rate.peak = spec.learning_rate;
    loop.learning_rate.total_steps = steps;
    loop.learning_rate.warmup_steps =
        spec.warmup_steps >= 0 ? spec.warmup_steps : std::min(longest_warmup, steps / 10);
    const bool validates = !examples.rows(tasks::Split::validation).empty();
    if (validates) {
        loop.evaluate_every = spec.evaluate_every > 0 ? spec.evaluate_every
                              : spec.evaluate_every == 0
                                  ? steps
                                  : (steps + evaluations_a_run - 1) / evaluations_a_run;
        const bool by_auroc = has_auroc(examples);
        loop.selection = train::Selection{.metric = by_auroc ? "eval_auroc" : "eval_loss",
                                          .higher_is_better = by_auroc,
                                          .patience = spec.patience};
    } else {
        log_info("the examples have no rows for validation: the last step's model is kept");
    }
    loop.fixed_options = Json{{"--examples", "sha256:" + sha256_of_file(spec.examples / "manifest.json")},
                              {"--model", "sha256:" + sha256_of_file(pretrained / "model.safetensors")},
                              {"--steps", steps},
                              {"--batch-size", spec.batch_size},
                              {"--learning-rate", spec.learning_rate},
                              {"--warmup-steps", loop.learning_rate.warmup_steps},
                              {"--decay", train::to_string(loop.learning_rate.decay)},
                              {"--weight-decay", loop.optimizer.weight_decay},
                              {"--clip-norm", loop.optimizer.clip_norm},
                              {"--head", spec.head},
                              {"--pooling", to_string(spec.pooling)},
                              {"--dropout", spec.dropout ? Json(*spec.dropout) : Json(nullptr)},
                              {"--positive-weight", spec.positive_weight},
                              {"--strand-augmentation", spec.both_strands ? "reverse-complement" : "none"},
                              {"--evaluate-every", loop.evaluate_every},
                              {"--patience", spec.patience},
                              {"--seed", spec.seed}};
    return loop;
}

model::BigBirdConfig task_config(const FinetuneSpec& spec, const tasks::ExampleSet& examples,
                                 const fs::path& pretrained, const train::LoopSpec& loop) {
    model::BigBirdConfig config = model::read_config(pretrained);
    config.num_labels = static_cast<std::int64_t>(examples.label_table().size());
    config.classifier_head = spec.head;
    if (spec.dropout) {
        config.hidden_dropout_prob = *spec.dropout;
        config.classifier_dropout = *spec.dropout;
    }
    TaskInfo info = task_info_of(examples);
    info.pooling = spec.pooling;
    info.training = loop.fixed_options;
    config.extra["task_model"] = to_json(info);
    config.validate();
    return config;
}

void say_what_is_trained(const ClassifierTask& task, const FinetuneSpec& spec, const train::LoopSpec& loop,
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

}  // namespace

train::LoopResult finetune(const FinetuneSpec& spec) {
    const tasks::ExampleSet examples = load_examples(spec);
    const fs::path pretrained = train::find_model(spec.pretrained);
    const train::LoopSpec loop = loop_spec(spec, examples, pretrained);
    if (train::run_is_finished(spec.output, loop)) {
        train::LoopResult result;
        result.steps = loop.learning_rate.total_steps;
        result.finished_before = true;
        result.model = spec.output / "model";
        return result;
    }
    const int threads = resolve_threads(spec.threads);
    const at::Device device = model::open_device(spec.device);
    model::set_compute_threads(threads);
    const model::BigBirdConfig config = task_config(spec, examples, pretrained, loop);
    const ClassifierSpec classifier{
        .batch_size = spec.batch_size,
        .positive_weight = spec.positive_weight,
        .pooling = spec.pooling,
        .both_strands = spec.both_strands,
        .batch_tokens = spec.batch_tokens > 0 ? spec.batch_tokens
                                              : (device.is_cuda() ? gpu_batch_tokens : cpu_batch_tokens),
        .seed = spec.seed,
        .threads = threads};
    ClassifierTask task(model::classifier_from_pretrained(pretrained, config, spec.seed, device),
                        model::read_tokenizer(pretrained, config), examples, classifier, device);
    say_what_is_trained(task, spec, loop, examples.label_table().size());
    return train::run_training(task, loop, spec.output);
}

}  // namespace bigbird::scoring
