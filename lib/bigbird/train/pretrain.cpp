// SPDX-License-Identifier: Apache-2.0
#include "bigbird/train/pretrain.hpp"

#include "bigbird/core/checksum.hpp"
#include "bigbird/core/error.hpp"
#include "bigbird/core/interrupt.hpp"
#include "bigbird/core/log.hpp"
#include "bigbird/core/version.hpp"

namespace bigbird::train {

namespace {

constexpr const char* provenance_key = "pretraining";  // in config.json, under bigbird_dna

/// What changes the result, by the options' names, before what the command said of its inputs.
Json fixed_options(const PretrainSpec& spec, const tokenizer::DnaTokenizer& tokenizer) {
    const LearningRateSpec& rate = spec.loop.learning_rate;
    const OptimizerSpec& optimizer = spec.loop.optimizer;
    Json options = spec.loop.fixed_options;
    options["--tokenizer"] = {{"sha256", sha256_of_text(tokenizer.serialized())}};
    options["--steps"] = rate.total_steps;
    options["--batch-size"] = spec.task.batch_size;
    options["--sequence-length"] = spec.examples.sequence_length;
    options["--learning-rate"] = rate.peak;
    options["--warmup-steps"] = rate.warmup_steps;
    options["--schedule"] = to_string(rate.decay);
    options["--weight-decay"] = optimizer.weight_decay;
    options["--clip-norm"] = optimizer.clip_norm;
    options["--masking-rate"] = spec.examples.masking.rate;
    options["--nsp"] = spec.examples.nsp ? "on" : "off";
    options["--dtype"] = spec.task.compute == ComputeType::bf16 ? "bf16" : "fp32";
    options["--seed"] = spec.task.seed;
    return options;
}

void describe(const model::PreTrainingModel& network, const corpus::ExampleSource& source,
              const PretrainSpec& spec) {
    std::int64_t parameters = 0;
    for (const at::Tensor& parameter : network->parameters()) {
        parameters += parameter.numel();
    }
    const corpus::TokenCorpus& corpus = source.corpus();
    const double tokens = static_cast<double>(corpus.tokens());
    log_info("{} documents, {} tokens of {:.2f} bases; a network of {:.1f} million parameters",
             corpus.documents(), corpus.tokens(), static_cast<double>(corpus.bases()) / tokens,
             static_cast<double>(parameters) / 1e6);
    const double examples =
        static_cast<double>(spec.task.batch_size) * static_cast<double>(spec.loop.learning_rate.total_steps);
    log_info("{} steps of {} sequences of {} tokens: {:.2f} passes over the corpus",
             spec.loop.learning_rate.total_steps, spec.task.batch_size, spec.examples.sequence_length,
             examples / static_cast<double>(source.epoch_size()));
    const double padding = source.padding_share();
    if (padding > 0.2) {
        log_warning(
            "{:.0f} % of the tokens would be padding: most documents are shorter than --sequence-length",
            100 * padding);
    }
}

}  // namespace

PretrainDefaults pretrain_defaults(const std::string& configuration) {
    if (configuration == "tiny") {
        return {.steps = 1'000, .batch_size = 8, .sequence_length = 512, .learning_rate = 1e-3};
    }
    if (configuration == "small") {
        return {.steps = 20'000, .batch_size = 32, .sequence_length = 1024, .learning_rate = 5e-4};
    }
    return {};
}

model::BigBirdConfig read_configuration(const std::string& configuration) {
    const std::filesystem::path file = configuration;
    if (file.has_extension() || file.has_parent_path()) {
        return model::config_from_json(read_json(file), file);
    }
    return model::preset(configuration);
}

std::int64_t micro_batch_tokens(std::int64_t sequences, const PretrainSpec& spec) {
    if (sequences > 0) {
        const std::int64_t block = spec.config.pattern.block_size;
        return sequences * ((spec.examples.sequence_length + block - 1) / block * block);
    }
    return spec.task.device.is_cpu() ? 4'096 : 32'768;
}

void PretrainSpec::validate() const {
    config.validate();
    examples.validate();
    loop.learning_rate.validate();
    loop.optimizer.validate();
    const std::int64_t block = config.pattern.block_size;
    const std::int64_t padded = (examples.sequence_length + block - 1) / block * block;
    if (padded > config.max_position_embeddings) {
        throw ConfigError("--sequence-length " + std::to_string(examples.sequence_length) +
                          " is longer than the " + std::to_string(config.max_position_embeddings) +
                          " positions of the network");
    }
    if (task.batch_size < 1) {
        throw ConfigError("--batch-size must be at least 1");
    }
}

LoopResult pretrain(PretrainSpec spec, const tokenizer::DnaTokenizer& tokenizer,
                    const PretrainCorpora& corpora, const std::filesystem::path& run_directory) {
    spec.config.vocab_size = tokenizer.vocab_size();
    spec.config.pad_token_id = tokenizer.special_ids().pad;
    spec.validate();
    spec.loop.fixed_options = fixed_options(spec, tokenizer);
    spec.config.extra[provenance_key] = {{"version", std::string(version())},
                                         {"options", spec.loop.fixed_options}};
    model::BigBirdConfig plain = spec.config;
    plain.extra = Json::object();
    spec.loop.fixed_options["--config"] = model::config_to_json(plain, "BigBirdForPreTraining");
    if (run_is_finished(run_directory, spec.loop)) {
        log_info("{}: this run is finished already; nothing to do", run_directory.string());
        return {.steps = spec.loop.learning_rate.total_steps,
                .finished_before = true,
                .model = run_directory / "model"};
    }
    const corpus::ExampleSource source(corpora.train(), tokenizer, spec.examples);
    std::optional<corpus::ExampleSource> held_out;
    if (corpora.held_out) {
        corpus::ExampleSpec examples = spec.examples;
        examples.masking.mask = 1;
        examples.masking.random = 0;
        held_out.emplace(corpora.held_out(), tokenizer, examples);
    }
    stop_if_asked();
    model::PreTrainingModel network(spec.config);
    model::initialise(*network, spec.config, spec.task.seed);
    network->to(spec.task.device);
    describe(network, source, spec);
    MlmTask task(network, tokenizer, source, std::move(held_out), spec.task);
    return run_training(task, spec.loop, run_directory);
}

}  // namespace bigbird::train
