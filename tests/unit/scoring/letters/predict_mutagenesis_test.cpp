// SPDX-License-Identifier: Apache-2.0
// predict_mutagenesis(), and predict_variants() with models of bins: the same effects, and those of
// predict() on a genome that was edited.
#include "unit/tasks/scoring_folder.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/rng.hpp"
#include "bigbird/genome/reference/sequence.hpp"
#include "bigbird/scoring/variants/variant_scorers.hpp"

#include <algorithm>
#include <cmath>
#include <map>

using namespace bigbird;
using namespace bigbird::testing;
using namespace bigbird::tasks;

namespace {

using Rows = TableRows;

/// Cores of 4 bins of 20 bases; the contig's 1,010 bases end within a bin; 300 to 304 are N, and 500 to 540
/// lower case.
class MutagenesisFixture : public ScoringFolder {
public:
    explicit MutagenesisFixture(bool coverage = false) : genome_(random_dna(1010, 1)) {
        genome_.replace(300, 5, "NNNNN");
        for (std::size_t i = 500; i < 540; ++i)
            lower_[i] = static_cast<char>(std::tolower(genome_[i]));
        genome_file("genome.fa", cased(genome_));
        TaskInfo info = small_bins_info(motif_bins());
        if (coverage) {
            info.target = examples::TargetKind::numbers;
            info.standardisation = Standardisation{.mean = {0, 0}, .deviation = {3, 0.5}};
        }
        write_model("model", *small_base_bins(1, motif_bins()), info);
    }
    MutagenesisSpec mutagenesis(const std::string& bed) const {
        auto spec = this->spec<MutagenesisSpec>("model", "effects.tsv");
        spec.regions = file("regions.bed", bed);
        return spec;
    }
    Rows effects(const MutagenesisSpec& spec) const {
        predict_mutagenesis(spec);
        return read_rows(*this / "effects.tsv", "#");
    }
    Rows variants(const std::string& body, const std::string& quantities,
                  BinScorer scorer = BinScorer::centre, std::int64_t bins = 1) const {
        auto spec = this->spec<VariantSpec>("model", "variants.tsv");
        spec.variants = vcf(body);
        spec.quantities = quantities;
        spec.scorer = scorer;
        spec.bins = bins;
        predict_variants(spec);
        return read_rows(*this / "variants.tsv", "#");
    }
    /// What predict() says of bases of a genome.
    std::vector<double> predicted(const std::string& genome, const std::string& bed) const {
        auto spec = this->spec<PredictSpec>("model");
        spec.strands = Strands::average;
        return ScoringFolder::predicted(spec, cased(genome), bed);
    }
    const std::string& genome() const { return genome_; }

private:
    std::string cased(std::string dna) const {
        for (const auto& [at, letter] : lower_)
            if (at < dna.size() && std::toupper(letter) == dna[at]) dna[at] = letter;
        return dna;
    }
    std::string genome_;
    std::map<std::size_t, char> lower_;
};

std::string vcf_row(std::size_t position, const std::string& ref, const std::string& alt) {
    return "c\t" + std::to_string(position + 1) + "\t.\t" + ref + "\t" + alt + "\t.\t.\t.\n";
}

double odds(double p) {
    return std::log(p) - std::log1p(-p);
}

}  // namespace

/// What each scorer says of label 0, by predict()'s scores of bins: ref, alt, difference, log odds.
std::vector<double> by_tracks(BinScorer scorer, const std::vector<double>& ref,
                              const std::vector<double>& alt) {
    double sum_r = 0, sum_a = 0, sum_l = 0, sum_d2 = 0, sum_l2 = 0;
    std::size_t top = 0;
    std::vector<double> l;
    for (std::size_t i = 0; i < ref.size(); ++i) {
        l.push_back(odds(alt[i]) - odds(ref[i]));
        if (std::abs(l[i]) > std::abs(l[top])) top = i;
        sum_r += ref[i];
        sum_a += alt[i];
        sum_l += l[i];
        sum_d2 += std::pow(alt[i] - ref[i], 2);
        sum_l2 += std::pow(l[i], 2);
    }
    const auto n = static_cast<double>(ref.size());
    switch (scorer) {
        case BinScorer::mean:
            return {sum_r / n, sum_a / n, (sum_a - sum_r) / n, sum_l / n};
        case BinScorer::l2:
            return {sum_r / n, sum_a / n, std::sqrt(sum_d2), std::sqrt(sum_l2)};
        case BinScorer::sum:
            return {sum_r, sum_a, sum_a - sum_r, sum_l};
        default:
            return {ref[top], alt[top], alt[top] - ref[top], l[top]};
    }
}

