// SPDX-License-Identifier: Apache-2.0
#include "bigbird/task_models/finetune/starting_model.hpp"

#include "bigbird/model/model_directory.hpp"
#include "bigbird/model/weights.hpp"

namespace bigbird::task_models {

model::BigBirdConfig classifier_config(const FinetuneSpec& spec, const std::filesystem::path& pretrained,
                                       std::int64_t labels) {
    model::BigBirdConfig config = model::read_config(pretrained);
    config.num_labels = labels;
    config.classifier_head = spec.head;
    if (spec.dropout) {
        config.hidden_dropout_prob = *spec.dropout;
        config.classifier_dropout = *spec.dropout;
    }
    config.validate();
    return config;
}

model::SequenceClassifier starting_classifier(const FinetuneSpec& spec, const model::BigBirdConfig& config,
                                              const std::filesystem::path& pretrained,
                                              const at::Device& device) {
    return spec.random_weights ? model::untrained_classifier(config, spec.seed, device)
                               : model::classifier_from_pretrained(pretrained, config, spec.seed, device);
}

Json starting_options(const FinetuneSpec& spec, const std::filesystem::path& pretrained) {
    Json options = {{"--model", "sha256:" + model::weights_checksum(pretrained)},
                    {"--head", spec.head},
                    {"--dropout", spec.dropout ? Json(*spec.dropout) : Json(nullptr)}};
    if (spec.random_weights) options["--random-weights"] = true;
    return options;
}

}  // namespace bigbird::task_models
