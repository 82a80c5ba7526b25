// SPDX-License-Identifier: Apache-2.0
// Against what Hugging Face transformers computes with its Longformers
// (scripts/checks/make_longformer_fixtures.py): activations of every layer, the last outputs and gradients.
#include "bigbird/model/files/longformer.hpp"

#include "support/temp_dir.hpp"
#include "support/tensors.hpp"
#include "support/testing.hpp"

#include "bigbird/core/formats/json_file.hpp"
#include "bigbird/model/forward_tensors.hpp"
#include "bigbird/model/model_directory.hpp"

#include <array>

using namespace bigbird;
using namespace bigbird::model;
using bigbird::attention::Backend;
using bigbird::testing::difference;
using bigbird::testing::test_data;

namespace {

constexpr double longformer_fp64_tolerance = 1e-10,
                 longformer_fp32_tolerance = 1e-5;  // values are of the order of 1 to 10

constexpr std::array cases{"masked-lm/no_mask",   "masked-lm/none_global",  "masked-lm/first_token",
                           "masked-lm/scattered", "masked-lm/other_counts", "masked-lm/padded_and_holes",
                           "bare/no_mask",        "bare/first_token",       "bare/many",
                           "classifier/no_mask",  "classifier/last_token"};
constexpr std::array block_sizes{8, 64};

struct Case {
    std::string model, name;
    TensorMap expected;
};

Case read_case(const std::string& name) {
    const std::size_t slash = name.find('/');
    const std::string model = name.substr(0, slash), which = name.substr(slash + 1);
    return {model, name,
            read_safetensors(test_data("longformer/" + model + "/cases/" + which + ".safetensors"))};
}

TensorMap inputs_of(const Case& given) {
    TensorMap inputs;
    for (const char* key : {"input_ids", "attention_mask", "token_type_ids", "global_attention_mask"})
        if (given.expected.contains(key)) inputs[key] = given.expected.at(key);
    return inputs;
}

/// The model's folder with blocks of another size, which config.json of transformers does not name.
void copy_with_blocks(const std::string& model, int block_size, const std::filesystem::path& to) {
    const std::filesystem::path from = test_data("longformer/" + model);
    Json config = read_json(from / "config.json");
    config["block_size"] = block_size;
    write_json(to / "config.json", config, Overwrite::allow);
    std::filesystem::copy_file(from / "model.safetensors", to / "model.safetensors");
}

void check_outputs(const Case& given, const TensorMap& found, double tolerance, bool single) {
    std::size_t compared = 0;
    for (const auto& [key, wanted] : given.expected) {
        const bool is_output =
            key.starts_with("hidden_states.") || key.ends_with("logits") || key == "pooler_output";
        if (!is_output) continue;
        DOCTEST_CAPTURE(key);
        DOCTEST_REQUIRE(found.contains(key));
        const double error = difference(found.at(key), wanted);
        DOCTEST_CHECK(error < tolerance);
        if (single && key.starts_with("hidden_states."))
            DOCTEST_CHECK(error <= 2 * given.expected.at("fp32_error." + key).item<double>() + 1e-7);
        ++compared;
    }
    const bool twice = found.contains("logits") && found.contains("prediction_logits");  // of one head
    DOCTEST_CHECK(compared + (twice ? 1 : 0) == found.size());
}

/// As scripts/checks/make_longformer_fixtures.py: norm, and product with a wave.
void check_gradients(const torch::nn::Module& model, const Case& given, double tolerance) {
    std::size_t compared = 0;
    for (const auto& item : model.named_parameters()) {
        const std::string theirs = longformer_name(item.key());
        const std::string bare = theirs.substr(theirs.starts_with("longformer.") ? 11 : 0);
        const auto found = given.expected.find("gradient." + (given.model == "bare" ? bare : theirs));
        const at::Tensor gradient = item.value().grad();
        DOCTEST_CAPTURE(theirs);
        if (found == given.expected.end()) {
            DOCTEST_CHECK((!gradient.defined() || gradient.abs().max().item<double>() == 0));
            continue;
        }
        DOCTEST_REQUIRE(gradient.defined());
        const at::Tensor wave = at::cos(at::arange(gradient.numel(), at::kDouble)).view_as(gradient);
        const at::Tensor sums = at::stack({gradient.norm(), (gradient * wave).sum()});
        DOCTEST_CHECK(difference(sums, found->second) < tolerance * (1 + found->second[0].item<double>()));
        ++compared;
    }
    DOCTEST_CHECK(compared ==
                  static_cast<std::size_t>(std::ranges::count_if(
                      given.expected, [](const auto& item) { return item.first.starts_with("gradient."); })));
}

/// What forward_tensors() makes of the inputs, for passes with gradients.
EncoderInput padded_input(const Case& given, const BigBirdConfig& config) {
    const std::int64_t length = given.expected.at("input_ids").size(1), block = config.pattern.block_size;
    const auto padded = [&](const char* key, std::int64_t value) {
        return at::constant_pad_nd(given.expected.at(key), {0, (block - length % block) % block}, value);
    };
    EncoderInput input{padded("input_ids", config.pad_token_id), padded("token_type_ids", 0),
                       padded("attention_mask", 0).to(at::kBool)};
    if (given.expected.contains("global_attention_mask"))
        input.global_attention_mask = padded("global_attention_mask", 0).to(at::kBool);
    return input;
}

at::Tensor last_output(const Case& given, PreTrainingModelImpl& model) {
    const std::int64_t length = given.expected.at("input_ids").size(1);
    const at::Tensor hidden = model.encode(padded_input(given, model.config())).hidden;
    return given.model == "bare" ? model.pool(hidden)
                                 : model.predict(hidden).prediction_logits.narrow(1, 0, length);
}

template <typename Model>
void check_backward(Model& model, const at::Tensor& last, const Case& given) {
    (last * at::cos(at::arange(last.numel(), at::kDouble)).view_as(last)).mean().backward();
    check_gradients(model, given, longformer_fp64_tolerance);
}

void check_case_backward(const Case& given, const std::filesystem::path& folder, Backend backend) {
    if (given.model == "classifier") {
        SequenceClassifier model = load_classifier(folder, at::kCPU);
        model->to(at::kDouble);
        model->set_attention_backend(backend);
        check_backward(*model, model->forward(padded_input(given, model->config())), given);
        return;
    }
    PreTrainingModel model = load_encoder(folder, at::kCPU).model;
    model->to(at::kDouble);
    model->set_attention_backend(backend);
    check_backward(*model, last_output(given, *model), given);
}

}  // namespace

