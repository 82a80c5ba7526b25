// SPDX-License-Identifier: Apache-2.0
#include "bigbird/model/forward_tensors.hpp"

#include "support/temp_dir.hpp"
#include "support/tensors.hpp"
#include "support/testing.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/formats/json_file.hpp"

#include <fstream>

using namespace bigbird::model;
using namespace bigbird::testing;
using bigbird::InputError;

namespace {

TensorMap inputs_of(const TensorMap& expected) {
    TensorMap inputs;
    for (const char* key : {"input_ids", "attention_mask", "token_type_ids"})
        inputs[key] = expected.at(key);
    return inputs;
}

/// Writes a model of another architecture, with those of model/pretraining's weights that `keeps` chooses,
/// without `cut` in front of their names.
template <typename Keeps>
void write_part(const TempDir& folder, const std::string& architecture, const Keeps& keeps,
                const std::string& cut = {}) {
    TensorMap kept;
    for (const auto& [key, tensor] : read_safetensors(test_data("model/pretraining/model.safetensors")))
        if (keeps(key)) kept.emplace(key.substr(cut.size()), tensor);
    bigbird::Json config = bigbird::read_json(test_data("model/pretraining/config.json"));
    config["architectures"] = {architecture};
    std::ofstream(folder / "config.json") << config;
    write_safetensors(kept, folder / "model.safetensors");
}

std::string refusal(const TensorMap& inputs) {
    return message_of<InputError>(
        [&] { forward_tensors(test_data("model/pretraining"), inputs, {}, at::kCPU); });
}

}  // namespace

DOCTEST_TEST_CASE(
    "forward_tensors: gives transformers' hidden states and logits in their own length, whatever the whole "
    "type") {
    const TensorMap expected =
        read_safetensors(test_data("model/pretraining/cases/sparse_333_padded.safetensors"));
    TensorMap inputs = inputs_of(expected);
    inputs["input_ids"] = inputs["input_ids"].to(at::kInt);
    inputs["attention_mask"] = inputs["attention_mask"].to(at::kBool);
    const TensorMap outputs = forward_tensors(test_data("model/pretraining"), inputs, {"fp64", {}}, at::kCPU);
    DOCTEST_CHECK(outputs.size() == 6);
    DOCTEST_CHECK(outputs.at("hidden_states.3").sizes() == at::IntArrayRef{2, 333, 64});
    for (const char* key : {"hidden_states.0", "hidden_states.3", "prediction_logits"}) {
        DOCTEST_CHECK(
            difference(outputs.at(key).index_select(1, expected.at("positions")), expected.at(key)) < 1e-11);
    }
    DOCTEST_CHECK(difference(outputs.at("seq_relationship_logits"), expected.at("seq_relationship_logits")) <
                  1e-11);
}

DOCTEST_TEST_CASE(
    "forward_tensors: a bare encoder gives hidden states and the pooler, other models what they have") {
    const TensorMap expected =
        read_safetensors(test_data("model/pretraining/cases/sparse_333_padded.safetensors"));
    const TensorMap whole =
        forward_tensors(test_data("model/pretraining"), inputs_of(expected), {"fp64", {}}, at::kCPU);
    const TensorMap weights = read_safetensors(test_data("model/pretraining/model.safetensors"));
    const TempDir folder;
    const auto found = [&](const std::string& architecture, const std::string& cut, const auto& keeps) {
        write_part(folder, architecture, keeps, cut);
        return forward_tensors(folder.path(), inputs_of(expected), {"fp64", {}}, at::kCPU);
    };
    const auto is_of = [](const std::string& key, const char* part) { return key.starts_with(part); };

    const TensorMap bare =
        found("BigBirdModel", "bert.", [&](const auto& key) { return is_of(key, "bert."); });
    DOCTEST_CHECK(bare.size() == 5);
    DOCTEST_CHECK(at::equal(bare.at("hidden_states.3"), whole.at("hidden_states.3")));
    DOCTEST_CHECK(bare.at("pooler_output").sizes() == at::IntArrayRef{2, 64});
    DOCTEST_CHECK(difference(at::linear(bare.at("pooler_output"),
                                        weights.at("cls.seq_relationship.weight").to(at::kDouble),
                                        weights.at("cls.seq_relationship.bias").to(at::kDouble)),
                             expected.at("seq_relationship_logits")) < 1e-11);

    const TensorMap masked =
        found("BigBirdForMaskedLM", "", [&](const auto& key) { return !is_of(key, "cls.seq"); });
    DOCTEST_CHECK(masked.size() == 6);
    DOCTEST_CHECK(at::equal(masked.at("prediction_logits"), whole.at("prediction_logits")));
    DOCTEST_CHECK(at::equal(masked.at("logits"), whole.at("prediction_logits")));

    const TensorMap other = found("BigBirdForSomethingElse", "", [&](const auto& key) {
        return is_of(key, "bert.") && !is_of(key, "bert.pooler");
    });
    DOCTEST_CHECK(other.size() == 4);
    DOCTEST_CHECK(at::equal(other.at("hidden_states.3"), whole.at("hidden_states.3")));
}

