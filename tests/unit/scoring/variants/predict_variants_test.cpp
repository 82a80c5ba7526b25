// SPDX-License-Identifier: Apache-2.0
#include "unit/tasks/scoring_folder.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/outputs/effect_background.hpp"
#include "bigbird/scoring/variants/variant_scorers.hpp"

#include <algorithm>
#include <cmath>

using namespace bigbird;
using namespace bigbird::testing;
using tasks::VariantSpec;

namespace {

using Rows = TableRows;

class Fixture : public ScoringFolder {
public:
    Fixture() : genome_(random_dna(3000, 1)) {
        genome_file("genome.fa", genome_);
        for (const std::uint64_t seed : {std::uint64_t{5}, std::uint64_t{6}}) {
            tasks::TaskInfo info;
            info.window = {-150, 150};
            write_tiny_task_model(*this / ("model" + std::to_string(seed)), info, 3, seed);
        }
        write_tiny_pretrained(*this / "pretrained", 2);
    }
    /// A row of a VCF that changes base `position` (0-based).
    std::string row(std::size_t position, const std::string& alt) const {
        return "c\t" + std::to_string(position + 1) + "\tv" + std::to_string(position) + "\t" +
               genome_.substr(position, 1) + "\t" + alt + "\t.\t.\t.\n";
    }
    VariantSpec spec(const std::string& body, const std::string& model = "model5") const {
        auto spec = ScoringFolder::spec<VariantSpec>(model);
        spec.variants = vcf(body);
        spec.threads = 2;
        return spec;
    }
    Rows run(const VariantSpec& spec) const {
        predict_variants(spec);
        return read_rows(*this / "scores.tsv", "##");
    }
    /// What predict-chromatin says of base `position`, once it is `base`.
    std::vector<double> chromatin(std::size_t position, char base, const VariantSpec& like) const {
        std::string changed = genome_;
        changed[position] = base;
        auto spec = ScoringFolder::spec<tasks::PredictSpec>("model5");
        spec.models = like.models;
        spec.strands = tasks::Strands::average;
        return predicted(spec, changed,
                         "c\t" + std::to_string(position) + "\t" + std::to_string(position + 1) + "\n");
    }
    char other(std::size_t position) const { return genome_[position] == 'A' ? 'C' : 'A'; }
    char base(std::size_t position) const { return genome_[position]; }

private:
    std::string genome_;
};

}  // namespace

DOCTEST_TEST_CASE("predict_variants: both alleles as predict-chromatin scores a changed genome") {
    const Fixture fixture;
    std::string body;
    for (std::size_t position = 10; position < 3000; position += 37)
        body += fixture.row(position, std::string(1, fixture.other(position)));
    VariantSpec spec = fixture.spec(body);
    spec.models.push_back(fixture / "model6");
    const Rows rows = fixture.run(spec);
    DOCTEST_CHECK(rows[0][0] == "#chrom");
    DOCTEST_CHECK(std::vector(rows[0].begin() + 7, rows[0].begin() + 14) ==
                  std::vector<std::string>{"top_label", "top_effect", "top_p", "label0:ref", "label0:alt",
                                           "label0:difference", "label0:log_odds"});
    DOCTEST_REQUIRE(rows.size() == 82);
    for (const std::size_t i : {std::size_t{1}, std::size_t{40}, std::size_t{81}}) {
        const std::size_t position = 10 + 37 * (i - 1);
        const auto ref = fixture.chromatin(position, fixture.base(position), spec);
        const auto alt = fixture.chromatin(position, fixture.other(position), spec);
        for (std::size_t label = 0; label < 3; ++label) {
            const double r = std::stod(rows[i][10 + 4 * label]), a = std::stod(rows[i][11 + 4 * label]);
            DOCTEST_CHECK(r == doctest::Approx(ref[label]).epsilon(1e-5));
            DOCTEST_CHECK(a == doctest::Approx(alt[label]).epsilon(1e-5));
            DOCTEST_CHECK(std::abs(std::stod(rows[i][12 + 4 * label]) - (a - r)) < 1e-6);
            const double odds = std::log(a / (1 - a)) - std::log(r / (1 - r));
            DOCTEST_CHECK(std::abs(std::stod(rows[i][13 + 4 * label]) - odds) < 1e-5);
        }
    }
}

