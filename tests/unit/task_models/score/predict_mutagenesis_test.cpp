// SPDX-License-Identifier: Apache-2.0
// predict_mutagenesis(), and predict_variants() with models of bins: the same effects, and those of
// predict() on a genome that was edited.
#include "support/temp_dir.hpp"
#include "support/testing.hpp"
#include "unit/task_models/bin_examples.hpp"
#include "unit/task_models/table_rows.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/rng.hpp"
#include "bigbird/genome/reference/dinucleotide_shuffle.hpp"
#include "bigbird/rows/score_table.hpp"
#include "bigbird/task_models/score/score.hpp"

#include <cmath>
#include <map>

using namespace bigbird;
using namespace bigbird::testing;
using namespace bigbird::task_models;

namespace {

using Rows = TableRows;

/// Cores of 4 bins of 20 bases; the contig's 1,010 bases end within a bin; 300 to 304 are N, and 500 to 540
/// lower case.
class Fixture {
public:
    Fixture() : genome_(random_dna(1010, 1)) {
        genome_.replace(300, 5, "NNNNN");
        for (std::size_t i = 500; i < 540; ++i)
            lower_[i] = static_cast<char>(std::tolower(genome_[i]));
        write_genome("genome.fa", genome_);
        bins::BinsConfig config = small_bins();
        config.both_strands = true;
        config.motif_filters = 4;
        std::filesystem::create_directories(folder_ / "model");
        small_base_bins(1, config)->write(small_bins_info(config), folder_ / "model");
        write_file(folder_ / "model/labels.tsv",
                   rows::LabelTable({{"TF", "a", -1}, {"TF", "b", -1}}).to_text());
    }
    template <typename Spec>
    Spec spec(const std::string& output) const {
        Spec spec;
        spec.models = {folder_ / "model"};
        spec.references = {folder_ / "genome.fa"};
        spec.outputs.paths = {folder_ / output};
        spec.outputs.overwrite = Overwrite::allow;
        spec.strands = Strands::average;
        spec.device = "cpu";
        return spec;
    }
    MutagenesisSpec mutagenesis(const std::string& bed) const {
        write_file(folder_ / "regions.bed", bed);
        auto spec = this->spec<MutagenesisSpec>("effects.tsv");
        spec.regions = folder_ / "regions.bed";
        return spec;
    }
    Rows effects(const MutagenesisSpec& spec) const {
        predict_mutagenesis(spec);
        return read_rows(folder_ / "effects.tsv", "#");
    }
    Rows variants(const std::string& body, const std::string& quantities) const {
        write_file(folder_ / "v.vcf",
                   "##fileformat=VCFv4.2\n#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\n" + body);
        auto spec = this->spec<VariantSpec>("variants.tsv");
        spec.variants = folder_ / "v.vcf";
        spec.quantities = quantities;
        predict_variants(spec);
        return read_rows(folder_ / "variants.tsv", "#");
    }
    /// What predict() says of bases of a genome.
    std::vector<float> predicted(const std::string& genome, const std::string& bed) const {
        write_genome("other.fa", genome);
        write_file(folder_ / "one.bed", bed);
        auto spec = this->spec<PredictSpec>("one.tsv");
        spec.references = {folder_ / "other.fa"};
        spec.regions = folder_ / "one.bed";
        predict(spec);
        rows::ScoreReader reader(folder_ / "one.tsv");
        rows::ScoreRow row;
        std::vector<float> values;
        reader.next(row, values);
        return values;
    }
    const std::string& genome() const { return genome_; }
    std::filesystem::path operator/(const std::string& name) const { return folder_ / name; }

private:
    void write_genome(const std::string& name, std::string dna) const {
        for (const auto& [at, letter] : lower_)
            if (at < dna.size() && std::toupper(letter) == dna[at]) dna[at] = letter;
        write_file(folder_ / name, ">c\n" + dna + "\n");
    }
    TempDir folder_;
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

DOCTEST_TEST_CASE(
    "predict_variants: of a bin model the grid's bin that holds POS, as predict has it edited") {
    const Fixture fixture;
    const std::string& genome = fixture.genome();
    struct Edit {
        std::size_t at;
        std::string ref, alt;
    };
    std::vector<Edit> edits;
    for (const std::size_t at : {0, 79, 80, 299, 505, 1009})  // ends, borders of cores, lower case
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
            DOCTEST_CHECK(std::stod(rows[i][7 + 2 * label]) == doctest::Approx(ref[label]).epsilon(1e-5));
            DOCTEST_CHECK(std::stod(rows[i][8 + 2 * label]) == doctest::Approx(alt[label]).epsilon(1e-5));
        }
    }
}

DOCTEST_TEST_CASE("predict_mutagenesis: own bins have predict_variants' effects, to the last digit") {
    const Fixture fixture;
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
                                "=" + row[7 + label]);
            }
        }
        std::ranges::sort(wanted);
        std::ranges::sort(found);
        DOCTEST_CHECK(wanted == found);
    }
}

DOCTEST_TEST_CASE("predict_mutagenesis: a region's effects are those of predict on an edited genome") {
    const Fixture fixture;
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
    const Fixture fixture;
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
    const Fixture fixture;
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
                  }).find("contig 'd' is not in the reference") != std::string::npos);
    TaskInfo info;
    info.window = {-150, 150};
    write_tiny_task_model(fixture / "tokens", info, 2, 1);
    spec.models = {fixture / "tokens"};
    DOCTEST_CHECK(message_of<ConfigError>([&] { predict_mutagenesis(spec); }).find("is no bin model") !=
                  std::string::npos);
}