DOCTEST_TEST_CASE("forward_tensors: a head that the model lacks is an error that names its tensors") {
    const TensorMap inputs{{"input_ids", at::full({1, 20}, 7, at::kLong)}};
    const TempDir folder;
    const auto missing = [&](const std::string& architecture, const auto& keeps) {
        write_part(folder, architecture, keeps);
        std::string message =
            message_of<InputError>([&] { forward_tensors(folder.path(), inputs, {}, at::kCPU); });
        const std::string file = (folder.path() / "model.safetensors").string() + ": ";
        DOCTEST_CHECK(message.starts_with(file));
        return message.substr(std::min(message.size(), file.size()));
    };
    const auto encoder = [](const std::string& key) { return key.starts_with("bert."); };
    const auto no_pooler = [](const std::string& key) {
        return key.starts_with("bert.") && !key.starts_with("bert.pooler");
    };
    const auto no_next = [](const std::string& key) { return !key.starts_with("cls.seq"); };
    DOCTEST_CHECK(missing("BigBirdForPreTraining", no_next) ==
                  "tensor 'cls.seq_relationship.weight' is missing; tensor 'cls.seq_relationship.bias' is "
                  "missing");
    DOCTEST_CHECK(missing("BigBirdForMaskedLM", encoder) ==
                  "tensor 'cls.predictions.bias' is missing; tensor "
                  "'cls.predictions.transform.dense.weight' is missing; tensor "
                  "'cls.predictions.transform.dense.bias' is missing; tensor "
                  "'cls.predictions.transform.LayerNorm.weight' is missing; tensor "
                  "'cls.predictions.transform.LayerNorm.bias' is missing");
    DOCTEST_CHECK(missing("BigBirdForTokenClassification", encoder) ==
                  "tensor 'classifier.weight' is missing; tensor 'classifier.bias' is missing");
    DOCTEST_CHECK(missing("BigBirdForMultipleChoice", encoder) ==
                  "tensor 'classifier.weight' is missing; tensor 'classifier.bias' is missing");
    DOCTEST_CHECK(missing("BigBirdForMultipleChoice", no_pooler) == "tensor 'bert.pooler.weight' is missing");
    DOCTEST_CHECK(missing("BigBirdForQuestionAnswering", encoder)
                      .starts_with("tensor 'qa_classifier.intermediate.dense.weight' is missing; "));
}

