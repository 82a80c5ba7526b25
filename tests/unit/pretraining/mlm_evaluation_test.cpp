// SPDX-License-Identifier: Apache-2.0
#include "bigbird/pretraining/mlm_evaluation.hpp"

#include "unit/pretraining/small_corpus.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/formats/checksum.hpp"
#include "bigbird/model/model_directory.hpp"

using namespace bigbird;
using namespace bigbird::pretraining;
using namespace bigbird::testing;

namespace {

/// Four documents of real sentences.
CorpusPaths documents_in(const TempDir& folder) {
    std::istringstream lines(read_file(test_data("tokenizer/sentences.txt")));
    std::string text;
    int number = 0;
    for (std::string line; std::getline(lines, line) && number < 40; ++number)
        text += line + "\n" + (number % 10 == 9 ? "\n" : "");
    write_file(folder / "documents.txt", text);
    return {.documents = folder / "documents.txt"};
}

std::filesystem::path write_network(const TempDir& folder, const Json& options, int token_types = 2) {
    model::BigBirdConfig config = small_corpus_config();
    config.type_vocab_size = token_types;
    if (!options.is_null()) config.extra["pretraining"] = {{"options", options}};
    const model::PreTrainingModel network(config);  // all parameters 0
    const tokenizer::DnaTokenizer tokenizer = small_tokenizer();
    const std::filesystem::path model = folder / "model";
    std::filesystem::create_directories(model);
    model::write_model(network, &tokenizer, model);
    return model;
}

}  // namespace

DOCTEST_TEST_CASE("mlm_evaluation: the report holds the figures, the baselines and how they were made") {
    const TempDir folder;
    const std::filesystem::path model = write_network(folder, {{"--sequence-length", 96}, {"--nsp", "on"}});
    MlmEvaluationSpec spec{
        .model = model, .held_out = documents_in(folder), .baseline = documents_in(folder)};
    spec.baselines = {.orders = {0, 3}, .ngrams = {2}};
    const Json report = evaluate_mlm(spec);
    DOCTEST_CHECK(report["options"]["--sequence-length"] == 96);
    DOCTEST_CHECK(report["options"]["--nsp"] == "on");
    DOCTEST_CHECK(report["model"]["sha256"] == sha256_of_file(model / "model.safetensors"));
    DOCTEST_CHECK(report["perplexity"].get<double>() == doctest::Approx(small_tokenizer().vocab_size()));
    DOCTEST_CHECK(report["nsp_accuracy"].get<double>() == doctest::Approx(0.5));
    DOCTEST_CHECK(report["markov_order_0"].get<double>() < 2.0);
    DOCTEST_CHECK(report["markov_order_3"].get<double>() < report["markov_order_0"].get<double>());
    const double low = report["bits_per_character_interval"][0],
                 high = report["bits_per_character_interval"][1];
    DOCTEST_CHECK(low < report["bits_per_character"].get<double>());
    DOCTEST_CHECK(high > report["bits_per_character"].get<double>());
    DOCTEST_CHECK(report["token_2_gram"].get<double>() < 2.2);
    for (const char* key : {"perplexity", "masked_accuracy"}) {
        const Json interval = report[std::string(key) + "_interval"];
        DOCTEST_CHECK(interval[0].get<double>() <= report[key].get<double>() + 1e-9);
        DOCTEST_CHECK(interval[1].get<double>() >= report[key].get<double>() - 1e-9);
    }
    const std::string method = report["method"];
    DOCTEST_CHECK(
        method.starts_with("every chosen token becomes [MASK]; tokens that contain N are left out"));
    const std::vector<std::string> table = mlm_table(report);
    DOCTEST_REQUIRE(table.size() == 6);
    DOCTEST_CHECK(table[2].starts_with("Markov, order 3"));
    DOCTEST_CHECK(table[3].starts_with("2-gram of tokens"));
    DOCTEST_CHECK(table[4].starts_with("this model"));
}

DOCTEST_TEST_CASE("mlm_evaluation: options say more than the model's record, a foreign model has none") {
    const TempDir folder;
    MlmEvaluationSpec spec{.held_out = documents_in(folder)};
    const auto options_of = [&](const Json& record, MlmEvaluationSpec asked) {
        asked.model = write_network(folder, record);
        return evaluate_mlm(asked)["options"];
    };
    DOCTEST_CHECK(options_of(nullptr, spec)["--sequence-length"] == 256);
    DOCTEST_CHECK(options_of(nullptr, spec)["--nsp"] == "on");
    DOCTEST_CHECK(options_of({{"--nsp", "off"}}, spec)["--nsp"] == "off");
    spec.sequence_length = 64;
    DOCTEST_CHECK(options_of({{"--sequence-length", 96}}, spec)["--sequence-length"] == 64);
    spec.sequence_length = 257;
    DOCTEST_CHECK(message_of<ConfigError>([&] { options_of(nullptr, spec); }) ==
                  "--sequence-length 257 is longer than the 256 positions of the model");
}

DOCTEST_TEST_CASE("mlm_evaluation: the same inputs give the same report") {
    const TempDir folder;
    MlmEvaluationSpec spec{.model = write_network(folder, nullptr), .held_out = documents_in(folder)};
    spec.sequence_length = 64;
    const auto run = [&](std::uint64_t seed, int threads) {
        spec.seed = seed;
        spec.threads = threads;
        return evaluate_mlm(spec);
    };
    DOCTEST_CHECK(run(1, 1) == run(1, 3));
    DOCTEST_CHECK(run(1, 1)["masked_bases"] != run(2, 1)["masked_bases"]);
}

DOCTEST_TEST_CASE("mlm_evaluation: a model of one token type is scored without pairs") {
    const TempDir folder;
    const MlmEvaluationSpec spec{.model = write_network(folder, nullptr, 1),
                                 .held_out = documents_in(folder)};
    DOCTEST_CHECK(evaluate_mlm(spec)["options"]["--nsp"] == "off");
}

DOCTEST_TEST_CASE("mlm_evaluation: held-out sequence is needed") {
    const TempDir folder;
    const MlmEvaluationSpec spec{.model = write_network(folder, nullptr), .baseline = documents_in(folder)};
    DOCTEST_CHECK(message_of<ConfigError>([&] { evaluate_mlm(spec); }) ==
                  "--documents is needed: held-out sequence to score");
}