DOCTEST_TEST_CASE("predict_variants: rows that cannot be scored keep their place") {
    const Fixture fixture;
    VariantSpec spec = fixture.spec(fixture.row(500, "<DEL>," + std::string(1, fixture.other(500)) + ",*") +
                                    "c\t1000\t.\tGGGGGGGGGG\tA\t.\t.\t.\n" + fixture.row(5, "GG") +
                                    "d\t1\t.\tA\tC\t.\t.\t.\n");
    spec.quantities = "difference";
    spec.labels = "label1";
    const Rows rows = fixture.run(spec);
    std::string statuses;
    for (std::size_t i = 1; i < rows.size(); ++i)
        statuses += rows[i][5] + " ";
    DOCTEST_CHECK(statuses == "symbolic ok symbolic ref_mismatch padded no_contig ");
    DOCTEST_CHECK(rows[0].back() == "label1:difference");
    DOCTEST_CHECK(rows[1].back() == "NA");
    DOCTEST_CHECK(rows[2].back() != "NA");
}

DOCTEST_TEST_CASE("predict_variants: a pretrained model gives log odds of the alleles") {
    const Fixture fixture;
    const std::string alt(1, fixture.other(700));
    VariantSpec spec = fixture.spec(
        fixture.row(700, alt) + fixture.row(700, std::string(1, fixture.base(700))), "pretrained");
    spec.window = 500;
    const Rows rows = fixture.run(spec);
    DOCTEST_CHECK(std::vector(rows[0].begin() + 10, rows[0].end()) ==
                  std::vector<std::string>{"log_likelihood_ref", "log_likelihood_alt", "log_odds"});
    DOCTEST_CHECK(rows[1][8] == rows[1][12]);  // one effect, which is the largest
    const double ref = std::stod(rows[1][10]), other = std::stod(rows[1][11]);
    DOCTEST_CHECK(ref < 0);
    DOCTEST_CHECK(std::stod(rows[1][12]) == doctest::Approx(other - ref).epsilon(1e-4));
    DOCTEST_CHECK(rows[2][12] == "0");  // no change
    spec.labels = "label0";
    DOCTEST_CHECK(message_of<ConfigError>([&] { fixture.run(spec); }).find("--labels") == 0);
}

DOCTEST_TEST_CASE("predict_variants: a pretrained model is asked for the tokens about an indel alone") {
    const Fixture fixture;
    const std::string inserted = fixture.row(700, std::string(1, fixture.base(700)) + "GATTACA");
    const std::string deleted = "c\t1001\t.\t" +
                                std::string{fixture.base(1000), fixture.base(1001), fixture.base(1002)} +
                                "\t" + fixture.base(1000) + "\t.\t.\t.\n";
    VariantSpec spec = fixture.spec(inserted + deleted, "pretrained");
    spec.window = 500;
    const Rows rows = fixture.run(spec);
    for (std::size_t i = 1; i <= 2; ++i) {
        DOCTEST_CHECK(rows[i][5] == "ok");
        for (const std::size_t allele : {std::size_t{10}, std::size_t{11}}) {
            // an untrained network gives each of 512 pieces about the same probability
            const double masked = std::stod(rows[i][allele]) / -std::log(512);
            DOCTEST_CHECK(masked > 0.5);
            DOCTEST_CHECK(masked < 12);  // half a window is about 60
        }
    }
    spec.variants = fixture.vcf(fixture.row(700, fixture.base(700) + random_dna(1900, 9)));
    spec.window = 4000;
    const Rows longer = fixture.run(spec);  // an allele of more than 512 tokens has no value
    DOCTEST_CHECK(longer[1][5] == "too_long");
    DOCTEST_CHECK(longer[1][12] == "NA");
}

