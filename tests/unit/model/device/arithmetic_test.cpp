// SPDX-License-Identifier: Apache-2.0
#include "bigbird/model/device/arithmetic.hpp"

#include "support/captured_log.hpp"
#include "support/tensors.hpp"
#include "support/testing.hpp"
#include "unit/model/small_model.hpp"

#include "bigbird/core/system/processor.hpp"

#include <ATen/Context.h>
#include <ATen/Version.h>
#include <c10/core/InferenceMode.h>

#include <thread>

using namespace bigbird;
using namespace bigbird::model;
using bigbird::testing::difference;
using bigbird::testing::identical;

DOCTEST_TEST_CASE("arithmetic: LibTorch keeps to the instruction set that may be used") {
    const std::string capability = at::get_cpu_capability();
    switch (instruction_set()) {
        case InstructionSet::base:
            DOCTEST_CHECK(capability == "DEFAULT");
            break;
        case InstructionSet::avx2:
            DOCTEST_CHECK(capability == "AVX2");
            break;
        default:
            DOCTEST_CHECK(capability == "AVX512");
    }
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
