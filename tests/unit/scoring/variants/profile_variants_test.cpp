// SPDX-License-Identifier: Apache-2.0
// Variants by models that give profiles, against float64 formulas
// (scripts/checks/make_profile_variant_fixtures.py) and networks that were drawn by hand.
#include "support/temp_dir.hpp"
#include "support/testing.hpp"
#include "unit/tasks/table_rows.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/formats/json_file.hpp"
#include "bigbird/genome/reference/reference_genome.hpp"
#include "bigbird/networks/files/profile_folder.hpp"
#include "bigbird/outputs/effect_background.hpp"
#include "bigbird/scoring/variants/profile_figures.hpp"
#include "bigbird/scoring/variants/task_scorer.hpp"
#include "bigbird/scoring/variants/variants.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <vector>

using namespace bigbird;
using namespace bigbird::testing;
using namespace bigbird::tasks;

namespace {

using Table = TableRows;

std::filesystem::path model_file(const std::string& name) {
    return test_data("models/profiles/" + name);
}

class Variants {
public:
    explicit Variants(const std::string& genome) {
        write_file(folder_ / "genome.fa", ">c\n" + genome + "\n");
    }
    std::filesystem::path operator/(const std::string& name) const { return folder_ / name; }

    template <typename Spec>
    Spec spec(const std::vector<std::filesystem::path>& models, const std::string& records) const {
        Spec spec;
        spec.models = models;
        spec.references = {folder_ / "genome.fa"};
        spec.variants = folder_ / "v.vcf";
        spec.device = "cpu";
        spec.threads = 2;
        write_file(spec.variants,
                   "##fileformat=VCFv4.2\n#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\n" + records);
        return spec;
    }
    /// Writes a background of some shuffled variants, and of peaks.
    std::filesystem::path background(const VariantSpec& like, const std::string& peaks) const {
        BackgroundSpec spec;
        static_cast<EffectSpec&>(spec) = like;
        if (!peaks.empty()) {
            spec.regions = folder_ / "peaks.narrowPeak";
            write_file(spec.regions, peaks);
        }
        spec.count = 100;
        spec.output = folder_ / "background.h5";
        spec.overwrite = Overwrite::allow;
        build_background(spec);
        return spec.output;
    }
    Table table(VariantSpec spec) const {
        spec.outputs.paths.insert(spec.outputs.paths.begin(), folder_ / "effects.tsv");
        spec.outputs.overwrite = Overwrite::allow;
        predict_variants(spec);
        return read_rows(folder_ / "effects.tsv", "##");
    }

private:
    TempDir folder_;
};

std::string record(std::int64_t position, const std::string& ref, const std::string& alt) {
    return "c\t" + std::to_string(position) + "\t.\t" + ref + "\t" + alt + "\t.\t.\t.\n";
}

double number_in(const Table& table, std::size_t row, const std::string& column) {
    const auto found = std::ranges::find(table[0], column);
    DOCTEST_REQUIRE_MESSAGE(found != table[0].end(), column);
    return std::stod(table[row][static_cast<std::size_t>(found - table[0].begin())]);
}

/// A run of the fixture.
struct Run {
    explicit Run(const Json& about) : rows(about.at("rows")) {
        for (const Json& model : about.at("models"))
            models.push_back(model_file(model));
        const std::string part = about.at("component");
        if (!part.empty()) component = parse_choice(networks::component_words, "component", part);
        if (models.size() > 1) component.reset();  // of two files with different parts
        strands = parse_choice(strand_choices, "strands", about.at("strands").get<std::string>());
        for (const Json& row : rows)
            if (row[3] == 0) records += record(row[0], row[1], row[2]);
    }
    VariantSpec spec(const Variants& variants) const {
        auto spec = variants.spec<VariantSpec>(models, records);
        spec.component = component;
        spec.strands = strands;
        return spec;
    }

