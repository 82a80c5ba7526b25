// SPDX-License-Identifier: Apache-2.0
// export_motifs() and marginalize_motifs() against plain loops and predict() on an edited genome.
#include "unit/tasks/scoring_folder.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/genome/reference/sequence.hpp"
#include "bigbird/motifs/motif_files.hpp"
#include "bigbird/tasks/sequence_network.hpp"

#include <ATen/ATen.h>

#include <cmath>

using namespace bigbird;
using namespace bigbird::testing;
using namespace bigbird::tasks;

namespace {

constexpr std::int64_t width = 7;  // of small_bins()' first convolution

class MotifRunFixture : public ScoringFolder {
public:
    MotifRunFixture() : genome_(random_dna(1000, 1)), network_(small_base_bins(1, motif_bins())) {
        genome_.replace(300, 5, "NNNNN");
        genome_file("genome.fa", genome_);
        write_model("run/model", *network_, small_bins_info(motif_bins()),
                    {{"TF", "a b", -1}, {"TF", "c", -1}});
    }
    template <typename Spec>
    Spec motif_spec() const {
        auto spec = this->spec<Spec>("run/model");
        spec.output = *this / "out";
        spec.overwrite = Overwrite::allow;
        return spec;
    }
    MarginalizeSpec marginalize(const std::string& meme, const std::string& bed) const {
        auto spec = motif_spec<MarginalizeSpec>();
        spec.motifs = file("m.meme", meme);
        spec.backgrounds = file("b.bed", bed);
        return spec;
    }
    /// Log odds that predict() gives a bin of a genome.
    std::vector<double> odds(const std::string& genome, std::int64_t begin) const {
        auto spec = this->spec<PredictSpec>("run/model");
        spec.strands = Strands::average;
        return odds_of(predicted(spec, genome,
                                 "c\t" + std::to_string(begin) + "\t" + std::to_string(begin + 20) + "\n"));
    }
    const std::string& genome() const { return genome_; }
    const BinNetwork& network() const { return *network_; }

private:
    std::string genome_;
    std::shared_ptr<BinNetwork> network_;
};

const std::string one_motif =
    "MEME version 4\n\nMOTIF gata first\nletter-probability matrix: alength= 4 w= 4 nsites= 9\n"
    " 0.1 0.1 0.7 0.1\n 0.7 0.1 0.1 0.1\n 0.1 0.1 0.1 0.7\n 0.4 0.2 0.2 0.2\n";

/// What a filter finds in a word, on one strand.
double found_by(const at::Tensor& filter, const at::Tensor& bias, const std::string& word, bool reverse) {
    double sum = bias.item<double>();
    for (std::int64_t i = 0; i < width; ++i) {
        const auto code =
            static_cast<std::int64_t>(std::string("ACGT").find(word[static_cast<std::size_t>(i)]));
        if (code < 0 || code > 3) continue;
        sum += (reverse ? filter[3 - code][width - 1 - i] : filter[code][i]).item<double>();
    }
    return sum;
}

}  // namespace

DOCTEST_TEST_CASE("marginalize_motifs: the effects that predict shows on a genome with the motif") {
    const MotifRunFixture fixture;
    // Middles of bins in the middle of windows of the grid, so that predict() reads the same windows.
    const std::vector<std::int64_t> middles{450, 610};
    DOCTEST_CHECK(marginalize_motifs(fixture.marginalize(one_motif, "c\t440\t460\nc\t600\t620\n")) == 2);
    const TableRows rows = read_rows(fixture / "out", "#");
    DOCTEST_REQUIRE(rows.size() == 2);
    DOCTEST_CHECK(rows[0][0] == "gata");
    DOCTEST_CHECK(rows[0][1] == "first");
    DOCTEST_CHECK(rows[1][2] == "c");
    DOCTEST_CHECK(rows[1][5] == "2");
    std::vector<std::vector<double>> effects;
    for (const std::int64_t middle : middles) {
        std::string changed = fixture.genome();
        changed.replace(static_cast<std::size_t>(middle) - 2, 4, "GATA");
        const auto before = fixture.odds(fixture.genome(), middle - 10),
                   after = fixture.odds(changed, middle - 10);
        effects.push_back({after[0] - before[0], after[1] - before[1]});
    }
    for (std::size_t label = 0; label < 2; ++label) {
        const double a = effects[0][label], b = effects[1][label];
        DOCTEST_CHECK(std::stod(rows[label][3]) == doctest::Approx((a + b) / 2).epsilon(2e-3));
        DOCTEST_CHECK(std::stod(rows[label][4]) == doctest::Approx(std::abs(a - b) / 2).epsilon(2e-3));
    }
}