DOCTEST_TEST_CASE("predict_variants: a BCF of no rows gives a header") {
    const Fixture fixture;
    DOCTEST_CHECK(fixture.run(fixture.spec("")).size() == 1);
}

DOCTEST_TEST_CASE("predict_variants: a promoter model sees the window of the nearest TSS, on its strand") {
    const ScoringFolder folder;
    const std::string genome = random_dna(3000, 9);
    folder.genome_file("genome.fa", genome);
    folder.file("tss.bed", "c\t1000\t1001\tplus\t.\t+\nc\t2000\t2001\tminus\t.\t-\n");
    tasks::TaskInfo info;
    info.task = examples::Task::promoter;
    info.window = {-200, 100};
    write_tiny_task_model(folder / "model", info, 1, 3);
    std::string changed = genome, body;
    for (const std::size_t position : {std::size_t{900}, std::size_t{2150}, std::size_t{1500}}) {
        const char alt = genome[position] == 'A' ? 'C' : 'A';
        changed[position] = alt;
        body +=
            "c\t" + std::to_string(position + 1) + "\t.\t" + genome[position] + "\t" + alt + "\t.\t.\t.\n";
    }
    folder.genome_file("changed.fa", changed);
    auto spec = folder.spec<VariantSpec>("model");
    spec.variants = folder.vcf(body);
    spec.tss = folder / "tss.bed";
    DOCTEST_CHECK(tasks::predict_variants(spec).scored == 2);
    const Rows rows = read_rows(folder / "scores.tsv", "##");
    DOCTEST_REQUIRE(rows.size() == 4);
    DOCTEST_CHECK(rows[0][7] == "tss");
    DOCTEST_CHECK(rows[1][7] == "plus");
    DOCTEST_CHECK(rows[2][7] == "minus");
    DOCTEST_CHECK(rows[3][5] == "no_tss");
    // predict-promoter on both genomes says the same
    for (const char* name : {"genome", "changed"}) {
        auto promoter = folder.spec<tasks::PredictSpec>("model", std::string(name) + ".tsv");
        promoter.task = examples::Task::promoter;
        promoter.references = {folder / (std::string(name) + ".fa")};
        promoter.regions = folder / "tss.bed";
        predict(promoter);
        rows::ScoreReader reader(folder / (std::string(name) + ".tsv"));
        rows::ScoreRow row;
        std::vector<float> values;
        for (std::size_t i = 1; i <= 2; ++i) {
            DOCTEST_REQUIRE(reader.next(row, values));
            DOCTEST_CHECK(std::stod(rows[i][std::string(name) == "genome" ? 11 : 12]) ==
                          doctest::Approx(double{values[0]}).epsilon(1e-5));
        }
    }
    spec.tss.clear();
    DOCTEST_CHECK(message_of<ConfigError>([&] { tasks::predict_variants(spec); }) ==
                  "a promoter model scores variants in the windows of TSSs: give --tss BED");
    write_tiny_task_model(folder / "tokens", tasks::bases_info(200, 20), 2, 3);
    spec.models = {folder / "tokens"};
    DOCTEST_CHECK(message_of<InputError>([&] { tasks::predict_variants(spec); }) ==
                  (folder / "tokens").string() + ": is a tokens model; use predict-tokens");
}

