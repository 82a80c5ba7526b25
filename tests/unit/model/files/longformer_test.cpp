// SPDX-License-Identifier: Apache-2.0
#include "bigbird/model/files/longformer.hpp"

#include "support/testing.hpp"

#include "bigbird/model/files/config.hpp"

#include <array>
#include <utility>

using namespace bigbird;
using namespace bigbird::model;
using bigbird::testing::message_of;

namespace {

/// Of two layers of three heads.
Json small(const Json& changes = Json::object()) {
    Json json{{"model_type", "longformer"},
              {"num_hidden_layers", 2},
              {"hidden_size", 24},
              {"num_attention_heads", 3},
              {"attention_window", 8}};
    json.update(changes);
    return json;
}

LongformerForm form_of(const Json& changes) {
    return *config_from_json(small(changes), "config.json").longformer;
}

}  // namespace

DOCTEST_TEST_CASE("longformer: transformers' keys, and what it means where they are missing") {
    const BigBirdConfig config = config_from_json({{"model_type", "longformer"}}, "config.json");
    DOCTEST_REQUIRE(config.longformer.has_value());
    DOCTEST_CHECK(config.longformer->windows == std::vector<int>(12, 512));
    DOCTEST_CHECK(config.longformer->dilations == std::vector<std::vector<int>>(12, std::vector<int>(12, 1)));
    DOCTEST_CHECK(!config.longformer->global_tokens);
    DOCTEST_CHECK(config.vocab_size == 30'522);
    DOCTEST_CHECK(config.pad_token_id == 1);
    DOCTEST_CHECK(config.hidden_act == "gelu");
    DOCTEST_CHECK(config.max_position_embeddings == 512);
    DOCTEST_CHECK(config.positions() == 510);
    DOCTEST_CHECK(config.pattern.block_size == 64);
    Json classifier{{"model_type", "longformer"}, {"architectures", {"LongformerForSequenceClassification"}}};
    DOCTEST_CHECK(config_from_json(classifier, "c").longformer->global_tokens == 1);
    DOCTEST_CHECK(config_from_json(classifier, "c").num_labels == 2);
    classifier["num_global_tokens"] = 0;
    DOCTEST_CHECK(config_from_json(classifier, "c").longformer->global_tokens == 0);
    DOCTEST_CHECK(config_from_json({{"max_position_embeddings", 77}}, "c").positions() == 77);
}

DOCTEST_TEST_CASE("longformer: windows a layer, dilation a layer or a head") {
    DOCTEST_CHECK(form_of({{"attention_window", {4, 16}}}).windows == std::vector<int>{4, 16});
    DOCTEST_CHECK(!form_of(Json::object()).is_dilated());
    using Lists = std::vector<std::vector<int>>;
    DOCTEST_CHECK(form_of({{"attention_dilation", 3}}).dilations == Lists{{3, 3, 3}, {3, 3, 3}});
    DOCTEST_CHECK(form_of({{"attention_dilation", {1, 2}}}).dilations == Lists{{1, 1, 1}, {2, 2, 2}});
    const LongformerForm mixed = form_of(
        {{"attention_dilation", Json::array({2, Json::array({1, 2, 5})})}, {"attention_window", {4, 16}}});
    DOCTEST_CHECK(mixed.dilations == Lists{{2, 2, 2}, {1, 2, 5}});
    DOCTEST_CHECK(mixed.is_dilated());
    const attention::PatternSpec window = mixed.window(1, 2, 32);
    DOCTEST_CHECK((window.kind == attention::PatternKind::longformer));
    DOCTEST_CHECK(window.block_size == 32);
    DOCTEST_CHECK(window.window_tokens == 8);
    DOCTEST_CHECK(window.dilation == 5);
}

DOCTEST_TEST_CASE("longformer: what config.json says is written again") {
    for (const Json& changes :
         {Json::object(), Json{{"attention_window", {4, 16}}, {"num_global_tokens", 3}, {"block_size", 16}},
          Json{{"attention_dilation", Json::array({1, Json::array({1, 2, 5})})}}}) {
        const BigBirdConfig config = config_from_json(small(changes), "config.json");
        const Json json = config_to_json(config, "BigBirdForPreTraining");
        const BigBirdConfig again = config_from_json(json, "config.json");
        DOCTEST_CHECK(again.longformer == config.longformer);
        DOCTEST_CHECK(again.pattern == config.pattern);
        DOCTEST_CHECK(again.pad_token_id == 1);
        DOCTEST_CHECK(config_to_json(again, "BigBirdForPreTraining") == json);
        DOCTEST_CHECK(json["architectures"] == Json({"LongformerForMaskedLM"}));
        DOCTEST_CHECK(json["model_type"] ==
                      (changes.contains("attention_dilation") ? "bigbird_dna" : "longformer"));
        DOCTEST_CHECK(json["attention_type"] == "longformer");
        DOCTEST_CHECK(!json.contains("num_random_blocks"));
    }
    DOCTEST_CHECK(
        config_to_json(config_from_json(small(), "c"), "BigBirdForSequenceClassification")["architectures"] ==
        Json({"LongformerForSequenceClassification"}));
}

DOCTEST_TEST_CASE("longformer: windows and forms that cannot be") {
    constexpr int many = 1 << 24;
    const std::string model = "model configuration: ";
    const std::pair<Json, std::string> cases[] = {
        {{{"attention_window", 7}}, model + "attention_window must be even and at least 2, not 7"},
        {{{"attention_window", {8, 0}}}, model + "attention_window must be even and at least 2, not 0"},
        {{{"attention_window", 514}},
         model + "attention_window 514 is larger than max_position_embeddings 512"},
        {{{"attention_window", {8, 8, 8}}},
         model + "attention_window lists 3 numbers, the model has 2 layers"},
        {{{"attention_window", "wide"}},
         "key 'attention_window' must be a whole number or a list of them, one a layer, not \"wide\""},
        {{{"attention_window", 1e9}}, "key 'attention_window' must be"},
        {{{"attention_dilation", 0}},
         model + "attention_dilation must be between 1 and max_position_embeddings, not 0"},
        {{{"attention_dilation", Json::array({1, Json::array({1, 2})})}},
         model + "a layer of attention_dilation lists 2 numbers, the model has 3 heads"},
        {{{"attention_dilation", {{1, "x"}, {1, 1}}}},
         "key 'attention_dilation' must be a whole number, a list"},
        {{{"num_global_tokens", -1}},
         model + "num_global_tokens must be between 0 and max_position_embeddings, not -1"},
        {{{"norm", "pre"}}, model + "a Longformer has transformers' form"},
        {{{"use_bias", false}}, model + "a Longformer has transformers' form"},
        {{{"attention_type", "block_sparse"}},
         "key 'attention_type' must be longformer, not \"block_sparse\""},
        {{{"max_position_embeddings", 8}, {"pad_token_id", 7}},
         model + "max_position_embeddings must be at least pad_token_id + 2"},
        // Lists of more layers and heads than memory holds are not made.
        {{{"num_hidden_layers", many}, {"num_attention_heads", many}, {"hidden_size", many}},
         model + "attention_window lists 4096 numbers, the model has 16777216 layers"},
        {{{"attention_dilation", std::vector<int>(100'000, 1)},
          {"num_attention_heads", many},
          {"hidden_size", many}},
         model + "attention_dilation lists 100000 numbers, the model has 2 layers"}};
    for (const auto& [changes, why] : cases) {
        const std::string found =
            message_of<InputError>([&, &json = changes] { config_from_json(small(json), "config.json"); });
        DOCTEST_CHECK_MESSAGE(found.starts_with("config.json: " + why), found);
    }
}

DOCTEST_TEST_CASE("weight_names: a Longformer's, there and back") {
    constexpr std::array<std::pair<const char*, const char*>, 9> names{
        {{"bert.embeddings.word_embeddings.weight", "longformer.embeddings.word_embeddings.weight"},
         {"bert.encoder.layer.3.attention.self.query_global.bias",
          "longformer.encoder.layer.3.attention.self.query_global.bias"},
         {"bert.pooler.weight", "longformer.pooler.dense.weight"},
         {"cls.predictions.transform.dense.weight", "lm_head.dense.weight"},
         {"cls.predictions.transform.LayerNorm.bias", "lm_head.layer_norm.bias"},
         {"cls.predictions.decoder.weight", "lm_head.decoder.weight"},
         {"cls.predictions.bias", "lm_head.bias"},
         {"cls.seq_relationship.weight", "cls.seq_relationship.weight"},
         {"classifier.out_proj.bias", "classifier.out_proj.bias"}}};
    for (const auto& [ours, theirs] : names) {
        DOCTEST_CHECK(longformer_name(ours) == theirs);
        DOCTEST_CHECK(name_of_longformer(theirs) == ours);
    }
    DOCTEST_CHECK(name_of_longformer("pooler.dense.bias") == "pooler.bias");
    DOCTEST_CHECK(name_of_longformer("embeddings.LayerNorm.bias") == "embeddings.LayerNorm.bias");
}

DOCTEST_TEST_CASE("weight_names: what tells a Longformer") {
    DOCTEST_CHECK(is_longformer_name("longformer.encoder.layer.0.attention.self.query_global.weight"));
    DOCTEST_CHECK(is_longformer_name("encoder.layer.0.attention.self.query_global.weight"));
    DOCTEST_CHECK(!is_longformer_name("bert.encoder.layer.0.attention.self.query.weight"));
}
