// SPDX-License-Identifier: Apache-2.0
// attribute() and predict_mutagenesis() with published models of profiles: what predict() says of edited
// genomes, and sums of logits by hand.
#include "support/tensors.hpp"
#include "unit/tasks/scoring_folder.hpp"

#include "bigbird/bins/network.hpp"
#include "bigbird/core/error.hpp"
#include "bigbird/core/formats/json_file.hpp"
#include "bigbird/genome/reference/sequence.hpp"
#include "bigbird/scoring/letters/letter_rows.hpp"
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
using Rows = TableRows;

constexpr std::int64_t window_bases = 266;  // of chrombpnet*.h5

fs::path profile_model(const std::string& name) {
    return test_data("models/profiles/" + name);
}

/// Bases 300 to 304 are N.
class ProfileFixture : public ScoringFolder {
public:
    explicit ProfileFixture(std::int64_t bases = 1010) : genome_(random_dna(bases, 5)) {
        genome_.replace(300, 5, "NNNNN");
        genome_file("genome.fa", genome_);
    }
    template <typename Spec>
    Spec of_models(const std::vector<std::string>& names, const std::string& bed) const {
        auto spec = this->spec<Spec>("", "found.tsv");
        spec.models.clear();
        for (const std::string& name : names)
            spec.models.push_back(profile_model(name));
        spec.regions = file("regions.bed", bed);
        return spec;
    }
    AttributeSpec attribution(const std::vector<std::string>& names, const std::string& bed) const {
        return of_models<AttributeSpec>(names, bed);
    }
    Rows found(const AttributeSpec& spec) const {
        attribute(spec);
        return read_rows(*this / "found.tsv", "#");
    }
    Rows effects(const MutagenesisSpec& spec) const {
        predict_mutagenesis(spec);
        return read_rows(*this / "found.tsv", "#");
    }
    /// Reads and log counts of predict() for the first row of a BED on another genome.
    std::vector<double> scores(const LetterSpec& like, const std::string& dna, const std::string& bed) const {
        PredictSpec spec;
        spec.models = like.models;
        spec.strands = like.strands;
        spec.component = like.component;
        spec.device = "cpu";
        spec.outputs.overwrite = Overwrite::allow;
        return predicted(spec, dna, bed);
    }
    const std::string& genome() const { return genome_; }
    std::string without(std::size_t begin, std::size_t end) const {
        std::string dna = genome_;
        return dna.replace(begin, end - begin, end - begin, 'N');
    }

private:
    std::string genome_;
};

double own_of(const std::vector<std::string>& row) {
    const std::size_t letter = std::string("ACGT").find(row[5]);
    return letter < 4 ? std::stod(row[6 + letter]) : 0;
}

double sum_of(const Rows& rows) {
    double sum = 0;
    for (const auto& row : rows)
        sum += own_of(row);
    return sum;
}

/// Sums over the profile of p (l - mean l) of `dna`, with the p of `weights`, of the first group, by plain
/// loops.
double profile_score(const ProfileNetwork& network, const std::string& dna, const std::string& weights,
                     bool reverse) {
    const auto logits_of = [&](const std::string& text) {
        const EncodedWindow window[] = {network.encode(text, reverse)};
        const std::size_t group[] = {0};
        const at::Tensor found = network.heads(window, group)
                                     .profile.narrow(2, 0, network.shape().groups.front())
                                     .to(at::kDouble)
                                     .contiguous();
        return std::vector<double>(found.const_data_ptr<double>(),
                                   found.const_data_ptr<double>() + found.numel());
    };
    const std::vector<double> logits = logits_of(dna), others = logits_of(weights);
    double sum = 0, mean = 0, score = 0;
    for (const double logit : others)
        sum += std::exp(logit);
    for (const double logit : logits)
        mean += logit / static_cast<double>(logits.size());
    for (std::size_t i = 0; i < logits.size(); ++i)
        score += std::exp(others[i]) / sum * (logits[i] - mean);
    return score;
}

}  // namespace

