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
                             });
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