DOCTEST_TEST_CASE(
    "predict_variants: INFO of a VCF has the table's effects, of chosen labels or the largest") {
    const Fixture fixture;
    VariantSpec spec = fixture.spec(fixture.row(500, "<DEL>," + std::string(1, fixture.other(500)) + ",*") +
                                    "c\t601\t.\t" + fixture.base(600) + "\t.\t.\t.\t.\n");
    spec.outputs.paths.push_back(fixture / "effects.vcf");
    spec.quantities = "ref,alt,log-odds";
    spec.labels = "label2,label0";
    const Rows table = fixture.run(spec);
    const auto info = [&](std::size_t record) {
        const Rows rows = read_rows(fixture / "effects.vcf", "##");
        DOCTEST_REQUIRE(rows.size() == 3);
        return rows[record][7];
    };
    const auto entry = [&](const std::string& label, std::size_t column) {
        const std::string& effect = table[2][column + 2];
        return std::string(1, fixture.other(500)) + (effect.starts_with('-') ? "|loss|" : "|gain|") + label +
               "|" + table[2][column] + "|" + table[2][column + 1] + "|" + effect + "|.|.|ok";
    };
    DOCTEST_CHECK(info(1).starts_with("BIGBIRD=<DEL>|.|.|.|.|.|.|.|symbolic," + entry("label0", 10) + "," +
                                      entry("label2", 13) + ",*|.|.|.|.|.|.|.|symbolic;BIGBIRD_MAX=.,"));
    DOCTEST_CHECK(info(1).find(";BIGBIRD_TOP_LABEL=.," + table[2][7] + ",.;BIGBIRD_TOP_EFFECT=.,") !=
                  std::string::npos);
    DOCTEST_CHECK(info(1).ends_with(";BIGBIRD_TOP_P=.,.,."));
    DOCTEST_CHECK(info(2) == "BIGBIRD=.|.|.|.|.|.|.|.|no_alt");
    DOCTEST_CHECK(
        read_file(fixture / "effects.vcf")
            .find("LOGODDS is ln(ALT_SCORE / (1 - ALT_SCORE)) - ln(REF_SCORE / (1 - REF_SCORE)), QUANTILE is "
                  "the share of a background's variants with a smaller LOGODDS, PVALUE the share of its "
                  "shuffled "
                  "variants with one of at least this size. Format: "
                  "ALLELE|Consequence|LABEL|REF_SCORE|ALT_SCORE|LOGODDS|QUANTILE|PVALUE|STATUS\">\n") !=
        std::string::npos);
    spec.labels = "";
    const Rows all = fixture.run(spec);
    const std::string text = info(1);
    double largest = 0;
    for (const std::size_t column : {std::size_t{12}, std::size_t{15}, std::size_t{18}}) {
        const double effect = std::stod(all[2][column]);
        if (std::abs(effect) <= std::abs(largest)) continue;
        largest = effect;
        DOCTEST_CHECK(all[0][column].starts_with(all[2][7]) == (all[2][8] == all[2][column]));
    }
    DOCTEST_CHECK(std::stod(all[2][8]) == doctest::Approx(largest));
    DOCTEST_CHECK(all[1][7] == ".");
    DOCTEST_CHECK(all[1][8] == "NA");
    DOCTEST_CHECK(std::stod(text.substr(text.find("MAX=.,") + 6)) ==
                  doctest::Approx(std::abs(largest)).epsilon(1e-5));
}