DOCTEST_TEST_CASE("forward_tensors: questions and choices have shapes of their own") {
    const at::Tensor ids = at::full({2, 10}, 9, at::kLong);
    const auto refused = [](const char* model, const TensorMap& inputs) {
        return message_of<InputError>(
            [&] { forward_tensors(test_data("model/heads") / model, inputs, {}, at::kCPU); });
    };
    DOCTEST_CHECK(refused("multiple_choice", {{"input_ids", ids}}) ==
                  "tensor 'input_ids' must have the shape (batch, choices, length)");
    DOCTEST_CHECK(
        refused("multiple_choice", {{"input_ids", ids.unsqueeze(1)}, {"attention_mask", ids.fill_(1)}}) ==
        "tensor 'attention_mask' must have the shape (batch, choices, length)");
    DOCTEST_CHECK(refused("question_answering",
                          {{"input_ids", ids}, {"question_lengths", at::ones({2, 2}).to(at::kInt)}}) ==
                  "tensor 'question_lengths' must have the shape (batch, 1)");
    // A question reaches up to the first separator, or is one token; all of its tokens but the first are
    // barred.
    const std::int64_t separator = 7;  // sep_token_id of its config.json
    at::Tensor text = at::full({2, 10}, 9, at::kLong);
    text[0][3] = separator, text[0][6] = separator;
    const auto answers =
        forward_tensors(test_data("model/heads/question_answering"), {{"input_ids", text}}, {}, at::kCPU);
    for (const char* logits : {"start_logits", "end_logits"}) {
        at::Tensor barred = at::zeros({2, 10}, at::kBool);
        barred[0].slice(0, 1, 4).fill_(true);
        DOCTEST_CHECK(at::equal(answers.at(logits) < -1e5, barred));
    }
}

DOCTEST_TEST_CASE("forward_tensors: a task model gives logits, bf16 is near") {
    const TensorMap expected =
        read_safetensors(test_data("model/classifier/cases/sparse_200_padded.safetensors"));
    const TensorMap single =
        forward_tensors(test_data("model/classifier"), inputs_of(expected), {}, at::kCPU);
    DOCTEST_CHECK(single.at("logits").sizes() == at::IntArrayRef{2, 7});
    DOCTEST_CHECK(difference(single.at("logits"), expected.at("logits")) < 2e-5);
    const TensorMap half =
        forward_tensors(test_data("model/classifier"), inputs_of(expected), {"bf16", {}}, at::kCPU);
    DOCTEST_CHECK((half.at("logits").scalar_type() == at::kBFloat16));
    DOCTEST_CHECK(difference(half.at("logits"), expected.at("logits")) < 0.05);
}

DOCTEST_TEST_CASE("forward_tensors: a long batch is cut into passes without a trace") {
    at::Tensor ids = at::arange(40 * 300, at::kLong).view({40, 300}).remainder(290) + 5;
    const TensorMap all = forward_tensors(test_data("model/pretraining"), {{"input_ids", ids}}, {}, at::kCPU);
    const TensorMap last =
        forward_tensors(test_data("model/pretraining"), {{"input_ids", ids.slice(0, 39)}}, {}, at::kCPU);
    DOCTEST_CHECK(all.at("prediction_logits").size(0) == 40);
    DOCTEST_CHECK(difference(all.at("prediction_logits")[39], last.at("prediction_logits")[0]) < 1e-4);
}

