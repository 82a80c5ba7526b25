// SPDX-License-Identifier: Apache-2.0
#include "bigbird/model/encoder.hpp"

#include "support/tensors.hpp"
#include "support/testing.hpp"
#include "unit/model/small_model.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/model/weights.hpp"

#include <cmath>
#include <set>

using namespace bigbird::model;
using namespace bigbird::testing;

namespace {

BigBirdModel encoder(const BigBirdConfig& config) {
    BigBirdModel model(config);
    initialise(*model, config, 1);
    model->eval();
    return model;
}

EncoderInput one(std::size_t length, const BigBirdConfig& config) {
    const std::vector<TokenSequence> sequences{random_sequence(length, 1)};
    return make_input(sequences, config, at::kCPU);
}

}  // namespace

DOCTEST_TEST_CASE("encoder: parameters have Hugging Face's names") {
    std::set<std::string> names;
    BigBirdConfig config = small_config();
    config.num_hidden_layers = 1;
    for (const auto& item : BigBirdModel(config)->named_parameters())
        names.insert(item.key());
    std::set<std::string> expected{"embeddings.word_embeddings.weight",
                                   "embeddings.position_embeddings.weight",
                                   "embeddings.token_type_embeddings.weight"};
    for (const char* module :
         {"embeddings.LayerNorm", "encoder.layer.0.attention.self.query",
          "encoder.layer.0.attention.self.key", "encoder.layer.0.attention.self.value",
          "encoder.layer.0.attention.output.dense", "encoder.layer.0.attention.output.LayerNorm",
          "encoder.layer.0.intermediate.dense", "encoder.layer.0.output.dense",
          "encoder.layer.0.output.LayerNorm", "pooler"}) {
        expected.insert(std::string(module) + ".weight");
        expected.insert(std::string(module) + ".bias");
    }
    DOCTEST_CHECK(names == expected);
}

namespace {

/// A layer of the other forms, step by step: LayerNorm before, rotary positions, gated feed-forward.
at::Tensor by_hand(BigBirdModel& model, const EncoderInput& input) {
    auto p = model->named_parameters();
    const std::int64_t batch = input.input_ids.size(0), length = input.input_ids.size(1);
    const auto linear = [&](const std::string& name, const at::Tensor& x) {
        return at::linear(x, p[name + ".weight"], p[name + ".bias"]);
    };
    const auto norm = [&](const std::string& name, const at::Tensor& x) {
        return at::layer_norm(x, {x.size(2)}, p[name + ".weight"], p[name + ".bias"], 1e-12);
    };
    at::Tensor x =
        norm("embeddings.LayerNorm",
             at::embedding(p["embeddings.word_embeddings.weight"], input.input_ids) +
                 at::embedding(p["embeddings.token_type_embeddings.weight"], input.token_type_ids));
    x = x * input.attention_mask.unsqueeze(2);
    const at::Tensor taps = p["embeddings.convolution.weight"];  // (hidden, 1, 3)
    const at::Tensor wide = at::constant_pad_nd(x, {0, 0, 1, 1});
    x = wide.narrow(1, 0, length) * taps.select(2, 0).squeeze(1) + x * taps.select(2, 1).squeeze(1) +
        wide.narrow(1, 2, length) * taps.select(2, 2).squeeze(1);
    const std::int64_t heads = model->config().num_attention_heads, size = x.size(2) / heads;
    const RotaryTable table = rotary_table(length, size, at::kCPU);
    const std::string layer = "encoder.layer.0.";
    const at::Tensor in = norm(layer + "attention.output.LayerNorm", x);
    const auto head = [&](const std::string& name) {
        return linear(layer + "attention.self." + name, in)
            .view({batch, length, heads, size})
            .transpose(1, 2);
    };
    const at::Tensor scores =
        at::matmul(rotate(head("query"), table), rotate(head("key"), table).transpose(2, 3)) /
        std::sqrt(static_cast<double>(size));
    const at::Tensor masked =
        scores.masked_fill(input.attention_mask.logical_not().view({batch, 1, 1, length}), -1e30);
    const at::Tensor context =
        at::matmul(at::softmax(masked, 3), head("value")).transpose(1, 2).reshape(x.sizes());
    x = x + linear(layer + "attention.output.dense", context);
    const at::Tensor inside = norm(layer + "output.LayerNorm", x);
    const at::Tensor inner = at::gelu(linear(layer + "intermediate.dense", inside), "tanh") *
                             linear(layer + "intermediate.gate", inside);
    return norm("encoder.LayerNorm", x + linear(layer + "output.dense", inner));
}

}  // namespace

