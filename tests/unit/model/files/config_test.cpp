// SPDX-License-Identifier: Apache-2.0
#include "bigbird/model/files/config.hpp"

#include "support/testing.hpp"
#include "unit/model/small_model.hpp"

#include "bigbird/core/error.hpp"

using namespace bigbird::model;
using bigbird::ConfigError;
using bigbird::InputError;
using bigbird::Json;
using bigbird::attention::GlobalPlacement;
using bigbird::attention::RandomSource;
using bigbird::testing::message_of;
using bigbird::testing::test_data;

DOCTEST_TEST_CASE("config: presets have the published shapes") {
    const BigBirdConfig base = preset("base");
    DOCTEST_CHECK(base.num_hidden_layers == 12);
    DOCTEST_CHECK(base.hidden_size == 768);
    DOCTEST_CHECK(base.num_attention_heads == 12);
    DOCTEST_CHECK(base.intermediate_size == 3072);
    DOCTEST_CHECK(base.max_position_embeddings == 4096);
    DOCTEST_CHECK(preset("tiny").intermediate_size == 512);
    for (const char* name :
         {"tiny", "tiny-modern", "modern", "small", "base", "large", "genomics", "base-etc"})
        DOCTEST_CHECK_NOTHROW(preset(name).validate());
    DOCTEST_CHECK(
        message_of<ConfigError>([] { preset("huge"); }) ==
        "no model preset is named 'huge': choose tiny, tiny-modern, modern, small, base, large, genomics "
        "or base-etc, "
        "or give a config.json");
    const BigBirdConfig large = preset("large"), etc = preset("base-etc");
    DOCTEST_CHECK(large.num_hidden_layers == 24);
    DOCTEST_CHECK(large.num_attention_heads == 16);
    DOCTEST_CHECK(large.hidden_size == 1024);
    DOCTEST_CHECK(etc.pattern.block_size == 84);
    DOCTEST_CHECK(etc.pattern.global_blocks == 4);  // 256 tokens and 80 that only fill the fourth block
    DOCTEST_CHECK(etc.front_tokens() == 336);
    DOCTEST_CHECK(base.front_tokens() == 0);
}

