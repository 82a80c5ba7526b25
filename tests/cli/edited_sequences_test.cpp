// SPDX-License-Identifier: Apache-2.0
// predict-mutagenesis --sequences and motifs-marginalize --spacing beside predict on the edited sequences.
#include "cli/checks.hpp"
#include "support/temp_dir.hpp"
#include "tasks/table_rows.hpp"
#include "tasks/tiny_task.hpp"

#include <algorithm>
#include <cmath>
#include <map>

using namespace bigbird::testing;

namespace {

using Sequences = std::map<std::string, std::string>;               ///< by name
using Odds = std::map<std::string, std::map<std::string, double>>;  ///< by name and label

const std::string letters = "ACGT", bundled = test_data("models/chromatin-grch37");
constexpr double tolerance = 2e-4;  // scores have six digits

/// The header and the rows that bigbird-dna writes with these words.
TableRows table_of(std::vector<std::string> words) {
    const TempDir folder;
    words.insert(words.end(), {"--quiet", "--output", folder / "out.tsv"});
    works(words);
    return read_rows(folder / "out.tsv", "##");
}

std::string write_fasta(const std::filesystem::path& path, const Sequences& sequences) {
    std::string text;
    for (const auto& [name, dna] : sequences)
        text += ">" + name + "\n" + dna + "\n";
    write_file(path, text);
    return path;
}

/// Log odds by predict, whose scores begin at column `first`.
Odds predicted(const std::string& model, const std::string& strands, std::size_t first,
               const std::vector<std::string>& input) {
    std::vector<std::string> words =
        joined({"predict", "--model", model, "--reverse-complement", strands}, input);
    const TableRows rows = table_of(words);
    Odds odds;
    for (const auto& row : rows)
        for (std::size_t i = first; i < row.size() && &row != &rows[0]; ++i)
            odds[row[0]][rows[0][i]] = std::log(std::stod(row[i])) - std::log1p(-std::stod(row[i]));
    return odds;
}

/// Compares the effects of all substitutions at `bases`.
void check_records(const std::string& model, const std::string& strands, std::size_t first_score,
                   const Sequences& records, const std::vector<std::size_t>& bases) {
    const TempDir folder;
    Sequences edited = records;
    const auto name_of = [](const std::string& record, std::size_t base, char letter) {
        return record + ":" + std::to_string(base) + letter;
    };
    for (const auto& [name, dna] : records) {
        for (const std::size_t base : bases)
            for (const char letter : letters)
                edited[name_of(name, base, letter)] = std::string(dna).replace(base, 1, 1, letter);
    }
    const Odds odds =
        predicted(model, strands, first_score, {"--sequences", write_fasta(folder / "edited.fa", edited)});
    double largest = 0;
    for (const auto& row : table_of({"predict-mutagenesis", "--model", model, "--sequences",
                                     write_fasta(folder / "records.fa", records)})) {
        const bool is_header = row[0] == "#chrom";
        const std::size_t base = is_header ? 0 : std::stoul(row[1]);
        if (is_header || !std::ranges::count(bases, base)) continue;
        for (std::size_t i = 0; i < letters.size(); ++i) {
            const double wanted =
                odds.at(name_of(row[0], base, letters[i])).at(row[4]) - odds.at(row[0]).at(row[4]);
            DOCTEST_CAPTURE(name_of(row[0], base, letters[i]) + " " + row[4]);
            DOCTEST_CHECK(
                (row[5] == "N" ? row[6 + i] == "NA" : std::abs(std::stod(row[6 + i]) - wanted) < tolerance));
            largest = std::max(largest, std::abs(wanted));
        }
    }
    DOCTEST_CHECK(largest > 100 * tolerance);
}

}  // namespace

DOCTEST_TEST_CASE("edited: predict-mutagenesis --sequences, by a bin model") {
    std::string dna = random_dna(450, 3);
    dna.replace(100, 20, "TGGCCACCAGGGGGCGCTAG").replace(10, 5, "NNNNN").replace(200, 4, "acgt");
    check_records(bundled, "average", 4, {{"a", dna}, {"b", random_dna(300, 4)}}, {0, 12, 107, 200, 299});
}

