// SPDX-License-Identifier: Apache-2.0
#include "bigbird/train/mlm_evaluation.hpp"

#include "bigbird/core/checksum.hpp"
#include "bigbird/core/error.hpp"
#include "bigbird/core/interrupt.hpp"
#include "bigbird/core/log.hpp"
#include "bigbird/core/version.hpp"
#include "bigbird/model/model_directory.hpp"
#include "bigbird/train/markov_baselines.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace bigbird::train {

namespace {

constexpr const char* markov_prefix = "markov_order_";

/// An option of the model's pretraining as config.json records it, or null.
Json pretraining_option(const model::BigBirdConfig& config, const std::string& name) {
    const Json* level = &config.extra;
    for (const std::string& key : {std::string("pretraining"), std::string("options"), name}) {
        if (!level->is_object() || !level->contains(key)) {
            return nullptr;
        }
        level = &(*level)[key];
    }
    return *level;
}

corpus::ExampleSpec examples_of(const model::BigBirdConfig& config, const MlmEvaluationSpec& spec) {
    corpus::ExampleSpec examples{.masking = spec.masking, .seed = spec.seed};
    const Json length = pretraining_option(config, "--sequence-length");
    const auto positions = static_cast<std::int32_t>(config.max_position_embeddings);
    examples.sequence_length = spec.sequence_length > 0     ? spec.sequence_length
                               : length.is_number_integer() ? length.get<std::int32_t>()
                                                            : positions;
    const std::int32_t block = config.pattern.block_size;
    if ((examples.sequence_length + block - 1) / block * block > positions) {
        throw ConfigError("--sequence-length " + std::to_string(examples.sequence_length) +
                          " is longer than the " + std::to_string(positions) + " positions of the model");
    }
    const Json nsp = pretraining_option(config, "--nsp");
    examples.nsp = spec.nsp == "model" ? !(nsp.is_string() && nsp == "off") : spec.nsp == "on";
    return examples;
}

/// Trains the baselines, then tokenises the held-out documents while the baselines score them.
corpus::TokenCorpus read_documents(const MlmEvaluationInputs& inputs,
                                   const tokenizer::DnaTokenizer& tokenizer, MarkovBaselines& baselines,
                                   int threads) {
    if (inputs.baseline != nullptr) {
        while (const auto document = inputs.baseline->next()) {
            stop_if_asked();
            baselines.add(*document);
        }
    }
    const auto next = [&] {
        stop_if_asked();
        std::optional<corpus::Document> document = inputs.held_out->next();
        if (document) {
            baselines.score(*document);
        }
        return document;
    };
    return corpus::TokenCorpus::from_documents(next, tokenizer, threads);
}

Json figures(const MlmScores& scores, std::uint64_t seed) {
    const auto [low, high] = scores.bits_interval(seed);
    Json json{{"sequences", scores.sequences.size()},
              {"masked_tokens", scores.chosen()},
              {"masked_bases", scores.bases()},
              {"bits_per_character", scores.bits_per_character()},
              {"bits_per_character_interval", {low, high}},
              {"mlm_loss", scores.mlm_loss()},
              {"perplexity", std::exp(scores.mlm_loss())},
              {"masked_accuracy", scores.accuracy()}};
    if (scores.nsp_sequences() > 0) {
        json["nsp_sequences"] = scores.nsp_sequences();
        json["nsp_loss"] = scores.nsp_loss();
        json["nsp_accuracy"] = scores.nsp_accuracy();
    }
    return json;
}

std::string corruption(const corpus::MaskingSpec& masking) {
    if (masking.mask == 1) {
        return "every chosen token becomes [MASK]";
    }
    return fmt::format("of the chosen tokens {:.0f} % become [MASK], {:.0f} % another token, the rest stay",
                       100 * masking.mask, 100 * masking.random);
}

}  // namespace

Json evaluate_mlm(const MlmEvaluationInputs& inputs, const MlmEvaluationSpec& spec) {
    model::PreTrainingModel network = model::load_pretraining_model(inputs.model, spec.scoring.device);
    const model::BigBirdConfig config = network->config();
    const tokenizer::DnaTokenizer tokenizer = model::read_tokenizer(inputs.model, config);
    const corpus::ExampleSpec examples = examples_of(config, spec);
    MarkovBaselines baselines(inputs.baseline != nullptr ? spec.baseline_orders : std::vector<int>{});
    const corpus::ExampleSource source(read_documents(inputs, tokenizer, baselines, spec.threads), tokenizer,
                                       examples);
    const MlmScores scores = score_mlm(network, source, tokenizer, spec.scoring);
    if (scores.chosen() == 0) {
        throw InputError("the held-out documents hold no token without N to predict");
    }
    Json report{
        {"program", "bigbird-dna"},
        {"version", std::string(version())},
        {"model", {{"sha256", sha256_of_file(inputs.model / "model.safetensors")}}},
        {"options",
         {{"--sequence-length", examples.sequence_length},
          {"--masking-rate", examples.masking.rate},
          {"--nsp", examples.nsp ? "on" : "off"},
          {"--max-sequences", spec.scoring.sequences},
          {"--seed", spec.seed}}},
        {"method", corruption(examples.masking) +
                       "; tokens that contain N are left out; bits_per_character = sum of -log2 p over the "
                       "chosen tokens / bases that they spell; interval: 95 %, bootstrap over sequences"}};
    report.update(figures(scores, spec.seed));
    report.update(baselines.to_json());
    return report;
}

std::vector<std::string> mlm_table(const Json& report) {
    std::vector<std::string> lines;
    lines.push_back("                      bits a base");
    for (const auto& item : report.items()) {
        if (item.key().starts_with(markov_prefix)) {
            lines.push_back(fmt::format("Markov, order {:<7} {:.4f}",
                                        item.key().substr(std::string(markov_prefix).size()),
                                        item.value().get<double>()));
        }
    }
    const Json& interval = report.at("bits_per_character_interval");
    lines.push_back(fmt::format("this model            {:.4f}  [{:.4f}, {:.4f}] of {} masked tokens",
                                report.at("bits_per_character").get<double>(), interval[0].get<double>(),
                                interval[1].get<double>(), report.at("masked_tokens").get<std::int64_t>()));
    std::string rest =
        fmt::format("masked accuracy {:.2f} %, perplexity {:.2f}",
                    100 * report.at("masked_accuracy").get<double>(), report.at("perplexity").get<double>());
    if (report.contains("nsp_accuracy")) {
        rest +=
            fmt::format(", next-sentence accuracy {:.2f} %", 100 * report.at("nsp_accuracy").get<double>());
    }
    lines.push_back(std::move(rest));
    return lines;
}

}  // namespace bigbird::train