DOCTEST_TEST_CASE("predict_variants: effects that are no numbers are missing, last, and counted") {
    const Fixture fixture;
    // Probabilities of label0 are 1, which has no log odds.
    fixture.file("model5/calibration.json", "{\"format\": 1, \"temperature\": 1, \"biases\": [1000, 0, 0]}");
    VariantSpec spec = fixture.spec(fixture.row(500, std::string(1, fixture.other(500))));
    spec.outputs.paths.push_back(fixture / "effects.vcf");
    const auto info = [&](const std::string& labels) {
        spec.labels = labels;
        const auto report = predict_variants(spec);
        DOCTEST_CHECK(report.scored == 1);
        DOCTEST_CHECK(report.not_numbers == (labels == "label1" ? 0 : 1));
        return read_rows(fixture / "effects.vcf", "##")[1][7];
    };
    DOCTEST_CHECK(
        info("label0").ends_with("|.|label0|1|1|.|.|.|ok;BIGBIRD_MAX=.;BIGBIRD_TOP_LABEL=.;"
                                 "BIGBIRD_TOP_EFFECT=.;BIGBIRD_TOP_P=."));
    const std::string one = info("label1");
    const std::string largest = one.substr(one.find("BIGBIRD_MAX="));
    DOCTEST_CHECK(std::stod(largest.substr(12)) > 0);
    DOCTEST_CHECK(largest.find(";BIGBIRD_TOP_LABEL=label1;") != std::string::npos);
    DOCTEST_CHECK(info("label0,label1").ends_with(largest));
    DOCTEST_CHECK(info("").find("|label0|") > info("").find("|label2|"));
    const std::vector<double> ref{1, 0.25, 0.5}, alt{1, 0.5, 0.5};
    const auto effect = tasks::effect_over(ref, alt, tasks::BinScorer::max, tasks::LinkFunction::logistic);
    DOCTEST_CHECK(effect.log_odds == doctest::Approx(std::log(3)));
}

DOCTEST_TEST_CASE("predict_variants: a long table names its quantities, and its threshold is a size") {
    const Fixture fixture;
    VariantSpec spec =
        fixture.spec(fixture.row(500, std::string(1, fixture.other(500))) +
                     fixture.row(600, std::string(1, fixture.other(600))) + fixture.row(5, "*"));
    const Rows wide = fixture.run(spec);
    spec.outputs.paths = {fixture / "l.long.tsv"};
    const auto lines = [&](double threshold, const std::string& model, const std::string& quantities) {
        spec.models = {fixture / model};
        spec.quantities = quantities;
        spec.outputs.min_score = threshold;
        predict_variants(spec);
        return read_rows(fixture / "l.long.tsv", "##");
    };
    double threshold = 10;  // between the effects of one allele, of which the largest is negative or not
    Rows wanted;
    for (const std::size_t column : {std::size_t{13}, std::size_t{17}, std::size_t{21}})
        threshold = std::min(threshold, std::abs(std::stod(wide[1][column])));
    threshold *= 1.001;
    for (std::size_t row = 1; row <= 2; ++row)
        for (std::size_t label = 0; label < 3; ++label)
            for (std::size_t i = 0; i < 4; ++i) {
                if (std::abs(std::stod(wide[row][13 + 4 * label])) < threshold) continue;
                const std::string name = wide[0][10 + 4 * label + i], number = std::to_string(label);
                Rows::value_type line(wide[row].begin(), wide[row].begin() + 10);
                for (const std::string& field :
                     {number, std::string(label == 1 ? "odd" : "even"), "label" + number, name.substr(7),
                      wide[row][10 + 4 * label + i]})
                    line.push_back(field);
                wanted.push_back(line);
            }
    Rows found = lines(threshold, "model5", "");
    DOCTEST_CHECK(std::vector(found[0].begin() + 10, found[0].end()) ==
                  std::vector<std::string>{"index", "group", "label", "quantity", "value"});
    found.erase(found.begin());
    DOCTEST_CHECK(found == wanted);
    DOCTEST_CHECK(wanted.size() < 24);
    DOCTEST_CHECK(std::ranges::any_of(wanted, [](const auto& line) { return line.back().starts_with('-'); }));
    DOCTEST_CHECK(lines(2, "model5", "difference").size() == 1);  // no difference of probabilities is above 1
    DOCTEST_CHECK(lines(-1, "model5", "ref,difference").size() == 13);
    DOCTEST_CHECK(lines(0, "pretrained", "").size() == 7);
    DOCTEST_CHECK(lines(0, "pretrained", "")[3][13] == "log_odds");
    DOCTEST_CHECK(
        message_of<ConfigError>([&] { lines(0, "model5", "ref,alt"); }) ==
        "--min-score of a .long.tsv is a size of log_odds or difference: add one of them to --write");
}

