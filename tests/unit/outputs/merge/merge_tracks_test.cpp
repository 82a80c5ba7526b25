// SPDX-License-Identifier: Apache-2.0
#include "support/testing.hpp"
#include "unit/outputs/merge/merged_parts.hpp"

#include "bigbird/core/error.hpp"

#include <cstdint>
#include <cstring>

using namespace bigbird;
using namespace bigbird::testing;

namespace {

/// Rows of 300 bp every 200 bp.
genome::Interval overlapping(std::int64_t i, std::int64_t) {
    return {"2", 200 * i, 200 * i + 300};
}

/// The place in a bigWig of the highest byte of the id of the first contig that it names. The place of the
/// tree of names stands at 8 and, 8 bytes into the tree, the length of a name; names follow 36 bytes in.
std::size_t place_of_contig_id(const std::string& bytes) {
    std::uint64_t tree = 0;
    std::memcpy(&tree, bytes.data() + 8, sizeof tree);
    std::uint32_t name_size = 0;
    std::memcpy(&name_size, bytes.data() + tree + 8, sizeof name_size);
    return tree + 36 + name_size + 3;
}

}  // namespace

DOCTEST_TEST_CASE("merge tracks: the bytes of one run") {
    for (const char* ending : {".bedgraph", ".bedgraph.gz", ".bw"}) {
        DOCTEST_CAPTURE(ending);
        for (const std::int64_t count : {1, 2, 5})
            DOCTEST_CHECK(merges(ending, 1200, count));
    }
}

DOCTEST_TEST_CASE("merge tracks: more segments of a contig than come at once") {
    const auto on_one = [](std::int64_t i, std::int64_t) { return genome::Interval{"2", 3 * i, 3 * i + 3}; };
    DOCTEST_CHECK(merges(".bw", 200'000, 2, outputs::Overlap::mean, on_one));
}

DOCTEST_TEST_CASE("merge tracks: a bigWig that is none, and one on which the library crashes") {
    const TempDir folder;
    const std::vector<Part> parts = open_parts(write_parts(folder, ".bw", 100, 2), 1);
    std::string bytes = read_file(folder / "part2.bw");
    write_file(folder / "part2.bw", "no bigWig");
    DOCTEST_CHECK(refusal_of_second(folder, parts, ".bw").ends_with("part2.bw: is no bigWig"));
    bytes.at(place_of_contig_id(bytes)) = '\x7f';  // which the library writes to memory by
    write_file(folder / "part2.bw", bytes);
    DOCTEST_CHECK(refusal_of_second(folder, parts, ".bw")
                      .ends_with("part2.bw: is damaged: the library that reads it ended by signal 11 "
                                 "(Segmentation fault)"));
}

DOCTEST_TEST_CASE("merge tracks: the largest of rows that overlap can be merged, their mean cannot") {
    DOCTEST_CHECK(merges(".bedgraph", 1200, 1, outputs::Overlap::mean, overlapping));
    const TempDir folder;
    const auto paths = write_parts(folder, ".bw", 1200, 2, outputs::Overlap::mean, overlapping);
    const std::string message = message_of<InputError>(
        [&] { outputs::merge_scores(open_parts(paths, 1), folder / "m.bw", Overwrite::refuse, 1); });
    DOCTEST_CHECK(message.find("rows of two parts overlap at 2:") != std::string::npos);
}
