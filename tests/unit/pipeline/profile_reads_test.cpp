// SPDX-License-Identifier: Apache-2.0
#include "bigbird/pipeline/profile_reads.hpp"

#include "support/testing.hpp"

#include <array>

using namespace bigbird;
using namespace bigbird::tasks;
using bigbird::testing::holds;

DOCTEST_TEST_CASE("profile_reads: reads by what became of them, the shift, and its logo") {
    const std::array paths{std::filesystem::path("a/x.bam"), std::filesystem::path("b/y.bed")};
    std::array<examples::SignalRead, 2> files;
    files[0].reads = examples::ReadCounts{.all = 30, .duplicates = 4, .counted = 26};
    files[0].shift = examples::ShiftFound{
        .in_file = {4, -5}, .applied = {0, 1}, .clear = true, .margin = 0.5, .sites = 12};
    for (auto& place : files[0].shift->logo)
        place = {1, 1, 1, 1};
    files[0].shift->logo[20] = {2, 0, 2, 0};  // one bit
    files[1].rows = 7;
    const examples::SignalReading how{.begin_shift = 4, .end_shift = -4};
    const std::string html = reads_html(paths, files, how);
    DOCTEST_CHECK(holds(html, "<th>file</th><th>reads</th><th>counted, or rows</th><th>duplicates</th><th>"));
    DOCTEST_CHECK(holds(html,
                        "<td class=text>x.bam</td><td>30</td><td>26</td><td>4</td><td class=text>0,1 "
                        "(found: ends have 4,-5; 12 sites per strand, margin 0.50 bits)</td>"));
    DOCTEST_CHECK(
        holds(html, "<td class=text>y.bed</td><td></td><td>7</td><td></td><td class=text>4,-4</td>"));
    DOCTEST_CHECK(!holds(html, "secondary"));
    // The one place with information fills the height, half by A.
    DOCTEST_CHECK(holds(html, "number 21; full height: 1.00 bits"));
    DOCTEST_CHECK(holds(html, "translate(280.5 30.0) scale(0.130 0.3000)"));
}
