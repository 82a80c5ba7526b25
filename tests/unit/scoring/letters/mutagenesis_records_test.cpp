// SPDX-License-Identifier: Apache-2.0
// predict_mutagenesis() on records, and on regions by models of windows: the effects that predict() shows
// once letters are changed.
#include "unit/tasks/scoring_folder.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/genome/reference/sequence.hpp"
#include "bigbird/tasks/sequence_network.hpp"

#include <cmath>

using namespace bigbird;
using namespace bigbird::testing;
using namespace bigbird::tasks;

namespace {

constexpr std::size_t first_score = 4, first_region_score = 8, first_effect = 6;  // columns

class RecordFixture : public ScoringFolder {
public:
    RecordFixture() : genome_(random_dna(1000, 3)) { genome_file("genome.fa", genome_); }
    const std::string& genome() const { return genome_; }

    /// Log odds of a record by predict().
    std::vector<double> odds(const std::string& model, examples::Task task, const std::string& dna) const {
        PredictSpec spec = predict_spec(model, task);
        spec.sequences = file("one.fa", ">r\n" + dna + "\n");
        predict(spec);
        const TableRows rows = read_rows(*this / "scores.tsv", "#");
        DOCTEST_REQUIRE(rows.size() == 1);
        std::vector<double> scores;
        for (std::size_t i = first_score + (task == examples::Task::sequences ? 1 : 0); i < rows[0].size();
             ++i)
            scores.push_back(std::stod(rows[0][i]));
        return odds_of(scores);
    }
    /// Those of a region of a genome.
    std::vector<double> odds(const std::string& model, examples::Task task, const std::string& dna,
                             const std::string& bed) const {
        return odds_of(predicted(predict_spec(model, task), dna, bed));
    }
    TableRows effects(const MutagenesisSpec& spec) const {
        predict_mutagenesis(spec);
        return read_rows(spec.outputs.paths.front(), "#");
    }
    MutagenesisSpec of_records(const std::string& model, const std::string& fasta) const {
        auto spec = this->spec<MutagenesisSpec>(model, "effects.tsv");
        spec.sequences = file("records.fa", fasta);
        return spec;
    }
    MutagenesisSpec of_regions(const std::string& model, const std::string& bed) const {
        auto spec = this->spec<MutagenesisSpec>(model, "effects.tsv");
        spec.regions = file("regions.bed", bed);
        return spec;
    }
    /// Three classes; two networks of one layer, beside k-mers.
    void write_sequence_model() const {
        sequences::Config config;
        config.filters = 16;
        config.hidden = 16;
        config.layers = 1;
        config.heads = 2;
        config.longest = 200;
        const std::shared_ptr<SequenceNetwork> members[] = {new_sequence_network(config, 3, 1, at::kCPU),
                                                            new_sequence_network(config, 3, 2, at::kCPU)};
        const baselines::KmerWords words{.lengths = {2}};
        const auto size = baselines::KmerCounts(words).size();
        const at::Tensor weights = at::arange(3 * size, at::kFloat).sin().view({3, size});
        const auto kmers = kmer_network(words, weights, at::zeros({3}), at::kCPU);
        TaskInfo info;
        info.task = examples::Task::sequences;
        info.target = examples::TargetKind::classes;
        info.architecture = sequence_name;
        write_model("sequences", *mean_network(members, kmers, 0.25), info,
                    {{"k", "a", -1}, {"k", "b", -1}, {"k", "c", -1}});
    }

private:
    PredictSpec predict_spec(const std::string& model, examples::Task task) const {
        auto spec = this->spec<PredictSpec>(model);
        spec.task = task;
        spec.strands = task == examples::Task::chromatin ? Strands::average : Strands::none;
        return spec;
    }
    std::string genome_;
};

/// What effects of a base's letter have to be.
void check_effects(const TableRows& rows, std::size_t base, char letter, const std::vector<double>& ref,
                   const std::vector<double>& alt) {
    bool any = false;
    for (std::size_t label = 0; label < ref.size(); ++label) {
        const double found =
            std::stod(rows.at(ref.size() * base + label)[first_effect + std::string("ACGT").find(letter)]);
        DOCTEST_CAPTURE(base);
        DOCTEST_CHECK(std::abs(found - (alt[label] - ref[label])) < 2e-4);
        any = any || found != 0;
    }
    DOCTEST_CHECK(any);
}

}  // namespace