DOCTEST_TEST_CASE("attribute: contributions to log counts sum to predict's difference, of every form") {
    const ProfileFixture fixture(2400);
    struct Case {
        std::string model;
        std::optional<networks::Component> component{};
        double tolerance = 1e-3;
    };
    const std::vector<Case> cases{{"chrombpnet_nobias.h5"},
                                  {"bpnet.h5"},
                                  {"bpnetlite.torch"},
                                  {"chrombpnet.h5", networks::Component::bias},
                                  {"chrombpnet.h5", networks::Component::joined, 0.01},
                                  {"cherimoya.torch", {}, 0.02}};
    const std::string bed = "c\t1200\t1260\tsite\n", same = "c\t1200\t1260\n";
    for (const Case& one : cases) {
        for (const auto method : {AttributionMethod::deeplift, AttributionMethod::integrated_gradients}) {
            if (method != AttributionMethod::deeplift && one.model.ends_with(".torch")) continue;  // slow
            DOCTEST_CAPTURE(one.model);
            AttributeSpec spec = fixture.attribution({one.model}, bed);
            spec.component = one.component;
            spec.method = method;
            spec.strands = Strands::only;
            const Rows rows = fixture.found(spec);
            DOCTEST_REQUIRE(rows.size() == 60);
            DOCTEST_CHECK(rows[3][3] == "site");
            DOCTEST_CHECK(rows[3][5] == fixture.genome().substr(1203, 1));
            const double wanted = fixture.scores(spec, fixture.genome(), same)[1] -
                                  fixture.scores(spec, fixture.without(1200, 1260), same)[1];
            DOCTEST_CHECK(std::abs(wanted) > 1e-3);
            // Integrated gradients add points until the sum is within 1 %.
            const double tolerance =
                method == AttributionMethod::deeplift ? one.tolerance : std::max(0.01, one.tolerance);
            DOCTEST_CHECK(std::abs(sum_of(rows) - wanted) < tolerance * std::max(0.1, std::abs(wanted)));
        }
    }
}

DOCTEST_TEST_CASE("attribute: contributions to a profile sum to the difference of its weighted logits") {
    const ProfileFixture fixture;
    for (const char* name : {"chrombpnet_nobias.h5", "bpnet.h5"}) {
        DOCTEST_CAPTURE(name);
        const std::int64_t length = std::string(name) == "bpnet.h5" ? 210 : window_bases,
                           begin = 500 - length / 2;
        const std::string bed = "c\t480\t520\n";
        AttributeSpec spec = fixture.attribution({name}, bed);
        spec.target = AttributionTarget::profile;
        spec.method = AttributionMethod::deeplift;
        const double found = sum_of(fixture.found(spec));
        const ModelFolder model = open_model(profile_model(name), std::nullopt, at::kCPU);
        const auto network = profile_network(model);
        const auto window = [&](const std::string& dna) {
            return dna.substr(static_cast<std::size_t>(begin), static_cast<std::size_t>(length));
        };
        double wanted = 0;
        for (const bool reverse : {false, true}) {
            const std::string own = window(fixture.genome()), other = window(fixture.without(480, 520));
            wanted +=
                (profile_score(*network, own, own, reverse) - profile_score(*network, other, own, reverse)) /
                2;
        }
        DOCTEST_CHECK(std::abs(wanted) > 1e-3);
        DOCTEST_CHECK(found == doctest::Approx(wanted).epsilon(1e-3));
        // The gradient of the score with the weights held at the row's own.
        spec.method = AttributionMethod::input_x_gradient;
        spec.strands = Strands::none;
        const Rows rows = fixture.found(spec);
        const at::Tensor letters =
            bins::base_channels(bins::codes_of(window(fixture.genome())).unsqueeze(0)).requires_grad_();
        const at::Tensor logits =
            network->net()->forward(letters).profile.narrow(2, 0, network->shape().groups.front()).flatten(1);
        (logits.softmax(1).detach() * (logits - logits.mean(1, true))).sum().backward();
        for (const std::int64_t base : {480, 490, 519}) {
            const std::size_t letter =
                std::string("ACGT").find(fixture.genome()[static_cast<std::size_t>(base)]);
            DOCTEST_CHECK(
                own_of(rows[static_cast<std::size_t>(base - 480)]) ==
                doctest::Approx(
                    letters.grad()[0][base - begin][static_cast<std::int64_t>(letter)].item<double>())
                    .epsilon(1e-3));
        }
    }
}