DOCTEST_TEST_CASE(
    "predict_variants: scorers of several bins, as predict's tracks of both genomes give them") {
    const MutagenesisFixture fixture;
    const std::string& genome = fixture.genome();
    struct Case {
        std::size_t at, removed;
        std::string alt;
        std::int64_t first, last;  // bins
    };
    // Cores of 4 bins: all bins of a case are in one. At the contig's ends bins are missing.
    std::vector<Case> cases;
    for (const std::size_t at : {std::size_t{0}, std::size_t{425}, std::size_t{451}, std::size_t{1005}}) {
        const auto bin = static_cast<std::int64_t>(at) / 20;
        cases.push_back({at, 1, genome[at] == 'A' ? "C" : "A", std::max<std::int64_t>(0, bin - 1),
                         std::min<std::int64_t>(50, bin + 1)});
    }
    cases.push_back({430, 1, genome.substr(430, 1) + "GATTACA", 20, 22});
    cases.push_back({430, 10, genome.substr(430, 1), 20, 22});
    cases.push_back({430, 3, genome[430] == 'G' ? "CCT" : "GGA", 20, 22});
    std::string body;
    for (const Case& one : cases)
        body += vcf_row(one.at, genome.substr(one.at, one.removed), one.alt);
    const auto bins_of = [&](const std::string& dna, std::int64_t first, std::int64_t last) {
        std::vector<double> scores;
        for (std::int64_t bin = first; bin <= last; ++bin)
            scores.push_back(fixture.predicted(
                dna, "c\t" + std::to_string(bin * 20) + "\t" + std::to_string(bin * 20 + 10) + "\n")[0]);
        return scores;
    };
    std::vector<std::vector<double>> ref, alt;
    for (const Case& one : cases) {
        std::string edited = genome;
        edited.replace(one.at, one.removed, one.alt);
        ref.push_back(bins_of(genome, one.first, one.last));
        const std::int64_t own = static_cast<std::int64_t>(one.at) / 20;
        alt.push_back(bins_of(edited, one.first, own));
        // What follows the edit keeps its place where the contig's begin, far away, makes up for it.
        if (one.alt.size() > one.removed) edited.erase(0, one.alt.size() - one.removed);
        if (one.alt.size() < one.removed) edited.insert(0, one.removed - one.alt.size(), 'A');
        const std::vector<double> behind = bins_of(edited, own + 1, one.last);
        alt.back().insert(alt.back().end(), behind.begin(), behind.end());
    }
    for (const BinScorer scorer : {BinScorer::max, BinScorer::mean, BinScorer::l2, BinScorer::sum}) {
        const Rows rows = fixture.variants(body, "ref,alt,difference,log-odds", scorer, 3);
        DOCTEST_REQUIRE(rows.size() == cases.size());
        for (std::size_t i = 0; i < cases.size(); ++i) {
            DOCTEST_CAPTURE(i);
            const std::vector<double> expected = by_tracks(scorer, ref[i], alt[i]);
            for (std::size_t column = 0; column < 4; ++column) {
                DOCTEST_CAPTURE(column);
                DOCTEST_CHECK(std::abs(std::stod(rows[i][10 + column]) - expected[column]) < 2e-5);
            }
        }
    }
    DOCTEST_CHECK(message_of<ConfigError>([&] { fixture.variants(body, "", BinScorer::max, 7); }) ==
                  "--scorer: 7 bins reach over the window's margin of 2: the most for this model is 5");
}