DOCTEST_TEST_CASE("mutagenesis of records: a sequence model's effects, networks and k-mers") {
    const RecordFixture fixture;
    fixture.write_sequence_model();
    const std::string dna = "ACGTNNGATTACA" + random_dna(70, 4), model = "sequences";
    constexpr auto task = examples::Task::sequences;
    MutagenesisSpec spec = fixture.of_records(model, ">first\n" + dna + "\n>second\nacgtACGTTT\n");
    const TableRows rows = fixture.effects(spec);
    DOCTEST_REQUIRE(rows.size() == 3 * (dna.size() + 10));
    DOCTEST_CHECK(std::vector(rows[1].begin(), rows[1].begin() + 6) ==
                  std::vector<std::string>{"first", "0", "1", ".", "b", "A"});
    DOCTEST_CHECK(rows[1][first_effect] == "0");
    DOCTEST_CHECK(rows[3 * 4][first_effect] == "NA");  // N
    DOCTEST_CHECK(rows[3 * dna.size()][0] == "second");
    const auto ref = fixture.odds(model, task, dna);
    for (const std::size_t base : {std::size_t{0}, std::size_t{7}, dna.size() - 1}) {
        std::string changed = dna;
        changed[base] = changed[base] == 'G' ? 'T' : 'G';
        check_effects(rows, base, changed[base], ref, fixture.odds(model, task, changed));
    }
    spec.deleted = 3;
    const TableRows deleted = fixture.effects(spec);
    DOCTEST_REQUIRE(deleted.size() == dna.size() - 2 + 8);
    const auto without = fixture.odds(model, task, dna.substr(0, 20) + dna.substr(23));
    for (std::size_t label = 0; label < 3; ++label)
        DOCTEST_CHECK(std::abs(std::stod(deleted[20][first_region_score + label]) -
                               (without[label] - ref[label])) < 2e-4);
    spec.deleted = 11;  // the second record has 10 bases
    DOCTEST_CHECK(predict_mutagenesis(spec).too_short == 1);
    spec.outputs.paths = {fixture / "{label}.npz", fixture / "x.bw"};
    spec.deleted = 0;
    DOCTEST_CHECK_FALSE(message_of<ConfigError>([&] { predict_mutagenesis(spec); }).empty());
    DOCTEST_CHECK(message_of<ConfigError>([&] {
                      predict_mutagenesis(fixture.of_regions(model, "c\t1\t9\n"));
                  }).find("give --sequences, not --regions") != std::string::npos);
}

DOCTEST_TEST_CASE("mutagenesis of records: a bin model has each for a contig of its own, in tiles") {
    const RecordFixture fixture;
    bins::BinsConfig config = small_bins();
    config.both_strands = true;
    fixture.write_model("bins", *small_base_bins(1, config), small_bins_info(config));
    const std::string dna = random_dna(70, 4);
    MutagenesisSpec spec = fixture.of_records("bins", ">r\n" + dna + "\n>s\n" + random_dna(90, 5) + "\n");
    MutagenesisReport report = predict_mutagenesis(spec);
    DOCTEST_CHECK(report.bases == 160);
    DOCTEST_CHECK(report.tiled == 1);  // a core has 80 bases
    const TableRows rows = fixture.effects(spec);
    const auto ref = fixture.odds("bins", examples::Task::chromatin, dna);
    for (const std::size_t base : {std::size_t{0}, std::size_t{69}}) {
        std::string changed = dna;
        changed[base] = changed[base] == 'G' ? 'T' : 'G';
        check_effects(rows, base, changed[base], ref,
                      fixture.odds("bins", examples::Task::chromatin, changed));
    }
    DOCTEST_CHECK(message_of<InputError>([&] {
                      predict_mutagenesis(fixture.of_records("bins", ">r\nACGT\n"));
                  }).find("has a sequence of 4 bases; the model scores bins of 20") != std::string::npos);
}

DOCTEST_TEST_CASE("mutagenesis of regions: token models by the window about the middle, or the TSS") {
    const RecordFixture fixture;
    for (const auto task : {examples::Task::chromatin, examples::Task::promoter}) {
        TaskInfo info;
        info.task = task;
        info.window = {-150, 100};
        const std::string model = task == examples::Task::promoter ? "promoters" : "tokens";
        write_tiny_task_model(fixture / model, info, task == examples::Task::promoter ? 1 : 2, 1);
        const std::string bed = "c\t400\t421\tx\t0\t-\n";
        MutagenesisSpec spec = fixture.of_regions(model, bed);
        const TableRows rows = fixture.effects(spec);
        const auto ref = fixture.odds(model, task, fixture.genome(), bed);
        DOCTEST_REQUIRE(rows.size() == 21 * ref.size());
        for (const std::size_t base : {std::size_t{0}, std::size_t{20}}) {
            std::string changed = fixture.genome();
            char& letter = changed[400 + base];
            letter = letter == 'G' ? 'T' : 'G';
            check_effects(rows, base, letter, ref, fixture.odds(model, task, changed, bed));
        }
        spec.shuffled = 9;
        DOCTEST_CHECK(fixture.effects(spec).size() == 13);
        spec.score = MutagenesisScore::own_bin;
        DOCTEST_CHECK(message_of<ConfigError>([&] { predict_mutagenesis(spec); }).find("needs a bin model") !=
                      std::string::npos);
        // A record of any length: its middle window.
        const std::string dna = random_dna(260, 6);
        const TableRows records = fixture.effects(fixture.of_records(model, ">r\n" + dna + "\n"));
        std::string changed = dna;
        changed[130] = changed[130] == 'G' ? 'T' : 'G';
        check_effects(records, 130, changed[130], fixture.odds(model, task, dna),
                      fixture.odds(model, task, changed));
        DOCTEST_CHECK(records[0][first_effect] == "0");  // outside
        DOCTEST_CHECK(records[0][first_effect + 1] == "0");
    }
}

DOCTEST_TEST_CASE("mutagenesis: what is missing, and models of bases") {
    const RecordFixture fixture;
    MutagenesisSpec spec = fixture.of_regions("none", "c\t1\t9\n");
    spec.references.clear();
    DOCTEST_CHECK(message_of<ConfigError>([&] { predict_mutagenesis(spec); }) ==
                  "--regions needs --reference");
    spec.regions.clear();
    DOCTEST_CHECK(message_of<ConfigError>([&] { predict_mutagenesis(spec); }) ==
                  "either --regions with --reference, or --sequences, is needed");
    write_tiny_task_model(fixture / "bases", bases_info(200, 20), 2, 1);
    DOCTEST_CHECK(message_of<InputError>([&] {
                      predict_mutagenesis(fixture.of_regions("bases", "c\t1\t9\n"));
                  }).find("is a tokens model; use predict-tokens") != std::string::npos);
}