    Json rows;
    std::vector<std::filesystem::path> models;
    std::optional<networks::Component> component;
    Strands strands;
    std::string records;
};

Json fixture() {
    return read_json(test_data("variants/profiles.json"));
}

Run run_of(const Json& all, const std::string& name) {
    for (const Json& run : all.at("runs"))
        if (run.at("name") == name) return Run(run);
    throw ConfigError("no such run: " + name);
}

/// A network whose profile has a peak over each G, and which counts the Gs at `counts` positions.
networks::ProfileModel counter_of_g(std::int64_t input, std::int64_t output) {
    networks::ProfileShape shape{.filters = 1, .layers = 0, .input = input, .output = output};
    shape.counts = output;
    const auto sum = [](std::int64_t count) { return static_cast<std::size_t>(count); };
    networks::Weights weights;
    weights["stem.weight"] = {{1, 4, shape.stem}, std::vector<float>(sum(4 * shape.stem))};
    weights["stem.weight"].values[sum(2 * shape.stem + shape.stem / 2)] = 1;
    weights["stem.bias"] = {{1}, {0}};
    weights["profile.weight"] = {{1, 1, shape.head}, std::vector<float>(sum(shape.head))};
    weights["profile.weight"].values[sum(shape.head / 2)] = 5;
    weights["profile.bias"] = {{1}, {0}};
    weights["counts.weight"] = {{1, 1}, {static_cast<float>(output)}};
    weights["counts.bias"] = {{1}, {3}};
    return {.family = "bpnet-lite", .parts = {{"", shape, weights}}, .sha256 = "drawn"};
}

}  // namespace

DOCTEST_TEST_CASE("profile_variants: figures are variant-scorer's, of one model, folds, strands and groups") {
    const Json all = fixture();
    const Variants variants(all.at("genome"));
    DOCTEST_REQUIRE(all.at("runs").size() == 7);
    for (const Json& about : all.at("runs")) {
        DOCTEST_CAPTURE(about.at("name").get<std::string>());
        const Run run(about);
        VariantSpec spec = run.spec(variants);
        spec.background = variants.background(spec, all.at("peaks"));
        DOCTEST_CHECK(outputs::read_background(spec.background).peaks ==
                      about.at("peaks").get<std::int64_t>());
        const Table table = variants.table(spec);
        const std::size_t labels = about.at("name") == "groups" ? 2 : 1;
        DOCTEST_REQUIRE((table.size() - 1) * labels == run.rows.size());
        std::map<std::string, double> worst;
        for (std::size_t i = 0; i < run.rows.size(); ++i) {
            const Json& row = run.rows[i];
            const std::string label =
                labels == 1 ? "counts" : "counts_" + std::to_string(row[3].get<int>() + 1);
            const auto compare = [&](const std::string& name, std::size_t column) {
                const double wanted = row[column], scale = std::max(1.0, std::abs(wanted));
                const double found = number_in(table, 1 + i / labels, label + ":" + name);
                worst[name] = std::max(worst[name], std::abs(found - wanted) / scale);
            };
            std::size_t column = 4;
            for (const char* name :
                 {"ref", "alt", "log_odds", "log2_fold_change", "jsd", "active_allele_quantile"})
                compare(name, column++);
        }
        for (const auto& [name, difference] : worst) {
            DOCTEST_CAPTURE(name);
            DOCTEST_CHECK(difference < 1e-5);
        }
        DOCTEST_CHECK(worst.size() == 6);
    }
}

DOCTEST_TEST_CASE(
    "profile_distance: the square root of the divergence to base 2, 1 of profiles that are apart") {
    DOCTEST_CHECK(profile_distance(std::vector<double>{1, 0, 0, 0}, std::vector<double>{0, 0, 0, 1}, 1) == 1);
    DOCTEST_CHECK(profile_distance(std::vector<double>{2, 2}, std::vector<double>{5, 5}, 1) == 0);
    // scipy.spatial.distance.jensenshannon([0.1, 0.4, 0.5], [0.3, 0.3, 0.4], base=2)
    DOCTEST_CHECK(profile_distance(std::vector<double>{0.1, 0.4, 0.5}, std::vector<double>{0.3, 0.3, 0.4},
                                   1) == doctest::Approx(0.2166340245).epsilon(1e-8));
    DOCTEST_CHECK(std::isnan(profile_distance(std::vector<double>{NAN, 1}, std::vector<double>{1, 1}, 1)));
}