DOCTEST_TEST_CASE("effect_over: of coverage the ratio of sums, as numpy has it") {
    // r = [1, 4, 0.5], a = [2, 3, 0.5]
    const std::vector<double> ref{1, 4, 0.5}, alt{2, 3, 0.5};
    const auto of = [&](BinScorer scorer) {
        return effect_over(ref, alt, scorer, LinkFunction::exponential);
    };
    DOCTEST_CHECK(of(BinScorer::sum).log_odds == doctest::Approx(0));  // ln 5.5 - ln 5.5
    DOCTEST_CHECK(of(BinScorer::mean).log_odds == doctest::Approx(0.1351550F));
    DOCTEST_CHECK(of(BinScorer::max).log_odds == doctest::Approx(0.6931472F));
    DOCTEST_CHECK(of(BinScorer::max).alt == 2);
    DOCTEST_CHECK(of(BinScorer::l2).log_odds == doctest::Approx(0.7504758F));
    DOCTEST_CHECK(of(BinScorer::l2).difference == doctest::Approx(1.4142136F));
    DOCTEST_CHECK(effect_over(ref, alt, BinScorer::sum, LinkFunction::identity).log_odds == 0);
}

DOCTEST_TEST_CASE(
    "predict_variants, predict_mutagenesis: of coverage the log fold change of a window's sum") {
    const MutagenesisFixture fixture(true);
    const std::string& genome = fixture.genome();
    const auto log_sum = [&](const std::string& dna, const std::vector<std::string>& rows,
                             std::size_t track) {
        double sum = 0;
        for (const std::string& row : rows)
            sum += fixture.predicted(dna, row)[track];
        return std::log(sum);
    };
    std::string changed = genome;
    changed[105] = genome[105] == 'A' ? 'C' : 'A';
    const auto letter = std::string("ACGT").find(changed[105]);
    const std::vector<std::string> bins{"c\t80\t100\n", "c\t100\t120\n", "c\t120\t140\n"};
    const Rows variant = fixture.variants(vcf_row(105, genome.substr(105, 1), changed.substr(105, 1)),
                                          "log-odds", BinScorer::sum, 3);
    // 70 to 110: half of bin 3, in another window than bin 4 and half of bin 5.
    const std::vector<std::string> region{"c\t70\t110\n"};
    const Rows effects = fixture.effects(fixture.mutagenesis(region.front()));
    for (const std::size_t track : {std::size_t{0}, std::size_t{1}}) {
        DOCTEST_CHECK(
            std::stod(variant[0][10 + track]) ==
            doctest::Approx(log_sum(changed, bins, track) - log_sum(genome, bins, track)).epsilon(1e-3));
        DOCTEST_CHECK(
            std::stod(effects[2 * 35 + track][6 + letter]) ==
            doctest::Approx(log_sum(changed, region, track) - log_sum(genome, region, track)).epsilon(1e-3));
        const auto of = [&](std::size_t bin) { return double{fixture.predicted(changed, bins[bin])[track]}; };
        DOCTEST_CHECK(fixture.predicted(changed, "c\t90\t130\n")[track] ==
                      doctest::Approx((of(0) + 2 * of(1) + of(2)) / 4));
        DOCTEST_CHECK(of(0) > 0);
    }
}

