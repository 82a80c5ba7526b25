// SPDX-License-Identifier: Apache-2.0
#include "bigbird/scoring/splicing/predict_sites.hpp"

#include "support/temp_dir.hpp"
#include "support/testing.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/formats/json_file.hpp"
#include "bigbird/genome/reference/sequence.hpp"
#include "bigbird/genome/text/text_input.hpp"
#include "bigbird/rows/text_fields.hpp"

#include <cmath>
#include <string>
#include <vector>

using namespace bigbird;
using namespace bigbird::testing;

namespace {

const Json& expected_sites() {
    static const Json all = read_json(test_data("models/splicing/expected.json"));
    return all.at("keras");
}

/// Fields of the rows of a table.
std::vector<std::vector<std::string>> site_rows(const std::filesystem::path& table) {
    std::vector<std::vector<std::string>> rows;
    genome::TextInput lines(table);
    for (std::string line; lines.next(line);) {
        const auto fields = rows::split_fields(line, '\t');
        if (!line.starts_with('#')) rows.emplace_back(fields.begin(), fields.end());
    }
    return rows;
}

tasks::PredictSpec site_spec(const std::filesystem::path& output) {
    tasks::PredictSpec spec;
    spec.models = {test_data("models/splicing/keras")};
    spec.outputs.paths = {output};
    spec.threads = 2;
    return spec;
}

}  // namespace

DOCTEST_TEST_CASE("predict sites: bases of records have the formulas' probabilities on both strands") {
    const TempDir folder;
    const std::string dna = expected_sites().at("sequence").get<std::string>();
    const auto wanted = expected_sites().at("probabilities").get<std::vector<float>>();
    write_file(folder / "two.fa", ">a\n" + dna + "\n>b\n" + genome::reverse_complement(dna) + "\n");
    tasks::PredictSpec spec = site_spec(folder / "sites.tsv");
    spec.sequences = folder / "two.fa";
    DOCTEST_CHECK(splicing::predict_sites(spec) == 0);
    const auto rows = site_rows(folder / "sites.tsv");
    DOCTEST_REQUIRE(rows.size() == 2 * dna.size());
    const std::size_t outputs = wanted.size() / 3, side = (dna.size() - outputs) / 2;
    std::size_t scored = 0;
    for (std::size_t i = 0; i < outputs; ++i) {
        const auto& plus = rows[side + i];                        // chrom start end name score strand ...
        const auto& minus = rows[2 * dna.size() - 1 - side - i];  // of the other record
        DOCTEST_CHECK(plus[1] == std::to_string(side + i));
        if (plus[8] == "NA") continue;
        ++scored;
        for (const std::size_t channel : {std::size_t{1}, std::size_t{2}}) {
            DOCTEST_CHECK(std::abs(std::stof(plus[7 + channel]) - wanted[3 * i + channel]) < 2e-6F);
            DOCTEST_CHECK(std::abs(std::stof(minus[9 + channel]) - wanted[3 * i + channel]) < 2e-6F);
        }
    }
    DOCTEST_CHECK(scored > outputs / 2);
}

DOCTEST_TEST_CASE("predict sites: regions, chosen labels and tracks") {
    const TempDir folder;
    write_file(folder / "regions.bed", "1\t100\t130\tx\n2\t50\t52\n");
    tasks::PredictSpec spec = site_spec(folder / "{label}.bedgraph");
    spec.references = {test_data("variants/splicing/genome.fa")};
    spec.regions = folder / "regions.bed";
    spec.labels = "donor_*";
    spec.outputs.paths.push_back(folder / "sites.tsv");
    splicing::predict_sites(spec);
    const auto rows = site_rows(folder / "sites.tsv"), track = site_rows(folder / "donor_minus.bedgraph");
    DOCTEST_CHECK(rows.size() == 32);
    DOCTEST_CHECK(rows.front().size() == 8 + 2);
    DOCTEST_CHECK(rows.front()[3] == "x");
    DOCTEST_CHECK(track.back()[0] == "2");
    DOCTEST_CHECK(track.back().back() == rows.back().back());
    DOCTEST_CHECK_FALSE(std::filesystem::exists(folder / "acceptor_plus.bedgraph"));
    spec.labels = "acceptor";
    spec.outputs.overwrite = Overwrite::allow;
    DOCTEST_CHECK_THROWS_AS(splicing::predict_sites(spec), ConfigError);
}
