// SPDX-License-Identifier: Apache-2.0
#include "bigbird/pretraining/memory_advice.hpp"

#include "bigbird/core/log.hpp"

#include <algorithm>
#include <cmath>

namespace bigbird::pretraining {

namespace {

constexpr double clearly_less = 0.75;  // share of the need that did not fit, independent of the free memory
constexpr double gigabyte = 1e9;

double need(const PretrainRun& spec, const MemoryLoad& load) {
    return memory_needed(spec.config, load).total();
}

/// The greatest number of sequences, up to the load's, that fits; 0: none.
std::int64_t fitting_sequences(const PretrainRun& spec, MemoryLoad load, double bytes) {
    std::int64_t fits = 0, too_many = load.sequences + 1;
    while (too_many - fits > 1) {
        load.sequences = fits + (too_many - fits) / 2;
        (need(spec, load) <= bytes ? fits : too_many) = load.sequences;
    }
    return fits;
}

std::string in_gigabytes(double bytes) {
    return fmt::format("{:.2f} GB", bytes / gigabyte);
}

/// The mildest change that fits into `bytes`.
std::string what_fits(const PretrainRun& spec, const MemoryLoad& now, double bytes) {
    MemoryLoad load = now;
    if ((load.sequences = fitting_sequences(spec, now, bytes)) > 0) {
        return fmt::format("--micro-batch-size {} needs about {}, the result is the same", load.sequences,
                           in_gigabytes(need(spec, load)));
    }
    load = now;
    load.recompute = true;
    if ((load.sequences = fitting_sequences(spec, load, bytes)) > 0) {
        return fmt::format("--recompute on --micro-batch-size {} needs about {}, the result is the same",
                           load.sequences, in_gigabytes(need(spec, load)));
    }
    load.sequences = 1;
    const std::int64_t block = spec.config.pattern.block_size;
    for (load.length = now.length / 2 / block * block; load.length > 0;
         load.length = load.length / 2 / block * block) {
        if (need(spec, load) <= bytes) {
            return fmt::format("--recompute on --micro-batch-size 1 --sequence-length {} needs about {}",
                               load.length, in_gigabytes(need(spec, load)));
        }
    }
    return fmt::format("weights, gradients and moments alone take {}: a smaller --config is needed",
                       in_gigabytes(memory_needed(spec.config, now).state));
}

}  // namespace

MemoryLoad memory_load(const PretrainRun& spec) {
    const std::int64_t length = padded_length(spec);
    const std::int64_t ranks = spec.task.ranks ? spec.task.ranks->size() : 1;
    const std::int64_t own = (spec.task.batch_size + ranks - 1) / ranks;
    return {.sequences = std::clamp<std::int64_t>(spec.task.micro_batch_tokens / length, 1, own),
            .length = length,
            .masked_share = spec.examples.masking.rate,
            .bf16 = spec.task.compute == training::ComputeType::bf16,
            .recompute = spec.task.recompute,
            .on_cpu = spec.task.device.is_cpu(),
            .several_ranks = ranks > 1};
}

std::string memory_advice(const PretrainRun& spec, double bytes) {
    const MemoryLoad now = memory_load(spec);
    const double needed = need(spec, now);
    return fmt::format("{} sequences of {} tokens at once need about {}{}; {}", now.sequences, now.length,
                       in_gigabytes(needed),
                       std::isfinite(bytes) ? ", and " + in_gigabytes(bytes) + " were free" : "",
                       what_fits(spec, now, std::min(bytes, clearly_less * needed)));
}

std::optional<std::string> memory_warning(const PretrainRun& spec, double bytes) {
    return need(spec, memory_load(spec)) > bytes ? std::optional(memory_advice(spec, bytes)) : std::nullopt;
}

}  // namespace bigbird::pretraining