DOCTEST_TEST_CASE(
    "predict_variants: of a bin model the grid's bin that holds POS, as predict has it edited") {
    const MutagenesisFixture fixture;
    const std::string& genome = fixture.genome();
    struct Edit {
        std::size_t at;
        std::string ref, alt;
    };
    std::vector<Edit> edits;
    for (const std::size_t at :
         std::initializer_list<std::size_t>{0, 79, 80, 299, 505, 1009})  // ends, borders of cores, lower case
        edits.push_back({at, genome.substr(at, 1), genome[at] == 'A' ? "C" : "A"});
    edits.push_back({410, genome.substr(410, 1), genome.substr(410, 1) + "GATTACA"});
    edits.push_back({410, genome.substr(410, 9), genome.substr(410, 1)});
    edits.push_back({600, genome.substr(600, 3), "TTT"});
    std::string body;
    for (const Edit& edit : edits)
        body += vcf_row(edit.at, edit.ref, edit.alt);
    const Rows rows = fixture.variants(body, "ref,alt");
    DOCTEST_REQUIRE(rows.size() == edits.size());
    for (std::size_t i = 0; i < edits.size(); ++i) {
        std::string changed = genome;
        changed.replace(edits[i].at, edits[i].ref.size(), edits[i].alt);
        const std::string bed =
            "c\t" + std::to_string(edits[i].at) + "\t" + std::to_string(edits[i].at + 1) + "\n";
        const auto ref = fixture.predicted(genome, bed), alt = fixture.predicted(changed, bed);
        for (std::size_t label = 0; label < 2; ++label) {
            DOCTEST_CAPTURE(i);
            DOCTEST_CHECK(std::stod(rows[i][10 + 2 * label]) == doctest::Approx(ref[label]).epsilon(1e-5));
            DOCTEST_CHECK(std::stod(rows[i][11 + 2 * label]) == doctest::Approx(alt[label]).epsilon(1e-5));
        }
    }
}

DOCTEST_TEST_CASE("predict_mutagenesis: own bins have predict_variants' effects, to the last digit") {
    const MutagenesisFixture fixture;
    for (const Quantity quantity : {Quantity::log_odds, Quantity::difference}) {
        MutagenesisSpec spec = fixture.mutagenesis("c\t70\t90\tx\nc\t295\t310\nc\t1000\t1010\nc\t500\t503\n");
        spec.score = MutagenesisScore::own_bin;
        spec.quantity = quantity;
        const Rows effects = fixture.effects(spec);
        DOCTEST_REQUIRE(effects.size() == 2 * 48);
        DOCTEST_CHECK(std::vector(effects[1].begin(), effects[1].begin() + 6) ==
                      std::vector<std::string>{"c", "70", "71", "x", "b", fixture.genome().substr(70, 1)});
        std::string body;
        std::vector<std::string> wanted;
        for (const auto& row : effects) {
            for (std::size_t letter = 0; letter < 4; ++letter) {
                const std::string alt(1, "ACGT"[letter]);
                if (row[5] == "N") DOCTEST_CHECK(row[6 + letter] == "NA");
                if (row[5] == alt) DOCTEST_CHECK(row[6 + letter] == "0");
                if (row[5] == "N" || row[5] == alt) continue;
                if (row[4] == "a") body += vcf_row(std::stoul(row[1]), row[5], alt);
                wanted.push_back(row[4] + row[1] + alt + "=" + row[6 + letter]);
            }
        }
        const Rows variants =
            fixture.variants(body, quantity == Quantity::log_odds ? "log-odds" : "difference");
        std::vector<std::string> found;
        for (const auto& row : variants) {
            for (std::size_t label = 0; label < 2; ++label) {
                found.push_back(std::string(1, "ab"[label]) + std::to_string(std::stol(row[1]) - 1) + row[4] +
                                "=" + row[10 + label]);
            }
        }
        std::ranges::sort(wanted);
        std::ranges::sort(found);
        DOCTEST_CHECK(wanted == found);
    }
}

DOCTEST_TEST_CASE("predict_mutagenesis: a region's effects are those of predict on an edited genome") {
    const MutagenesisFixture fixture;
    const std::string bed = "c\t70\t125\n";  // two windows, four bins
    const auto ref = fixture.predicted(fixture.genome(), bed);
    const Rows effects = fixture.effects(fixture.mutagenesis(bed));
    for (const std::size_t base : {std::size_t{70}, std::size_t{79}, std::size_t{80}, std::size_t{124}}) {
        std::string changed = fixture.genome();
        changed[base] = changed[base] == 'G' ? 'T' : 'G';
        const auto alt = fixture.predicted(changed, bed);
        for (std::size_t label = 0; label < 2; ++label) {
            const auto& row = effects[2 * (base - 70) + label];
            const double found = std::stod(row[changed[base] == 'G' ? 8 : 9]);
            DOCTEST_CHECK(std::abs(found - (odds(double{alt[label]}) - odds(double{ref[label]}))) < 1e-5);
            DOCTEST_CHECK(found != 0);
        }
    }
}