DOCTEST_TEST_CASE("marginalize_motifs: two motifs at a distance, both less each in its place") {
    const MotifRunFixture fixture;
    const std::string second =
        "\nMOTIF tt\nletter-probability matrix: alength= 4 w= 2 nsites= 9\n 0 0 0.1 0.9\n 0 0 0 1\n";
    MarginalizeSpec spec = fixture.marginalize(one_motif + second, "c\t440\t460\n");
    spec.spacings = {0, 3};
    DOCTEST_CHECK(marginalize_motifs(spec) == 1);
    const TableRows rows = read_rows(fixture / "out", "#");
    DOCTEST_REQUIRE(rows.size() == 16);  // 4 pairs, 2 spacings, 2 labels
    const auto& row = rows[6];           // gata, tt, 3, a b
    DOCTEST_CHECK(std::vector(row.begin(), row.begin() + 4) ==
                  std::vector<std::string>{"gata", "tt", "3", rows[0][3]});
    const auto odds_with = [&](const std::string& first, const std::string& other) {
        std::string changed = fixture.genome();  // GATA...TT: 9 bases about 450
        changed.replace(446, first.size(), first);
        changed.replace(453, other.size(), other);
        return fixture.odds(changed, 440)[0];
    };
    const double before = odds_with("", ""), both = odds_with("GATA", "TT"), first = odds_with("GATA", ""),
                 other = odds_with("", "TT");
    DOCTEST_CHECK(std::stod(row[4]) == doctest::Approx(both - before).epsilon(2e-3));
    DOCTEST_CHECK(row[5] == "NA");
    DOCTEST_CHECK(std::abs(std::stod(row[6]) - (both - first - other + before)) < 1e-5);
    DOCTEST_CHECK(row[8] == "1");
    spec.spacings = {1000};
    DOCTEST_CHECK_THROWS_WITH(marginalize_motifs(spec),
                              doctest::Contains("bases of motifs do not fit into a background"));
}

DOCTEST_TEST_CASE("marginalize_motifs: shuffled backgrounds repeat, what does not fit is refused") {
    const MotifRunFixture fixture;
    MarginalizeSpec spec = fixture.marginalize(one_motif, "");
    spec.backgrounds = shuffled_backgrounds;
    DOCTEST_CHECK(marginalize_motifs(spec) == 100);
    const std::string first = read_file(fixture / "out");
    marginalize_motifs(spec);
    DOCTEST_CHECK(read_file(fixture / "out") == first);
    DOCTEST_CHECK_THROWS_WITH(marginalize_motifs(fixture.marginalize(one_motif, "")),
                              doctest::Contains("has no rows"));
    DOCTEST_CHECK_THROWS_WITH(marginalize_motifs(fixture.marginalize(one_motif, "x\t1\t2\n")),
                              doctest::Contains("1 on contigs that the reference lacks (x)"));
}

