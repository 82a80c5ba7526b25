// SPDX-License-Identifier: Apache-2.0
// marginalize_motifs() with published models of profiles, against predict() on an edited genome and sums of
// probabilities by plain loops; the commands that do not take such models.
#include "unit/tasks/scoring_folder.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/finetuning/finetune.hpp"
#include "bigbird/genome/reference/sequence.hpp"
#include "bigbird/scoring/rows/predict.hpp"
#include "bigbird/tasks/profile_network.hpp"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

using namespace bigbird;
using namespace bigbird::testing;
using namespace bigbird::tasks;

namespace {

namespace fs = std::filesystem;

const std::string two_motifs =
    "MEME version 4\n\nMOTIF gata first\nletter-probability matrix: alength= 4 w= 5 nsites= 9\n"
    " 0.1 0.1 0.7 0.1\n 0.7 0.1 0.1 0.1\n 0.1 0.1 0.1 0.7\n 0.4 0.2 0.2 0.2\n 0.1 0.7 0.1 0.1\n"
    "\nMOTIF tt\nletter-probability matrix: alength= 4 w= 2 nsites= 9\n 0 0 0.1 0.9\n 0 0 0 1\n";
constexpr std::size_t length = 266, output = 90;  // of chrombpnet_nobias.h5

class ProfileMotifs : public ScoringFolder {
public:
    ProfileMotifs() : genome_(random_dna(1200, 9)) { genome_file("genome.fa", genome_); }
    MarginalizeSpec marginalize(const std::string& model, const std::string& bed) const {
        auto spec = this->spec<MarginalizeSpec>("");
        spec.model = test_data("models/profiles/" + model);
        spec.output = *this / "out";
        spec.profile = *this / "profile.tsv";
        spec.overwrite = Overwrite::allow;
        spec.motifs = file("m.meme", two_motifs);
        spec.backgrounds = bed == shuffled_backgrounds ? fs::path(bed) : file("b.bed", bed);
        return spec;
    }
    std::string with(const std::string& word, std::size_t begin) const {
        std::string dna = genome_;
        return dna.replace(begin, word.size(), word);
    }
    const std::string& genome() const { return genome_; }

private:
    std::string genome_;
};

/// Probability of each position and column of the first group of a window: of both strands the sum of
/// probabilities times reads, divided by its sum.
std::vector<double> footprint(const ModelFolder& model, const std::string& window, double offset) {
    const auto network = profile_network(model);
    std::vector<double> all;
    for (const bool reverse : {false, true}) {
        const EncodedWindow encoded[] = {network->encode(window, reverse)};
        const std::size_t group[] = {0};
        const networks::ProfileHeads heads = network->heads(encoded, group);
        const at::Tensor logits = heads.profile[0].to(at::kDouble).flatten().contiguous();
        std::vector<double> own(logits.const_data_ptr<double>(),
                                logits.const_data_ptr<double>() + logits.numel());
        double sum = 0;
        for (double& value : own)
            sum += value = std::exp(value);
        for (double& value : own)
            value *= (std::exp(heads.counts[0][0].item<double>()) - offset) / sum;
        if (reverse) std::ranges::reverse(own);  // both positions and strands
        all.resize(own.size());
        for (std::size_t i = 0; i < own.size(); ++i)
            all[i] += own[i];
    }
    double sum = 0;
    for (const double value : all)
        sum += value;
    for (double& value : all)
        value /= sum;
    return all;
}

}  // namespace

DOCTEST_TEST_CASE(
    "marginalize_motifs: effects and profiles of a published model, as predict and loops have them") {
    const ProfileMotifs fixture;
    const std::vector<std::size_t> middles{400, 801};
    const MarginalizeSpec spec = fixture.marginalize("chrombpnet_nobias.h5", "c\t390\t410\nc\t800\t803\n");
    DOCTEST_CHECK(marginalize_motifs(spec) == 2);
    const TableRows rows = read_rows(fixture / "out", "#"),
                    profile = read_rows(fixture / "profile.tsv", "##");
    DOCTEST_REQUIRE(rows.size() == 2);
    DOCTEST_REQUIRE(profile.size() == 1 + 2 * output);
    DOCTEST_CHECK(profile[0] ==
                  std::vector<std::string>{"#motif", "name", "label", "position", "with", "without"});
    PredictSpec predicting;
    predicting.models = {spec.model};
    predicting.strands = Strands::average;
    predicting.device = "cpu";
    predicting.outputs.overwrite = Overwrite::allow;
    const ModelFolder model = open_model(spec.model, std::nullopt, at::kCPU);
    double effect = 0;
    std::vector<double> with(output), without(output);
    for (const std::size_t middle : middles) {
        const std::string changed = fixture.with("GATAC", middle - 2);
        const std::string bed = "c\t" + std::to_string(middle - 1) + "\t" + std::to_string(middle + 1) + "\n";
        effect += (fixture.predicted(predicting, changed, bed)[1] -
                   fixture.predicted(predicting, fixture.genome(), bed)[1]) /
                  2;
        const auto one = footprint(model, changed.substr(middle - length / 2, length), 1),
                   other = footprint(model, fixture.genome().substr(middle - length / 2, length), 1);
        for (std::size_t i = 0; i < output; ++i) {
            with[i] += one[i] / 2;
            without[i] += other[i] / 2;
        }
    }
    DOCTEST_CHECK(std::stod(rows[0][3]) == doctest::Approx(effect).epsilon(2e-3));
    double sum = 0;
    for (std::size_t i = 0; i < output; ++i) {
        const auto& row = profile[1 + i];
        DOCTEST_CHECK(row[0] == "gata");
        DOCTEST_CHECK(row[1] == "first");
        DOCTEST_CHECK(row[3] == std::to_string(static_cast<int>(i) - 45));
        DOCTEST_CHECK(std::stod(row[4]) == doctest::Approx(with[i]).epsilon(1e-4));
        DOCTEST_CHECK(std::stod(row[5]) == doctest::Approx(without[i]).epsilon(1e-4));
        sum += std::stod(row[4]);
    }
    DOCTEST_CHECK(sum == doctest::Approx(1));
    // The effects do not depend on whether profiles are asked for.
    const std::string table = read_file(fixture / "out");
    MarginalizeSpec plain = spec;
    plain.profile.clear();
    marginalize_motifs(plain);
    DOCTEST_CHECK(read_file(fixture / "out") == table);
}

