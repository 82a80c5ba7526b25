// SPDX-License-Identifier: Apache-2.0
#include "bigbird/task_models/network/job.hpp"

#include "support/testing.hpp"

#include "bigbird/core/error.hpp"

using namespace bigbird;
using namespace bigbird::task_models;

DOCTEST_TEST_CASE("job: type and attention from their words") {
    const ComputeOptions computing = parse_compute_options("bf16", "blocked", at::kCPU);
    DOCTEST_CHECK(computing.type == training::ComputeType::bf16);
    DOCTEST_CHECK(computing.attention == attention::Backend::blocked);
    DOCTEST_CHECK(parse_compute_options("auto", "automatic", at::kCPU).type == training::ComputeType::fp32);
    DOCTEST_CHECK_THROWS_AS(parse_compute_options("fp16", "blocked", at::kCPU), ConfigError);
    DOCTEST_CHECK_THROWS_AS(parse_compute_options("fp32", "fast", at::kCPU), ConfigError);
}

DOCTEST_TEST_CASE("job: batches are as large as asked for, else as the device's memory allows") {
    DOCTEST_CHECK(batch_tokens_on(at::kCPU, 300) == 300);
    DOCTEST_CHECK(batch_tokens_on(at::kCPU, 0) == 16'384);
    DOCTEST_CHECK(batch_tokens_on(at::kCUDA, 0) == 262'144);
    DOCTEST_CHECK(batch_tokens_on(at::kCUDA, 0, true) == 131'072);
}

DOCTEST_TEST_CASE("job: what a verb computes with, from its options") {
    const Job job = open_job({.batch_tokens = 300, .device = "cpu", .dtype = "bf16", .threads = 2});
    DOCTEST_CHECK(job.device.is_cpu());
    DOCTEST_CHECK(job.computing.type == training::ComputeType::bf16);
    DOCTEST_CHECK(job.batch_tokens == 300);
    DOCTEST_CHECK(job.threads == 2);
}