DOCTEST_TEST_CASE(
    "attribute: a complete window with shuffles, folds, a contig's end, arrays for TF-MoDISco") {
    const ProfileFixture fixture;
    AttributeSpec spec = fixture.attribution({"chrombpnet_nobias.h5"}, "c\t200\t466\nc\t744\t1010\n");
    spec.method = AttributionMethod::deeplift;
    spec.baseline = AttributionBaseline::shuffled;
    spec.shuffles = 3;
    for (const auto target : {AttributionTarget::counts, AttributionTarget::profile}) {
        spec.target = target;
        spec.outputs.paths = {fixture / "found.tsv", fixture / "x.npz", fixture / "x.h5",
                              fixture / "x.bedgraph"};
        const AttributeReport report = attribute(spec);
        DOCTEST_CHECK(report.bases == 2 * window_bases);
        DOCTEST_CHECK(report.tiled == 0);
        DOCTEST_CHECK(report.difference > 0);
        DOCTEST_CHECK(report.gap < 1e-3 * report.difference);
        DOCTEST_CHECK(fs::file_size(fixture / "x.npz") > 2 * 4 * 4 * window_bases);
    }
    const std::string table = read_file(fixture / "found.tsv");
    DOCTEST_CHECK(holds(table, "##target=profile\n"));
    DOCTEST_CHECK(holds(table, "##component=nobias\n"));
    // Two models and both strands: the mean of what each gives.
    spec.outputs.paths = {fixture / "found.tsv"};
    spec.regions = fixture.file("one.bed", "c\t100\t140\n");
    std::vector<Rows> each;
    for (const auto& [models, strands] : std::vector<std::pair<std::vector<std::string>, Strands>>{
             {{"chrombpnet_nobias.h5"}, Strands::none},
             {{"chrombpnet_nobias.h5"}, Strands::only},
             {{"chrombpnet.h5"}, Strands::average},
             {{"chrombpnet_nobias.h5", "chrombpnet.h5"}, Strands::average}}) {
        spec.models.clear();
        for (const std::string& name : models)
            spec.models.push_back(profile_model(name));
        spec.strands = strands;
        each.push_back(fixture.found(spec));
    }
    for (const std::size_t base : {std::size_t{5}, std::size_t{20}, std::size_t{33}}) {  // shuffles keep ends
        const double first = (own_of(each[0][base]) + own_of(each[1][base])) / 2,
                     second = own_of(each[2][base]);
        DOCTEST_CHECK(own_of(each[0][base]) != doctest::Approx(own_of(each[1][base])).epsilon(1e-3));
        DOCTEST_CHECK(own_of(each[3][base]) == doctest::Approx((first + second) / 2).epsilon(1e-3));
    }
}

