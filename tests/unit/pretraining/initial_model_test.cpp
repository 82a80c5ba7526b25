// SPDX-License-Identifier: Apache-2.0
#include "bigbird/pretraining/initial_model.hpp"

#include "support/tensors.hpp"
#include "unit/pretraining/small_corpus.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/model/model_directory.hpp"
#include "bigbird/model/weights.hpp"
#include "bigbird/pretraining/pretrain.hpp"

using namespace bigbird;
using namespace bigbird::pretraining;
using namespace bigbird::testing;

namespace {

model::BigBirdConfig rotary_config() {
    model::BigBirdConfig config = small_corpus_config();
    config.form.positions = model::Positions::rotary;
    config.pattern.random_seed = 77;
    config.hidden_dropout_prob = 0.25;
    return config;
}

/// A model folder with drawn weights.
std::filesystem::path model_in(const TempDir& folder, const model::BigBirdConfig& config) {
    model::PreTrainingModel network(config);
    model::initialise(*network, config, 5);
    std::filesystem::create_directories(folder / "model");
    const tokenizer::DnaTokenizer tokenizer = small_tokenizer();
    model::write_model(network, &tokenizer, folder / "model");
    return folder / "model";
}

std::string refusal(const model::BigBirdConfig& model, const model::BigBirdConfig& given) {
    return message_of<ConfigError>([&] { configuration_from(model, given); });
}

PretrainSpec spec_from(const TempDir& folder, const std::filesystem::path& model) {
    PretrainSpec spec;
    spec.model = model;
    spec.config.clear();
    spec.corpora.documents = test_data("tokenizer/sentences.txt");
    spec.output = folder / "run";
    spec.examples = {.sequence_length = 64, .nsp = false};
    spec.batch_size = 2;
    spec.learning_rate.total_steps = 1;
    spec.learning_rate.peak = 1e-30;  // leaves the weights as they are, but what is 0
    spec.optimizer.weight_decay = 0;
    spec.dropout = 0;
    spec.device = "cpu";
    spec.threads = 1;
    return spec;
}

void write_config(const TempDir& folder, const model::BigBirdConfig& config) {
    write_json(folder / "config.json", model::config_to_json(config, "BigBirdForPreTraining"),
               Overwrite::allow);
}

}  // namespace

DOCTEST_TEST_CASE("initial_model: a longer context, other dropout and another pattern are free") {
    const model::BigBirdConfig model = rotary_config();
    model::BigBirdConfig given = model;
    given.max_position_embeddings = 1024;
    given.form.rotary = {.theta = 5e5, .scaling = model::RopeScaling::linear, .factor = 4};
    given.hidden_dropout_prob = 0.1;
    given.pattern.random_blocks = 2;
    given.pattern.random_seed = 1;
    const model::BigBirdConfig found = configuration_from(model, given);
    DOCTEST_CHECK(found.max_position_embeddings == 1024);
    DOCTEST_CHECK(found.form.rotary == given.form.rotary);
    DOCTEST_CHECK(found.pattern.random_blocks == 2);
    DOCTEST_CHECK(found.pattern.random_seed == 77);
}

DOCTEST_TEST_CASE("initial_model: another shape is refused by the key that differs") {
    const model::BigBirdConfig model = rotary_config();
    model::BigBirdConfig given = model;
    given.hidden_size = 64;
    DOCTEST_CHECK(refusal(model, given) ==
                  "--config: hidden_size is 64, but the weights of --model are for 32");
    given = model;
    given.form.positions = model::Positions::absolute;
    DOCTEST_CHECK(refusal(model, given) ==
                  "--config: position_embedding_type is \"absolute\", but the "
                  "weights of --model are for \"rotary\"");
    model::BigBirdConfig learnt = small_corpus_config(), shorter = learnt;
    shorter.max_position_embeddings = 128;
    DOCTEST_CHECK(refusal(learnt, shorter) ==
                  "--config: max_position_embeddings is 128, but the model has "
                  "learnt 256 positions; none are left out");
}

DOCTEST_TEST_CASE("initial_model: batch size and sequence length default to those of the model's own run") {
    const TempDir folder;
    model::BigBirdConfig config = rotary_config();
    config.extra = {{"pretraining", {{"options", {{"--batch-size", 3}, {"--sequence-length", 128}}}}}};
    PretrainSpec spec;
    spec.model = model_in(folder, config);
    DOCTEST_CHECK(with_model_folder(spec).batch_size == 3);
    DOCTEST_CHECK(with_model_folder(spec).examples.sequence_length == 128);
    spec.batch_size = 7;
    DOCTEST_CHECK(with_model_folder(spec).batch_size == 7);
}

