// SPDX-License-Identifier: Apache-2.0
#include "bigbird/model/device/device.hpp"

#include "support/captured_log.hpp"
#include "support/tensors.hpp"
#include "support/testing.hpp"
#include "unit/model/small_model.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/system/processor.hpp"

#include <ATen/ATen.h>
#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <ATen/Version.h>
#include <c10/core/InferenceMode.h>

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

using namespace bigbird::model;
using namespace bigbird;
using bigbird::testing::difference;
using bigbird::testing::identical;
using bigbird::testing::message_of;

DOCTEST_TEST_CASE("device: cpu is there, other words are refused") {
    DOCTEST_CHECK(open_device("cpu").is_cpu());
    for (const char* word : {"gpu", "cuda:", "cuda:x", "cuda:-1", "cuda:1x", ""}) {
        DOCTEST_CHECK(message_of<bigbird::ConfigError>([&] { open_device(word); }) ==
                      "--device must be auto, cpu, cuda or cuda:N, not '" + std::string(word) + "'");
    }
}

DOCTEST_TEST_CASE("device: a GPU that is not there is an error of its own") {
    DOCTEST_CHECK_THROWS_AS(open_device("cuda:1000"), bigbird::DeviceError);
}

DOCTEST_TEST_CASE("device: auto always finds something") {
    const at::Device device = open_device("auto");
    DOCTEST_CHECK((device.is_cpu() || device.is_cuda()));
}

DOCTEST_TEST_CASE("device: what goes to the CPU and comes from it is the tensor itself") {
    const at::Tensor x = at::arange(5, at::kFloat).requires_grad_();
    DOCTEST_CHECK(copy_to_device(x, at::kCPU).is_same(x));
    HostCopy arriving(x);
    DOCTEST_CHECK(at::equal(arriving.get(), x));
    DOCTEST_CHECK(!arriving.get().requires_grad());
}

DOCTEST_TEST_CASE("device: compute threads are set, 0 means all") {
    set_compute_threads(1);
    DOCTEST_CHECK(at::get_num_threads() == 1);
    set_compute_threads(0);
    DOCTEST_CHECK(at::get_num_threads() >= 1);
}

DOCTEST_TEST_CASE("device: shared passes each run once, by threads of their own, in the caller's modes") {
    set_compute_threads(3);
    const c10::InferenceMode inference;
    for (const std::int64_t count : {0, 2, 3, 40}) {
        for (const bool shared : {false, true}) {
            std::vector<int> runs(static_cast<std::size_t>(count));
            std::atomic<int> alone = 0;
            for_each_pass(count, shared, [&](std::int64_t i) {
                ++runs[static_cast<std::size_t>(i)];
                if (at::in_parallel_region()) ++alone;
                DOCTEST_CHECK(c10::InferenceMode::is_enabled());
            });
            DOCTEST_CHECK(std::ranges::count(runs, 1) == count);
            DOCTEST_CHECK(alone == (shared && count >= 3 ? count : 0));
        }
    }
    DOCTEST_CHECK(message_of<bigbird::ConfigError>([&] {
                      for_each_pass(9, true, [](std::int64_t i) {
                          if (i == 4) throw bigbird::ConfigError("the fifth");
                      });
                  }) == "the fifth");
    set_compute_threads(0);
}

DOCTEST_TEST_CASE("arithmetic: LibTorch keeps to the instruction set that may be used") {
    const InstructionSet set = instruction_set();
    const char* const with_vectors = set == InstructionSet::avx2 ? "AVX2" : "AVX512";
    DOCTEST_CHECK(at::get_cpu_capability() == (set == InstructionSet::base ? "DEFAULT" : with_vectors));
}

DOCTEST_TEST_CASE(
    "arithmetic: bf16 is fp32 where the processor has no instructions for it, which is said once") {
    const at::ScalarType wanted = has_bf16_instructions() ? at::kBFloat16 : at::kFloat;
    DOCTEST_CHECK(computes_bf16(at::kCUDA));
    DOCTEST_CHECK(computes_bf16(at::kCPU) == has_bf16_instructions());
    DOCTEST_CHECK((arithmetic_type(at::kBFloat16, at::kCUDA) == at::kBFloat16));
    const bigbird::testing::CapturedLog log;
    for (int i = 0; i < 2; ++i) {
        DOCTEST_CHECK((arithmetic_type(at::kBFloat16, at::kCPU) == wanted));
        DOCTEST_CHECK((arithmetic_type(at::kFloat, at::kCPU) == at::kFloat));
        DOCTEST_CHECK((arithmetic_type(at::kDouble, at::kCPU) == at::kDouble));
    }
    const std::string sentence = "this processor has no bfloat16 instructions, so bf16 is computed in fp32";
    const std::size_t found = log.text().find(sentence);
    DOCTEST_CHECK((found != std::string::npos) == !has_bf16_instructions());
    if (found != std::string::npos) DOCTEST_CHECK(log.text().find(sentence, found + 1) == std::string::npos);
}

DOCTEST_TEST_CASE(
    "arithmetic: a network computes in inference mode on any thread, and is trained afterwards") {
    BigBirdConfig config = bigbird::testing::small_config();
    for (const at::ScalarType type : {at::kFloat, at::kBFloat16}) {
        PreTrainingModel network(config);
        initialise(*network, config, 1);
        network->eval();
        network->to(arithmetic_type(type, at::kCPU));
        const std::vector<TokenSequence> sequences{bigbird::testing::random_sequence(60, 1),
                                                   bigbird::testing::random_sequence(57, 2)};
        const auto encode = [&] { return network->encode(make_input(sequences, config, at::kCPU)).hidden; };
        at::Tensor inferred;
        std::thread([&] {
            const c10::InferenceMode inference;
            inferred = encode();
        }).join();
        const at::Tensor hidden = encode();
        DOCTEST_CHECK(difference(inferred, hidden) < (type == at::kFloat ? 1e-5 : 5e-2));
        hidden.to(at::kFloat).square().sum().backward();
        DOCTEST_CHECK(
            network->named_parameters()["bert.encoder.layer.0.attention.self.query.weight"].grad().defined());
    }
}

// The choice on a GPU is gpu_facts_test.cpp's.

DOCTEST_TEST_CASE("usable_attention: on a CPU it is what was asked for") {
    DOCTEST_CHECK(usable_attention("fused", at::kCPU) == attention::Backend::fused);
    DOCTEST_CHECK(usable_attention("automatic", at::kCPU) == attention::Backend::automatic);
    DOCTEST_CHECK_THROWS_AS(usable_attention("other", at::kCPU), ConfigError);
}

DOCTEST_TEST_CASE("libtorch_cuda: the folder is where LibTorch's libraries are") {
    DOCTEST_CHECK(std::filesystem::exists(libtorch_folder() / "libtorch_cpu.so"));
    DOCTEST_CHECK(std::filesystem::exists(libtorch_folder() / "libc10.so"));
}

DOCTEST_TEST_CASE("libtorch_cuda: what is said of GPUs is made up once") {
    DOCTEST_CHECK(&gpu_facts() == &gpu_facts());
    DOCTEST_CHECK((gpu_facts().driver.load_error.empty() || gpu_facts().libtorch_cuda == 0));
}
