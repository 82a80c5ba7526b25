// SPDX-License-Identifier: Apache-2.0
#include "commands/pretrain.hpp"
#include "options/pretrain_inputs.hpp"
#include "options/ranks_option.hpp"
#include "support/launch.hpp"

#include "bigbird/core/log.hpp"
#include "bigbird/core/parallel.hpp"
#include "bigbird/model/device/device.hpp"
#include "bigbird/model/device/usable_attention.hpp"
#include "bigbird/training/device/memory.hpp"

#include <cstdio>

namespace bigbird::cli {

namespace {

void print_plan(const pretraining::PretrainSpec& spec, PretrainInputs& inputs, int threads) {
    const Json plan = pretraining::plan_pretraining(spec, inputs.tokenizer(), inputs.corpora({}, threads));
    for (const std::string& line : pretraining::plan_lines(plan)) {
        std::puts(line.c_str());
    }
}

}  // namespace

int run_pretrain(const PretrainOptions& options) {
    if (launches_processes(options.processes)) {
        return launch_processes(options.processes);
    }
    pretraining::PretrainSpec spec = pretrain_spec(options);
    PretrainInputs inputs(options);
    pretraining::require_vocabulary(options.config, inputs.tokenizer());
    spec.loop.fixed_options = inputs.fixed_options();
    const training::RankSpec place = place_of_this_process(options.processes);
    const int threads = resolve_threads(options.threads);  // of all processes that share processors
    model::set_compute_threads(place.share_of(threads));
    spec.task.device = model::open_device(device_of(place, options.device));
    spec.task.attention = model::usable_attention(options.attention, spec.task.device);
    spec.task.compute = training::parse_compute_type(options.dtype, spec.task.device);
    if (spec.task.recompute && spec.task.device.is_cpu()) {
        training::keep_little_memory();
    }
    spec.task.micro_batch_tokens = pretraining::micro_batch_tokens(options.micro_batch_size, spec);
    if (options.dry_run) {
        if (place.is_first()) {
            print_plan(spec, inputs, threads);
        }
        return 0;
    }
    spec.task.ranks = std::make_shared<training::Ranks>(place, spec.task.device);
    const training::LoopResult result = pretraining::pretrain(
        spec, inputs.tokenizer(), inputs.corpora(spec.task.ranks, threads), options.run.output);
    log_info("{}: the pretrained model", result.model.string());
    return 0;
}

}  // namespace bigbird::cli
