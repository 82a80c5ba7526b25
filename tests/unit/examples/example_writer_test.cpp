// SPDX-License-Identifier: Apache-2.0
#include "bigbird/examples/example_writer.hpp"

#include "support/temp_dir.hpp"
#include "support/testing.hpp"

#include "bigbird/core/error.hpp"

using namespace bigbird;
using namespace bigbird::rows;
using namespace bigbird::examples;

namespace {

ExampleRow bin(std::int64_t begin, std::int64_t end, Split split) {
    ExampleRow row;
    row.where = genome::Interval{"1", begin, end};
    row.split = split;
    return row;
}

}  // namespace

DOCTEST_TEST_CASE("example_writer: counts rows by split and says them in the manifest") {
    const testing::TempDir folder;
    ExampleWriter writer(folder.path(), Task::chromatin, {-4, 4}, 1);
    const std::vector<std::uint8_t> yes{1};
    writer.add(bin(0, 8, Split::test), yes);
    writer.add(bin(8, 16, Split::train), yes);
    writer.add(bin(16, 24, Split::test), yes);
    DOCTEST_CHECK(writer.rows() == 3);
    DOCTEST_CHECK(writer.rows(Split::test) == 2);
    writer.finish(LabelTable({{"TF", "A", -1}}), {{"contigs", {{{"name", "1"}, {"length", 24}}}}});
    const Json manifest = read_json(folder / "manifest.json");
    DOCTEST_CHECK(manifest["format"] == "bigbird-dna examples");
    DOCTEST_CHECK(manifest["rows"] == 3);
    DOCTEST_CHECK(manifest["splits"] == Json{{"train", 1}, {"validation", 0}, {"test", 2}});
    DOCTEST_CHECK(manifest["contigs"][0]["length"] == 24);
    DOCTEST_CHECK(testing::read_file(folder / "labels.tsv") ==
                  "index\tgroup\tname\tpositives\n0\tTF\tA\t3\n");
}

DOCTEST_TEST_CASE("example_writer: a file has its checksum, a pipe has none") {
    const testing::TempDir folder;
    testing::write_file(folder / "abc", "abc");
    DOCTEST_CHECK(checksum_of_input(folder / "abc") ==
                  "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    DOCTEST_CHECK(checksum_of_input("-").is_null());
    DOCTEST_CHECK(checksum_of_input("/dev/null").is_null());
}

DOCTEST_TEST_CASE("example_writer: a folder that is not there is a write error") {
    const testing::TempDir folder;
    DOCTEST_CHECK_THROWS_AS(ExampleWriter(folder / "none", Task::chromatin, {-4, 4}, 1), WriteError);
}
