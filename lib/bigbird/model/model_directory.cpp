// SPDX-License-Identifier: Apache-2.0
#include "bigbird/model/model_directory.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/formats/is_there.hpp"
#include "bigbird/core/log.hpp"
#include "bigbird/model/adapter.hpp"
#include "bigbird/model/files/python_file.hpp"
#include "bigbird/model/weights.hpp"

namespace bigbird::model {
namespace fs = std::filesystem;

namespace {

template <typename Model>
void write(const Model& model, const std::string& architecture, const tokenizer::DnaTokenizer* tokenizer,
           const fs::path& directory, const Json& extra = Json::object()) {
    BigBirdConfig config = model->config();
    config.extra.update(extra);
    write_config(config_to_json(config, architecture), directory);
    write_safetensors(named_for_file(parameters_without_adapters(*model)), directory / "model.safetensors",
                      {}, merging(*model));
    if (tokenizer != nullptr)
        tokenizer::write_tokenizer_files(*tokenizer, model->config().positions(), directory);
}

template <typename Model>
Model ready(Model model, const at::Device& device) {
    model->to(device);
    model->eval();
    return model;
}

void require_directory(const fs::path& directory) {
    if (!is_there(directory)) throw InputError("no such model folder", directory);
    if (!fs::is_directory(directory))
        throw InputError("is a file; a model is a folder with config.json and model.safetensors", directory);
}

/// Longformers and published encoders may have no pooler.
bool may_lack_pooler(const BigBirdConfig& config) {
    return config.longformer || config.is_published();
}

LoadRules rules_of(const BigBirdConfig& config, const std::string& optional_prefix,
                   const std::string& only_prefix = {}) {
    return {.optional_prefix = optional_prefix,
            .only_prefix = only_prefix,
            .family = config.form.published.family};
}

/// BigBirdForMaskedLM is a BigBirdForPreTraining without it. LongformerForMaskedLM lacks the pooler, too.
LoadRules may_lack_seq_relationship(const BigBirdConfig& config) {
    LoadRules rules = rules_of(config, "cls.seq_relationship");
    if (may_lack_pooler(config)) rules.also_optional = "bert.pooler";
    return rules;
}

/// A Longformer's classifier attends globally from the token that it reads, unless its configuration has
/// another number.
BigBirdConfig with_global_cls(BigBirdConfig config) {
    if (config.longformer && !config.longformer->global_tokens) config.longformer->global_tokens = 1;
    return config;
}

}  // namespace

BigBirdConfig read_config(const fs::path& directory) {
    require_directory(directory);
    return config_of_folder(base_of_adapter(directory));
}

std::string read_architecture(const fs::path& directory) {
    require_directory(directory);
    const Json json = read_json(base_of_adapter(directory) / "config.json");
    const auto found = json.find("architectures");
    const bool named =
        found != json.end() && found->is_array() && !found->empty() && found->front().is_string();
    return named ? found->front().get<std::string>() : std::string();
}

tokenizer::DnaTokenizer read_tokenizer(const fs::path& directory, const BigBirdConfig& config) {
    require_directory(directory);
    auto tokenizer = tokenizer::DnaTokenizer::load(base_of_adapter(directory));
    tokenizer.require_special_pieces();
    if (tokenizer.vocab_size() > config.vocab_size) {
        throw InputError("has " + std::to_string(tokenizer.vocab_size()) +
                             " pieces, more than the model's embeddings " +
                             std::to_string(config.vocab_size) + ": this tokenizer belongs to another model",
                         directory / tokenizer.file_name());
    }
    return tokenizer;
}

void fill_from_pretrained(PreTrainingModelImpl& model, const fs::path& directory) {
    const fs::path file = weight_file(directory);
    if (!fill_parameters(model, read_weights(directory), may_lack_seq_relationship(model.config()), file) &&
        !model.config().is_published())
        log_warning("{}: has no cls.seq_relationship; it is left as initialised", file.string());
}

PreTrainingModel load_pretraining_model(const fs::path& directory, const at::Device& device) {
    PreTrainingModel model(read_config(directory));
    initialise(*model, model->config(), 0, "cls.seq_relationship");
    initialise(*model, model->config(), 0, "bert.pooler");
    fill_from_pretrained(*model, directory);
    return ready(model, device);
}

LoadedEncoder load_encoder(const fs::path& directory, const at::Device& device) {
    TensorMap tensors = read_weights(directory);
    const fs::path file = weight_file(directory);
    LoadedEncoder loaded{.model = PreTrainingModel(read_config(directory)),
                         .has_predictions = tensors.contains("cls.predictions.transform.dense.weight")};
    if (loaded.has_predictions) {
        loaded.has_pooler = tensors.contains("bert.pooler.weight");
        loaded.has_seq_relationship = fill_parameters(
            *loaded.model, std::move(tensors), may_lack_seq_relationship(loaded.model->config()), file);
    } else {
        loaded.has_pooler = fill_parameters(*loaded.model, std::move(tensors),
                                            rules_of(loaded.model->config(), "bert.pooler", "bert."), file);
    }
    ready(loaded.model, device);
    return loaded;
}

SequenceClassifier load_classifier(const fs::path& directory, const at::Device& device) {
    const BigBirdConfig config = read_config(directory);
    if (config.num_labels < 1) {
        throw InputError("has no num_labels: this is no task model; make one with finetune",
                         directory / "config.json");
    }
    SequenceClassifier model(config);
    // Classifiers of transformers' Longformer have no pooler. Here, only one head reads the pooler.
    const bool may_lack = may_lack_pooler(config) && config.classifier_head != "linear";
    fill_parameters(*model, read_weights(directory), rules_of(config, may_lack ? "bert.pooler" : ""),
                    weight_file(directory));
    return ready(model, device);
}

SequenceClassifier classifier_from_pretrained(const fs::path& directory, BigBirdConfig config,
                                              std::uint64_t seed, const at::Device& device) {
    require_directory(directory);
    SequenceClassifier model(with_global_cls(config));
    initialise(*model, config, seed, "classifier.");
    if (may_lack_pooler(config)) initialise(*model, config, seed, "bert.pooler");
    fill_parameters(*model, read_weights(directory),
                    rules_of(config, may_lack_pooler(config) ? "bert.pooler" : "", "bert."),
                    weight_file(directory));
    return ready(model, device);
}

SequenceClassifier untrained_classifier(BigBirdConfig config, std::uint64_t seed, const at::Device& device) {
    SequenceClassifier model(with_global_cls(config));
    initialise(*model, config, seed);
    return ready(model, device);
}

void write_model(const PreTrainingModel& model, const tokenizer::DnaTokenizer* tokenizer,
                 const fs::path& directory) {
    write(model, "BigBirdForPreTraining", tokenizer, directory);
}

void write_model(const SequenceClassifier& model, const tokenizer::DnaTokenizer* tokenizer,
                 const fs::path& directory, const Json& extra) {
    const std::string& head = model->config().classifier_head;
    const char* const of_rows = head == "bins" ? "BigBirdForBins" : "BigBirdForSequenceClassification";
    write(model, head == "tokens" ? "BigBirdForTokenClassification" : of_rows, tokenizer, directory, extra);
}

}  // namespace bigbird::model