DOCTEST_TEST_CASE("profile_distance: of alleles of two lengths only bases that both have are compared") {
    // Ten positions, the alleles begin at 5. A one-hot profile of every position, and its place with 3 bases
    // more.
    const auto one_hot = [](std::size_t at) {
        std::vector<double> profile(10, 0.001);
        profile[at] = 1;
        return profile;
    };
    for (std::size_t at = 0; at < 10; ++at) {
        DOCTEST_CAPTURE(at);
        const bool behind = at > 5;
        if (behind && at + 3 > 9) continue;
        const auto shorter = one_hot(at), longer = one_hot(behind ? at + 3 : at);
        DOCTEST_CHECK(profile_distance(shorter, longer, 1, 1, 4) < 1e-7);
        DOCTEST_CHECK(profile_distance(longer, shorter, 1, 4, 1) < 1e-7);
        DOCTEST_CHECK((profile_distance(shorter, longer, 1, 4, 4) > 0.5) == behind);
    }
    const std::vector<double> flat(10, 1);
    for (std::size_t at = 6; at <= 8; ++at)  // in what is inserted
        DOCTEST_CHECK(profile_distance(flat, one_hot(at), 1, 1, 4) < 1e-7);
    for (std::size_t at = 7; at <= 9; ++at)  // pushed out at the end
        DOCTEST_CHECK(profile_distance(one_hot(at), flat, 1, 1, 4) < 1e-7);
    DOCTEST_CHECK(profile_distance(one_hot(6), flat, 1, 1, 4) > 0.5);
    DOCTEST_CHECK(profile_distance(one_hot(9), flat, 1, 1, 40) < 1e-7);  // longer than what is behind
    // Two columns of a position go together.
    std::vector<double> two(20, 0.001), moved = two;
    two[13] = moved[17] = 1;
    DOCTEST_CHECK(profile_distance(two, moved, 2, 1, 3) < 1e-7);
    DOCTEST_CHECK(profile_distance(two, moved, 2, 1, 4) > 0.5);
}

DOCTEST_TEST_CASE("quantile_among: the share of peaks with fewer reads, but one peak's at least") {
    const std::vector<float> peaks{1, 2, 2, 4};
    DOCTEST_CHECK(quantile_among(peaks, 0) == 0.25);
    DOCTEST_CHECK(quantile_among(peaks, 2) == 0.25);
    DOCTEST_CHECK(quantile_among(peaks, 3) == 0.75);
    DOCTEST_CHECK(quantile_among(peaks, 5) == 1);
    DOCTEST_CHECK(std::isnan(quantile_among(peaks, NAN)));
    DOCTEST_CHECK(std::isnan(quantile_among({}, 1)));
}

DOCTEST_TEST_CASE("profile_variants: a variant's first base is at half of the window, of 2114 at 1057") {
    for (const auto& [input, output] : {std::pair<std::int64_t, std::int64_t>{2114, 1000}, {300, 100}}) {
        DOCTEST_CAPTURE(input);
        std::string genome(5000, 'A');
        genome[2509] = genome[2520] = 'G';
        const Variants variants(genome);
        std::filesystem::create_directory(variants / "model");
        networks::write_profile_folder(counter_of_g(input, output), variants / "model");
        auto spec = variants.spec<VariantSpec>({variants / "model"},
                                               record(2501, "A", "G") + record(2501, "A", "AG") +
                                                   record(2501, "A", "ACC") + record(2509, "AG", "A"));
        spec.strands = Strands::none;  // Cs are Gs of the other one
        const Table table = variants.table(spec);
        DOCTEST_REQUIRE(table.size() == 5);
        const auto jsd = [&](std::size_t row) { return number_in(table, row, "counts:jsd"); };
        const auto change = [&](std::size_t row) { return number_in(table, row, "counts:log_odds"); };
        DOCTEST_CHECK(jsd(1) > 0.05);
        // The G that is inserted or deleted is cut out of the profile, and those behind it keep their places.
        for (const std::size_t row : {2U, 3U, 4U})
            DOCTEST_CHECK(jsd(row) < 1e-5);
        for (const auto& [row, more] : {std::pair<std::size_t, int>{1, 1}, {2, 1}, {3, 0}, {4, -1}})
            DOCTEST_CHECK(std::abs(change(row) - more) < 1e-5);
        DOCTEST_CHECK(number_in(table, 1, "counts:log2_fold_change") ==
                      doctest::Approx(1 / std::log(2)).epsilon(1e-5));
        DOCTEST_CHECK(number_in(table, 1, "counts:ref") == doctest::Approx(std::exp(5) - 1).epsilon(1e-5));
    }
}