DOCTEST_TEST_CASE("predict_variants: ranks among a background of the same model, and of no other") {
    const Fixture fixture;
    std::string body;
    for (std::size_t position = 200; position < 2800; position += 50)
        body += fixture.row(position, std::string(1, fixture.other(position)));
    tasks::BackgroundSpec build;
    static_cast<tasks::EffectSpec&>(build) = fixture.spec(body);
    build.output = fixture / "b.h5";
    build.count = 40;
    const auto report = tasks::build_background(build);
    DOCTEST_CHECK(report.variants == 40);
    DOCTEST_CHECK(report.shuffled == 40);
    build.output = fixture / "again.h5";
    tasks::build_background(build);
    DOCTEST_CHECK(read_file(fixture / "b.h5") == read_file(fixture / "again.h5"));
    const auto background = outputs::read_background(fixture / "b.h5");

    VariantSpec spec = fixture.spec(body);
    spec.background = fixture / "b.h5";
    spec.outputs.paths.push_back(fixture / "effects.vcf");
    spec.labels = "label1";
    const Rows rows = fixture.run(spec);
    DOCTEST_CHECK(rows[0][14] == "label1:quantile");
    DOCTEST_CHECK(rows[0][15] == "label1:p");
    const Rows records = read_rows(fixture / "effects.vcf", "##");
    std::vector<double> quantiles;
    for (std::size_t i = 1; i < rows.size(); ++i) {
        const double effect = std::stod(rows[i][13]);
        quantiles.push_back(std::stod(rows[i][14]));
        DOCTEST_CHECK(rows[i][9] == rows[i][15]);  // one label: the largest is its own
        DOCTEST_CHECK(quantiles.back() == doctest::Approx(background.quantile(1, effect)).epsilon(1e-3));
        DOCTEST_CHECK(std::stod(rows[i][15]) == doctest::Approx(background.p(1, effect)).epsilon(1e-3));
        DOCTEST_CHECK(records[i][7].find("|" + rows[i][13] + "|" + rows[i][14] + "|" + rows[i][15] +
                                         "|ok;") != std::string::npos);
    }
    DOCTEST_CHECK(*std::ranges::min_element(quantiles) < 0.1);
    DOCTEST_CHECK(*std::ranges::max_element(quantiles) > 0.9);

    const auto refusal = [&] { return message_of<InputError>([&] { fixture.run(spec); }); };
    spec.models = {fixture / "model6"};
    DOCTEST_CHECK(refusal().find("is a background of another model (") != std::string::npos);
    spec.models = {fixture / "model5"};
    spec.strands = tasks::Strands::none;
    DOCTEST_CHECK(refusal().find("is a background of other options (reverse_complement average, not "
                                 "reverse_complement none); make one") != std::string::npos);
    // A model's own background serves without being asked for, where it fits.
    std::filesystem::copy(fixture / "b.h5", fixture / "model5" / "background.h5");
    spec.background.clear();
    DOCTEST_CHECK(fixture.run(spec)[0].size() == 14);
    spec.strands.reset();
    DOCTEST_CHECK(fixture.run(spec) == rows);
    spec.models.push_back(fixture / "model6");
    DOCTEST_CHECK(fixture.run(spec)[0].size() == 14);
    std::filesystem::copy(fixture / "b.h5", fixture / "model6" / "background.h5");
    spec.models = {fixture / "model6"};
    DOCTEST_CHECK(refusal().find("is a background of another model (") != std::string::npos);
}

