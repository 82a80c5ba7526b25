// SPDX-License-Identifier: Apache-2.0
#include "commands/pretrain.hpp"
#include "options/pretrain_inputs.hpp"

#include "bigbird/core/log.hpp"
#include "bigbird/core/parallel.hpp"
#include "bigbird/model/device.hpp"

namespace bigbird::cli {

int run_pretrain(const PretrainOptions& options) {
    train::PretrainSpec spec = pretrain_spec(options);
    PretrainInputs inputs(options);
    spec.loop.fixed_options = inputs.fixed_options();
    spec.task.device = model::open_device(options.device);
    spec.task.compute = train::parse_compute_type(options.dtype, spec.task.device);
    spec.task.micro_batch_tokens = train::micro_batch_tokens(options.micro_batch_size, spec);
    const int threads = resolve_threads(options.threads);
    model::set_compute_threads(threads);
    const train::LoopResult result =
        train::pretrain(spec, inputs.tokenizer(), inputs.corpora(threads), options.run.output);
    log_info("{}: the pretrained model", result.model.string());
    return 0;
}

}  // namespace bigbird::cli