DOCTEST_TEST_CASE("edited: predict-mutagenesis --sequences, by a sequence model") {
    const TempDir folder;
    const std::string table = test_data("sequences/promoters.csv.gz"), examples = folder / "e",
                      run = folder / "run";
    run_program(
        {"build-sequences", "--table", table, "--split-by", "similarity:0.6,0.2,0.2", "--output", examples});
    run_program({"finetune", "--examples", examples, "--architecture", "kmer-logistic", "--output", run});
    check_records(run, "none", 5, {{"a", random_dna(301, 5).replace(150, 1, "N")}, {"b", random_dna(290, 6)}},
                  {0, 149, 150, 289});
}

DOCTEST_TEST_CASE("edited: motifs-marginalize --spacing") {
    // The window about the middle of these rows is the bundled model's first of a contig.
    const TempDir folder;
    const std::string place = "\t4800\t5000\n";
    const Sequences sites{{"ap1", "TGACTCA"}, {"ctcf", "CCACCAGGGGGCGC"}},
        backgrounds{{"x", random_dna(12'000, 7)}, {"y", random_dna(12'000, 8)}};
    std::string meme = "MEME version 4\n", rows;
    for (const auto& [id, site] : sites) {
        meme += "MOTIF " + id + "\nletter-probability matrix: w= " + std::to_string(site.size()) + "\n";
        for (const char letter : site)
            for (const char other : letters)
                meme += std::string(letter == other ? "0.97" : "0.01") + (other == 'T' ? "\n" : " ");
    }
    Sequences edited = backgrounds;
    for (const auto& [name, dna] : backgrounds) {
        for (const auto& [one, first] : sites) {
            for (const auto& [other, second] : sites) {
                for (const std::size_t spacing : {std::size_t{0}, std::size_t{25}}) {
                    const std::size_t behind = first.size() + spacing,
                                      begin = 4900 - (behind + second.size()) / 2;
                    const std::string key = name + one + other + std::to_string(spacing);
                    edited[key + "left"] = std::string(dna).replace(begin, first.size(), first);
                    edited[key + "right"] = std::string(dna).replace(begin + behind, second.size(), second);
                    edited[key] =
                        std::string(edited[key + "left"]).replace(begin + behind, second.size(), second);
                }
            }
        }
    }
    for (const auto& [name, dna] : edited)
        rows += name + place;
    write_file(folder / "m.meme", meme);
    write_file(folder / "rows.bed", rows);
    write_file(folder / "b.bed", "x" + place + "y" + place);
    const Odds odds =
        predicted(bundled, "average", 8,
                  {"--reference", write_fasta(folder / "e.fa", edited), "--regions", folder / "rows.bed"});
    const TableRows table =
        table_of({"motifs-marginalize", "--model", bundled, "--motifs", folder / "m.meme", "--backgrounds",
                  folder / "b.bed", "--reference", folder / "e.fa", "--spacing", "0,25"});
    DOCTEST_REQUIRE(table.size() == 1 + 8 * odds.at("x").size());
    double largest = 0;
    for (std::size_t i = 1; i < table.size(); ++i) {
        const auto& row = table[i];
        double effect = 0, interaction = 0;
        for (const std::string name : {"x", "y"}) {
            const auto change = [&](const std::string& what) {
                return odds.at(name + row[0] + row[1] + row[2] + what).at(row[3]) - odds.at(name).at(row[3]);
            };
            effect += change("") / 2;
            interaction += (change("") - change("left") - change("right")) / 2;
        }
        DOCTEST_CAPTURE(row[0] + " " + row[1] + " " + row[2] + " " + row[3]);
        const auto near = [](double value) { return tolerance + 5e-5 * std::abs(value); };  // five digits
        DOCTEST_CHECK(std::abs(std::stod(row[4]) - effect) < near(effect));
        DOCTEST_CHECK(std::abs(std::stod(row[6]) - interaction) < near(interaction));
        largest = std::max(largest, std::abs(interaction));
    }
    DOCTEST_CHECK(largest > 100 * tolerance);
}