DOCTEST_TEST_CASE("forward_tensors: what is wrong with an input is said") {
    const at::Tensor ids = at::full({2, 10}, 7, at::kLong);
    DOCTEST_CHECK(refusal({}) == "tensor 'input_ids' is missing from the input");
    DOCTEST_CHECK(refusal({{"input_ids", ids.to(at::kFloat)}}) ==
                  "tensor 'input_ids' must hold whole numbers (I64, I32 or BOOL)");
    DOCTEST_CHECK(refusal({{"input_ids", ids[0]}}) ==
                  "tensor 'input_ids' must have the shape (batch, length)");
    DOCTEST_CHECK(refusal({{"input_ids", ids}, {"attention_mask", at::ones({2, 9}, at::kLong)}}) ==
                  "tensor 'attention_mask' differs in shape from input_ids");
    DOCTEST_CHECK(refusal({{"input_ids", ids}, {"attention_mask", at::full({2, 10}, 2, at::kLong)}}) ==
                  "tensor 'attention_mask' must hold only 0 and 1");
    DOCTEST_CHECK(refusal({{"input_ids", ids * 50}}) ==
                  "tensor 'input_ids' holds 350, the model has 300 pieces");
    DOCTEST_CHECK(refusal({{"input_ids", ids - 8}}) ==
                  "tensor 'input_ids' holds -1, the model has 300 pieces");
    DOCTEST_CHECK(refusal({{"input_ids", ids}, {"token_type_ids", ids}}) ==
                  "tensor 'token_type_ids' holds 7, the model has 2 token types");
    DOCTEST_CHECK(refusal({{"input_ids", at::full({1, 513}, 7, at::kLong)}}) ==
                  "tensor 'input_ids' holds sequences of 513 tokens, the model has 512 positions");
    DOCTEST_CHECK_THROWS_AS(
        forward_tensors(test_data("model/pretraining"), {{"input_ids", ids}}, {"fp8", {}}, at::kCPU),
        bigbird::ConfigError);
}

DOCTEST_TEST_CASE("forward_tensors: a Longformer's global tokens are a mask's, and none without one") {
    const auto folder = test_data("longformer/masked-lm");
    const TensorMap expected =
        read_safetensors(test_data("longformer/masked-lm/cases/none_global.safetensors"));
    TensorMap inputs = inputs_of(expected);
    const TensorMap none = forward_tensors(folder, inputs, {"fp64", {}}, at::kCPU);
    DOCTEST_CHECK(difference(none.at("prediction_logits"), expected.at("prediction_logits")) < 1e-10);
    inputs["global_attention_mask"] = at::zeros_like(inputs["input_ids"]).to(at::kBool);
    DOCTEST_CHECK(at::equal(forward_tensors(folder, inputs, {"fp64", {}}, at::kCPU).at("prediction_logits"),
                            none.at("prediction_logits")));
    inputs["global_attention_mask"][0][3] = true;
    DOCTEST_CHECK(difference(forward_tensors(folder, inputs, {"fp64", {}}, at::kCPU).at("prediction_logits"),
                             none.at("prediction_logits")) > 1e-3);
    const auto refused = [&](const at::Tensor& mask) {
        inputs["global_attention_mask"] = mask;
        return message_of<InputError>([&] { forward_tensors(folder, inputs, {}, at::kCPU); });
    };
    DOCTEST_CHECK(refused(at::full_like(inputs["input_ids"], 2)) ==
                  "tensor 'global_attention_mask' must hold only 0 and 1");
    DOCTEST_CHECK(refused(at::zeros({2, 3}, at::kLong)) ==
                  "tensor 'global_attention_mask' differs in shape from input_ids");
    TensorMap longer{{"input_ids", at::full({1, 149}, 7, at::kLong)}};
    DOCTEST_CHECK(message_of<InputError>([&] { forward_tensors(folder, longer, {}, at::kCPU); }) ==
                  "tensor 'input_ids' holds sequences of 149 tokens, the model has 148 positions");
}

DOCTEST_TEST_CASE("forward_tensors: questions of a model of one token type") {
    const TempDir folder;
    const std::filesystem::path from = test_data("model/heads/question_answering");
    bigbird::Json config = bigbird::read_json(from / "config.json");
    config["type_vocab_size"] = 1;
    bigbird::write_json(folder / "config.json", config, bigbird::Overwrite::allow);
    TensorMap weights = read_safetensors(from / "model.safetensors");
    at::Tensor& types = weights.at("bert.embeddings.token_type_embeddings.weight");
    types = types.narrow(0, 0, 1).clone();
    write_safetensors(weights, folder / "model.safetensors");
    const TensorMap inputs{{"input_ids", at::full({1, 10}, 9, at::kLong)},
                           {"question_lengths", at::full({1, 1}, 3, at::kLong)}};
    DOCTEST_CHECK(forward_tensors(folder.path(), inputs, {}, at::kCPU).contains("start_logits"));
}
