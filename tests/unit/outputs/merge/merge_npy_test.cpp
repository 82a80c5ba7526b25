// SPDX-License-Identifier: Apache-2.0
#include "support/testing.hpp"
#include "unit/outputs/merge/merged_parts.hpp"

#include "bigbird/core/formats/npy_header.hpp"

using namespace bigbird;
using namespace bigbird::testing;

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
