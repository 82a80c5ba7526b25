// SPDX-License-Identifier: Apache-2.0
#include "bigbird/pretraining/initial_model.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/log.hpp"
#include "bigbird/training/checkpoint_store.hpp"

namespace bigbird::pretraining {

namespace {

/// The keys of config.json that determine the weights' shapes.
Json shape_of(const model::BigBirdConfig& config) {
    const model::EncoderForm& form = config.form;
    return {{"hidden_size", config.hidden_size},
            {"num_hidden_layers", config.num_hidden_layers},
            {"num_attention_heads", config.num_attention_heads},
            {"intermediate_size", config.intermediate_size},
            {"type_vocab_size", config.type_vocab_size},
            {"hidden_act", config.hidden_act},
            {"layer_norm_eps", config.layer_norm_eps},
            {"use_bias", config.use_bias},
            {"rescale_embeddings", config.rescale_embeddings},
            {"num_extra_global_tokens", config.extra_global_tokens},
            {"norm", word_of(model::norm_choices, form.norm)},
            {"position_embedding_type", word_of(model::position_choices, form.positions)},
            {"feed_forward", word_of(model::feed_forward_choices, form.feed_forward)},
            {"embedding_convolution", form.embedding_convolution},
            {"model_type", config.longformer ? "longformer" : "big_bird"}};
}

}  // namespace

model::BigBirdConfig configuration_from(const model::BigBirdConfig& model, model::BigBirdConfig given) {
    const Json theirs = shape_of(model), ours = shape_of(given);
    for (const auto& [key, value] : theirs.items()) {
        if (ours.at(key) == value) continue;
        throw ConfigError(fmt::format("--config: {} is {}, but the weights of --model are for {}", key,
                                      ours.at(key).dump(), value.dump()));
    }
    if (given.form.positions == model::Positions::absolute &&
        given.max_position_embeddings < model.max_position_embeddings) {
        throw ConfigError(
            fmt::format("--config: max_position_embeddings is {}, but the model has learnt {} positions; "
                        "none are left out",
                        given.max_position_embeddings, model.max_position_embeddings));
    }
    if (given.longformer && given.max_position_embeddings != model.max_position_embeddings) {
        throw ConfigError(fmt::format(
            "--config: max_position_embeddings is {}, but the Longformer of --model has learnt {} "
            "positions, which cannot be repeated",
            given.max_position_embeddings, model.max_position_embeddings));
    }
    if (given.longformer && !given.longformer->global_tokens)
        given.longformer->global_tokens = model.longformer->global_tokens.value_or(1);
    given.pattern.random_seed = model.pattern.random_seed;
    given.pad_token_id = model.pad_token_id;
    given.extra = Json::object();
    return given;
}

Json pretraining_option(const model::BigBirdConfig& config, const std::string& name) {
    const Json* level = &config.extra;
    for (const std::string& key : {std::string("pretraining"), std::string("options"), name}) {
        if (!level->is_object() || !level->contains(key)) return nullptr;
        level = &(*level)[key];
    }
    return *level;
}

PretrainSpec with_model_folder(PretrainSpec spec) {
    if (spec.model.empty()) return spec;
    spec.model = training::find_model(spec.model);
    const model::BigBirdConfig config = model::read_config(spec.model);
    const auto default_to_own = [&](const char* option, auto& number) {
        const Json own = pretraining_option(config, option);
        if (number == 0 && own.is_number_integer()) own.get_to(number);
    };
    default_to_own("--batch-size", spec.batch_size);
    default_to_own("--sequence-length", spec.examples.sequence_length);
    if (spec.corpora.corpus.empty() && !spec.corpora.input.names_tokenizer())
        spec.corpora.input.tokenizer = spec.model;
    return spec;
}

model::BigBirdConfig configuration_from_model(const PretrainSpec& spec) {
    const model::BigBirdConfig model = model::read_config(spec.model);
    model::BigBirdConfig config =
        configuration_from(model, spec.config.empty() ? model : read_configuration(spec.config));
    config.hidden_dropout_prob = spec.dropout.value_or(config.hidden_dropout_prob);
    return config;
}

void require_tokenizer_of(const std::filesystem::path& model, const tokenizer::DnaTokenizer& tokenizer) {
    const auto theirs = model::read_tokenizer(model, model::read_config(model));
    bool same = theirs.vocab_size() == tokenizer.vocab_size();
    for (std::int32_t id = 0; same && id < theirs.vocab_size(); ++id)
        same = theirs.piece(id) == tokenizer.piece(id);
    if (!same) {
        throw ConfigError(
            "the tokenizer is not that of --model; leave --tokenizer out, or tokenize the documents "
            "with the tokenizer of the model's folder");
    }
}

}  // namespace bigbird::pretraining