DOCTEST_TEST_CASE("attribute: records of other lengths than the window, longer regions, what does not fit") {
    const ProfileFixture fixture;
    AttributeSpec spec = fixture.attribution({"chrombpnet_nobias.h5"}, "");
    spec.method = AttributionMethod::deeplift;
    spec.strands = Strands::none;
    const std::string middle = fixture.genome().substr(400, window_bases);
    spec.sequences =
        fixture.file("records.fa", ">long\n" + fixture.genome().substr(390, window_bases + 20) +
                                       "\n>window\n" + middle + "\n>brief\n" + middle.substr(100, 60) + "\n");
    spec.regions.clear();
    spec.references.clear();
    const Rows rows = fixture.found(spec);
    DOCTEST_REQUIRE(rows.size() == 2 * window_bases + 20 + 60);
    for (const std::size_t base : {std::size_t{0}, std::size_t{100}, std::size_t{265}})  // the middle is read
        DOCTEST_CHECK(own_of(rows[10 + base]) == doctest::Approx(own_of(rows[window_bases + 20 + base])));
    DOCTEST_CHECK(own_of(rows[0]) == 0);
    DOCTEST_CHECK(own_of(rows[window_bases + 19]) == 0);
    DOCTEST_CHECK(own_of(rows[10]) != 0);

    spec = fixture.attribution({"chrombpnet_nobias.h5"}, "c\t100\t400\n");
    spec.method = AttributionMethod::saliency;
    DOCTEST_CHECK(attribute(spec).tiled == 1);
    spec.models.push_back(profile_model("bpnet.h5"));
    DOCTEST_CHECK_THROWS_WITH(attribute(spec), doctest::Contains("models that are averaged must agree"));
    const auto network = small_base_bins(1, motif_bins());
    fixture.write_model("bins", *network, small_bins_info(motif_bins()));
    spec.models = {fixture / "bins"};
    spec.target = AttributionTarget::counts;
    DOCTEST_CHECK_THROWS_WITH(attribute(spec),
                              doctest::Contains("--target needs a model that gives profiles"));
}

DOCTEST_TEST_CASE("attribute: of bpnet-lite's networks what tangermeme says of the same references") {
    for (const Json& fixture : read_json(test_data("attributions/profiles.json"))) {
        const auto name = fixture.at("file").get<std::string>();
        DOCTEST_CAPTURE(name);
        const bool profile = fixture.at("target") == "profile";
        DOCTEST_CAPTURE(profile);
        const auto component = fixture.at("component").get<std::string>();
        Job job;
        if (!component.empty())
            job.component = parse_choice(networks::component_words, "component", component);
        const fs::path paths[] = {profile_model(name)};
        const std::vector<ModelFolder> models = open_models(paths, std::nullopt, job);
        for (at::Tensor& parameter : models.front().network->module()->parameters())
            parameter.requires_grad_(false);
        const auto dna = fixture.at("dna").get<std::string>();
        const RowScore score =
            profile_scores(models, Strands::none,
                           profile ? AttributionTarget::profile : AttributionTarget::counts,
                           {"record", 0, std::ssize(dna)}, sequence_of_record(dna))
                .front();
        const auto letters = [](const std::string& text) {
            return bins::base_channels(bins::codes_of(text).unsqueeze(0))[0];
        };
        std::vector<at::Tensor> references;
        for (const Json& text : fixture.at("references"))
            references.push_back(letters(text.get<std::string>()));
        const std::size_t labels[] = {0};
        const at::Tensor found =
            bins::deeplift({score.scores, letters(dna), labels, score.at_once}, at::stack(references))[0];
        std::vector<at::Tensor> wanted;
        for (const Json& row : fixture.at("contributions"))
            wanted.push_back(at::tensor(row.get<std::vector<double>>(), at::kDouble));
        const auto begin = fixture.at("begin").get<std::int64_t>();
        const at::Tensor expected = at::stack(wanted);
        const double largest = expected.abs().max().item<double>();
        DOCTEST_CHECK(largest > 1e-4);
        DOCTEST_CHECK(difference(found.narrow(0, begin, expected.size(0)), expected) < 1e-4 * largest);
        DOCTEST_CHECK((found * letters(dna)).sum().item<double>() ==
                      doctest::Approx(fixture.at("sum").get<double>()).epsilon(1e-3));
    }
}

