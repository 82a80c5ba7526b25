// SPDX-License-Identifier: Apache-2.0
#include "bigbird/pretraining/mlm_evaluation.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/files.hpp"
#include "bigbird/core/formats/checksum.hpp"
#include "bigbird/core/log.hpp"
#include "bigbird/core/parallel.hpp"
#include "bigbird/core/version.hpp"
#include "bigbird/model/device/device.hpp"
#include "bigbird/model/model_directory.hpp"
#include "bigbird/model/weights.hpp"
#include "bigbird/pretraining/corpora.hpp"
#include "bigbird/pretraining/initial_model.hpp"
#include "bigbird/training/checkpoint_store.hpp"

#include <cmath>
#include <numbers>

namespace bigbird::pretraining {

namespace {

corpus::ExampleSpec examples_of(const model::BigBirdConfig& config, const MlmEvaluationSpec& spec) {
    corpus::ExampleSpec examples{.masking = {.rate = 0.15, .mask = 1, .random = 0}, .seed = spec.seed};
    const Json length = pretraining_option(config, "--sequence-length");
    const auto positions = static_cast<std::int32_t>(config.positions());
    examples.sequence_length = spec.sequence_length > 0     ? spec.sequence_length
                               : length.is_number_integer() ? length.get<std::int32_t>()
                                                            : positions;
    const std::int32_t block = config.pattern.block_size;
    // The padding of their last block has no position.
    const std::int32_t filled = config.longformer || config.is_published()
                                    ? examples.sequence_length
                                    : (examples.sequence_length + block - 1) / block * block;
    if (filled > positions) {
        throw ConfigError("--sequence-length " + std::to_string(examples.sequence_length) +
                          " is longer than the " + std::to_string(positions) + " positions of the model");
    }
    const Json nsp = pretraining_option(config, "--nsp");
    examples.nsp = !config.is_published() && config.type_vocab_size > 1 && !(nsp.is_string() && nsp == "off");
    return examples;
}

Json figures_json(const MlmScores& scores, std::uint64_t seed) {
    using Score = SequenceScore;
    const MlmFigures figures = scores.figures();
    const auto [low, high] = scores.interval(&Score::nats, std::numbers::ln2, &Score::bases, seed);
    const auto [low_loss, high_loss] = scores.interval(&Score::nats, 1, &Score::chosen, seed);
    const auto [low_hits, high_hits] = scores.interval(&Score::correct, 1, &Score::chosen, seed);
    Json json{{"sequences", scores.sequences.size()},
              {"masked_tokens", figures.chosen},
              {"masked_bases", figures.bases},
              {"bits_per_character", figures.bits_per_character},
              {"bits_per_character_interval", {low, high}},
              {"mlm_loss", figures.mlm_loss},
              {"perplexity", std::exp(figures.mlm_loss)},
              {"perplexity_interval", {std::exp(low_loss), std::exp(high_loss)}},
              {"masked_accuracy", figures.accuracy},
              {"masked_accuracy_interval", {low_hits, high_hits}}};
    if (const auto& repeats = figures.repeats; repeats.share_of_bases > 0) {
        json["repeats"] = {{"share_of_bases", repeats.share_of_bases},
                           {"share_of_loss", repeats.share_of_loss},
                           {"bits_per_character", repeats.bits_per_character},
                           {"bits_per_character_elsewhere", repeats.bits_elsewhere}};
    }
    if (figures.nsp_sequences > 0) {
        json["nsp_sequences"] = figures.nsp_sequences;
        json["nsp_loss"] = figures.nsp_loss;
        json["nsp_accuracy"] = figures.nsp_accuracy;
    }
    return json;
}

ScoringSpec scoring_of(const MlmEvaluationSpec& spec, bool tokens) {
    ScoringSpec scoring{.sequences = spec.max_sequences,
                        .device = model::open_device(spec.device),
                        .tokens = tokens,
                        .foreground = true};
    scoring.compute = training::parse_compute_type("auto", scoring.device);
    return scoring;
}

corpus::TokenCorpus read(const CorpusPaths& paths, const genome::ReferenceGenome* genome,
                         const tokenizer::DnaTokenizer& tokenizer, int threads) {
    if (paths.corpus.empty())
        return read_documents(paths.documents, genome, tokenizer, threads, corpus::Fasta::take);
    return corpus::TokenCorpus::from_shards(corpus::TokenShards(paths.corpus, tokenizer));
}

void warn_if_trained_on(const std::filesystem::path& documents, const model::BigBirdConfig& config) {
    const Json trained_on = pretraining_option(config, "--documents");
    if (trained_on.contains("sha256") && std::filesystem::is_regular_file(documents) &&
        trained_on["sha256"] == sha256_of_file(documents))
        log_warning("{} is what the model learned from: no sequence is held out", documents.string());
}

/// What a report begins with.
Json conditions(const std::filesystem::path& model, const corpus::ExampleSpec& examples,
                const MlmEvaluationSpec& spec) {
    return {
        {"program", "bigbird-dna"},
        {"version", std::string(version())},
        {"model", {{"sha256", model::weights_checksum(model)}}},
        {"options",
         {{"--sequence-length", examples.sequence_length},
          {"--masking-rate", examples.masking.rate},
          {"--nsp", examples.nsp ? "on" : "off"},
          {"--max-sequences", spec.max_sequences},
          {"--seed", spec.seed}}},
        {"method",
         "every chosen token becomes [MASK]; tokens that contain N are left out; bits_per_character = sum "
         "of -log2 p over the chosen tokens / bases that they spell; intervals: 95 %, bootstrap over "
         "sequences and, for baselines, which read from left to right, over documents"}};
}

}  // namespace

Json evaluate_mlm(const MlmEvaluationSpec& spec, genome::TextOutput* token_scores) {
    const std::filesystem::path model = training::find_model(spec.model);
    const int threads = resolve_threads(spec.threads);
    model::set_compute_threads(threads);
    const ScoringSpec scoring = scoring_of(spec, token_scores != nullptr);
    std::unique_ptr<genome::ReferenceGenome> genome;
    if (!spec.references.empty()) genome = genome::open_references(spec.references, genome::LetterCase::kept);
    for (const CorpusPaths* paths : {&spec.held_out, &spec.baseline})
        if (paths->corpus.empty() && !paths->documents.empty()) require_readable(paths->documents);
    if (spec.held_out.empty()) throw ConfigError("--documents is needed: held-out sequence to score");
    model::PreTrainingModel network = model::load_pretraining_model(model, scoring.device);
    const model::BigBirdConfig config = network->config();
    const tokenizer::DnaTokenizer tokenizer = model::read_tokenizer(model, config);
    const corpus::ExampleSpec examples = examples_of(config, spec);
    spec.baselines.validate();
    warn_if_trained_on(spec.held_out.documents, config);
    const corpus::TokenCorpus held_out = read(spec.held_out, genome.get(), tokenizer, threads);
    warn_of_pieces(tokenizer, held_out);
    const bool compares = !spec.baseline.empty();
    baselines::Baselines baselines(compares ? spec.baselines : baselines::BaselineSpec{}, tokenizer);
    if (compares) {
        baselines.train(read(spec.baseline, genome.get(), tokenizer, threads));
        baselines.score(held_out);
    }
    const corpus::ExampleSource source(held_out, tokenizer, examples);
    const MlmScores scores = score_mlm(network, source, tokenizer, scoring);
    if (scores.figures().chosen == 0)
        throw InputError("the held-out documents hold no token without N to predict");
    if (token_scores != nullptr) write_token_scores(scores.tokens, held_out, tokenizer, *token_scores);
    Json report = conditions(model, examples, spec);
    report.update(figures_json(scores, spec.seed));
    report.update(baselines.to_json(spec.seed));
    return report;
}

std::vector<std::string> mlm_table(const Json& report) {
    std::vector<std::string> lines{"                      bits per base"};
    const auto add = [&](const std::string& name, const Json& row, const std::string& note) {
        const Json& interval = row.at("bits_per_character_interval");
        lines.push_back(fmt::format("{:<21} {:.4f}  [{:.4f}, {:.4f}]{}", name,
                                    row.at("bits_per_character").get<double>(), interval[0].get<double>(),
                                    interval[1].get<double>(), note));
    };
    for (const Json& row : report.value("baselines", Json::array()))
        add(row.at("name").get<std::string>(), row, "");
    add("this model", report,
        fmt::format(" of {} masked tokens", report.at("masked_tokens").get<std::int64_t>()));
    const Json &hits = report.at("masked_accuracy_interval"), &perplexity = report.at("perplexity_interval");
    std::string rest =
        fmt::format("masked accuracy {:.2f} % [{:.2f}, {:.2f}], perplexity {:.2f} [{:.2f}, {:.2f}]",
                    100 * report.at("masked_accuracy").get<double>(), 100 * hits[0].get<double>(),
                    100 * hits[1].get<double>(), report.at("perplexity").get<double>(),
                    perplexity[0].get<double>(), perplexity[1].get<double>());
    if (report.contains("nsp_accuracy")) {
        rest +=
            fmt::format(", next-sentence accuracy {:.2f} %", 100 * report.at("nsp_accuracy").get<double>());
    }
    lines.push_back(std::move(rest));
    if (report.contains("repeats")) {
        const Json& repeats = report.at("repeats");
        const auto of = [&](const char* key) { return repeats.at(key).get<double>(); };
        lines.push_back(fmt::format(
            "repeats (lower case): {:.1f} % of the bases, {:.1f} % of the loss; {:.4f} bits per base, {:.4f} "
            "elsewhere",
            100 * of("share_of_bases"), 100 * of("share_of_loss"), of("bits_per_character"),
            of("bits_per_character_elsewhere")));
    }
    return lines;
}

}  // namespace bigbird::pretraining