DOCTEST_TEST_CASE("profile_variants: the profile begins (input - output) / 2 bases in, on both strands") {
    // A letter under the first and the last base of the profile is counted, one further out is not.
    constexpr std::int64_t input = 300, output = 100, position = 2000;
    for (const bool reverse : {false, true}) {
        const char counted = reverse ? 'C' : 'G';
        for (const auto& [at, is_under] : {std::pair<std::int64_t, bool>{position - output / 2 - 1, false},
                                           {position - output / 2, true},
                                           {position + output / 2 - 1, true},
                                           {position + output / 2, false}}) {
            DOCTEST_CAPTURE(reverse);
            DOCTEST_CAPTURE(at);
            std::string genome(4000, 'A');
            genome[static_cast<std::size_t>(at)] = counted;
            const Variants variants(genome);
            std::filesystem::create_directory(variants / "model");
            networks::write_profile_folder(counter_of_g(input, output), variants / "model");
            auto spec = variants.spec<VariantSpec>({variants / "model"}, record(position + 1, "A", "T"));
            spec.strands = reverse ? Strands::only : Strands::none;
            const Table table = variants.table(spec);
            DOCTEST_CHECK(number_in(table, 1, "counts:ref") ==
                          doctest::Approx(std::exp(is_under ? 4 : 3) - 1).epsilon(1e-5));
            DOCTEST_CHECK(number_in(table, 1, "counts:jsd") == 0);
        }
    }
}

DOCTEST_TEST_CASE("profile_variants: a row does not depend on the others, and all go to INFO") {
    const Json all = fixture();
    const Variants variants(all.at("genome"));
    const Run run = run_of(all, "one");
    VariantSpec spec = run.spec(variants);
    spec.background = variants.background(spec, all.at("peaks"));
    spec.outputs.paths = {variants / "effects.vcf"};
    const Table table = variants.table(spec);
    DOCTEST_CHECK(std::vector(table[0].begin() + 10, table[0].end()) ==
                  std::vector<std::string>{"counts:ref", "counts:alt", "counts:difference", "counts:log_odds",
                                           "counts:log2_fold_change", "counts:jsd", "counts:quantile",
                                           "counts:p", "counts:jsd_p", "counts:active_allele_quantile"});
    const Table records = read_rows(variants / "effects.vcf", "##");
    DOCTEST_REQUIRE(records.size() == table.size());
    const auto entry_of = [](const std::vector<std::string>& row) {
        return "|counts|" + row[10] + "|" + row[11] + "|" + row[13] + "|" + row[16] + "|" + row[17] + "|" +
               row[14] + "|" + row[15] + "|" + row[18] + "|" + row[19] + "|" + row[5] + ";BIGBIRD_MAX=";
    };
    for (std::size_t i = 1; i < table.size(); ++i)
        DOCTEST_CHECK(records[i][7].find(entry_of(table[i])) != std::string::npos);
    const std::string header = read_file(variants / "effects.vcf");
    DOCTEST_CHECK(header.find("|PVALUE|LOG2FC|JSD|JSD_PVALUE|ACTIVE_QUANTILE|STATUS\">") !=
                  std::string::npos);
    DOCTEST_CHECK(header.find("LOGODDS is ln((ALT_SCORE + 1) / (REF_SCORE + 1))") != std::string::npos);
    DOCTEST_CHECK(header.find("##bigbird-dna_component=nobias\n") != std::string::npos);

    std::size_t row = 1;
    for (std::size_t begin = 0; begin < run.records.size(); ++row) {
        const std::size_t end = run.records.find('\n', begin) + 1;
        auto alone = variants.spec<VariantSpec>(
            run.models, run.records.substr(begin, end - begin) + record(5, "A", "<DEL>"));
        alone.background = spec.background;
        alone.threads = 1;
        const Table one = variants.table(alone);
        DOCTEST_CHECK(one[1] == table[row]);
        DOCTEST_CHECK(one[2].back() == "NA");
        begin = end;
    }
    DOCTEST_CHECK(row == table.size());
    const VariantForecast forecast = forecast_variants(run.spec(variants), 0.01);
    DOCTEST_CHECK(forecast.alleles == static_cast<std::int64_t>(table.size()) - 1);
    DOCTEST_CHECK(forecast.tried > 0);
    DOCTEST_CHECK(forecast.seconds > 0);
}