DOCTEST_TEST_CASE("export_motifs: the letters under each filter's sites, by plain loops") {
    const MotifRunFixture fixture;
    write_file(fixture / "run/motifs.meme", one_motif);
    const auto spec = fixture.motif_spec<ExportMotifsSpec>();
    const std::int64_t count = export_motifs(spec);
    const motifs::MotifSet set = motifs::read_motifs(fixture / "out");
    DOCTEST_CHECK(std::ssize(set.motifs) == count);
    DOCTEST_CHECK(set.motifs[0].id == "gata");
    const auto parameters = fixture.network().module()->named_parameters();
    const at::Tensor weight = parameters["stem.0.convolution.weight"].detach(),
                     bias = parameters["stem.0.convolution.bias"].detach();
    std::size_t compared = 1;
    for (std::int64_t filter = 0; filter < 3; ++filter) {
        std::vector<std::pair<std::string, double>> found;
        double most = 0;
        for (std::size_t begin = 0; begin + width <= fixture.genome().size(); ++begin) {
            const std::string word = fixture.genome().substr(begin, width);
            for (const bool reverse : {false, true}) {
                const double value = found_by(weight[filter], bias[filter], word, reverse);
                most = std::max(most, value);
                if (word.find('N') != std::string::npos) continue;
                found.emplace_back(reverse ? genome::reverse_complement(word) : word, value);
            }
        }
        std::int64_t sites = 0, letters = 0;
        for (const auto& [word, value] : found) {
            if (value <= most / 2) continue;
            ++sites;
            letters += word[2] == 'G' ? 1 : 0;
        }
        const motifs::Motif& motif = set.motifs[compared++];
        DOCTEST_CHECK(motif.id == "filter_" + std::to_string(filter + 1));
        DOCTEST_CHECK(std::abs(motif.sites - sites) <= 1);  // a site at the threshold
        DOCTEST_CHECK(
            motif.shares[2][2] ==
            doctest::Approx(static_cast<double>(letters) / static_cast<double>(sites)).epsilon(0.02));
        DOCTEST_CHECK((motif.name == "a_b" || motif.name == "c"));
    }
    auto random = spec;
    random.references.clear();
    random.threads = 1;  // thousands of small windows, in each of which two threads wait for each other
    DOCTEST_CHECK(export_motifs(random) > 1);
}

DOCTEST_TEST_CASE("motif_runs: models of records, a model without filters is refused") {
    const MotifRunFixture fixture;
    const sequences::Config small{.filters = 5, .width = 9, .hidden = 16, .heads = 2, .dense = 8};
    const std::vector<std::shared_ptr<SequenceNetwork>> members{new_sequence_network(small, 2, 1, at::kCPU),
                                                                new_sequence_network(small, 2, 2, at::kCPU)};
    const auto kmers = kmer_network({.lengths = {3}}, at::ones({2, 32}), at::zeros({2}), at::kCPU);
    TaskInfo info;
    info.task = examples::Task::sequences;
    for (const auto& [name, network] :
         {std::pair{"sequence-model", mean_network(members, nullptr, 0)}, {"kmers", kmers}}) {
        info.architecture = network == kmers ? "kmer-logistic" : sequence_name;
        network->module()->eval();
        fixture.write_model(name, *network, info);
    }
    auto exported = fixture.motif_spec<ExportMotifsSpec>();
    exported.model = fixture / "sequence-model";
    DOCTEST_CHECK(export_motifs(exported) == 10);
    DOCTEST_CHECK(motifs::read_motifs(fixture / "out").motifs.back().id == "filter_10");
    exported.model = fixture / "kmers";
    DOCTEST_CHECK_THROWS_WITH(export_motifs(exported), doctest::Contains("has no filters that read bases"));

    MarginalizeSpec spec = fixture.marginalize(one_motif, "c\t100\t161\n");
    spec.model = fixture / "sequence-model";
    DOCTEST_CHECK(marginalize_motifs(spec) == 1);
    const std::string before = fixture.genome().substr(100, 61);
    std::string after = before;
    after.replace(28, 4, "GATA");
    const ModelFolder model = open_model(spec.model, examples::Task::sequences, at::kCPU);
    const EncodedWindow windows[] = {model.network->encode(before), model.network->encode(after)};
    const at::Tensor logits = batched_logits(*model.network, windows, 4096).squeeze(1);
    const TableRows rows = read_rows(fixture / "out", "#");
    for (std::int64_t label = 0; label < 2; ++label) {
        const auto row = static_cast<std::size_t>(label);
        DOCTEST_CHECK(std::stod(rows[row][3]) ==
                      doctest::Approx((logits[1][label] - logits[0][label]).item<double>()).epsilon(1e-3));
        DOCTEST_CHECK(rows[row][4] == "NA");
    }
}
