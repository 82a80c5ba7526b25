// SPDX-License-Identifier: Apache-2.0
#include "bigbird/outputs/merge/merge_scores.hpp"

#include "support/testing.hpp"
#include "unit/outputs/merge/merged_parts.hpp"

#include "bigbird/core/error.hpp"

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
