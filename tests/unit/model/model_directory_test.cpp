// SPDX-License-Identifier: Apache-2.0
#include "bigbird/model/model_directory.hpp"

#include "support/temp_dir.hpp"
#include "support/tensors.hpp"
#include "support/testing.hpp"
#include "unit/model/small_model.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/model/weights.hpp"

using namespace bigbird::model;
using namespace bigbird::testing;
using bigbird::InputError;

namespace {

PreTrainingModel random_model(const BigBirdConfig& config) {
    PreTrainingModel model(config);
    initialise(*model, config, 1);
    model->eval();
    return model;
}

EncoderInput an_input(const BigBirdConfig& config) {
    const std::vector<TokenSequence> sequences{random_sequence(40, 1)};
    return make_input(sequences, config, at::kCPU);
}

}  // namespace

DOCTEST_TEST_CASE(
    "model_directory: what is written is read again, bit for bit, extra global tokens included") {
    BigBirdConfig etc = small_config();
    etc.extra_global_tokens = 6;
    etc.pattern.globals = bigbird::attention::GlobalPlacement::first;
    etc.pattern.random_blocks = 0;
    for (const BigBirdConfig& config : {small_config(), etc}) {
        const TempDir folder;
        PreTrainingModel model = random_model(config);
        write_model(model, nullptr, folder.path());
        PreTrainingModel again = load_pretraining_model(folder.path(), at::kCPU);
        DOCTEST_CHECK(!again->is_training());
        DOCTEST_CHECK(again->config().pattern == model->config().pattern);
        DOCTEST_CHECK(again->config().extra_global_tokens == config.extra_global_tokens);
        const EncoderInput input = an_input(config);
        DOCTEST_CHECK(
            identical(model->forward(input).prediction_logits, again->forward(input).prediction_logits));
        const std::string bytes = read_file(folder / "model.safetensors");
        DOCTEST_CHECK(bytes.find("cls.predictions.decoder") == std::string::npos);
        write_model(again, nullptr, folder.path());
        DOCTEST_CHECK(bytes == read_file(folder / "model.safetensors"));
        TensorMap tensors = read_weights(folder.path());
        if (tensors.erase("bert.embeddings.global_embeddings.weight") == 0) continue;
        DOCTEST_CHECK(
            message_of<InputError>([&] { fill_parameters(*again, tensors, {}, "model.safetensors"); }) ==
            "model.safetensors: tensor 'bert.embeddings.global_embeddings.weight' is missing");
    }
}

DOCTEST_TEST_CASE("model_directory: a classifier starts from pretrained weights and a head of its seed") {
    const TempDir folder, task;
    const BigBirdConfig config = small_config();
    write_model(random_model(config), nullptr, folder.path());
    BigBirdConfig wanted = read_config(folder.path());
    wanted.num_labels = 3;
    wanted.extra["task"] = "chromatin";
    SequenceClassifier model = classifier_from_pretrained(folder.path(), wanted, 4, at::kCPU);
    SequenceClassifier same = classifier_from_pretrained(folder.path(), wanted, 4, at::kCPU);
    SequenceClassifier other = classifier_from_pretrained(folder.path(), wanted, 5, at::kCPU);
    const EncoderInput input = an_input(config);
    DOCTEST_CHECK(identical(model->forward(input), same->forward(input)));
    DOCTEST_CHECK(!identical(model->forward(input), other->forward(input)));
    DOCTEST_CHECK(identical(model->encode(input).hidden, other->encode(input).hidden));
    write_model(model, nullptr, task.path());
    SequenceClassifier again = load_classifier(task.path(), at::kCPU);
    DOCTEST_CHECK(identical(model->forward(input), again->forward(input)));
    DOCTEST_CHECK(again->config().extra["task"] == "chromatin");
    // A task model is a starting point too, its head left behind.
    SequenceClassifier from_task = classifier_from_pretrained(task.path(), wanted, 5, at::kCPU);
    DOCTEST_CHECK(identical(from_task->forward(input), other->forward(input)));
}

DOCTEST_TEST_CASE(
    "model_directory: files of transformers without a next-sentence head, or with nothing but the encoder") {
    const TempDir folder;
    const TensorMap weights = read_weights(test_data("model/pretraining"));
    std::filesystem::copy(test_data("model/pretraining/config.json"), folder / "config.json");
    TensorMap masked_lm = weights;
    masked_lm.erase("cls.seq_relationship.weight");
    masked_lm.erase("cls.seq_relationship.bias");
    write_safetensors(masked_lm, folder / "model.safetensors");
    PreTrainingModel model = load_pretraining_model(folder.path(), at::kCPU);
    DOCTEST_CHECK(parameters_of(*model).at("cls.seq_relationship.weight").abs().sum().item<double>() > 0);
    TensorMap bare;
    for (const auto& [key, tensor] : weights)
        if (key.starts_with("bert.")) bare[key.substr(5)] = tensor;
    write_safetensors(bare, folder / "model.safetensors");
    BigBirdConfig config = read_config(folder.path());
    config.num_labels = 1;
    SequenceClassifier classifier = classifier_from_pretrained(folder.path(), config, 1, at::kCPU);
    const EncoderInput input = an_input(model->config());
    DOCTEST_CHECK(identical(classifier->encode(input).hidden, model->encode(input).hidden));
}

DOCTEST_TEST_CASE("model_directory: a tokenizer that does not fit is refused, one that does travels along") {
    const TempDir folder;
    const auto tokenizer = bigbird::tokenizer::DnaTokenizer::load(test_data("tokenizer/small.model"));
    BigBirdConfig config = small_config();
    write_model(random_model(config), &tokenizer, folder.path());
    DOCTEST_CHECK(
        message_of<InputError>([&] { read_tokenizer(folder.path(), config); }) ==
        (folder / "tokenizer.model").string() +
            ": has 512 pieces, more than the model's embeddings 50: this tokenizer belongs to another model");
    for (const std::int64_t rows : {512, 576}) {  // padded to whole blocks of 64, as for tensor cores
        config.vocab_size = rows;
        DOCTEST_CHECK(read_tokenizer(folder.path(), config).serialized() ==
                      read_file(test_data("tokenizer/small.model")));
    }
}

DOCTEST_TEST_CASE("model_directory: what is missing or is none is said") {
    const TempDir folder;
    DOCTEST_CHECK(message_of<InputError>([&] { read_config(folder / "none"); }) ==
                  (folder / "none").string() + ": no such model folder");
    write_file(folder / "file", "");
    DOCTEST_CHECK(message_of<InputError>([&] { read_config(folder / "file"); }) ==
                  (folder / "file").string() +
                      ": is a file; a model is a folder with config.json and model.safetensors");
    DOCTEST_CHECK(message_of<InputError>([&] { read_config(folder.path()); }) ==
                  (folder / "config.json").string() + ": no such file");
    write_model(random_model(small_config()), nullptr, folder.path());
    DOCTEST_CHECK(message_of<InputError>([&] { load_classifier(folder.path(), at::kCPU); }) ==
                  (folder / "config.json").string() +
                      ": has no num_labels: this is no task model; make one with finetune");
}
