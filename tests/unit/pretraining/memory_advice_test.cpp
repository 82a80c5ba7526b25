// SPDX-License-Identifier: Apache-2.0
#include "bigbird/pretraining/memory_advice.hpp"

#include "support/testing.hpp"

#include <limits>

using namespace bigbird;
using namespace bigbird::training;
using namespace bigbird::pretraining;

namespace {

/// The small preset with a vocabulary of 4,096, eight sequences of 1,024 tokens at once.
PretrainRun small_run() {
    PretrainRun spec;
    spec.config = model::preset("small");
    spec.config.vocab_size = 4096;
    spec.examples.sequence_length = 1000;
    spec.task.batch_size = 16;
    spec.task.micro_batch_tokens = 8192;
    return spec;
}

bool contains(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

}  // namespace

DOCTEST_TEST_CASE("memory_advice: the mildest change that fits is named") {
    const PretrainRun spec = small_run();
    DOCTEST_CHECK(memory_load(spec).sequences == 8);
    DOCTEST_CHECK(memory_load(spec).length == 1024);
    DOCTEST_CHECK_FALSE(memory_warning(spec, std::numeric_limits<double>::infinity()));
    DOCTEST_CHECK_FALSE(memory_warning(spec, 1.2e9));
    const std::string advice = memory_warning(spec, 0.8e9).value_or("");
    DOCTEST_CHECK(contains(advice, "8 sequences of 1024 tokens at once need about 1.0"));
    DOCTEST_CHECK(contains(advice, "and 0.80 GB were free; --micro-batch-size 5 needs about 0.7"));
    DOCTEST_CHECK(
        contains(memory_advice(spec, 0.325e9), "; --recompute on --micro-batch-size 1 needs about"));
    DOCTEST_CHECK(contains(memory_advice(spec, 0.285e9), "--micro-batch-size 1 --sequence-length "));
    DOCTEST_CHECK(contains(memory_advice(spec, 0.1e9), "weights, gradients and moments alone take 0.0"));
}

DOCTEST_TEST_CASE("memory_advice: on a GPU the largest --micro-batch-size that fits is named") {
    PretrainRun spec = small_run();
    spec.task.device = at::Device(at::kCUDA, 0);
    spec.task.compute = ComputeType::bf16;
    spec.task.batch_size = 256;
    spec.task.micro_batch_tokens = 256 * 1024;
    MemoryLoad load = memory_load(spec);
    DOCTEST_CHECK_FALSE(load.on_cpu);
    DOCTEST_CHECK(load.sequences == 256);
    for (const double bytes : {2e9, 3e9, 5e9}) {
        for (load.sequences = 1; memory_needed(spec.config, load).total() <= bytes;)
            ++load.sequences;
        DOCTEST_CHECK(load.sequences > 2);
        DOCTEST_CHECK(
            contains(memory_warning(spec, bytes).value_or(""),
                     "; --micro-batch-size " + std::to_string(load.sequences - 1) + " needs about"));
    }
}

DOCTEST_TEST_CASE("memory_advice: what failed though it was counted to fit is made clearly smaller") {
    const PretrainRun spec = small_run();
    DOCTEST_CHECK(contains(memory_advice(spec, 64e9), "; --micro-batch-size 5 needs about"));
}