DOCTEST_TEST_CASE(
    "marginalize_motifs: profiles of two strands, of shuffled backgrounds, and what is refused") {
    const ProfileMotifs fixture;
    MarginalizeSpec spec = fixture.marginalize("bpnet.h5", "c\t400\t401\n");
    marginalize_motifs(spec);
    const TableRows rows = read_rows(fixture / "profile.tsv", "#");
    DOCTEST_REQUIRE(rows.size() == std::size_t{2 * 2 * 60});  // motifs, strands, positions
    const ModelFolder model = open_model(spec.model, std::nullopt, at::kCPU);
    const auto wanted = footprint(model, fixture.with("GATAC", 398).substr(400 - 105, 210), 2);
    for (const std::size_t at : {std::size_t{0}, std::size_t{17}, std::size_t{59}}) {
        DOCTEST_CHECK(rows[at][2].ends_with("_plus"));
        DOCTEST_CHECK(rows[60 + at][2].ends_with("_minus"));
        DOCTEST_CHECK(std::stod(rows[at][4]) == doctest::Approx(wanted[2 * at]).epsilon(1e-4));
        DOCTEST_CHECK(std::stod(rows[60 + at][4]) == doctest::Approx(wanted[2 * at + 1]).epsilon(1e-4));
    }
    spec.backgrounds = shuffled_backgrounds;
    DOCTEST_CHECK(marginalize_motifs(spec) == 100);
    spec.spacings = {1};
    DOCTEST_CHECK_THROWS_WITH(marginalize_motifs(spec), doctest::Contains("leave out --spacing"));
    spec.profile.clear();
    DOCTEST_CHECK(marginalize_motifs(spec) == 100);
    const auto network = small_base_bins(1, motif_bins());
    fixture.write_model("bins", *network, small_bins_info(motif_bins()));
    spec = fixture.marginalize("bpnet.h5", "c\t400\t401\n");
    spec.model = fixture / "bins";
    DOCTEST_CHECK_THROWS_WITH(marginalize_motifs(spec),
                              doctest::Contains("--profile needs a model that gives profiles"));
}

DOCTEST_TEST_CASE(
    "published models of profiles: embed, motifs export and finetune say that they do not take them") {
    const ProfileMotifs fixture;
    const fs::path path = test_data("models/profiles/chrombpnet_nobias.h5");
    const ModelFolder model = open_model(path, std::nullopt, at::kCPU);
    fs::create_directories(fixture / "folder");
    model.network->write(model.info, fixture / "folder");
    write_labels(model.labels, fixture / "folder");
    for (const fs::path& taken : {path, fixture / "folder"}) {
        const auto says = [&](const std::string& command) {
            return taken.string() + " is a published model of profiles, which " + command +
                   " does not take: predict, predict-variants, predict-mutagenesis, attribute and motifs "
                   "marginalize do";
        };
        auto embedding = fixture.spec<EmbedSpec>("", "vectors.npy");
        embedding.model = taken;
        embedding.regions = fixture.file("r.bed", "c\t400\t401\n");
        DOCTEST_CHECK(message_of<ConfigError>([&] { embed(embedding); }) == says("embed"));
        auto exporting = fixture.spec<ExportMotifsSpec>("");
        exporting.model = taken;
        exporting.output = fixture / "x.meme";
        DOCTEST_CHECK(message_of<ConfigError>([&] { export_motifs(exporting); }) == says("motifs export"));
        FinetuneSpec tuning;
        tuning.pretrained = taken;
        tuning.examples = fixture / "examples";
        tuning.output = fixture / "tuned";
        tuning.architecture = "bigbird-bins";
        DOCTEST_CHECK(message_of<ConfigError>([&] { finetune(tuning); }) == says("finetune"));
    }
}