DOCTEST_TEST_CASE(
    "predict_variants: a variant's p is of its largest effect among shuffled variants' largest") {
    const Fixture fixture;
    std::string body;
    for (std::size_t position = 200; position < 2800; position += 50)
        body += fixture.row(position, std::string(1, fixture.other(position)));
    tasks::BackgroundSpec build;
    static_cast<tasks::EffectSpec&>(build) = fixture.spec(body);
    build.output = fixture / "b.h5";
    build.count = 40;
    tasks::build_background(build);
    auto background = outputs::read_background(fixture / "b.h5");
    // The largest effects of shuffled variants are at least as large as those of each label.
    DOCTEST_REQUIRE(background.of_largest.size() == background.levels.size());
    for (std::size_t label = 0; label < 3; ++label)
        for (const double effect : {0.01, 0.05, 0.2})
            DOCTEST_CHECK(background.p_of_largest(effect) >= background.p(label, effect) - 0.02);

    VariantSpec spec = fixture.spec(body);
    spec.background = build.output;
    spec.outputs.paths.push_back(fixture / "effects.vcf");
    spec.outputs.paths.push_back(fixture / "effects.csv");
    const Rows rows = fixture.run(spec), records = read_rows(fixture / "effects.vcf", "##");
    for (std::size_t i = 1; i < rows.size(); ++i) {
        std::size_t top = 0;
        for (std::size_t label = 1; label < 3; ++label)
            if (std::abs(std::stod(rows[i][13 + 6 * label])) > std::abs(std::stod(rows[i][13 + 6 * top])))
                top = label;
        DOCTEST_CHECK(rows[i][7] == "label" + std::to_string(top));
        DOCTEST_CHECK(rows[i][8] == rows[i][13 + 6 * top]);
        DOCTEST_CHECK(std::stod(rows[i][9]) ==
                      doctest::Approx(background.p_of_largest(std::stod(rows[i][8]))).epsilon(1e-3));
        const std::string& info = records[i][7];
        DOCTEST_CHECK(info.find(";BIGBIRD_TOP_LABEL=" + rows[i][7] + ";") != std::string::npos);
        DOCTEST_CHECK(std::stod(info.substr(info.find("TOP_P=") + 6)) ==
                      doctest::Approx(std::stod(rows[i][9])).epsilon(1e-4));
    }
    DOCTEST_CHECK(read_file(fixture / "effects.csv").find("\n" + rows[1][0] + "," + rows[1][1] + ",") !=
                  std::string::npos);
    background.of_largest.clear();  // as an earlier version wrote it
    outputs::write_background(build.output, Overwrite::allow, background);
    const Rows old = fixture.run(spec);
    DOCTEST_CHECK(old[1][9] == "NA");
    DOCTEST_CHECK(std::vector(old[1].begin() + 10, old[1].end()) ==
                  std::vector(rows[1].begin() + 10, rows[1].end()));
    spec.labels = "1";
    const Rows one = fixture.run(spec);
    DOCTEST_CHECK(one[1][9] == one[1][15]);  // of one label it is p
    spec.labels = "0,1";
    DOCTEST_CHECK(fixture.run(spec)[1][9] == "NA");
}

DOCTEST_TEST_CASE("predict_variants: INFO replaces what VCF and its readers take for separators in names") {
    const Fixture fixture;
    tasks::write_labels(rows::LabelTable({{"TF", "a|b, c;d=5%&e", -1}, {"TF", "f|g", -1}, {"TF", "f/g", -1}}),
                        fixture / "model5");
    VariantSpec spec = fixture.spec(fixture.row(500, std::string(1, fixture.other(500))));
    spec.outputs.paths.push_back(fixture / "effects.vcf");
    spec.labels = "0-2";
    fixture.run(spec);
    const std::string info = read_rows(fixture / "effects.vcf", "##")[1][7];
    for (const char* name : {"|a/b__c_d_5__e|", "|001_f_g|", "|002_f_g|"})
        DOCTEST_CHECK(info.find(name) != std::string::npos);
}