DOCTEST_TEST_CASE("predict_mutagenesis: substitutions of profile models are predict's on the edited genome") {
    const ProfileFixture fixture;
    struct Case {
        std::vector<std::string> models;
        Strands strands;
        double offset;
    };
    const std::vector<Case> cases{{{"chrombpnet_nobias.h5"}, Strands::average, 1},
                                  {{"chrombpnet_nobias.h5", "chrombpnet.h5"}, Strands::only, 1},
                                  {{"bpnet.h5"}, Strands::average, 2}};
    const std::string bed = "c\t450\t650\n";
    for (const Case& one : cases) {
        DOCTEST_CAPTURE(one.models.back());
        MutagenesisSpec spec = fixture.of_models<MutagenesisSpec>(one.models, bed);
        spec.strands = one.strands;
        const Rows rows = fixture.effects(spec);
        DOCTEST_REQUIRE(rows.size() == 200);
        const double before = fixture.scores(spec, fixture.genome(), bed)[0];
        for (const std::size_t at :
             {std::size_t{450}, std::size_t{455}, std::size_t{550}, std::size_t{649}}) {
            std::string changed = fixture.genome();
            changed[at] = changed[at] == 'G' ? 'T' : 'G';
            const double after = fixture.scores(spec, changed, bed)[0],
                         found = std::stod(rows[at - 450][6 + std::string("ACGT").find(changed[at])]);
            DOCTEST_CHECK(
                found ==
                doctest::Approx(std::log(after + one.offset) - std::log(before + one.offset)).epsilon(2e-3));
            DOCTEST_CHECK(own_of(rows[at - 450]) == 0);
        }
        DOCTEST_CHECK(holds(read_file(fixture / "found.tsv"), "##effect=log_ratio\n"));
        spec.quantity = Quantity::difference;
        spec.regions = fixture.file("some.bed", "c\t549\t552\n");  // another window: its own middle
        const Rows some = fixture.effects(spec);
        std::string changed = fixture.genome();
        changed[550] = changed[550] == 'G' ? 'T' : 'G';
        const std::string here = "c\t549\t552\n";
        DOCTEST_CHECK(std::stod(some[1][6 + std::string("ACGT").find(changed[550])]) ==
                      doctest::Approx(fixture.scores(spec, changed, here)[0] -
                                      fixture.scores(spec, fixture.genome(), here)[0])
                          .epsilon(2e-3));
    }
}

DOCTEST_TEST_CASE("predict_mutagenesis: deletions and shuffles of profile models, regions and records") {
    const ProfileFixture fixture;
    const std::string bed = "c\t480\t520\n";
    MutagenesisSpec spec = fixture.of_models<MutagenesisSpec>({"chrombpnet_nobias.h5"}, bed);
    spec.deleted = 4;
    const Rows rows = fixture.effects(spec);
    DOCTEST_REQUIRE(rows.size() == 37);
    const double before = fixture.scores(spec, fixture.genome(), bed)[1];
    for (const std::size_t at : {std::size_t{480}, std::size_t{500}, std::size_t{516}}) {
        std::string changed = fixture.genome();
        changed.erase(at, 4);  // what follows moves to the left, and the window stays
        DOCTEST_CHECK(std::stod(rows[at - 480].back()) ==
                      doctest::Approx(fixture.scores(spec, changed, bed)[1] - before).epsilon(2e-3));
    }
    spec.deleted = 0;
    spec.shuffled = 10;
    DOCTEST_CHECK(fixture.effects(spec).size() == 31);
    spec.shuffled = 0;
    spec.score = MutagenesisScore::own_bin;
    DOCTEST_CHECK_THROWS_WITH(predict_mutagenesis(spec),
                              doctest::Contains("--score own-bin needs a bin model"));
    spec.score = MutagenesisScore::region;
    const Rows of_region = fixture.effects(spec);
    spec.regions.clear();
    spec.references.clear();
    spec.sequences = fixture.file(
        "record.fa", ">x\n" + fixture.genome().substr(500 - window_bases / 2, window_bases) + "\n");
    const Rows of_record = fixture.effects(spec);
    DOCTEST_REQUIRE(of_record.size() == static_cast<std::size_t>(window_bases));
    for (const std::size_t base : {std::size_t{0}, std::size_t{39}})
        for (const std::size_t letter : {std::size_t{6}, std::size_t{9}})
            DOCTEST_CHECK(of_region[base][letter] == of_record[window_bases / 2 - 20 + base][letter]);
}