DOCTEST_TEST_CASE("profile_variants: complete windows in batches, as on a GPU, give the same") {
    const Json all = fixture();
    const Variants variants(all.at("genome"));
    for (const char* name : {"one", "strands", "groups"}) {
        const Run run = run_of(all, name);
        const VariantSpec spec = run.spec(variants);
        const auto reference = genome::open_references(spec.references);
        std::vector<std::vector<AlleleEffects>> found;
        for (const AllelePasses passes : {AllelePasses::edited, AllelePasses::complete}) {
            const auto scorer = profile_variants(
                open_models(run.models, examples::Task::chromatin, {.component = run.component}), "",
                Strands::average, 2 * 266, passes);
            rows::VariantRows source(spec.variants, *reference, scorer->window, nullptr, scorer->begin_of);
            std::vector<rows::VariantRow> rows;
            while (auto row = source.next()) {
                source.fill(*row);
                rows.push_back(std::move(*row));
            }
            found.push_back(scorer->score(rows, 2));
        }
        DOCTEST_REQUIRE(found[0].size() == found[1].size());
        for (std::size_t i = 0; i < found[0].size(); ++i) {
            DOCTEST_REQUIRE(found[0][i].size() == (std::string(name) == "groups" ? 2 : 1));
            for (std::size_t label = 0; label < found[0][i].size(); ++label) {
                const AlleleEffect &a = found[0][i][label], &b = found[1][i][label];
                DOCTEST_CHECK(std::abs(a.alt - b.alt) <= 1e-5F * std::abs(a.alt));
                DOCTEST_CHECK(std::abs(a.log2_fold_change - b.log2_fold_change) < 1e-5F);
                DOCTEST_CHECK(std::abs(a.jsd - b.jsd) < 1e-5F);
            }
        }
    }
}

DOCTEST_TEST_CASE("profile_variants: a model's p-values count shuffled variants of at least its figures") {
    const Json all = fixture();
    const Variants variants(all.at("genome"));
    VariantSpec spec = run_of(all, "one").spec(variants);
    spec.background = variants.background(spec, "");
    const Table table = variants.table(spec);
    const auto reference = genome::open_references(spec.references);
    rows::VariantRows source(spec.variants, *reference, 266, nullptr, {});
    std::vector<rows::VariantRow> rows;
    while (auto row = source.next())
        rows.push_back(std::move(*row));
    std::string moved;
    for (const rows::VariantRow& row : shuffled_variants(rows, *reference, 100, 0))
        moved += record(row.position + 1, row.ref, row.alt);
    const Table shuffled = variants.table(variants.spec<VariantSpec>(spec.models, moved));
    DOCTEST_REQUIRE(shuffled.size() == 101);
    const auto size_in = [](const Table& of, std::size_t row, const std::string& figure) {
        return std::abs(number_in(of, row, "counts:" + figure));
    };
    for (std::size_t i = 1; i < table.size(); ++i) {
        for (const auto& [figure, p] : {std::pair{"log2_fold_change", "p"}, {"jsd", "jsd_p"}}) {
            int as_large = 0;
            for (std::size_t s = 1; s < shuffled.size(); ++s)
                as_large += size_in(shuffled, s, figure) >= size_in(table, i, figure) ? 1 : 0;
            DOCTEST_CHECK(std::abs(size_in(table, i, p) - (1 + as_large) / 101.0) < 0.015);
        }
    }
}

DOCTEST_TEST_CASE("profile_variants: p-values of folds are the geometric means of each fold's") {
    const Json all = fixture();
    const Variants variants(all.at("genome"));
    const VariantSpec folds = run_of(all, "folds").spec(variants);
    const auto table_of = [&](const std::vector<std::filesystem::path>& models) {
        VariantSpec spec = folds;
        spec.models = models;
        spec.background = variants.background(spec, "");
        return variants.table(spec);
    };
    const Table together = table_of(folds.models);
    std::vector<Table> alone;
    for (const auto& model : folds.models)
        alone.push_back(table_of({model}));
    for (std::size_t i = 1; i < together.size(); ++i) {
        for (const char* p : {"counts:p", "counts:jsd_p"}) {
            double sum = 0;
            for (const Table& one : alone)
                sum += std::log(number_in(one, i, p));
            DOCTEST_CHECK(number_in(together, i, p) ==
                          doctest::Approx(std::exp(sum / static_cast<double>(alone.size()))).epsilon(1e-4));
        }
    }
}