DOCTEST_TEST_CASE("encoder: the other forms are what their parts say, and padding counts as absent") {
    BigBirdConfig config = small_config();
    config.num_hidden_layers = 1;
    config.pattern.full = true;
    config.form = {.norm = Norm::pre,
                   .positions = Positions::rotary,
                   .feed_forward = FeedForward::gated,
                   .initialization = Initialization::fan_in,
                   .embedding_convolution = 3};
    BigBirdModel model = encoder(config);
    const at::NoGradGuard no_gradients;
    for (at::Tensor& parameter : model->parameters())  // biases and norms that matter, too
        parameter.add_(at::sin(at::arange(parameter.numel(), at::kFloat)).view_as(parameter) * 0.1);
    const EncoderInput input = one(21, config);
    const at::Tensor found = model->forward(input, false, {}).hidden;
    DOCTEST_CHECK(difference(found.narrow(1, 0, 21), by_hand(model, input).narrow(1, 0, 21)) < 1e-5);
    config.form.rotary = {.scaling = RopeScaling::linear, .factor = 4};
    BigBirdModel stretched = encoder(config);
    copy_parameters(*stretched, *model);
    DOCTEST_CHECK(difference(stretched->forward(input, false, {}).hidden, found) > 1e-3);
    EncoderInput changed = one(21, config);
    changed.input_ids.slice(1, 21).fill_(7);  // what is padded
    DOCTEST_CHECK(difference(found.narrow(1, 0, 21),
                             model->forward(changed, false, {}).hidden.narrow(1, 0, 21)) < 1e-6);
}

namespace {

BigBirdConfig performer_config(const bigbird::attention::FeatureSpec& spec) {
    BigBirdConfig config = small_config();
    config.performer = spec;
    return config;
}

}  // namespace

DOCTEST_TEST_CASE(
    "encoder: a Performer comes near full attention with many features, and padding counts as absent") {
    BigBirdConfig full = small_config();
    full.pattern.full = true;
    full.initializer_range = 0.1;
    const at::NoGradGuard no_gradients;
    const auto hidden = [](const BigBirdConfig& config, const EncoderInput& input) {
        return encoder(config)->forward(input, false, {}).hidden.narrow(1, 0, 61);
    };
    const EncoderInput input = one(61, full);
    const at::Tensor exact = hidden(full, input);
    double last = 1e9;
    for (const std::int64_t features : {16, 256, 4096}) {
        BigBirdConfig config = full;
        config.pattern.full = false;
        config.performer = {.features = features, .seed = 3};
        const at::Tensor found = hidden(config, input);
        const double off = (found - exact).square().mean().sqrt().item<double>();
        DOCTEST_CHECK(off < 0.6 * last);
        last = off;
        EncoderInput changed = one(61, full);
        changed.input_ids.slice(1, 61).fill_(7);  // what is padded
        DOCTEST_CHECK(difference(found, hidden(config, changed)) < 1e-6);
        changed.input_ids = at::constant_pad_nd(changed.input_ids, {0, 8});
        changed.token_type_ids = at::constant_pad_nd(changed.token_type_ids, {0, 8});
        changed.attention_mask = at::constant_pad_nd(changed.attention_mask, {0, 8});
        DOCTEST_CHECK(difference(found, hidden(config, changed)) < 1e-5);
    }
    DOCTEST_CHECK(last < 0.02);
}

DOCTEST_TEST_CASE("encoder: a Performer's draw is that of config(), and every layer has its own") {
    const at::NoGradGuard no_gradients;
    BigBirdModel model = encoder(performer_config({.features = 16, .seed = 3}));
    const EncoderInput input = one(60, model->config());
    const at::Tensor first = model->forward(input, false, {}).hidden;
    model->set_redraw(2);
    DOCTEST_CHECK(model->config().performer->redraw == 2);
    const at::Tensor third = model->forward(input, false, {}).hidden;
    DOCTEST_CHECK(difference(first, third) > 1e-3);
    DOCTEST_CHECK(identical(encoder(model->config())->forward(input, false, {}).hidden, third));
    model->set_redraw(0);
    DOCTEST_CHECK(identical(model->forward(input, false, {}).hidden, first));
}