DOCTEST_TEST_CASE("predict_mutagenesis: stretches deleted or shuffled, as predict on an edited genome") {
    const MutagenesisFixture fixture;
    const std::string bed = "c\t70\t125\n";
    const auto ref = fixture.predicted(fixture.genome(), bed);
    for (const bool deletes : {true, false}) {
        MutagenesisSpec spec = fixture.mutagenesis(bed);
        (deletes ? spec.deleted : spec.shuffled) = 9;
        spec.outputs.paths.push_back(fixture / "{label}.bedgraph");
        const Rows rows = fixture.effects(spec);
        DOCTEST_REQUIRE(rows.size() == 47);  // 55 bases
        DOCTEST_CHECK(read_rows(fixture / "a.bedgraph", "#").size() > 40);
        for (const std::size_t base : {std::size_t{70}, std::size_t{79}, std::size_t{116}}) {
            std::string changed = fixture.genome();
            if (deletes) {
                changed.erase(base, 9);
            } else {
                Rng rng = Rng(0).split("stretch-shuffles").split("c").split(std::uint64_t{base});
                changed.replace(base, 9, genome::dinucleotide_shuffle(changed.substr(base, 9), rng));
            }
            const auto alt = fixture.predicted(changed, bed);
            const auto& row = rows[base - 70];
            DOCTEST_CHECK(row[1] == std::to_string(base));
            DOCTEST_CHECK(row[2] == std::to_string(base + 9));
            for (std::size_t label = 0; label < 2; ++label) {
                const double effect = odds(double{alt[label]}) - odds(double{ref[label]});
                DOCTEST_CHECK(std::abs(std::stod(row[8 + label]) - effect) < 1e-5);
            }
        }
        spec = fixture.mutagenesis("c\t70\t75\nc\t296\t310\n");  // shorter than a stretch; about N
        (deletes ? spec.deleted : spec.shuffled) = 5;
        spec.score = MutagenesisScore::own_bin;
        const Rows own = fixture.effects(spec);
        DOCTEST_REQUIRE(own.size() == 11);
        DOCTEST_CHECK(own[5][1] == "300");
        DOCTEST_CHECK(own[5].back() == "NA");
    }
}

DOCTEST_TEST_CASE("predict_mutagenesis: tracks of the largest effects, tiles, labels, bad input") {
    const MutagenesisFixture fixture;
    MutagenesisSpec spec = fixture.mutagenesis("c\t100\t250\n");
    spec.labels = "b";
    spec.outputs.paths.push_back(fixture / "{label}.bedgraph");
    DOCTEST_CHECK(predict_mutagenesis(spec).tiled == 1);  // a core has 80 bases
    const Rows effects = read_rows(fixture / "effects.tsv", "#"),
               track = read_rows(fixture / "b.bedgraph", "#");
    DOCTEST_REQUIRE(effects.size() == 150);
    DOCTEST_REQUIRE(track.size() == 150);
    double largest = 0;
    for (std::size_t letter = 6; letter < 10; ++letter) {
        const double effect = std::stod(effects[7][letter]);
        if (std::abs(effect) > std::abs(largest)) largest = effect;
    }
    DOCTEST_CHECK(std::stod(track[7][3]) == doctest::Approx(largest));
    spec.labels = "nothing";
    DOCTEST_CHECK_FALSE(message_of<ConfigError>([&] { predict_mutagenesis(spec); }).empty());
    DOCTEST_CHECK(message_of<InputError>([&] {
                      predict_mutagenesis(fixture.mutagenesis("d\t1\t9\n"));
                  }).find("1 on contigs that the reference lacks (d)") != std::string::npos);
}
