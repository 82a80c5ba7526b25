// SPDX-License-Identifier: Apache-2.0
#include "bigbird/examples/build/signals/read_signal.hpp"

#include "support/temp_dir.hpp"
#include "support/testing.hpp"

#include "bigbird/core/error.hpp"

using namespace bigbird;
using namespace bigbird::examples;
using namespace bigbird::testing;

namespace {

/// A file's sum over all bases, and how much it holds.
struct Total {
    double sum = 0;
    std::int64_t read = 0;
};

Total total_of(const std::filesystem::path& path, const SignalReading& how = {}) {
    const auto reference = genome::open_reference(test_data("genome/yeast.fa.gz"));
    Total total;
    total.read = read_signal(path, *reference, how,
                             [&](std::size_t, std::int64_t begin, std::int64_t end, double value) {
                                 total.sum += value * static_cast<double>(end - begin);
                             })
                     .rows;
    return total;
}

}  // namespace

DOCTEST_TEST_CASE("read_signal: a bigWig holds what fragments cover, and fragments have two ends") {
    const Total ends = total_of(test_data("tracks/yeast.bedpe.gz"));
    DOCTEST_CHECK(ends.read == 13765);
    DOCTEST_CHECK(ends.sum == 2 * 13765);
    const Total covered = total_of(test_data("tracks/yeast.bedpe.gz"), {.counted = Counted::fragments});
    DOCTEST_CHECK(covered.sum == total_of(test_data("tracks/yeast.bw")).sum);
}

DOCTEST_TEST_CASE("read_signal: both reads of a BEDPE are one fragment, lines of browsers are none") {
    const TempDir folder;
    write_file(folder / "x.bedpe", "track name=x\n#contig\nI\t100\t150\tI\t220\t270\tpair\n");
    DOCTEST_CHECK(total_of(folder / "x.bedpe", {.counted = Counted::fragments}).sum == 170);
    write_file(folder / "x.bdg", "browser position I\nI\t0\t10\t0.5\nI\t10\t12\t2\n");
    DOCTEST_CHECK(total_of(folder / "x.bdg").sum == 9);
}

DOCTEST_TEST_CASE("read_signal: contigs called as lines of browsers, and columns separated by blanks") {
    const TempDir folder;
    const auto reference =
        genome::in_memory_genome({{"track", std::string(50, 'A')}, {"track1", "ACGTACGT"}});
    write_file(folder / "x.bdg",
               "browser hide all\ntrack type=bedGraph name=\"a b\"\n  \ntrack 10  20 1\ntrack1\t1\t3\t5\n");
    double sum = 0;
    read_signal(folder / "x.bdg", *reference, {},
                [&](std::size_t contig, std::int64_t begin, std::int64_t end, double value) {
                    sum += (contig == 0 ? 1 : 100) * value * static_cast<double>(end - begin);
                });
    DOCTEST_CHECK(sum == 10 + 1000);
}

DOCTEST_TEST_CASE("read_signal: fragments with any columns are no pairs, those of BEDPE are by any name") {
    const TempDir folder;
    const auto bases_of = [&](const std::string& name, const std::string& text) {
        write_file(folder / name, text);
        return total_of(folder / name, {.counted = Counted::fragments}).sum;
    };
    DOCTEST_CHECK(bases_of("x.tsv", "I\t10\t20\tACGT-1\t3\t60\nI\t10\t20\tACGT-1\t3\t.\t+\n") == 20);
    DOCTEST_CHECK(bases_of("x.bed", "I\t10\t20\t.\t0\t60\nI\t10\t20\tII\t3\t+\n") == 20);
    const std::string pairs = "I\t10\t20\tI\t60\t70\nI\t10\t20\tVI\t60\t70\nI\t10\t20\t.\t-1\t-1\n";
    DOCTEST_CHECK(bases_of("x.tsv", pairs) == 60);
    DOCTEST_CHECK(bases_of("x.bedpe", pairs + "I\t10\t20\tother\t60\t70\n") == 60);
    DOCTEST_CHECK(testing::holds(message_of<InputError>([&] { bases_of("y.bedpe", "I\t10\t20\tI\t.\t+\n"); }),
                                 "y.bedpe:1: has no coordinate in column 5"));
}

DOCTEST_TEST_CASE("read_signal: bedGraph that is called .bed or .tsv is refused, not counted as fragments") {
    const TempDir folder;
    const auto read_of = [&](const std::string& name, const std::string& text) {
        write_file(folder / name, text);
        return total_of(folder / name).read;
    };
    for (const char* text : {"I\t0\t10\t3\nI\t10\t12\t2\nII\t0\t9\t1e-3\n", "I\t0\t10\t3\t0.5\n",
                             "track type=bedGraph\nII\t5\t9\t-1\nother\t0\t9\tname\nI\t5\t9\t0\n"}) {
        for (const char* name : {"x.bed", "x.tsv"})
            DOCTEST_CHECK(testing::holds(message_of<InputError>([&] { read_of(name, text); }),
                                         std::string(name) + ": has a number in column 4 of every row"));
    }
    DOCTEST_CHECK(read_of("x.bed", "I\t0\t10\t3\nI\t9\t12\t2\n") == 2);   // they overlap
    DOCTEST_CHECK(read_of("x.bed", "I\t10\t12\t3\nI\t0\t10\t2\n") == 2);  // not sorted
    DOCTEST_CHECK(read_of("x.bed", "I\t0\t10\t3\nI\t10\t12\tread2\n") == 2);
    DOCTEST_CHECK(read_of("x.bed", "I\t0\t10\nI\t10\t12\n") == 2);
    DOCTEST_CHECK(read_of("x.bedpe", "I\t0\t10\tI\t20\t30\nI\t40\t50\tI\t60\t70\n") == 2);
}

DOCTEST_TEST_CASE("read_signal: what is wrong names the line") {
    const TempDir folder;
    const auto message = [&](const std::string& name, const std::string& text) {
        write_file(folder / name, text);
        return message_of<InputError>([&] { total_of(folder / name); });
    };
    DOCTEST_CHECK(
        testing::holds(message("x.bed", "I\t5\t5\n"), "x.bed:1: has a start that is not before its end"));
    DOCTEST_CHECK(testing::holds(message("x.bed", "I\t5\tend\n"), "x.bed:1: has no coordinate in column 3"));
    DOCTEST_CHECK(testing::holds(message("x.bw", "no bigWig"), "is no bigWig"));
}
