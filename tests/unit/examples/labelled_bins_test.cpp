// SPDX-License-Identifier: Apache-2.0
#include "bigbird/examples/labelled_bins.hpp"

#include "support/temp_dir.hpp"
#include "support/testing.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/rng.hpp"
#include "bigbird/examples/build/chromatin.hpp"

#include <sys/stat.h>

using namespace bigbird;
using namespace bigbird::testing;
using examples::BinStretch;
using examples::LabelledBins;
using examples::Split;

namespace {

std::string some_dna(std::size_t length) {
    Rng rng(4);
    std::string dna(length, 'A');
    for (char& base : dna)
        base = "ACGT"[rng.between(0, 3)];
    return dna;
}

/// 4,050 bases of one contig, a peak on bases 1,000 to 1,400, N from 2,000 to 2,600.
struct Genome {
    TempDir folder;
    std::string dna = some_dna(4050);
    Genome() {
        dna.replace(2000, 600, 600, 'N');
        write_file(folder / "g.fa", ">c\n" + dna + "\n>empty\n" + some_dna(1000) + "\n");
        write_file(folder / "p.bed", "c\t1000\t1400\n");
        write_file(folder / "out.bed", "c\t3300\t3500\n");
    }
    examples::ChromatinOptions options(bool all) const {
        examples::ChromatinOptions options;
        options.peaks = {folder / "p.bed"};
        options.references = {folder / "g.fa"};
        options.window = 400;
        if (!all) options.negatives.emplace();
        options.exclude = {(folder / "out.bed").string()};
        options.test = {"c:1601-2000"};
        return options;
    }
    LabelledBins build(bool all, const std::string& name) const {
        std::filesystem::create_directory(folder / name);
        examples::build_chromatin(options(all), folder / name);
        return LabelledBins::load(folder / name);
    }
};

}  // namespace

DOCTEST_TEST_CASE("labelled bins: every bin is there, whichever become rows") {
    const Genome genome;
    for (const bool all : {false, true}) {
        const LabelledBins bins = genome.build(all, all ? "all" : "any");
        DOCTEST_CHECK(bins.bin_size() == 200);
        std::vector<BinStretch> expected{{"c", Split::train, 0, 8, 0},
                                         {"c", Split::test, 8, 2, 8},
                                         {"c", Split::train, 10, 6, 10},   // to 3,200: 3,300 is excluded
                                         {"c", Split::train, 18, 2, 16}};  // to 4,000: no whole bin follows
        if (all) expected.push_back({"empty", Split::train, 0, 5, 18});
        DOCTEST_CHECK(std::vector<BinStretch>(bins.stretches().begin(), bins.stretches().end()) == expected);
        for (std::int64_t row = 0; row < 18; ++row) {
            std::uint8_t label = 9;
            bins.copy_labels(row, {&label, 1});
            DOCTEST_CHECK(label == (row == 5 || row == 6 ? 1 : 0));
        }
        DOCTEST_CHECK(bins.sequence("c", 0, 3200) == genome.dna.substr(0, 3200));
        DOCTEST_CHECK(bins.sequence("c", -3, 2) == "NNN" + genome.dna.substr(0, 2));
        DOCTEST_CHECK(bins.sequence("other", 0, 2) == "NN");
    }
}

DOCTEST_TEST_CASE("labelled bins: an older folder and a damaged one are refused") {
    const Genome genome;
    genome.build(false, "e");
    const auto folder = genome.folder / "e";
    for (const char* row : {"c\t0\t1601\ttrain\n", "c\t0\t9223372036854775800\ttrain\n"}) {
        write_file(folder / "bins.bed", row);
        DOCTEST_CHECK(testing::holds(message_of<InputError>([&] { LabelledBins::load(folder); }),
                                     "bins.bed:1: has coordinates that are no whole bins of 200 bases"));
    }
    write_file(folder / "bins.bed", "c\t0\t1600\ttrain\n");
    DOCTEST_CHECK(testing::holds(message_of<InputError>([&] { LabelledBins::load(folder); }),
                                 "is not the label matrix of 8 rows"));
    const std::string manifest = testing::read_file(folder / "manifest.json");
    for (const char* other : {"7", "[]", "{}", R"({"parameters": 7})", R"({"parameters": {"bin": "200"}})"}) {
        write_file(folder / "manifest.json", other);
        DOCTEST_CHECK(testing::holds(message_of<InputError>([&] { LabelledBins::load(folder); }),
                                     "does not say how many bases a bin has"));
    }
    write_file(folder / "manifest.json", manifest);
    std::filesystem::remove(folder / "bins.bed");
    DOCTEST_CHECK(testing::holds(message_of<InputError>([&] { LabelledBins::load(folder); }),
                                 "holds no labels of whole stretches of bins"));
    DOCTEST_REQUIRE(::mkfifo((folder / "bins.bed").c_str(), 0600) == 0);
    DOCTEST_CHECK(message_of<InputError>([&] { LabelledBins::load(folder); }) ==
                  (folder / "bins.bed").string() + ": is a pipe, a file is needed");
}
