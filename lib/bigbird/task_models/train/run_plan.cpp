// SPDX-License-Identifier: Apache-2.0
#include "bigbird/task_models/train/run_plan.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/formats/checksum.hpp"
#include "bigbird/core/log.hpp"
#include "bigbird/model/model_directory.hpp"
#include "bigbird/model/weights.hpp"
#include "bigbird/task_models/train/finetune.hpp"

#include <sstream>

namespace bigbird::task_models {
namespace fs = std::filesystem;

namespace {

constexpr std::int64_t evaluations_a_run = 10;

std::int64_t steps_between_evaluations(std::int64_t given, std::int64_t steps) {
    if (given > 0) return given;
    return given == 0 ? steps : (steps + evaluations_a_run - 1) / evaluations_a_run;
}

}  // namespace

training::LoopSpec finetune_loop(const FinetuneSpec& spec, const training::LearningRateSpec& rate,
                                 const std::optional<std::string>& metric, bool speaks) {
    training::LoopSpec loop;
    loop.run = spec.run;
    loop.learning_rate = rate;
    loop.optimizer = spec.optimizer;
    if (metric) {
        loop.evaluate_every = steps_between_evaluations(spec.evaluate_every, rate.total_steps);
        loop.selection = training::Selection{
            .metric = *metric, .higher_is_better = *metric != "eval_loss", .patience = spec.waits_for()};
    } else if (speaks) {
        log_info("the examples have no validation rows: all {} are run, and the last step's model is kept",
                 spec.length());
    }
    loop.free_options = spec.run.settings();
    loop.free_options["--attention"] = spec.attention;
    return loop;
}

std::optional<std::string> still_improving(const FinetuneSpec& spec, const training::LoopResult& result) {
    const bool compared = steps_between_evaluations(spec.evaluate_every, result.steps) < result.steps;
    if (result.finished_before || !compared || result.best_step != result.steps) return std::nullopt;
    FinetuneSpec longer = spec;
    longer.epochs *= 2;
    longer.learning_rate.total_steps *= 2;
    const std::string length = longer.length();
    const std::size_t blank = length.find(' ');
    return "still improving: train longer, for instance --" + length.substr(blank + 1) + " " +
           length.substr(0, blank) + " with another --output";
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
    if (!spec.is_bigbird()) return options;
    options["--model"] = "sha256:" + model::weights_checksum(pretrained);
    options["--head"] = spec.head;
    options["--dropout"] = spec.dropout ? Json(*spec.dropout) : Json(nullptr);
    if (spec.random_weights) options["--random-weights"] = true;
    return options;
}

Json chosen_options(const Json& options, const std::string& names) {
    Json chosen = Json::object();
    std::istringstream words(names);
    for (std::string name; words >> name;)
        if (options.contains(name)) chosen[name] = options[name];
    return chosen;
}

std::shared_ptr<const examples::ExampleSet> load_examples(const FinetuneSpec& spec) {
    auto examples = std::make_shared<examples::ExampleSet>(examples::ExampleSet::load(spec.examples));
    if (examples->task() == spec.task) return examples;
    const std::string own(to_string(examples->task()));
    throw InputError("holds " + own + " examples; use finetune-" + own, spec.examples);
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
    return spec.random_weights ? model::untrained_classifier(config, spec.seed, device)
                               : model::classifier_from_pretrained(pretrained, config, spec.seed, device);
}

}  // namespace bigbird::task_models
