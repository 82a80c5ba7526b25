// SPDX-License-Identifier: Apache-2.0
// Forms of encoders that others published, against what transformers and independent oracles compute
// (scripts/checks/make_encoder_fixtures.py). The weights follow from their names.
#include "made_weights.hpp"
#include "support/temp_dir.hpp"
#include "support/tensors.hpp"
#include "support/testing.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/formats/json_file.hpp"
#include "bigbird/model/forward_tensors.hpp"
#include "bigbird/model/model_directory.hpp"

using namespace bigbird;
using namespace bigbird::model;
using namespace bigbird::parity;
using bigbird::testing::message_of;
using bigbird::testing::TempDir;
using bigbird::testing::test_data;

namespace {

constexpr double published_tolerance = 1e-5;

const Json& published_cases() {
    static const Json all = read_json(test_data("encoders/forms.json"));
    return all;
}

/// The largest difference at the positions that the fixture holds.
double error_of(const at::Tensor& found, const Json& given, const Json& wanted) {
    const at::Tensor chosen =
        found.to(at::kDouble)
            .index_select(1, at::tensor(given.at("positions").get<std::vector<std::int64_t>>(), at::kLong));
    return (chosen.flatten() - at::tensor(wanted.get<std::vector<double>>(), at::kDouble))
        .abs()
        .max()
        .item<double>();
}

void check_published(const Json& given, const std::filesystem::path& folder, const ForwardSpec& spec) {
    const TensorMap found = forward_tensors(folder, inputs_of_case(given), spec, at::kCPU);
    for (const auto& [layer, wanted] : given.at("hidden").items()) {
        DOCTEST_CAPTURE(layer);
        DOCTEST_CHECK(error_of(found.at("hidden_states." + layer), given, wanted) < published_tolerance);
    }
    DOCTEST_CHECK(error_of(found.at("logits"), given, given.at("logits")) < published_tolerance);
}

}  // namespace

DOCTEST_TEST_CASE("published forms: hidden states and logits are the reference's, fp64 and fp32") {
    for (const auto& [name, given] : published_cases().items()) {
        DOCTEST_CAPTURE(name);
        const TempDir folder;
        write_folder(given, folder.path());
        check_published(given, folder.path(), {.type = "fp64"});
        check_published(given, folder.path(), {.type = "fp32"});
        check_published(given, folder.path(), {.type = "fp32", .backend = attention::Backend::blocked});
    }
}

DOCTEST_TEST_CASE("published forms: what this program writes of them computes the same") {
    for (const auto& [name, given] : published_cases().items()) {
        DOCTEST_CAPTURE(name);
        const TempDir folder, again;
        write_folder(given, folder.path());
        write_model(load_encoder(folder.path(), at::kCPU).model, nullptr, again.path());
        Json config = read_json(again.path() / "config.json");
        DOCTEST_CHECK(config.at("model_type") == "bigbird_dna");
        DOCTEST_CHECK(read_config(again.path()).form == read_config(folder.path()).form);
        config["architectures"] = {"BigBirdForMaskedLM"};
        write_json(again.path() / "config.json", config, Overwrite::allow);
        check_published(given, again.path(), {.type = "fp32"});
    }
}

DOCTEST_TEST_CASE("published forms: ALiBi reads 4,096 tokens, and more if config.json starts with more") {
    const TempDir folder;
    Json given = published_cases().at("bert-alibi");
    for (const auto& [starting_size, wanted] : {std::pair(512, 4096), std::pair(20'000, 20'000)}) {
        given["config"]["alibi_starting_size"] = starting_size;
        write_folder(given, folder.path());
        DOCTEST_CHECK(read_config(folder.path()).positions() == wanted);
    }
    constexpr int length = 5000;
    const Json inputs{{"input_ids", Json::array({std::vector<int>(length, 7)})},
                      {"lengths", Json::array({length})}};
    DOCTEST_CHECK(forward_tensors(folder.path(), inputs_of_case(inputs), {.type = "fp32"}, at::kCPU)
                      .at("logits")
                      .size(1) == length);
}

DOCTEST_TEST_CASE("published forms: a folder that fits none names the one that it resembles") {
    const TempDir folder;
    const auto refusal = [&](const char* name, const auto& change) {
        Json given = published_cases().at(name);
        change(given);
        write_folder(given, folder.path());
        return message_of<InputError>([&] { load_encoder(folder.path(), at::kCPU); });
    };
    const auto drop = [](const std::string& part) {
        return [part](Json& given) {
            Json kept = Json::object();
            for (const auto& [key, shape] : given.at("weights").items())
                if (key.find(part) == std::string::npos) kept[key] = shape;
            given["weights"] = kept;
        };
    };
    const std::string where = folder.path().string();
    DOCTEST_CHECK(refusal("gena", drop("_attention_ln")) ==
                  where +
                      ": its weights resemble the form of BERT, but lack "
                      "bert.encoder.layer.0.attention.output.LayerNorm.weight, "
                      "bert.encoder.layer.0.output.LayerNorm.weight");
    DOCTEST_CHECK(refusal("modernbert", drop("mlp.Wo")) ==
                  where +
                      ": its weights resemble the form of ModernBERT, but lack model.layers.0.mlp.Wo.weight");
    DOCTEST_CHECK(refusal("esm", drop("layer")).find("fit none of the forms") != std::string::npos);
    DOCTEST_CHECK(refusal("esm", drop("lm_head.bias")) ==
                  (folder.path() / "model.safetensors").string() + ": tensor 'lm_head.bias' is missing");
    DOCTEST_CHECK(refusal("gena", [](Json& given) {
                      given["config"]["sparse_attention"] = Json::object();
                  }).find("DeepSpeed") != std::string::npos);
}
