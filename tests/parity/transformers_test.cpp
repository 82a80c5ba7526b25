// SPDX-License-Identifier: Apache-2.0
// Against what Hugging Face transformers computes (scripts/checks/make_parity_fixtures.py,
// make_modernbert_fixtures.py): activations of every layer, logits and gradients.
#include "support/tensors.hpp"
#include "support/testing.hpp"

#include "bigbird/model/model_directory.hpp"
#include "bigbird/model/safetensors.hpp"

#include <array>

using namespace bigbird::model;
using bigbird::attention::Backend;
using bigbird::testing::difference;
using bigbird::testing::test_data;

namespace {

constexpr double fp64_tolerance = 1e-11, fp32_tolerance = 1e-5;  // values are of the order of 1 to 10

/// The inputs of a case, padded to whole blocks as transformers does inside.
EncoderInput input_of(const TensorMap& expected, const BigBirdConfig& config) {
    const std::int64_t length = expected.at("input_ids").size(1), block = config.pattern.block_size;
    const std::int64_t missing = (block - length % block) % block;
    const auto padded = [&](const char* key, std::int64_t value) {
        return at::constant_pad_nd(expected.at(key), {0, missing}, value);
    };
    return {padded("input_ids", config.pad_token_id), padded("token_type_ids", 0),
            padded("attention_mask", 0).to(at::kBool)};
}

at::Tensor wave(const at::Tensor& like) {
    return at::cos(at::arange(like.numel(), at::kDouble)).view_as(like);
}

void check_hidden_states(const EncoderOutput& output, const TensorMap& expected, double tolerance) {
    for (std::size_t layer = 0; layer < output.hidden_states.size(); ++layer) {
        DOCTEST_CAPTURE(layer);
        const at::Tensor chosen = output.hidden_states[layer].index_select(1, expected.at("positions"));
        const std::string key = "hidden_states." + std::to_string(layer);
        const double error = difference(chosen, expected.at(key));
        DOCTEST_CHECK(error < tolerance);
        if (chosen.scalar_type() == at::kFloat)
            DOCTEST_CHECK(error <= 2 * expected.at("fp32_error." + key).item<double>() + 1e-7);
    }
    DOCTEST_CHECK(!expected.contains("hidden_states." + std::to_string(output.hidden_states.size())));
}

/// Inference takes other kernels.
template <typename Model>
void check_without_gradients(Model& model, const EncoderInput& input, const TensorMap& expected,
                             double tolerance) {
    const at::NoGradGuard no_gradient;
    check_hidden_states(model.encode(input, true), expected, tolerance);
}

void check_gradients(torch::nn::Module& model, const TensorMap& expected, double tolerance) {
    std::size_t compared = 0;
    for (const auto& item : model.named_parameters()) {
        DOCTEST_CAPTURE(item.key());
        const at::Tensor gradient = item.value().grad();
        if (!expected.contains("gradient." + item.key())) {
            DOCTEST_CHECK(!gradient.defined());
            continue;
        }
        DOCTEST_REQUIRE(gradient.defined());
        const at::Tensor found = at::stack({gradient.norm(), (gradient * wave(gradient)).sum()});
        const at::Tensor& wanted = expected.at("gradient." + item.key());
        DOCTEST_CHECK(difference(found, wanted) < tolerance * (1 + wanted[0].item<double>()));
        ++compared;
    }
    DOCTEST_CHECK(compared == static_cast<std::size_t>(std::ranges::count_if(expected, [](const auto& item) {
                      return item.first.starts_with("gradient.");
                  })));
}

/// `name`: FOLDER/CASE.
void check_pretraining(const std::string& name, at::ScalarType type, Backend backend, double tolerance) {
    const std::string folder = "model/" + name.substr(0, name.find('/'));
    const std::string which = name.substr(name.find('/') + 1);
    const TensorMap expected = read_safetensors(test_data(folder + "/cases/" + which + ".safetensors"));
    PreTrainingModel model = load_pretraining_model(test_data(folder), at::kCPU);
    model->to(type);
    model->train(which.starts_with("seeded"));
    model->set_attention_backend(backend);
    const EncoderInput input = input_of(expected, model->config());
    check_without_gradients(*model, input, expected, tolerance);
    const EncoderOutput encoded = model->encode(input, true);
    check_hidden_states(encoded, expected, tolerance);
    const PreTrainingOutput output = model->predict(encoded.hidden);
    const at::Tensor chosen = output.prediction_logits.index_select(1, expected.at("positions"));
    DOCTEST_CHECK(difference(chosen, expected.at("prediction_logits")) < tolerance);
    DOCTEST_CHECK(difference(output.seq_relationship_logits, expected.at("seq_relationship_logits")) <
                  tolerance);
    ((chosen * wave(chosen)).mean() + (output.seq_relationship_logits * at::tensor({1.0, 2.0})).mean())
        .backward();
    check_gradients(*model, expected, tolerance);
}

void check_classifier(const std::string& name, at::ScalarType type, Backend backend, double tolerance) {
    const TensorMap expected = read_safetensors(test_data("model/classifier/cases/" + name + ".safetensors"));
    SequenceClassifier model = load_classifier(test_data("model/classifier"), at::kCPU);
    model->to(type);
    model->set_attention_backend(backend);
    const EncoderInput input = input_of(expected, model->config());
    check_without_gradients(*model, input, expected, tolerance);
    const EncoderOutput encoded = model->encode(input, true);
    check_hidden_states(encoded, expected, tolerance);
    const at::Tensor logits = model->predict(encoded.hidden);
    DOCTEST_CHECK(difference(logits, expected.at("logits")) < tolerance);
    (logits * at::arange(1, logits.size(1) + 1)).mean().backward();
    check_gradients(*model, expected, tolerance);
}

constexpr std::array pretraining_cases{"pretraining/full_100",
                                       "pretraining/full_176",
                                       "pretraining/sparse_177",
                                       "pretraining/sparse_256",
                                       "pretraining/sparse_333_padded",
                                       "block64/full_704",
                                       "block64/sparse_705",
                                       "block64/sparse_1000_padded",
                                       "block64/seeded_832",
                                       "block64/seeded_1024",
                                       "relu/sparse_200",
                                       "silu/sparse_200",
                                       "gelu_pytorch_tanh/sparse_200"};
constexpr std::array classifier_cases{"full_64_padded", "sparse_200_padded"};

}  // namespace

