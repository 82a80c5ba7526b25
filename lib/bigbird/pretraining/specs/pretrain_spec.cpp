// SPDX-License-Identifier: Apache-2.0
#include "bigbird/pretraining/specs/pretrain_spec.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/log.hpp"

namespace bigbird::pretraining {

void CorporaSpec::validate() const {
    if (draws() && references.empty())
        throw ConfigError("--documents is needed, or --reference FASTA to draw documents from");
    if (!draws() && !hold_out.empty()) {
        throw ConfigError(
            "--hold-out is for documents drawn from --reference; with --documents leave the regions "
            "out when those are made, and give --evaluate-documents");
    }
    const int held_out =
        (hold_out.empty() ? 0 : 1) + (evaluate_corpus.empty() ? 0 : 1) + (evaluate_documents.empty() ? 0 : 1);
    if (held_out > 1) throw ConfigError("give one of --hold-out and --evaluate-documents");
}

namespace {

/// Not the name of a preset.
bool is_file_name(const std::filesystem::path& configuration) {
    return configuration.has_extension() || configuration.has_parent_path();
}

template <typename Number>
Number given_or(Number given, Number otherwise) {
    return given > 0 ? given : otherwise;
}

}  // namespace

PretrainDefaults pretrain_defaults(const std::string& configuration) {
    if (configuration == "tiny")
        return {.steps = 1'000, .batch_size = 8, .sequence_length = 512, .learning_rate = 1e-3};
    if (configuration == "tiny-modern" || configuration == "modern") {
        const bool tiny = configuration == "tiny-modern";
        return {.steps = tiny ? 1'000 : 2'000,
                .batch_size = tiny ? 8 : 64,
                .sequence_length = tiny ? 512 : 1024,
                .learning_rate = 4e-3,
                .dropout = 0,
                .optimizer = {.kind = training::OptimizerKind::muon, .beta2 = 0.98, .epsilon = 1e-8}};
    }
    if (configuration == "small")
        return {.steps = 20'000, .batch_size = 32, .sequence_length = 1024, .learning_rate = 5e-4};
    return {};
}

std::string default_config(bool on_gpu) {
    return on_gpu ? "modern" : "tiny-modern";
}

model::BigBirdConfig read_configuration(const std::string& configuration) {
    if (is_file_name(configuration)) return model::config_from_json(read_json(configuration), configuration);
    return model::preset(configuration);
}

void require_vocabulary(const std::string& configuration, const tokenizer::DnaTokenizer& tokenizer) {
    if (!is_file_name(configuration)) return;
    const Json json = read_json(configuration);
    const Json given = json.is_object() ? json.value("vocab_size", Json()) : Json();
    if (!given.is_null() && given != tokenizer.vocab_size()) {
        throw InputError(
            fmt::format("vocab_size is {}, but the tokenizer has {} pieces; leave vocab_size out, "
                        "and the tokenizer's is taken",
                        given.dump(), tokenizer.vocab_size()),
            configuration);
    }
}

PretrainSpec PretrainSpec::with_defaults() const {
    const PretrainDefaults defaults = pretrain_defaults(config);
    PretrainSpec spec = *this;
    spec.examples.sequence_length = given_or(examples.sequence_length, defaults.sequence_length);
    spec.batch_size = given_or(batch_size, defaults.batch_size);
    if (learning_rate.total_steps > 0) spec.epochs = 0;
    if (spec.epochs == 0)
        spec.learning_rate = learning_rate.over(given_or(learning_rate.total_steps, defaults.steps));
    spec.dropout = dropout.value_or(defaults.dropout);
    spec.learning_rate.peak = given_or(learning_rate.peak, defaults.learning_rate);
    return spec;
}

}  // namespace bigbird::pretraining