DOCTEST_TEST_CASE("profile_variants: quantile and top_p are of log_odds, by shuffled variants") {
    const Json all = fixture();
    const Variants variants(all.at("genome"));
    VariantSpec spec = run_of(all, "folds").spec(variants);
    spec.background = variants.background(spec, "");
    const auto background = outputs::read_background(spec.background);
    DOCTEST_CHECK(background.shuffled == 100);
    const Table table = variants.table(spec);
    DOCTEST_CHECK(table[0].back() == "counts:jsd_p");  // no peaks
    for (std::size_t i = 1; i < table.size(); ++i) {
        const double effect = number_in(table, i, "counts:log_odds");
        DOCTEST_CHECK(number_in(table, i, "counts:quantile") ==
                      doctest::Approx(background.quantile(0, effect)).epsilon(1e-3));
        DOCTEST_CHECK(number_in(table, i, "top_p") ==
                      doctest::Approx(background.p_of_largest(effect)).epsilon(1e-3));
    }
    spec.quantities = "jsd,active-allele-quantile";
    DOCTEST_CHECK(message_of<ConfigError>([&] {
                      variants.table(spec);
                  }).starts_with("--write active-allele-quantile needs a background with peaks"));
}

DOCTEST_TEST_CASE("profile_variants: a background of another component or of other folds is refused") {
    const Json all = fixture();
    const Variants variants(all.at("genome"));
    VariantSpec spec = run_of(all, "one").spec(variants);
    spec.models = {model_file("chrombpnet.h5")};
    spec.background = variants.background(spec, all.at("peaks"));
    DOCTEST_CHECK(variants.table(spec)[0].back() == "counts:active_allele_quantile");
    const auto refusal = [&] { return message_of<InputError>([&] { variants.table(spec); }); };
    spec.component = networks::Component::joined;
    DOCTEST_CHECK(
        refusal().find("is a background of other options (component nobias, not component joined)") !=
        std::string::npos);
    spec.component = std::nullopt;
    spec.models.push_back(model_file("bias.h5"));
    DOCTEST_CHECK(refusal().find("is a background of another model (") != std::string::npos);
    spec.models = {model_file("bpnet.h5")};
    DOCTEST_CHECK(refusal().find("is a background of another model (") != std::string::npos);
}

DOCTEST_TEST_CASE(
    "build_background: peaks are drawn, each window once, and those off the reference left out") {
    const Json all = fixture();
    const Variants variants(all.at("genome"));
    const VariantSpec spec = run_of(all, "one").spec(variants);
    const std::string row = "c\t1000\t1200\t.\t0\t.\t0\t0\t0\t100\n",
                      near_end = "c\t0\t200\t.\t0\t.\t0\t0\t0\t132\n";
    // The same window by its middle; one base on the contig more; the last that fits.
    const auto count = [&](const std::string& peaks) {
        return outputs::read_background(variants.background(spec, peaks)).peaks;
    };
    DOCTEST_CHECK(count(row + row + "c\t1050\t1150\n" + near_end) == 1);
    DOCTEST_CHECK(count(row + "c\t0\t200\t.\t0\t.\t0\t0\t0\t133\n" + near_end) == 2);
    DOCTEST_CHECK(
        count(row + "c\t2800\t3000\t.\t0\t.\t0\t0\t0\t67\n" + "c\t2800\t3000\t.\t0\t.\t0\t0\t0\t68\n") == 2);
    DOCTEST_CHECK(message_of<InputError>([&] {
                      count(near_end);
                  }).find("has no peak whose window of 266 bases is on the reference") != std::string::npos);
    BackgroundSpec few;
    static_cast<EffectSpec&>(few) = spec;
    few.regions = variants / "many.bed";
    few.output = variants / "few.h5";
    few.count = 10;
    write_file(few.regions, all.at("peaks").get<std::string>());
    DOCTEST_CHECK(build_background(few).peaks == 10);
    const std::vector<float> reads = outputs::read_background(few.output).of_peaks;
    DOCTEST_CHECK(reads.size() == 10);
    DOCTEST_CHECK(std::ranges::is_sorted(reads));
}
