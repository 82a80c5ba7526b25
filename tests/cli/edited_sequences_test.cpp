// SPDX-License-Identifier: Apache-2.0
// predict-mutagenesis --sequences and motifs-marginalize --spacing beside predict on FASTA files with the
// same letters changed.
#include "cli/run_program.hpp"
#include "support/temp_dir.hpp"
#include "support/testing.hpp"
#include "task_models/tiny_task.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

using namespace bigbird::testing;

namespace {

using Row = std::vector<std::string>;
using Scores = std::map<std::string, double>;  ///< log odds by label

const std::string nucleotides = "ACGT";
constexpr double tolerance = 2e-4;     // of log odds, from scores with six digits
constexpr double error_digits = 5e-4;  // standard errors are written with four

std::string run(const std::vector<std::string>& words) {
    const ProgramResult result = run_program(words);
    DOCTEST_CAPTURE(result.err);
    DOCTEST_REQUIRE(result.code == 0);
    return result.out;
}

/// The header and the rows of a table, without lines of provenance.
std::vector<Row> rows_of(const std::string& table) {
    std::vector<Row> rows;
    std::istringstream lines(table);
    for (std::string line; std::getline(lines, line);) {
        if (line.starts_with("##")) continue;
        std::istringstream fields(line);
        rows.emplace_back();
        for (std::string field; std::getline(fields, field, '\t');)
            rows.back().push_back(field);
    }
    return rows;
}

/// Log odds of each row of predict's table, whose scores begin at column `first`; by column `key`.
std::map<std::string, Scores> odds_of(const std::string& table, std::size_t key, std::size_t first) {
    const std::vector<Row> rows = rows_of(table);
    std::map<std::string, Scores> odds;
    for (std::size_t row = 1; row < rows.size(); ++row) {
        for (std::size_t i = first; i < rows[row].size(); ++i) {
            const double p = std::stod(rows[row][i]);
            odds[rows[row][key]][rows[0][i]] = std::log(p) - std::log1p(-p);
        }
    }
    return odds;
}

/// The name of a record with one base changed.
std::string edited_name(const std::string& record, std::size_t base, char letter) {
    return record + "-" + std::to_string(base) + letter;
}

/// `records` with every substitution at `bases` as records of their own behind them.
std::string edited_fasta(const std::map<std::string, std::string>& records,
                         const std::vector<std::size_t>& bases) {
    std::string fasta;
    for (const auto& [name, dna] : records) {
        fasta += ">" + name + "\n" + dna + "\n";
        for (const std::size_t base : bases) {
            for (const char letter : nucleotides) {
                std::string changed = dna;
                changed[base] = letter;
                fasta += ">" + edited_name(name, base, letter) + "\n" + changed + "\n";
            }
        }
    }
    return fasta;
}

/// Compares predict-mutagenesis on `records` with predict on the edited ones, on the strands that
/// predict-mutagenesis reads by default. Scores begin at column `first_score` of predict's table.
void check_records(const std::string& model, const std::string& strands,
                   const std::map<std::string, std::string>& records, const std::vector<std::size_t>& bases,
                   std::size_t first_score) {
    const TempDir folder;
    std::string fasta;
    for (const auto& [name, dna] : records)
        fasta += ">" + name + "\n" + dna + "\n";
    write_file(folder / "records.fa", fasta);
    write_file(folder / "edited.fa", edited_fasta(records, bases));
    const auto effects = rows_of(run({"predict-mutagenesis", "--model", model, "--sequences",
                                      folder / "records.fa", "--device", "cpu", "--quiet", "--output", "-"}));
    auto odds = odds_of(run({"predict", "--model", model, "--sequences", folder / "edited.fa", "--device",
                             "cpu", "--reverse-complement", strands, "--quiet", "--output", "-"}),
                        0, first_score);
    DOCTEST_REQUIRE(effects[0] == Row{"#chrom", "start", "end", "name", "label", "ref", "A", "C", "G", "T"});
    std::size_t compared = 0, wanted_rows = 0;
    double largest = 0;
    for (const auto& [name, dna] : records)
        wanted_rows += dna.size() * odds.at(name).size();
    DOCTEST_CHECK(effects.size() == 1 + wanted_rows);
    for (std::size_t i = 1; i < effects.size(); ++i) {
        const Row& row = effects[i];
        const std::size_t base = std::stoul(row[1]);
        if (std::ranges::find(bases, base) == bases.end()) continue;
        const char reference = records.at(row[0])[base];
        DOCTEST_CHECK(row[5][0] == std::toupper(reference));
        for (std::size_t letter = 0; letter < nucleotides.size(); ++letter) {
            const std::string& found = row[6 + letter];
            if (reference == 'N') {
                DOCTEST_CHECK(found == "NA");
                continue;
            }
            const Scores& after = odds.at(edited_name(row[0], base, nucleotides[letter]));
            const double wanted = after.at(row[4]) - odds.at(row[0]).at(row[4]);
            DOCTEST_CAPTURE(edited_name(row[0], base, nucleotides[letter]));
            DOCTEST_CAPTURE(row[4]);
            DOCTEST_CHECK(std::abs(std::stod(found) - wanted) < tolerance);
            largest = std::max(largest, std::abs(wanted));
            ++compared;
        }
    }
    DOCTEST_CHECK(compared > 0);
    DOCTEST_CHECK(largest > 10 * tolerance);
}

/// A motif of these letters, in MEME's format.
std::string motif_of(const std::string& id, const std::string& letters) {
    std::string text =
        "MOTIF " + id + "\nletter-probability matrix: alength= 4 w= " + std::to_string(letters.size()) + "\n";
    for (const char letter : letters)
        for (const char other : nucleotides)
            text += std::string(letter == other ? "0.97" : "0.01") + (other == 'T' ? "\n" : " ");
    return text;
}

/// Mean and standard error of two values.
std::pair<double, double> summary_of(const std::array<double, 2>& values) {
    return {(values[0] + values[1]) / 2, std::abs(values[0] - values[1]) / 2};
}

}  // namespace

