// SPDX-License-Identifier: Apache-2.0
// Low-rank adapters against what peft computes (scripts/checks/make_adapter_fixtures.py).
#include "made_weights.hpp"
#include "support/temp_dir.hpp"
#include "support/tensors.hpp"
#include "support/testing.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/model/adapter.hpp"
#include "bigbird/model/model_directory.hpp"

using namespace bigbird;
using namespace bigbird::model;
using namespace bigbird::parity;
using bigbird::testing::difference;
using bigbird::testing::message_of;
using bigbird::testing::TempDir;
using bigbird::testing::test_data;

namespace {

constexpr double adapter_tolerance = 1e-5;

const Json& adapter_cases() {
    static const Json all = read_json(test_data("encoders/adapters.json"));
    return all;
}

LoraForm form_of_case(const Json& given) {
    return {.rank = given.at("rank").get<std::int64_t>(), .alpha = given.at("alpha").get<double>()};
}

/// The name of a parameter in peft's file.
std::string peft_name(const BigBirdConfig& config, std::string own) {
    std::string ending;
    for (const std::string part : {"lora_A", "lora_B"}) {
        if (!own.ends_with(part)) continue;
        own.replace(own.size() - part.size(), part.size(), "weight");
        ending = "." + part + ".weight";
    }
    std::string theirs = "base_model.model." + published_name(config.form.published.family, own);
    if (!ending.empty()) theirs.replace(theirs.size() - 7, 7, ending);
    return theirs;
}

SequenceClassifier adapted_network(const Json& given, const std::filesystem::path& folder) {
    write_folder(given, folder);
    SequenceClassifier network = load_classifier(folder, at::kCPU);
    add_adapters(*network, form_of_case(given), 1);
    const at::NoGradGuard no_gradients;
    for (auto& item : network->named_parameters())
        if (item.key().find(".lora_") != std::string::npos)
            item.value().copy_(
                made_weight(peft_name(network->config(), item.key()), item.value().sizes().vec()));
    return network;
}

at::Tensor logits_of_case(SequenceClassifier network, const Json& given) {
    const TensorMap inputs = inputs_of_case(given);
    const std::int64_t block = network->config().pattern.block_size, length = inputs.at("input_ids").size(1);
    const auto padded = [&](const char* key, std::int64_t value) {
        return at::constant_pad_nd(inputs.at(key).to(at::kLong), {0, (block - length % block) % block},
                                   value);
    };
    const at::Tensor ids = padded("input_ids", network->config().pad_token_id),
                     mask = padded("attention_mask", 0);
    at::Tensor hidden = network->encode({ids, at::zeros_like(ids), mask.to(at::kBool)}).hidden;
    if (given.at("config").contains("classifier_pooling")) {  // the mean
        const at::Tensor weights = mask.unsqueeze(2).to(hidden.scalar_type());
        hidden = (hidden * weights).sum(1, true) / weights.sum(1, true);
    }
    return network->predict(hidden);
}

at::Tensor expected_logits(const Json& given) {
    return at::tensor(given.at("logits").get<std::vector<double>>(), at::kDouble).view({2, -1});
}

}  // namespace

DOCTEST_TEST_CASE("adapters: logits and gradients are peft's") {
    for (const auto& [name, given] : adapter_cases().items()) {
        DOCTEST_CAPTURE(name);
        const TempDir folder;
        SequenceClassifier network = adapted_network(given, folder.path());
        network->to(at::kDouble);
        const at::Tensor logits = logits_of_case(network, given);
        DOCTEST_CHECK(difference(logits, expected_logits(given)) < adapter_tolerance);
        at::cross_entropy_loss(logits, at::tensor({0, 2}, at::kLong), {}, at::Reduction::Sum).backward();
        std::size_t compared = 0;
        for (const auto& item : network->named_parameters()) {
            const std::string theirs = peft_name(network->config(), item.key());
            const bool known = given.at("gradients").contains(theirs);
            DOCTEST_CAPTURE(theirs);
            if (!known) {
                DOCTEST_CHECK((!item.value().grad().defined() || item.key().starts_with("bert.pooler")));
                continue;
            }
            const Json& wanted = given.at("gradients").at(theirs);
            const at::Tensor gradient = item.value().grad().flatten();
            const at::Tensor wave = at::cos(at::arange(gradient.numel(), at::kDouble));
            DOCTEST_CHECK(item.value().sizes().vec() == wanted[0].get<std::vector<std::int64_t>>());
            const auto near = [](double a, double b) { return std::abs(a - b) < 1e-4 * (1 + std::abs(b)); };
            DOCTEST_CHECK(near(gradient.sum().item<double>(), wanted[1].get<double>()));
            DOCTEST_CHECK(near((gradient * wave).sum().item<double>(), wanted[2].get<double>()));
            ++compared;
        }
        DOCTEST_CHECK(compared == given.at("gradients").size());
    }
}

