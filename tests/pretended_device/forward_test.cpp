// SPDX-License-Identifier: Apache-2.0
// bigbird-dna forward on the pretended device.
#include "support/pretended/pretended_device.hpp"
#include "support/tensors.hpp"
#include "support/testing.hpp"

#include "bigbird/model/forward_tensors.hpp"

using namespace bigbird;
using namespace bigbird::testing;
using attention::Backend;
using model::ForwardSpec;
using model::TensorMap;

namespace {

struct Model {
    const char *directory, *inputs;
};
constexpr Model models[] = {{"model/pretraining", "model/pretraining/cases/sparse_333_padded.safetensors"},
                            {"model/classifier", "model/classifier/cases/sparse_200_padded.safetensors"}};

TensorMap inputs_of(const Model& model) {
    TensorMap inputs;
    const TensorMap all = model::read_safetensors(test_data(model.inputs));
    for (const char* key : {"input_ids", "attention_mask", "token_type_ids"})
        inputs[key] = all.at(key);
    return inputs;
}

/// The largest difference of any output, the devices apart.
double apart(const Model& model, const ForwardSpec& spec) {
    const TensorMap inputs = inputs_of(model);
    const TensorMap expected = forward_tensors(test_data(model.directory), inputs, spec, at::kCPU);
    const TensorMap outputs = forward_tensors(test_data(model.directory), inputs, spec, pretended_device());
    DOCTEST_REQUIRE(outputs.size() == expected.size());
    double largest = 0;
    for (const auto& [key, tensor] : expected)
        largest = std::max(largest, difference(outputs.at(key), tensor));
    return largest;
}

}  // namespace

DOCTEST_TEST_CASE("forward: the CPU's hidden states and logits, by every backend that runs on all devices") {
    for (const Model& model : models) {
        DOCTEST_CAPTURE(std::string(model.directory));
        for (const Backend backend : {Backend::reference, Backend::blocked}) {
            DOCTEST_CAPTURE(static_cast<int>(backend));
            DOCTEST_CHECK(apart(model, {"fp64", backend}) < 1e-11);
        }
        DOCTEST_CHECK(apart(model, {"fp32", Backend::automatic}) < 1e-5);
        DOCTEST_CHECK(apart(model, {"bf16", Backend::blocked}) < 0.1);  // of values up to about 4
    }
}
