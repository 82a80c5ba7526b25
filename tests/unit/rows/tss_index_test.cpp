// SPDX-License-Identifier: Apache-2.0
#include "bigbird/rows/tss_index.hpp"

#include "support/captured_log.hpp"
#include "support/temp_dir.hpp"
#include "support/testing.hpp"

#include "bigbird/core/error.hpp"

using namespace bigbird;
using namespace bigbird::testing;
using rows::TssIndex;

DOCTEST_TEST_CASE("tss_index: the nearest TSS whose window holds the interval") {
    const TempDir folder;
    const auto genome =
        genome::in_memory_genome({{"1", std::string(1000, 'A')}, {"2", std::string(50, 'A')}});
    write_file(folder / "t.bed",
               "chr1\t300\t301\tb\t.\t+\n1\t100\t101\ta\t.\t-\n1\t320\t321\t.\t.\t-\n3\t1\t2\tx\t.\t+\n");
    const TssIndex index(folder / "t.bed", *genome, {-50, 10});
    // a: [91, 151), b: [250, 310), the third [311, 371)
    DOCTEST_CHECK(index.nearest(0, 150, 151)->name == "a");
    DOCTEST_CHECK(index.nearest(0, 151, 152) == nullptr);
    DOCTEST_CHECK(index.nearest(0, 250, 251)->name == "b");
    DOCTEST_CHECK(index.nearest(0, 309, 310)->name == "b");
    DOCTEST_CHECK(index.nearest(0, 309, 312) == nullptr);
    DOCTEST_CHECK(index.nearest(0, 311, 312)->name == "1:321");
    DOCTEST_CHECK(index.nearest(1, 1, 2) == nullptr);
}

DOCTEST_TEST_CASE("tss_index: rows that cannot be") {
    const TempDir folder;
    const auto genome = genome::in_memory_genome({{"1", std::string(10, 'A')}});
    write_file(folder / "t.bed", "1\t3\t4\n");
    DOCTEST_CHECK(message_of<InputError>([&] {
                      TssIndex(folder / "t.bed", *genome, {-5, 5});
                  }) == (folder / "t.bed").string() + ":1: a TSS needs a strand, + or - in column 6");
    write_file(folder / "t.bed", "1\t30\t31\tx\t.\t+\n");
    DOCTEST_CHECK(message_of<InputError>([&] {
                      TssIndex(folder / "t.bed", *genome, {-5, 5});
                  }) == (folder / "t.bed").string() + ": no TSS lies on the reference");
}