DOCTEST_TEST_CASE("predict_variants: alleles of one record may lie in different windows") {
    const Fixture fixture;
    // The second allele, trimmed, begins three bases behind the first.
    std::string four;
    for (std::size_t i = 1000; i < 1004; ++i)
        four += fixture.base(i);
    const std::string first = std::string(1, fixture.other(1000)) + four.substr(1),
                      second = four.substr(0, 3) + fixture.other(1003);
    const std::string start = "c\t1001\t.\t" + four + "\t", end = "\t.\t.\t.\n";
    const Rows both = fixture.run(fixture.spec(start + first + "," + second + end));
    const Rows apart = fixture.run(fixture.spec(start + first + end + start + second + end));
    DOCTEST_CHECK(both == apart);
}

DOCTEST_TEST_CASE("build_background: a pretrained model's log odds, and variants that none can score") {
    const Fixture fixture;
    VariantSpec spec = fixture.spec(fixture.row(700, std::string(1, fixture.other(700))), "pretrained");
    spec.window = 300;
    tasks::BackgroundSpec build;
    static_cast<tasks::EffectSpec&>(build) = spec;
    build.output = fixture / "b.h5";
    build.count = 3;
    DOCTEST_CHECK(tasks::build_background(build).shuffled == 3);
    spec.background = build.output;
    const Rows rows = fixture.run(spec);
    DOCTEST_CHECK(std::vector(rows[0].begin() + 13, rows[0].end()) ==
                  std::vector<std::string>{"quantile", "p"});
    DOCTEST_CHECK(rows[1][13] == "0.5");
    DOCTEST_CHECK(rows[1][9] == rows[1][14]);  // of one effect it is the same p
    fixture.vcf("c\t5\t.\tA\t<DEL>\t.\t.\t.\n");
    build.output = fixture / "none.h5";
    DOCTEST_CHECK(message_of<InputError>([&] {
                      tasks::build_background(build);
                  }).find("has no variants that the model can score") != std::string::npos);
    build.variants = "-";
    DOCTEST_CHECK(message_of<ConfigError>([&] {
                      tasks::build_background(build);
                  }).starts_with("build-background reads the variants twice"));
}

DOCTEST_TEST_CASE(
    "shuffled_variants: in the reference's order, at positions with the same REF in upper case") {
    const auto reference = genome::in_memory_genome({{"b", random_dna(300, 1)}, {"a", random_dna(300, 2)}});
    rows::VariantRow row;
    row.ref = "a";
    row.alt = "ag";
    const auto rows = tasks::shuffled_variants(std::span(&row, 1), *reference, 50, 3);
    DOCTEST_REQUIRE(rows.size() == 50);
    std::vector<std::pair<std::size_t, std::int64_t>> order;
    for (const rows::VariantRow& moved : rows) {
        DOCTEST_CHECK(moved.ref == "A");
        DOCTEST_CHECK(moved.alt == "AG");
        DOCTEST_CHECK(reference->fetch({moved.contig, moved.position, moved.position + 1}) == "A");
        order.emplace_back(*reference->find(moved.contig), moved.position);
    }
    DOCTEST_CHECK(std::ranges::is_sorted(order));
    DOCTEST_CHECK(order.front().first + 1 == order.back().first);
}

DOCTEST_TEST_CASE("predict_variants: a variant has one score, however it is written") {
    const Fixture fixture;
    std::string four;
    for (std::size_t i = 998; i < 1002; ++i)
        four += fixture.base(i);
    const std::string other(1, fixture.other(1000));
    const std::string longer = four.substr(0, 2) + other + four.substr(3);
    // The same substitution with neighbours; and the deletion of a base of a run from either of its ends.
    VariantSpec spec =
        fixture.spec(fixture.row(1000, other) + "c\t999\t.\t" + four + "\t" + longer + ",<DEL>\t.\t.\t.\n");
    spec.models = {fixture / "model5"};
    const Rows rows = fixture.run(spec);
    DOCTEST_REQUIRE(rows.size() == 4);
    for (std::size_t column = 5; column < rows[1].size(); ++column)
        DOCTEST_CHECK(rows[1][column] == rows[2][column]);
}
