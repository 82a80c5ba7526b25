// SPDX-License-Identifier: Apache-2.0
#include "support/tensors.hpp"
#include "unit/tasks/labelled_genome.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/genome/reference/sequence.hpp"
#include "bigbird/rows/score_table.hpp"
#include "bigbird/scoring/rows/predict.hpp"

#include <cmath>
#include <map>

using namespace bigbird;
using namespace bigbird::testing;
using namespace bigbird::tasks;

namespace {

struct TokenScene {
    LabelledGenome genome;
    TokenScene() {
        std::filesystem::create_directories(genome.folder / "m");
        tiny_labeller(3)->write(bases_info(200, 25), genome.folder / "m");
        write_labels(tiny_labels(), genome.folder / "m");
    }
    PredictSpec spec(const std::string& regions) const {
        write_file(genome.folder / "regions.bed", regions);
        PredictSpec spec;
        spec.task = examples::Task::tokens;
        spec.models = {genome.folder / "m"};
        spec.references = {genome.folder / "genome.fa"};
        spec.regions = genome.folder / "regions.bed";
        spec.device = "cpu";
        spec.threads = 1;
        spec.outputs.paths = {genome.folder / "out.tsv"};
        spec.outputs.overwrite = Overwrite::allow;
        return spec;
    }
    /// Scores by base, from the table.
    std::map<std::int64_t, std::vector<float>> bases() const {
        std::map<std::int64_t, std::vector<float>> all;
        rows::ScoreReader reader(genome.folder / "out.tsv");
        rows::ScoreRow row;
        std::vector<float> values;
        while (reader.next(row, values))
            for (std::int64_t base = std::stoll(row.begin); base < std::stoll(row.end); ++base)
                all[base] = values;
        return all;
    }
};

}  // namespace

DOCTEST_TEST_CASE("predict_tokens: a base has the probabilities of its token, in the window of its core") {
    const at::NoGradGuard no_gradients;
    const TokenScene scene;
    const PredictReport report = predict(scene.spec("c\t300\t900\tx\n"));
    DOCTEST_CHECK(report.scored == report.rows);
    DOCTEST_CHECK(report.rows < 600);
    // The readable way: the window of core 2 (bases 300 to 450) alone.
    const auto network = open_model(scene.genome.folder / "m", examples::Task::tokens, at::kCPU).network;
    const EncodedWindow window[] = {network->encode(scene.genome.dna.substr(275, 200))};
    const std::size_t one[] = {0};
    const at::Tensor probabilities = at::softmax(network->logits(window, one), 2)[0];
    const auto bases = scene.bases();
    const auto spans = network->spans(window[0]);
    int compared = 0;
    for (std::size_t token = 0; token < spans.size(); ++token) {
        for (std::int64_t base = std::max<std::int64_t>(25, spans[token].begin);
             base < std::min<std::int64_t>(175, spans[token].end); ++base) {
            const std::vector<float>& found = bases.at(275 + base);
            const at::Tensor wanted = probabilities[static_cast<std::int64_t>(token)];
            for (std::size_t label = 0; label < 3; ++label) {
                DOCTEST_CHECK(
                    found[label] ==
                    doctest::Approx(wanted[static_cast<std::int64_t>(label)].item<float>()).epsilon(1e-5));
            }
            ++compared;
        }
    }
    DOCTEST_CHECK(compared == 150);
}

DOCTEST_TEST_CASE(
    "predict_tokens: a calibration changes the scores, without one they are the softmax alone") {
    const TokenScene scene;
    const PredictSpec spec = scene.spec("c\t300\t500\tx\n");
    predict(spec);
    const auto plain = scene.bases();
    const std::string method =
        R"json("method": "probabilities = softmax(logits / temperature + biases)")json";
    const auto calibrate = [&](const std::string& rest) {
        write_file(scene.genome.folder / "m" / "calibration.json", "{\"format\": 1, " + rest + "}");
    };
    calibrate(method + R"(, "temperature": 2, "biases": [0.5, -1, 0.5])");
    predict(spec);
    const auto calibrated = scene.bases();
    const double biases[] = {0.5, -1, 0.5};
    for (std::int64_t base = 300; base < 500; ++base) {
        // exp(logit / 2 + bias) is in proportion to sqrt(softmax) * exp(bias).
        double values[3], sum = 0;
        for (std::size_t label = 0; label < 3; ++label) {
            values[label] = std::sqrt(static_cast<double>(plain.at(base)[label])) * std::exp(biases[label]);
            sum += values[label];
        }
        for (std::size_t label = 0; label < 3; ++label)
            DOCTEST_CHECK(calibrated.at(base)[label] == doctest::Approx(values[label] / sum).epsilon(1e-4));
    }
    calibrate(R"("temperature": 2, "biases": [0.5, -1, 0.5])");
    DOCTEST_CHECK(message_of<InputError>([&] { predict(spec); }).find("another kind of model") !=
                  std::string::npos);
}