DOCTEST_TEST_CASE("initial_model: a run begins with the model's weights, and records their checksum") {
    const TempDir folder;
    const std::filesystem::path model = model_in(folder, rotary_config());
    const PretrainSpec spec = spec_from(folder, model);
    const training::LoopResult result = pretrain(spec, {});
    const auto before = model::parameters_of(*model::load_pretraining_model(model, at::kCPU));
    const auto after = model::parameters_of(*model::load_pretraining_model(result.model, at::kCPU));
    for (const auto& [name, tensor] : before) {
        DOCTEST_INFO(name);
        DOCTEST_CHECK(difference(tensor, after.at(name)) < 1e-20);
    }
    const Json options = read_json(folder / "run/config.resolved.json")["options"];
    DOCTEST_CHECK(options["--model"]["sha256"] == model::weights_checksum(model));
    DOCTEST_CHECK(options["--config"]["random_blocks_seed"] == 77);
    PretrainSpec random = spec;
    random.model.clear();
    random.config = (model / "config.json").string();
    random.corpora.input.tokenizer = model;
    DOCTEST_CHECK(message_of<ConfigError>([&] { pretrain(random, {}); }).find("--") == 0);
}

DOCTEST_TEST_CASE("initial_model: dropout is the option's, else the configuration's") {
    const TempDir folder;
    PretrainSpec spec = spec_from(folder, model_in(folder, rotary_config()));
    spec.dropout.reset();
    DOCTEST_CHECK(run_of(spec).config.hidden_dropout_prob == 0.25);
    model::BigBirdConfig longer = rotary_config();
    longer.max_position_embeddings = 512;
    longer.hidden_dropout_prob = 0.5;
    write_config(folder, longer);
    spec.config = (folder / "config.json").string();
    DOCTEST_CHECK(run_of(spec).config.hidden_dropout_prob == 0.5);
    DOCTEST_CHECK(run_of(spec).config.max_position_embeddings == 512);
    spec.dropout = 0.125;
    DOCTEST_CHECK(run_of(spec).config.hidden_dropout_prob == 0.125);
}

DOCTEST_TEST_CASE("initial_model: learnt positions become more by repeating them") {
    const TempDir folder;
    const std::filesystem::path model = model_in(folder, small_corpus_config());
    model::BigBirdConfig longer = small_corpus_config();
    longer.max_position_embeddings = 400;
    write_config(folder, longer);
    PretrainSpec spec = spec_from(folder, model);
    spec.config = (folder / "config.json").string();
    const training::LoopResult result = pretrain(spec, {});
    const char* name = "bert.embeddings.position_embeddings.weight";
    const at::Tensor before = model::read_weights(model).at(name),
                     after = model::read_weights(result.model).at(name);
    DOCTEST_REQUIRE(after.size(0) == 400);
    DOCTEST_CHECK(at::equal(after.narrow(0, 0, 256), before));
    DOCTEST_CHECK(at::equal(after.narrow(0, 256, 144), before.narrow(0, 0, 144)));
}

DOCTEST_TEST_CASE("initial_model: a Longformer goes on with its positions, and its [CLS] is global") {
    model::BigBirdConfig model = small_corpus_config();
    model.longformer =
        model::LongformerForm{.windows = {16, 16}, .dilations = {{1, 1}, {1, 1}}, .global_tokens = {}};
    model::BigBirdConfig given = model;
    given.longformer->windows = {32, 64};
    DOCTEST_CHECK(configuration_from(model, given).longformer->windows == std::vector<int>{32, 64});
    DOCTEST_CHECK(configuration_from(model, given).longformer->global_tokens == 1);
    given.longformer->global_tokens = 0;
    DOCTEST_CHECK(configuration_from(model, given).longformer->global_tokens == 0);
    given.max_position_embeddings = 512;
    DOCTEST_CHECK(holds(refusal(model, given), "has learnt 256 positions, which cannot be repeated"));
    DOCTEST_CHECK(refusal(model, small_corpus_config()) ==
                  "--config: model_type is \"big_bird\", but the weights of --model are for \"longformer\"");
}

DOCTEST_TEST_CASE("initial_model: another tokenizer is refused") {
    const TempDir folder;
    const std::filesystem::path model = model_in(folder, rotary_config());
    DOCTEST_CHECK_NOTHROW(require_tokenizer_of(model, small_tokenizer()));
    const auto other = tokenizer::DnaTokenizer::load(test_data("tokenizer/hf/gena_like.json"));
    DOCTEST_CHECK(message_of<ConfigError>([&] {
                      require_tokenizer_of(model, other);
                  }).starts_with("the tokenizer is not that of --model"));
}
