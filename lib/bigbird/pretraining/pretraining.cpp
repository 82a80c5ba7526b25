// SPDX-License-Identifier: Apache-2.0
#include "bigbird/pretraining/pretraining.hpp"

#include "bigbird/core/parallel.hpp"
#include "bigbird/model/device/device.hpp"
#include "bigbird/pretraining/initial_model.hpp"
#include "bigbird/training/device/autocast.hpp"
#include "bigbird/training/ranks/rank_spec.hpp"

#include <utility>

namespace bigbird::pretraining {

namespace {

model::BigBirdConfig untrained_configuration(const PretrainSpec& spec) {
    model::BigBirdConfig config = read_configuration(spec.config);
    config.hidden_dropout_prob = spec.dropout.value();
    config.pattern.random_seed = spec.seed;
    // [CLS] reads the entire sequence, as in transformers' classifiers.
    if (config.longformer && !config.longformer->global_tokens) config.longformer->global_tokens = 1;
    return config;
}

}  // namespace

PretrainRun run_of(const PretrainSpec& open) {
    const PretrainSpec spec = open.with_defaults();
    PretrainRun run;
    run.config = spec.model.empty() ? untrained_configuration(spec) : configuration_from_model(open);
    run.model = spec.model;
    run.examples = spec.examples;
    run.examples.seed = spec.seed;
    static_cast<MlmSpec&>(run.task) = spec;
    run.epochs = spec.epochs;
    run.yes = spec.yes;
    run.loop.run = spec.run;
    run.loop.learning_rate = spec.learning_rate;
    run.loop.optimizer = spec.optimizer;
    run.loop.evaluate_every = spec.corpora.holds_out() ? spec.evaluate_every : 0;
    run.loop.free_options = spec.run.settings();
    run.loop.free_options["--recompute"] = spec.recompute ? "on" : "off";
    run.loop.free_options["--attention"] = spec.attention;
    run.loop.free_options["--micro-batch-size"] = spec.micro_batch_size;
    return run;
}

Pretraining::Pretraining(PretrainSpec spec)
    : spec_(spec.model.empty() ? std::move(spec) : with_model_folder(std::move(spec))),
      run_(run_of(spec_)),
      corpora_(spec_.corpora, spec_.seed),
      threads_(resolve_threads(spec_.threads)) {
    require_vocabulary(spec_.config, corpora_.tokenizer());
    if (!spec_.model.empty()) require_tokenizer_of(spec_.model, corpora_.tokenizer());
    run_.loop.fixed_options = corpora_.fixed_options();
}

void Pretraining::set_up(const training::RankSpec& rank) {
    MlmTaskSpec& task = run_.task;
    model::set_compute_threads(rank.share_of(threads_));
    task.device = model::open_device(training::device_of(rank, spec_.device));
    task.attention = model::usable_attention(spec_.attention, task.device);
    task.compute = training::parse_compute_type(spec_.dtype, task.device);
    if (task.recompute && task.device.is_cpu()) training::keep_little_memory();
    task.micro_batch_tokens = micro_batch_tokens(spec_.micro_batch_size, run_);
}

Json Pretraining::plan(const training::RankSpec& rank) {
    set_up(rank);
    return plan_pretraining(run_, corpora_.tokenizer(), corpora_.on_demand({}, threads_));
}

training::LoopResult Pretraining::train(const training::RankSpec& rank) {
    set_up(rank);
    run_.task.ranks = std::make_shared<training::Ranks>(rank, run_.task.device);
    return pretrain(run_, corpora_.tokenizer(), corpora_.on_demand(run_.task.ranks, threads_), spec_.output);
}

}  // namespace bigbird::pretraining