DOCTEST_TEST_CASE("transformers: pretraining model, fp64") {
    for (const std::string name : pretraining_cases) {
        DOCTEST_CAPTURE(name);
        check_pretraining(name, at::kDouble, Backend::blocked, fp64_tolerance);
        check_pretraining(name, at::kDouble, Backend::reference, fp64_tolerance);
    }
}

DOCTEST_TEST_CASE("transformers: pretraining model, fp32") {
    for (const std::string name : pretraining_cases) {
        DOCTEST_CAPTURE(name);
        check_pretraining(name, at::kFloat, Backend::automatic, fp32_tolerance);
    }
}

DOCTEST_TEST_CASE("transformers: classifier without query bias, with rescaled embeddings and pad 3") {
    for (const std::string name : classifier_cases) {
        DOCTEST_CAPTURE(name);
        check_classifier(name, at::kDouble, Backend::blocked, fp64_tolerance);
        check_classifier(name, at::kDouble, Backend::reference, fp64_tolerance);
        check_classifier(name, at::kFloat, Backend::automatic, fp32_tolerance);
    }
}

DOCTEST_TEST_CASE("transformers: ModernBERT's norms before, rotary positions and gated feed-forward") {
    const TensorMap expected =
        read_safetensors(test_data("model/modernbert/cases/full_100_padded.safetensors"));
    const LoadedEncoder loaded = load_encoder(test_data("model/modernbert"), at::kCPU);
    PreTrainingModel model = loaded.model;
    for (const at::ScalarType type : {at::kDouble, at::kFloat}) {
        model->to(type);
        const EncoderInput input = input_of(expected, model->config());
        // Queries and keys are turned in fp32 there, in fp64, too.
        const double tolerance = type == at::kDouble ? 1e-6 : fp32_tolerance;
        check_without_gradients(*model, input, expected, tolerance);
        check_hidden_states(model->encode(input, true), expected, tolerance);
    }
}