DOCTEST_TEST_CASE("predict_tokens: a base's scores do not depend on the region that asks for it") {
    const TokenScene scene;
    predict(scene.spec("c\t0\t2000\tx\n"));
    const auto whole = scene.bases();
    PredictSpec spec = scene.spec("c\t310\t320\ta\nc\t445\t455\tb\nc\t7990\t8000\tc\n");
    const PredictReport report = predict(spec);
    DOCTEST_CHECK(report.scored == report.rows);
    const auto parts = scene.bases();
    DOCTEST_CHECK(parts.size() == 30);
    for (const std::int64_t base : {310, 319, 445, 449, 450, 454})
        for (std::size_t label = 0; label < 3; ++label)
            DOCTEST_CHECK(parts.at(base)[label] == doctest::Approx(whole.at(base)[label]).epsilon(1e-4));
    DOCTEST_CHECK(std::isnan(whole.at(1100)[0]));  // N
    DOCTEST_CHECK(!std::isnan(whole.at(999)[0]));
}

DOCTEST_TEST_CASE("predict_tokens: both strands are the mean of two readings") {
    const TokenScene scene;
    PredictSpec spec = scene.spec("c\t600\t700\tx\n");
    std::map<Strands, std::map<std::int64_t, std::vector<float>>> found;
    for (const Strands strands : {Strands::none, Strands::only, Strands::average}) {
        spec.strands = strands;
        predict(spec);
        found[strands] = scene.bases();
    }
    double apart = 0;
    for (std::int64_t base = 600; base < 700; ++base) {
        const float one = found[Strands::none].at(base)[1], other = found[Strands::only].at(base)[1];
        DOCTEST_CHECK(found[Strands::average].at(base)[1] ==
                      doctest::Approx((one + other) / 2).epsilon(1e-4));
        apart = std::max(apart, std::abs(static_cast<double>(one - other)));
    }
    DOCTEST_CHECK(apart > 1e-3);
}

DOCTEST_TEST_CASE("predict_tokens: two models give the mean of their scores, whatever their tokens") {
    const TokenScene scene;
    std::filesystem::create_directories(scene.genome.folder / "n");
    tiny_labeller(4)->write(bases_info(200, 25), scene.genome.folder / "n");
    write_labels(tiny_labels(), scene.genome.folder / "n");
    PredictSpec spec = scene.spec("c\t300\t500\tx\n");
    std::vector<std::map<std::int64_t, std::vector<float>>> found;
    const std::filesystem::path m = scene.genome.folder / "m", n = scene.genome.folder / "n";
    for (const std::vector<std::filesystem::path>& models :
         {std::vector{m}, std::vector{n}, std::vector{m, n}}) {
        spec.models = models;
        predict(spec);
        found.push_back(scene.bases());
    }
    for (std::int64_t base = 300; base < 500; ++base)
        DOCTEST_CHECK(found[2].at(base)[1] ==
                      doctest::Approx((found[0].at(base)[1] + found[1].at(base)[1]) / 2).epsilon(1e-4));
}

DOCTEST_TEST_CASE("predict_tokens: a track a label, labels chosen, unknown ones refused") {
    const TokenScene scene;
    PredictSpec spec = scene.spec("c\t300\t500\tx\n");
    spec.labels = "motif,noise";
    spec.outputs.paths = {scene.genome.folder / "{label}.bedgraph", scene.genome.folder / "{label}.bw",
                          scene.genome.folder / "out.tsv"};
    predict(spec);
    DOCTEST_CHECK(std::filesystem::exists(scene.genome.folder / "motif.bedgraph"));
    DOCTEST_CHECK(std::filesystem::exists(scene.genome.folder / "noise.bw"));
    DOCTEST_CHECK(!std::filesystem::exists(scene.genome.folder / "none.bw"));
    DOCTEST_CHECK(scene.bases().at(300).size() == 2);
    spec.labels = "exon";
    DOCTEST_CHECK(message_of<ConfigError>([&] { predict(spec); }).find("exon") != std::string::npos);
}

DOCTEST_TEST_CASE("predict_tokens: rows off the reference end the run, or are marked") {
    const TokenScene scene;
    DOCTEST_CHECK(
        message_of<InputError>([&] {
            predict(scene.spec("c\t7990\t8001\ty\n"));
        }).find("1 of 1 regions do not fit the reference (1 past a contig's end (c has 8000 bases))") !=
        std::string::npos);
    const PredictSpec spec = scene.spec("c\t300\t310\tx\nc\t7990\t8001\ty\n");
    const PredictReport report = predict(spec);
    DOCTEST_CHECK(report.scored == report.rows - 1);
    DOCTEST_CHECK(read_file(scene.genome.folder / "out.tsv").find("bad_interval") != std::string::npos);
}