DOCTEST_TEST_CASE("encoder: each form and a Performer train, with recomputing as without") {
    std::vector<BigBirdConfig> configs{performer_config({.features = 16, .seed = 3})};
    for (const EncoderForm& form :
         {EncoderForm{.norm = Norm::pre}, EncoderForm{.positions = Positions::rotary},
          EncoderForm{.positions = Positions::none}, EncoderForm{.feed_forward = FeedForward::gated},
          EncoderForm{.embedding_convolution = 5}})
        configs.emplace_back(small_config()).form = form;
    for (const BigBirdConfig& config : configs) {
        std::vector<at::Tensor> gradients[2];
        for (const bool recompute : {false, true}) {
            BigBirdModel model = encoder(config);
            model->train();
            model->set_recompute(recompute);
            model->forward(one(60, config), false, {1, 2, 3}).hidden.square().sum().backward();
            for (const auto& item : model->named_parameters()) {
                if (item.key().starts_with("pooler")) continue;
                DOCTEST_CAPTURE(item.key());
                DOCTEST_REQUIRE(item.value().grad().defined());
                if (config.performer) DOCTEST_CHECK(item.value().grad().abs().max().item<double>() > 0);
                gradients[recompute ? 1 : 0].push_back(item.value().grad());
            }
        }
        for (std::size_t i = 0; i < gradients[0].size(); ++i)
            DOCTEST_CHECK((config.performer ? at::allclose(gradients[1][i], gradients[0][i], 1e-4, 1e-6)
                                            : difference(gradients[0][i], gradients[1][i]) < 1e-5));
    }
}

DOCTEST_TEST_CASE("encoder: the word embedding's dropout comes before its LayerNorm") {
    BigBirdConfig config = small_config();
    config.hidden_dropout_prob = 0.5;
    BigBirdModel model = encoder(config);
    model->train();
    const at::Tensor embedded = model->forward(one(12, config), true, {1, 1, 1}).hidden_states[0];
    DOCTEST_CHECK((embedded == 0).sum().item<std::int64_t>() == 0);
    DOCTEST_CHECK(difference(embedded.mean(-1), at::zeros({1, 12})) < 1e-5);
}

DOCTEST_TEST_CASE("encoder: a short batch between does not change a sparse result") {
    const BigBirdConfig config = small_config();
    BigBirdModel model = encoder(config);
    const EncoderInput longer = one(60, config), shorter = one(8, config);
    const at::Tensor before = model->forward(longer, false, {}).hidden;
    model->forward(shorter, false, {});
    DOCTEST_CHECK(identical(before, model->forward(longer, false, {}).hidden));
}

DOCTEST_TEST_CASE("encoder: a result does not depend on what else is in the batch, nor on padding") {
    const BigBirdConfig config = small_config();
    BigBirdModel model = encoder(config);
    const std::vector<TokenSequence> sequences{random_sequence(58, 1), random_sequence(60, 2)};
    const at::Tensor both = model->forward(make_input(sequences, config, at::kCPU), false, {}).hidden;
    const at::Tensor alone =
        model->forward(make_input(std::span(sequences).first(1), config, at::kCPU), false, {}).hidden;
    DOCTEST_CHECK(difference(both[0], alone[0]) < 1e-5);
    EncoderInput changed = make_input(std::span(sequences).first(1), config, at::kCPU);
    changed.input_ids[0][59] = 17;  // a padded position
    DOCTEST_CHECK(difference(model->forward(changed, false, {}).hidden[0].slice(0, 0, 58),
                             alone[0].slice(0, 0, 58)) < 1e-6);
}

DOCTEST_TEST_CASE("encoder: the last block may reach behind the last position") {
    BigBirdConfig config = small_config();
    BigBirdModel longer = encoder(config);
    config.max_position_embeddings = 126;
    BigBirdModel model = encoder(config);
    const at::NoGradGuard no_gradient;
    auto from = longer->named_parameters();
    for (auto& item : model->named_parameters())
        item.value().copy_(from[item.key()].narrow(0, 0, item.value().size(0)));
    DOCTEST_CHECK(difference(model->forward(one(126, config), false, {}).hidden.narrow(1, 0, 126),
                             longer->forward(one(126, config), false, {}).hidden.narrow(1, 0, 126)) < 1e-6);
    DOCTEST_CHECK(message_of<bigbird::InputError>([&] { model->forward(one(127, config), false, {}); }) ==
                  "a sequence of 127 tokens is longer than the model's 126 positions");
}

DOCTEST_TEST_CASE("encoder: transformers' pattern trains on short and long sequences") {
    BigBirdConfig config = small_config();
    config.pattern.random_source = bigbird::attention::RandomSource::hf;
    BigBirdModel model = encoder(config);
    model->train();
    for (const std::size_t length : {28U, 60U})
        DOCTEST_CHECK_NOTHROW(model->forward(one(length, config), false, {}));
}