DOCTEST_TEST_CASE("adapters: merged weights and the files that are written compute the same") {
    for (const auto& [name, given] : adapter_cases().items()) {
        DOCTEST_CAPTURE(name);
        const TempDir folder, merged, adapter;
        const SequenceClassifier network = adapted_network(given, folder.path());
        const at::Tensor wanted = logits_of_case(network, given).detach();
        write_model(network, nullptr, merged.path());
        DOCTEST_CHECK(difference(logits_of_case(load_classifier(merged.path(), at::kCPU), given), wanted) <
                      adapter_tolerance);
        write_adapters(*network, form_of_case(given), folder.path().string(), adapter.path());
        std::vector<std::string> names, known;
        for (const auto& item : read_safetensors(adapter.path() / "adapter_model.safetensors"))
            names.push_back(item.first);
        for (const auto& item : given.at("gradients").items())
            known.push_back(item.key());
        std::ranges::sort(known);
        DOCTEST_CHECK(names == known);
        const SequenceClassifier again = load_classifier(adapter.path(), at::kCPU);
        DOCTEST_CHECK_FALSE(has_adapters(*again));
        DOCTEST_CHECK(difference(logits_of_case(again, given), wanted) < adapter_tolerance);
    }
}

DOCTEST_TEST_CASE("adapters: dropout changes a training pass only, and B begins at 0") {
    const Json& given = adapter_cases().at("esm");
    const TempDir folder;
    write_folder(given, folder.path());
    SequenceClassifier network = load_classifier(folder.path(), at::kCPU);
    const at::Tensor before = logits_of_case(network, given);
    add_adapters(*network, {.rank = 2, .alpha = 4, .dropout = 0.5}, 1);
    DOCTEST_CHECK(difference(logits_of_case(network, given), before) < 1e-6);
    DOCTEST_CHECK(message_of<ConfigError>([&] { add_adapters(*network, {.rank = 17, .alpha = 4}, 1); }) ==
                  "--lora 17 is above the 16 features of the model's layers");
}

DOCTEST_TEST_CASE("adapters: other kinds are refused by their keys") {
    const Json& given = adapter_cases().at("esm");
    const TempDir folder, adapter;
    const SequenceClassifier network = adapted_network(given, folder.path());
    write_adapters(*network, form_of_case(given), folder.path().string(), adapter.path());
    const std::filesystem::path file = adapter.path() / "adapter_config.json";
    const auto refusal = [&](const Json& change) {
        Json config = read_json(file);
        config.update(change);
        const TempDir changed;
        write_json(changed.path() / "adapter_config.json", config, Overwrite::allow);
        std::filesystem::copy_file(adapter.path() / "adapter_model.safetensors",
                                   changed.path() / "adapter_model.safetensors");
        const std::string message =
            message_of<InputError>([&] { load_classifier(changed.path(), at::kCPU); });
        return message.substr(message.find(": ") + 2);
    };
    DOCTEST_CHECK(refusal({{"use_dora", true}}) ==
                  "key 'use_dora' is set: such adapters cannot be merged here");
    DOCTEST_CHECK(refusal({{"bias", "all"}}) == "key 'bias' must be none, not \"all\"");
    DOCTEST_CHECK(refusal({{"peft_type", "IA3"}}) == "is no LoRA adapter: peft_type must be LORA");
    DOCTEST_CHECK(
        refusal({{"base_model_name_or_path", "there/is-none"}}) ==
        "is an adapter of the model 'there/is-none', which is no folder here: give the folder's path as "
        "base_model_name_or_path");
}
