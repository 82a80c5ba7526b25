// SPDX-License-Identifier: Apache-2.0
// forward of transformers' other models against what transformers computes with them
// (scripts/checks/make_head_fixtures.py).
#include "support/tensors.hpp"
#include "support/testing.hpp"

#include "bigbird/model/forward_tensors.hpp"

#include <array>
#include <filesystem>

using namespace bigbird::model;
using bigbird::testing::difference;
using bigbird::testing::test_data;

namespace {

constexpr std::array input_names{"input_ids", "attention_mask", "token_type_ids", "question_lengths"};
constexpr double far_below = -5e5;

bool is_input(const std::string& key) {
    return std::ranges::find(input_names, key) != input_names.end();
}

/// The largest difference at real tokens, of tensors that have a row a token. What is taken off questions
/// (1e6) must be there in both; it is left out, as fp32 has but few digits behind it.
double gap(const at::Tensor& found, const at::Tensor& expected, const at::Tensor& real) {
    if (found.sizes() != expected.sizes()) return std::numeric_limits<double>::infinity();
    const bool of_tokens = expected.dim() >= 2 && expected.sizes().slice(0, 2) == real.sizes();
    const at::Tensor kept = expected > far_below;
    if (!at::equal(kept, found > far_below)) return std::numeric_limits<double>::infinity();
    at::Tensor counted = kept;
    if (of_tokens) counted = kept & (expected.dim() == 3 ? real.unsqueeze(2) : real);
    return difference(found.masked_select(counted), expected.masked_select(counted));
}

void check_case(const std::filesystem::path& folder, const std::filesystem::path& file,
                const std::string& type, double tolerance) {
    DOCTEST_CAPTURE(file.string());
    const TensorMap stored = read_safetensors(file);
    TensorMap inputs;
    for (const auto& [key, tensor] : stored)
        if (is_input(key)) inputs.emplace(key, tensor);
    const TensorMap found = forward_tensors(folder, inputs, {type, {}}, at::kCPU);
    const at::Tensor mask = inputs.at("attention_mask").to(at::kBool), real = mask.view({-1, mask.size(-1)});
    std::size_t compared = 0;
    for (const auto& [key, expected] : stored) {
        if (is_input(key)) continue;
        DOCTEST_CAPTURE(key);
        const std::string ours = key == "last_hidden_state" ? "hidden_states.2" : key;
        DOCTEST_REQUIRE(found.contains(ours));
        DOCTEST_CHECK(gap(found.at(ours).to(at::kDouble), expected, real) < tolerance);
        ++compared;
    }
    DOCTEST_CHECK(compared >= 2);
}

/// All cases of a model; returns how many.
int check_model(const std::string& name, const std::string& type, double tolerance) {
    const std::filesystem::path folder = test_data("model/heads") / name;
    int count = 0;
    for (const auto& item : std::filesystem::directory_iterator(folder / "cases")) {
        check_case(folder, item.path(), type, tolerance);
        ++count;
    }
    return count;
}

}  // namespace

DOCTEST_TEST_CASE("transformers: the outputs of every other head, in fp64 and fp32") {
    for (const std::string name : {"masked_lm", "token_classification", "multiple_choice"}) {
        DOCTEST_CHECK(check_model(name, "fp64", 1e-10) == 3);
        DOCTEST_CHECK(check_model(name, "fp32", 1e-5) == 3);
    }
    DOCTEST_CHECK(check_model("question_answering", "fp64", 1e-10) == 9);
    DOCTEST_CHECK(check_model("question_answering", "fp32", 1e-5) == 9);
}

DOCTEST_TEST_CASE("transformers: outputs have transformers' names, and no others") {
    const auto names = [](const std::string& name) {
        const std::filesystem::path folder = test_data("model/heads") / name;
        TensorMap inputs{{"input_ids", at::full({2, 20}, 9, at::kLong)}};
        if (name == "multiple_choice") inputs["input_ids"] = inputs["input_ids"].unsqueeze(1);
        std::string text;
        for (const auto& [key, tensor] : forward_tensors(folder, inputs, {}, at::kCPU))
            if (!key.starts_with("hidden_states.")) text += key + ' ' + std::to_string(tensor.dim()) + ' ';
        return text;
    };
    DOCTEST_CHECK(names("masked_lm") == "logits 3 prediction_logits 3 ");
    DOCTEST_CHECK(names("token_classification") == "logits 3 ");
    DOCTEST_CHECK(names("question_answering") == "end_logits 2 start_logits 2 ");
    DOCTEST_CHECK(names("multiple_choice") == "logits 2 ");
}