namespace {

/// Six learned global tokens, which fill a block of four and half a second one.
BigBirdConfig etc_config() {
    BigBirdConfig config = small_config();
    config.extra_global_tokens = 6;
    config.pattern.globals = bigbird::attention::GlobalPlacement::first;
    config.pattern.global_blocks = 2;
    config.pattern.random_blocks = 0;
    return config;
}

/// A network without extra tokens, whose words 50 .. 55 at positions 0 .. 5 are `etc`'s global tokens.
BigBirdModel with_explicit_tokens(BigBirdModel& etc) {
    BigBirdConfig config = etc->config();
    config.extra_global_tokens = 0;
    config.vocab_size += 6;
    config.max_position_embeddings += 8;
    BigBirdModel model(config);
    const at::NoGradGuard no_gradient;
    auto from = etc->named_parameters();
    for (auto& item : model->named_parameters()) {
        at::Tensor& to = item.value();
        const at::Tensor& source = from[item.key()];
        if (item.key().ends_with("word_embeddings.weight")) {
            to.copy_(at::cat({source, from["embeddings.global_embeddings.weight"]}));
        } else if (item.key().ends_with("position_embeddings.weight")) {
            // The front takes back the token type that every position is given.
            const at::Tensor type = from["embeddings.token_type_embeddings.weight"].narrow(0, 0, 1);
            to.copy_(at::cat({-type.expand({8, -1}), source}));
        } else {
            to.copy_(source);
        }
    }
    model->eval();
    return model;
}

EncoderInput with_front(const EncoderInput& input) {
    const std::int64_t batch = input.input_ids.size(0);
    const at::Tensor ids = at::tensor({50, 51, 52, 53, 54, 55, 0, 0}, at::kLong).expand({batch, -1}),
                     mask = (ids > 0), types = at::zeros({batch, 8}, at::kLong);
    return {at::cat({ids, input.input_ids}, 1), at::cat({types, input.token_type_ids}, 1),
            at::cat({mask, input.attention_mask}, 1)};
}

}  // namespace

DOCTEST_TEST_CASE("encoder: extra global tokens are the same as tokens in front of every sequence") {
    const BigBirdConfig config = etc_config();
    BigBirdModel etc = encoder(config);
    etc->to(at::kDouble);
    BigBirdModel explicit_tokens = with_explicit_tokens(etc);
    explicit_tokens->to(at::kDouble);
    const std::vector<TokenSequence> sequences{random_sequence(58, 1), random_sequence(60, 2)};
    const EncoderInput input = make_input(sequences, config, at::kCPU);
    DOCTEST_REQUIRE(!config.pattern.is_full(60 / 4 + 2));
    const EncoderOutput found = etc->forward(input, true, {}),
                        wanted = explicit_tokens->forward(with_front(input), true, {});
    for (std::size_t layer = 0; layer < wanted.hidden_states.size(); ++layer) {
        DOCTEST_CHECK(difference(found.hidden_states[layer], wanted.hidden_states[layer].narrow(1, 8, 60)) <
                      1e-12);
    }
    DOCTEST_CHECK(difference(found.hidden, wanted.hidden.narrow(1, 8, 60)) < 1e-12);
}

DOCTEST_TEST_CASE("encoder: extra global tokens are learned, read by all and carried over distance") {
    BigBirdModel etc = encoder(etc_config());
    etc->forward(one(60, etc->config()), false, {}).hidden.square().sum().backward();
    const at::Tensor gradient = etc->named_parameters()["embeddings.global_embeddings.weight"].grad();
    DOCTEST_CHECK((gradient.norm(2, -1) > 0).sum().item<std::int64_t>() == 6);
    EncoderInput changed = one(60, etc->config());
    const at::Tensor before = etc->forward(changed, false, {}).hidden;
    changed.input_ids[0][59] = changed.input_ids[0][59].item<std::int64_t>() == 17 ? 18 : 17;
    DOCTEST_CHECK(difference(etc->forward(changed, false, {}).hidden[0][0], before[0][0]) > 1e-6);
}

DOCTEST_TEST_CASE("encoder: attention dropout acts in training on short sequences alone") {
    BigBirdConfig config = small_config();
    config.hidden_dropout_prob = 0;
    config.attention_probs_dropout_prob = 0.5;
    BigBirdModel model = encoder(config);
    const EncoderInput shorter = one(20, config), longer = one(60, config);
    const at::Tensor short_eval = model->forward(shorter, false, {}).hidden,
                     long_eval = model->forward(longer, false, {}).hidden;
    model->train();
    DOCTEST_CHECK(difference(short_eval, model->forward(shorter, false, {1, 1, 1}).hidden) > 1e-3);
    DOCTEST_CHECK(identical(long_eval, model->forward(longer, false, {1, 1, 1}).hidden));
    DOCTEST_CHECK(identical(model->forward(shorter, false, {1, 1, 1}).hidden,
                            model->forward(shorter, false, {1, 1, 1}).hidden));
}
