// SPDX-License-Identifier: Apache-2.0
#include "bigbird/outputs/merge/merge_scores.hpp"

#include "support/testing.hpp"
#include "unit/outputs/merge/merged_parts.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/formats/npy_header.hpp"

#include <cstdint>
#include <cstring>

using namespace bigbird;
using namespace bigbird::testing;

DOCTEST_TEST_CASE("merge scores: an output of another format is refused") {
    const TempDir folder;
    const std::vector<Part> parts = open_parts(write_parts(folder, ".tsv", 10, 2), 1);
    for (const char* name : {"m.h5", "m.long.tsv", "m.txt", "-"}) {
        const auto path = std::string(name) == "-" ? std::filesystem::path("-") : folder / name;
        DOCTEST_CHECK(message_of<ConfigError>([&] {
                          outputs::merge_scores(parts, path, Overwrite::refuse, 1);
                      }).find("the parts are of the format table") != std::string::npos);
    }
}

DOCTEST_TEST_CASE("merge scores: an output that exists stays") {
    const TempDir folder;
    const std::vector<Part> parts = open_parts(write_parts(folder, ".tsv", 10, 2), 1);
    write_file(folder / "m.tsv", "mine");
    DOCTEST_CHECK_THROWS_AS(outputs::merge_scores(parts, folder / "m.tsv", Overwrite::refuse, 1),
                            ConfigError);
    DOCTEST_CHECK(read_file(folder / "m.tsv") == "mine");
}

DOCTEST_TEST_CASE("merge lines: tables and long tables have the bytes of one run") {
    for (const char* ending : {".tsv", ".tsv.gz", ".csv", ".csv.gz", ".long.tsv", ".long.tsv.gz"}) {
        DOCTEST_CAPTURE(ending);
        for (const std::int64_t count : {1, 2, 3, 7})
            DOCTEST_CHECK(merges(ending, 2000, count));
        DOCTEST_CHECK(merges(ending, 3, 5));  // two parts are empty
        DOCTEST_CHECK(merges(ending, 0, 2));
    }
}

DOCTEST_TEST_CASE("merge lines: a part says which part it is") {
    const TempDir folder;
    write_scores(folder / "p.tsv", 10, Shard{1, 2});
    DOCTEST_CHECK(read_file(folder / "p.tsv").find("\n##shard=1/2\n#chrom") != std::string::npos);
}

DOCTEST_TEST_CASE("merge lines: a record of other lines than there are") {
    for (const char* ending : {".tsv", ".tsv.gz", ".csv"}) {
        DOCTEST_CAPTURE(ending);
        check_miscounts(ending, "holds other lines than its .part.json counts");
    }
}

DOCTEST_TEST_CASE("merge npy: matrix and side tables have the bytes of one run") {
    for (const std::int64_t count : {1, 2, 5}) {
        const TempDir folder;
        write_scores(folder / "whole.npy", 1500, std::nullopt);
        const auto paths = write_parts(folder, ".npy", 1500, count);
        outputs::merge_scores(open_parts(paths, 1), folder / "merged.npy", Overwrite::refuse, 1);
        for (const char* ending : {".npy", ".rows.tsv", ".labels.tsv"}) {
            DOCTEST_CAPTURE(ending);
            DOCTEST_CHECK(read_file(folder / (std::string("whole") + ending)) ==
                          read_file(folder / (std::string("merged") + ending)));
        }
    }
}

DOCTEST_TEST_CASE("merge npy: a record of other rows than there are") {
    check_miscounts(".npy", "is not the matrix of ");
}

DOCTEST_TEST_CASE("merge npy: numbers of another type, order or shape are refused, not read as float32") {
    const TempDir folder;
    std::vector<Part> parts = open_parts(write_parts(folder, ".npy", 100, 2), 1);
    const std::string whole = read_file(folder / "part2.npy"), header = npy_header("<f4", 50, 2);
    DOCTEST_REQUIRE(whole.starts_with(header));
    const auto refused = [&](const std::string& content) {
        write_file(folder / "part2.npy", content);
        const std::string message = refusal_of_second(folder, parts, ".npy");
        DOCTEST_CHECK(message.find("part2.npy: is not the matrix of 50 rows and 2 columns of float32 that "
                                   "its .part.json counts: one of the two was changed") != std::string::npos);
    };
    const std::string numbers = whole.substr(header.size());
    for (const char* type : {"<f8", ">f4", "<i4", "<f2"})
        refused(npy_header(type, 50, 2) + numbers);
    std::string columns_first = whole;
    columns_first.replace(columns_first.find("False"), 5, "True ");
    refused(columns_first);
    refused(npy_header("<f4", 25, 4) + numbers);
    refused(whole + "more");
    refused("");
}

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