DOCTEST_TEST_CASE("edited: predict-mutagenesis --sequences has a bin model's scores of edited records") {
    std::string first = random_dna(450, 3), second = random_dna(300, 4);
    first.replace(100, 20, "TGGCCACCAGGGGGCGCTAG");  // a site of CTCF
    first.replace(10, 5, "NNNNN");
    first.replace(200, 4, "acgt");
    check_records(test_data("models/chromatin-grch37").string(), "average",
                  {{"first", first}, {"second", second}}, {0, 12, 107, 200, 299}, 4);
}

DOCTEST_TEST_CASE("edited: predict-mutagenesis --sequences has a sequence model's scores of edited records") {
    const TempDir folder;
    const std::string table = test_data("sequences/promoters.csv.gz").string();
    run({"build-sequences", "--table", table, "--split-by", "similarity:0.6,0.2,0.2", "--output",
         folder / "e"});
    run({"finetune", "--examples", folder / "e", "--architecture", "kmer-logistic", "--output",
         folder / "run"});
    std::string dna = random_dna(301, 5);
    dna[150] = 'N';
    check_records(folder / "run", "none", {{"a", dna}, {"b", random_dna(290, 6)}}, {0, 149, 150, 289}, 5);
}

DOCTEST_TEST_CASE("edited: motifs-marginalize --spacing has the scores of backgrounds with both motifs") {
    // The window about the middle of these rows begins where the bundled model's first window of a contig
    // does, and has the same bin in its middle: predict reads the same letters.
    constexpr std::size_t middle = 4900;
    const std::string model = test_data("models/chromatin-grch37").string(), bed = "4800\t5000\n";
    const std::map<std::string, std::string> motifs{{"ap1", "TGACTCA"}, {"ctcf", "CCACCAGGGGGCGC"}};
    const std::array<std::string, 2> backgrounds{random_dna(12'000, 7), random_dna(12'000, 8)};
    const TempDir folder;
    std::string meme = "MEME version 4\n\n", rows, edited;
    for (const auto& [id, letters] : motifs)
        meme += motif_of(id, letters);
    write_file(folder / "m.meme", meme);
    write_file(folder / "genome.fa", ">b0\n" + backgrounds[0] + "\n>b1\n" + backgrounds[1] + "\n");
    write_file(folder / "b.bed", "b0\t" + bed + "b1\t" + bed);
    const auto add = [&](const std::string& name, const std::string& dna) {
        edited += ">" + name + "\n" + dna + "\n";
        rows += name + "\t" + bed;
    };
    for (const std::size_t which : {std::size_t{0}, std::size_t{1}}) {
        const std::string name = "b" + std::to_string(which);
        add(name, backgrounds[which]);
        for (const auto& [one, site] : motifs) {
            for (const auto& [other, other_site] : motifs) {
                for (const std::size_t spacing : {std::size_t{0}, std::size_t{25}}) {
                    const std::size_t behind = site.size() + spacing,
                                      begin = middle - (behind + other_site.size()) / 2;
                    const std::string key = name + "-" + one + "-" + other + "-" + std::to_string(spacing);
                    std::string both = backgrounds[which], left = both, right = both;
                    left.replace(begin, site.size(), site);
                    right.replace(begin + behind, other_site.size(), other_site);
                    both.replace(begin, site.size(), site);
                    both.replace(begin + behind, other_site.size(), other_site);
                    add(key + "-both", both);
                    add(key + "-left", left);
                    add(key + "-right", right);
                }
            }
        }
    }
    write_file(folder / "edited.fa", edited);
    write_file(folder / "rows.bed", rows);
    const auto odds = odds_of(run({"predict", "--model", model, "--reference", folder / "edited.fa",
                                   "--regions", folder / "rows.bed", "--device", "cpu",
                                   "--reverse-complement", "average", "--quiet", "--output", "-"}),
                              0, 8);
    const auto table =
        rows_of(run({"motifs-marginalize", "--model", model, "--motifs", folder / "m.meme", "--backgrounds",
                     folder / "b.bed", "--reference", folder / "genome.fa", "--spacing", "0,25", "--quiet"}));
    DOCTEST_REQUIRE(table[0] == Row{"#motif", "other", "spacing", "label", "effect", "se", "interaction",
                                    "interaction_se", "backgrounds"});
    DOCTEST_REQUIRE(table.size() == 1 + 8 * odds.at("b0").size());
    double largest = 0;
    for (std::size_t i = 1; i < table.size(); ++i) {
        const Row& row = table[i];
        std::array<double, 2> effect{}, interaction{};
        for (const std::size_t which : {std::size_t{0}, std::size_t{1}}) {
            const std::string name = "b" + std::to_string(which),
                              key = name + "-" + row[0] + "-" + row[1] + "-" + row[2];
            const auto score = [&](const std::string& of) { return odds.at(of).at(row[3]); };
            effect[which] = score(key + "-both") - score(name);
            interaction[which] =
                score(key + "-both") - score(key + "-left") - score(key + "-right") + score(name);
        }
        const auto [mean, error] = summary_of(effect);
        const auto [joint, joint_error] = summary_of(interaction);
        DOCTEST_CAPTURE(row[0] + " " + row[1] + " " + row[2] + " " + row[3]);
        DOCTEST_CHECK(std::abs(std::stod(row[4]) - mean) < tolerance);
        DOCTEST_CHECK(std::abs(std::stod(row[5]) - error) < tolerance + error_digits * error);
        DOCTEST_CHECK(std::abs(std::stod(row[6]) - joint) < tolerance);
        DOCTEST_CHECK(std::abs(std::stod(row[7]) - joint_error) < tolerance + error_digits * joint_error);
        DOCTEST_CHECK(row[8] == "2");
        largest = std::max(largest, std::abs(joint));
    }
    DOCTEST_CHECK(largest > 10 * tolerance);
}
