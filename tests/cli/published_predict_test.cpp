// SPDX-License-Identifier: Apache-2.0
// predict as a program on published models of profiles: tables, tracks, components, folders, and what is
// refused.
#include "cli/checks.hpp"
#include "support/temp_dir.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <sstream>

using namespace bigbird::testing;

namespace {

std::string published(const std::string& name) {
    return test_data("models/profiles/" + name).string();
}

class PublishedRows : public TestFolder {
public:
    PublishedRows() {
        std::mt19937 random(7);
        std::string dna;
        for (int i = 0; i < 3000; ++i)
            dna += "ACGT"[random() % 4];
        write_file(folder_ / "genome.fa", ">c\n" + dna + "\n");
        write_file(folder_ / "rows.bed", "c\t2000\t2100\nc\t1000\t1100\nc\t1040\t1140\n");
    }
    ProgramResult predict(const std::string& model, const std::string& more) const {
        return run_program(joined({"predict", "--model", published(model), "--reference", *this / "genome.fa",
                                   "--regions", *this / "rows.bed"},
                                  words_of(more)));
    }
};

/// The sum of a bedGraph's values over [begin, end), each line one base.
double sum_over(const std::string& bedgraph, std::int64_t begin, std::int64_t end) {
    std::istringstream lines(bedgraph);
    std::string contig;
    double sum = 0;
    for (std::int64_t from = 0, to = 0; lines >> contig >> from >> to;) {
        double value = 0;
        lines >> value;
        DOCTEST_CHECK(to == from + 1);
        if (from >= begin && from < end) sum += value;
    }
    return sum;
}

/// A column of a row of a table, which has `##` lines, a header and three rows.
double value_of(const std::string& table, const std::string& column, int row) {
    std::istringstream lines(table);
    std::string line;
    while (std::getline(lines, line) && line.starts_with("##")) {
    }
    const std::vector<std::string> names = words_of(line);
    for (int i = 0; i <= row; ++i)
        std::getline(lines, line);
    const std::vector<std::string> fields = words_of(line);
    const auto at = std::ranges::find(names, column) - names.begin();
    return std::stod(fields.at(static_cast<std::size_t>(at)));
}

}  // namespace

DOCTEST_TEST_CASE(
    "predict of published models: the profile of a row sums to its counts, and overlapping rows are cut") {
    const PublishedRows rows;
    succeeded(
        rows.predict("chrombpnet.h5", "--output " + (rows / "t.tsv") + " --output " + (rows / "p.bedgraph")));
    const std::string table = read_file(rows / "t.tsv"), track = read_file(rows / "p.bedgraph");
    check_holds(table, {"##component=nobias\n", "##reverse_complement=average\n", "\tcounts\tlog_counts\n"});
    DOCTEST_CHECK(value_of(table, "log_counts", 0) ==
                  doctest::Approx(std::log(value_of(table, "counts", 0) + 1)));
    // 90 bases around the middle 2050; the rows with the middles 1050 and 1090 meet at 1070.
    DOCTEST_CHECK(sum_over(track, 2005, 2095) == doctest::Approx(value_of(table, "counts", 0)).epsilon(1e-4));
    DOCTEST_CHECK(std::ranges::count(track, '\n') == 90 + (1070 - 1005) + (1135 - 1070));
    write_file(rows / "rows.bed", "c\t1000\t1100\n");
    succeeded(rows.predict("chrombpnet.h5", "--output " + (rows / "one.bedgraph")));
    const std::string one = read_file(rows / "one.bedgraph");
    DOCTEST_CHECK(holds(track, one.substr(0, one.find("c\t1070\t"))));
}

DOCTEST_TEST_CASE(
    "predict of published models: components, strands of a track, and models that are no files of this "
    "kind") {
    const PublishedRows rows;
    const auto counts = [&](const std::string& model, const std::string& more) {
        return value_of(succeeded(rows.predict(model, "--reverse-complement none --output - " + more)).out,
                        "counts", 1);
    };
    const double both = counts("chrombpnet.h5", "--component joined"), own = counts("chrombpnet.h5", "");
    DOCTEST_CHECK(both + 1 == doctest::Approx(own + 1 + counts("chrombpnet.h5", "--component bias") + 1));
    DOCTEST_CHECK(counts("chrombpnet_nobias.h5", "") == own);
    check_said(rows.predict("bias.h5", "--output -"), 0, "is a model of the enzyme's bias");
    check_said(rows.predict("chrombpnet_nobias.h5", "--component joined --output -"), 2, "joined");
    check_said(rows.predict("expected.json", "--output -"), 3, "expected.json");

    check_said(rows.predict("bpnet.h5", "--output " + (rows / "both.bw")), 2, "put {label} into the name");
    succeeded(rows.predict("bpnet.h5",
                           "--output " + (rows / "{label}.bedgraph") + " --output " + (rows / "b.tsv")));
    DOCTEST_CHECK(sum_over(read_file(rows / "counts_plus.bedgraph"), 2000, 2100) +
                      sum_over(read_file(rows / "counts_minus.bedgraph"), 2000, 2100) ==
                  doctest::Approx(value_of(read_file(rows / "b.tsv"), "counts", 0)).epsilon(1e-4));
}

DOCTEST_TEST_CASE("predict of published models: a model folder made of a file gives the same bytes") {
    const PublishedRows rows;
    const auto table = [](const ProgramResult& result) {
        const std::string text = succeeded(result).out;
        return text.substr(text.find("#chrom"));
    };
    for (const char* name : {"chrombpnet.h5", "bpnet.h5", "cherimoya_groups.torch"}) {
        DOCTEST_CAPTURE(name);
        const std::string folder = rows / (std::string(name) + ".model");
        works({"info", published(name), "--output", folder});
        for (const char* component : {"", "--component joined"}) {
            if (*component != 0 && std::string(name) != "chrombpnet.h5") continue;
            const std::string more = std::string("--output - ") + component;
            const std::vector<std::string> of_folder{"predict",        "--model",          folder,
                                                     "--reference",    rows / "genome.fa", "--regions",
                                                     rows / "rows.bed"};
            DOCTEST_CHECK(table(run_program(joined(of_folder, words_of(more)))) ==
                          table(rows.predict(name, more)));
        }
    }
}