DOCTEST_TEST_CASE("longformer: forward is transformers', fp64 and fp32, whatever the blocks") {
    for (const char* name : cases) {
        DOCTEST_CAPTURE(name);
        const Case given = read_case(name);
        for (const int block_size : block_sizes) {
            DOCTEST_CAPTURE(block_size);
            const testing::TempDir folder;
            copy_with_blocks(given.model, block_size, folder.path());
            const auto outputs = [&](const char* type, Backend backend) {
                return forward_tensors(folder.path(), inputs_of(given), {.type = type, .backend = backend},
                                       at::kCPU);
            };
            check_outputs(given, outputs("fp64", Backend::automatic), longformer_fp64_tolerance, false);
            check_outputs(given, outputs("fp64", Backend::reference), longformer_fp64_tolerance, false);
            check_outputs(given, outputs("fp32", Backend::automatic), longformer_fp32_tolerance, true);
            check_outputs(given, outputs("fp32", Backend::blocked), longformer_fp32_tolerance, true);
        }
    }
}

DOCTEST_TEST_CASE("longformer: gradients are transformers'") {
    for (const char* name : cases) {
        DOCTEST_CAPTURE(name);
        const Case given = read_case(name);
        for (const int block_size : block_sizes) {
            DOCTEST_CAPTURE(block_size);
            const testing::TempDir folder;
            copy_with_blocks(given.model, block_size, folder.path());
            check_case_backward(given, folder.path(), Backend::blocked);
            check_case_backward(given, folder.path(), Backend::reference);
        }
    }
}

DOCTEST_TEST_CASE("longformer: written again, the same names, shapes and bytes") {
    for (const char* model : {"masked-lm", "classifier"}) {
        const std::filesystem::path theirs = test_data(std::string("longformer/") + model);
        const testing::TempDir folder;
        if (std::string(model) == "classifier")
            write_model(load_classifier(theirs, at::kCPU), nullptr, folder.path());
        else
            write_model(load_pretraining_model(theirs, at::kCPU), nullptr, folder.path());
        const TensorMap given = read_safetensors(theirs / "model.safetensors"),
                        written = read_safetensors(folder / "model.safetensors");
        for (const auto& [key, tensor] : given) {
            DOCTEST_CAPTURE(key);
            DOCTEST_REQUIRE(written.contains(key));
            DOCTEST_CHECK(testing::identical(written.at(key), tensor));
        }
        for (const auto& item : written) {
            const bool own = item.first.starts_with("longformer.pooler.dense.") ||
                             item.first.starts_with("cls.seq_relationship.");
            DOCTEST_CHECK((own || given.contains(item.first)));
        }
        const Json before = read_json(theirs / "config.json"), after = read_json(folder / "config.json");
        for (const char* key : {"model_type", "architectures", "attention_window", "pad_token_id",
                                "hidden_act", "layer_norm_eps", "max_position_embeddings", "vocab_size"})
            DOCTEST_CHECK(after.at(key) == before.at(key));
    }
}