DOCTEST_TEST_CASE("config: a file of transformers is read as transformers means it") {
    const BigBirdConfig config =
        config_from_json(bigbird::read_json(test_data("model/classifier/config.json")), "config.json");
    DOCTEST_CHECK(config.vocab_size == 90);
    DOCTEST_CHECK(config.num_labels == 7);
    DOCTEST_CHECK(config.hidden_act == "gelu");
    DOCTEST_CHECK(!config.use_bias);
    DOCTEST_CHECK(config.rescale_embeddings);
    DOCTEST_CHECK(config.pad_token_id == 3);
    DOCTEST_CHECK(config.pattern.random_source == RandomSource::hf);
    DOCTEST_CHECK(config.pattern.globals == GlobalPlacement::ends);
    DOCTEST_CHECK(config.pattern.block_size == 16);
    // transformers writes nothing of labels where there are two.
    DOCTEST_CHECK(config_from_json({{"architectures", {"BigBirdForSequenceClassification"}}}, "config.json")
                      .num_labels == 2);
    const BigBirdConfig empty =
        config_from_json(Json::object(), "config.json");  // transformers' own defaults
    DOCTEST_CHECK(empty.vocab_size == 50'358);
    DOCTEST_CHECK(empty.attention_probs_dropout_prob == 0.1);
    DOCTEST_CHECK(config_from_json({{"attention_type", "original_full"}}, "config.json").pattern.full);
}

DOCTEST_TEST_CASE("config: other forms are said, and no model of transformers") {
    const BigBirdConfig plain = bigbird::testing::small_config();
    const Json of_bert = config_to_json(plain, "BigBirdForPreTraining");
    DOCTEST_CHECK(of_bert["model_type"] == "big_bird");
    DOCTEST_CHECK_FALSE(of_bert.contains("norm"));
    BigBirdConfig config = preset("tiny-modern");
    config.form.feed_forward = FeedForward::gated;
    const Json json = config_to_json(config, "BigBirdForPreTraining");
    DOCTEST_CHECK(json["model_type"] == "bigbird_dna");
    DOCTEST_CHECK(json["norm"] == "pre");
    DOCTEST_CHECK(json["position_embedding_type"] == "rotary");
    DOCTEST_CHECK(config_from_json(json, "config.json").form == config.form);
    const auto refusal = [&](const char* key, const Json& value) {
        Json spoilt = json;
        spoilt[key] = value;
        return message_of<bigbird::InputError>([&] { config_from_json(spoilt, "config.json"); });
    };
    DOCTEST_CHECK(refusal("norm", "middle") == "config.json: key 'norm' must be pre or post, not \"middle\"");
    DOCTEST_CHECK(refusal("num_attention_heads", 128).find("rotary needs heads of an even size") !=
                  std::string::npos);
    DOCTEST_CHECK(refusal("embedding_convolution", 4).find("must be 0 or odd") != std::string::npos);
}

DOCTEST_TEST_CASE("config: angles of rotary positions are written where they are not the usual ones") {
    BigBirdConfig config = preset("tiny-modern");
    const Json usual = config_to_json(config, "BigBirdForPreTraining");
    DOCTEST_CHECK_FALSE(usual.contains("rope_theta"));
    DOCTEST_CHECK_FALSE(usual.contains("rope_scaling"));
    const auto read = [&](const Json& more) {
        Json json = usual;
        json.update(more);
        return config_from_json(json, "config.json").form.rotary;
    };
    DOCTEST_CHECK(read({{"rope_scaling", nullptr}}) == RotaryForm{});
    DOCTEST_CHECK(read({{"rope_scaling", {{"rope_type", "default"}}}}) == RotaryForm{});
    DOCTEST_CHECK(read({{"rope_scaling", {{"type", "linear"}, {"factor", 2}}}}) ==
                  RotaryForm{.scaling = RopeScaling::linear, .factor = 2});
    config.form.rotary = {.theta = 5e5, .scaling = RopeScaling::ntk, .factor = 2.5};
    const Json json = config_to_json(config, "BigBirdForPreTraining");
    DOCTEST_CHECK(json["rope_scaling"].dump() == R"({"rope_type":"ntk","factor":2.5})");
    DOCTEST_CHECK(config_from_json(json, "config.json").form == config.form);
}

DOCTEST_TEST_CASE("config: angles of rotary positions that make no sense are named") {
    const Json usual = config_to_json(preset("tiny-modern"), "BigBirdForPreTraining");
    const auto refusal = [&](const Json& more) {
        Json json = usual;
        json.update(more);
        return message_of<bigbird::InputError>([&] { config_from_json(json, "config.json"); });
    };
    const auto scaling = [](const Json& value) { return Json{{"rope_scaling", value}}; };
    const std::string model = "model configuration: ";
    const std::pair<Json, std::string> cases[] = {
        {scaling({{"rope_type", "yarn"}, {"factor", 2}}),
         "key 'rope_type' must be default, linear or ntk, not \"yarn\""},
        {scaling({{"rope_type", "linear"}, {"factor", 0.5}}),
         model + "the factor of rope_scaling must be at least 1, not 0.500000"},
        {scaling({{"rope_type", "linear"}}),
         "key 'rope_scaling' must be an object with a factor, not {\"rope_type\":\"linear\"}"},
        {scaling({{"rope_type", "linear"}, {"factor", "two"}}), "key 'factor' must be a number, not \"two\""},
        {scaling(4),
         "key 'rope_scaling' must be {\"rope_type\": \"linear\" or \"ntk\", \"factor\": 2.0}, not 4"},
        {{{"rope_theta", 1}}, model + "rope_theta must be above 1, not 1.000000"},
        {{{"rope_theta", 500}, {"position_embedding_type", "none"}},
         model + "rope_theta and rope_scaling need position_embedding_type rotary, not none"},
        {{{"rope_scaling", {{"rope_type", "ntk"}, {"factor", 2}}}, {"num_attention_heads", 64}},
         model + "rope_scaling ntk needs heads of more than 2 features"}};
    for (const auto& [more, why] : cases)
        DOCTEST_CHECK(refusal(more) == "config.json: " + why);
}

DOCTEST_TEST_CASE("config: what is written is read again, our own keys included") {
    BigBirdConfig config = bigbird::testing::small_config();
    config.num_labels = 919;
    config.classifier_head = "linear";
    config.classifier_dropout = 0.25;
    config.pattern.random_seed = 0xFFFFFFFFFFFFFFFFULL;
    config.pattern.globals = GlobalPlacement::first;
    config.extra["task"] = {{"window", 8000}};
    const Json json = config_to_json(config, "BigBirdForSequenceClassification");
    const BigBirdConfig again = config_from_json(Json::parse(json.dump()), "config.json");
    DOCTEST_CHECK(again.pattern == config.pattern);
    DOCTEST_CHECK(again.num_labels == 919);
    DOCTEST_CHECK(again.classifier_head == "linear");
    DOCTEST_CHECK(again.classifier_dropout == 0.25);
    DOCTEST_CHECK(again.extra["task"]["window"] == 8000);
    DOCTEST_CHECK(config_to_json(again, "BigBirdForSequenceClassification") == json);
    DOCTEST_CHECK(json["architectures"] == Json({"BigBirdForSequenceClassification"}));
    DOCTEST_CHECK(!config_to_json(config, "BigBirdForPreTraining").contains("num_labels"));
}

DOCTEST_TEST_CASE("config: a Performer is said, read again, and no model of transformers") {
    using bigbird::attention::FeatureKernel;
    BigBirdConfig config = bigbird::testing::small_config();
    config.performer = {.features = 64,
                        .kernel = FeatureKernel::relu,
                        .orthogonal = false,
                        .redraw_every = 100,
                        .seed = 0xFFFFFFFFFFFFFFFFULL,
                        .redraw = 3};
    const Json json = config_to_json(config, "BigBirdForPreTraining");
    DOCTEST_CHECK(json["model_type"] == "bigbird_dna");
    DOCTEST_CHECK(json["attention_type"] == "performer");
    DOCTEST_CHECK(json["performer"]["kernel"] == "relu");
    DOCTEST_CHECK(json["norm"] == "post");
    const BigBirdConfig again = config_from_json(Json::parse(json.dump()), "config.json");
    DOCTEST_CHECK(again.performer == config.performer);
    DOCTEST_CHECK(config_to_json(again, "BigBirdForPreTraining") == json);
    const BigBirdConfig brief = config_from_json({{"attention_type", "performer"}}, "config.json");
    DOCTEST_CHECK(brief.performer == bigbird::attention::FeatureSpec{});
    const Json none = config_to_json(bigbird::testing::small_config(), "BigBirdForPreTraining");
    DOCTEST_CHECK(none["attention_type"] == "block_sparse");
    DOCTEST_CHECK_FALSE(none.contains("performer"));
}

DOCTEST_TEST_CASE("config: what does not fit a Performer is named") {
    const std::tuple<Json, Json, std::string> cases[] = {
        {256, {}, "key 'performer' must be an object, not 256"},
        {{{"feature", 256}}, {}, "key 'performer.feature' is unknown"},
        {{{"features", 0.5}}, {}, "key 'performer.features' must be a whole number, not 0.5"},
        {{{"kernel", "cosine"}}, {}, "key 'performer.kernel' must be softmax or relu, not \"cosine\""},
        {{{"features", 0}}, {}, "performer: features must be between 1 and 65536, not 0"},
        {Json::object(),
         {{"attention_type", "block_sparse"}},
         "key 'performer' must be absent unless attention_type is performer, not {}"},
        {Json::object(),
         {{"attention_pattern", "longformer"}},
         "model configuration: attention_type performer has neither an attention_pattern nor "
         "num_extra_global_tokens"}};
    for (const auto& [performer, others, why] : cases) {
        Json json = {{"attention_type", "performer"}, {"performer", performer}};
        if (others.is_object()) json.update(others);
        DOCTEST_CHECK(message_of<InputError>([&] { config_from_json(json, "config.json"); }) ==
                      "config.json: " + why);
    }
}

DOCTEST_TEST_CASE("config: every error names the key and the file") {
    const std::string model = "model configuration: ";
    const std::pair<Json, std::string> cases[] = {
        {{{"hidden_size", "768"}}, "key 'hidden_size' must be a whole number, not \"768\""},
        {{{"block_size", 4'000'000'000}}, "key 'block_size' must be a whole number, not 4000000000"},
        {{{"random_blocks_seed", -1}}, "key 'random_blocks_seed' must be a whole number, not -1"},
        {{{"hidden_dropout_prob", true}}, "key 'hidden_dropout_prob' must be a number, not true"},
        {{{"use_bias", 1}}, "key 'use_bias' must be true or false, not 1"},
        {{{"attention_type", "sparse"}},
         "key 'attention_type' must be block_sparse, original_full, performer or longformer, not \"sparse\""},
        {{{"random_blocks_source", "dice"}},
         "key 'random_blocks_source' must be uniform, hf, seeded or google, not \"dice\""},
        {{{"random_blocks_version", 2}}, "key 'random_blocks_version' must be 1, not 2"},
        {{{"attention_pattern", "performer"}},
         "key 'attention_pattern' must be bigbird or longformer, not \"performer\""},
        {{{"model_type", "bert"}},
         "is the configuration of a 'bert' model; only 'big_bird', 'longformer' and 'bigbird_dna' models can "
         "be "
         "used"},
        {{{"is_decoder", true}}, "is the configuration of a decoder; only encoders can be used"},
        {{{"hidden_size", 100}}, model + "hidden_size 100 is no multiple of num_attention_heads 12"},
        {{{"block_size", 8192}}, model + "block_size 8192 is above max_position_embeddings 4096"},
        {{{"vocab_size", -5}}, model + "vocab_size must be between 1 and 2^24, not -5"},
        {{{"hidden_act", "tanh"}},
         model + "hidden_act 'tanh' is unknown; choose gelu, gelu_new, gelu_pytorch_tanh, relu or silu"},
        {{{"num_extra_global_tokens", 100}, {"num_global_blocks", 1}},
         model +
             "num_extra_global_tokens 100 needs attention_pattern bigbird, global_blocks_placement first and "
             "num_global_blocks 2, the blocks that the tokens fill"},
        {{{"num_extra_global_tokens", -1}},
         "key 'num_extra_global_tokens' must be between 0 and 2^24, not -1"},
        {Json::array(), "is not a model's configuration: a JSON object is expected"}};
    for (const auto& [json, why] : cases) {
        DOCTEST_CHECK(message_of<InputError>([&] { config_from_json(json, "m/config.json"); }) ==
                      "m/config.json: " + why);
    }
}

DOCTEST_TEST_CASE("config: GENA-LM's bigbird-base-t2t is a model of ours by its configuration alone") {
    // Shape, activation, ids and pattern as published; its weights have the names and shapes of transformers.
    const Json gena = Json::parse(R"({
        "architectures": ["BigBirdForMaskedLM"], "attention_probs_dropout_prob": 0.1,
        "attention_type": "block_sparse", "block_size": 64, "gradient_checkpointing": false,
        "hidden_act": "gelu_new", "hidden_dropout_prob": 0.1, "hidden_size": 768, "initializer_range": 0.02,
        "intermediate_size": 3072, "layer_norm_eps": 1e-12, "max_position_embeddings": 4096,
        "model_type": "big_bird", "num_attention_heads": 12, "num_hidden_layers": 12,
        "num_random_blocks": 3, "pad_token_id": 3, "position_embedding_type": "absolute",
        "rescale_embeddings": false, "sep_token_id": 66, "transformers_version": "4.4.0.dev0",
        "type_vocab_size": 2, "use_bias": true, "use_cache": true, "vocab_size": 32000})");
    const BigBirdConfig config = config_from_json(gena, "config.json");
    DOCTEST_CHECK(config.pad_token_id == 3);
    DOCTEST_CHECK(config.pattern.random_source == RandomSource::hf);
    DOCTEST_CHECK(config.pattern.full_up_to_blocks() * config.pattern.block_size == 704);
}

DOCTEST_TEST_CASE("config: extra global tokens are written and read, and make their blocks") {
    const BigBirdConfig config = preset("base-etc");
    const Json json = config_to_json(config, "BigBirdForPreTraining");
    const BigBirdConfig again = config_from_json(json, "config.json");
    DOCTEST_CHECK(again.extra_global_tokens == 256);
    DOCTEST_CHECK(again.pattern == config.pattern);
    DOCTEST_CHECK(
        !config_to_json(preset("base"), "BigBirdForPreTraining").contains("num_extra_global_tokens"));
    const BigBirdConfig brief = config_from_json(
        {{"num_extra_global_tokens", 100}, {"block_size", 16}, {"num_random_blocks", 0}}, "config.json");
    DOCTEST_CHECK(brief.pattern.global_blocks == 7);
    DOCTEST_CHECK(brief.pattern.globals == GlobalPlacement::first);
    DOCTEST_CHECK(brief.pattern.random_source == RandomSource::uniform);
}

DOCTEST_TEST_CASE("config: every pattern is written and read again") {
    for (const RandomSource source :
         {RandomSource::uniform, RandomSource::hf, RandomSource::seeded, RandomSource::google}) {
        BigBirdConfig config = bigbird::testing::small_config();
        config.pattern.random_source = source;
        const Json json = config_to_json(config, "BigBirdForPreTraining");
        DOCTEST_CHECK(config_from_json(json, "config.json").pattern == config.pattern);
    }
    BigBirdConfig config = bigbird::testing::small_config();
    config.pattern.kind = bigbird::attention::PatternKind::longformer;
    config.pattern.window_tokens = 33;
    config.pattern.dilation = 2;
    config.pattern.global_tokens = 5;
    const Json json = config_to_json(config, "BigBirdForPreTraining");
    DOCTEST_CHECK(config_from_json(json, "config.json").pattern == config.pattern);
}
