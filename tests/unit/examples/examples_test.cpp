// SPDX-License-Identifier: Apache-2.0
#include "bigbird/examples/examples.hpp"

#include "change_example.hpp"
#include "support/temp_dir.hpp"
#include "support/testing.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/examples/example_writer.hpp"
#include "bigbird/examples/two_bit.hpp"
#include "bigbird/genome/regions/bed.hpp"

#include <sys/stat.h>

using namespace bigbird;
using namespace bigbird::rows;
using namespace bigbird::examples;
using genome::Strand;
namespace fs = std::filesystem;

namespace {

void write_promoters(const fs::path& folder) {
    fs::create_directory(folder);
    ExampleWriter writer(folder, Task::promoter, {-4, 2}, 1);
    const std::vector<std::uint8_t> yes{1}, no{0};
    writer.add({{"22", 100, 101}, "P", Strand::reverse, Split::test}, yes);
    writer.add({{"22", 100, 101}, "P.negative", Strand::reverse, Split::test}, no, false);
    writer.add({{"X", 3, 4}, "Q", Strand::forward, Split::train}, yes);
    TwoBitWriter store(folder / "sequences.2bit", {"0", "1", "2"}, false);
    store.add("0", "ACGTNA");
    store.add("1", "CCCCCC");
    store.add("2", "NGGGGG");
    store.finish();
    writer.finish(LabelTable({{"promoter", "promoter", -1}}), {{"parameters", {{"seed", 7}}}});
}

void write_bins(const fs::path& folder) {
    fs::create_directory(folder);
    ExampleWriter writer(folder, Task::chromatin, {-3, 3}, 9);
    BitRows labels(9);
    labels.resize(3);
    labels.set(0, 0);
    labels.set(1, 0);
    labels.set(1, 8);
    writer.add({.where = {"1", 0, 2}, .split = Split::train}, labels.row(0));
    writer.add({.where = {"1", 2, 4}, .split = Split::validation}, labels.row(1));
    writer.add({.where = {"2", 4, 6}, .split = Split::train}, labels.row(2));
    TwoBitWriter store(folder / "sequences.2bit", {"1", "2"}, false);
    store.add("1", "ACGTACGT");
    store.add("2", "TTTTTTTT");
    store.finish();
    std::vector<Label> table;
    for (int i = 0; i < 9; ++i)
        table.push_back({"TF", "L" + std::to_string(i), -1});
    writer.finish(LabelTable(table), Json::object());
}

}  // namespace

DOCTEST_TEST_CASE("examples: promoters read back as written") {
    const testing::TempDir folder;
    write_promoters(folder / "p");
    const ExampleSet examples = ExampleSet::load(folder / "p");
    DOCTEST_CHECK(examples.task() == Task::promoter);
    DOCTEST_REQUIRE(examples.size() == 3);
    DOCTEST_CHECK(examples.bounds() == WindowBounds{-4, 2});
    DOCTEST_CHECK(examples.manifest()["parameters"]["seed"] == 7);
    DOCTEST_CHECK(examples.manifest()["splits"]["test"] == 2);
    const ExampleRow negative = examples.row(1);
    DOCTEST_CHECK(negative.where == genome::Interval{"22", 100, 101});
    DOCTEST_CHECK(negative.name == "P.negative");
    DOCTEST_CHECK(negative.strand == Strand::reverse);
    DOCTEST_CHECK(examples.rows(Split::test) == std::vector<std::int64_t>{0, 1});
    DOCTEST_CHECK(examples.label(0, 0) == 1);
    DOCTEST_CHECK(examples.label(1, 0) == 0);
    DOCTEST_CHECK(examples.sequence(0) == "ACGTNA");
    DOCTEST_CHECK(examples.sequence(2) == "NGGGGG");
    DOCTEST_CHECK(examples.label_table()[0].positives == 2);
    DOCTEST_CHECK(testing::read_file(folder / "p/test.bed") == "22\t100\t101\tP\t.\t-\n");
    DOCTEST_CHECK(testing::read_file(folder / "p/validation.bed").empty());
    DOCTEST_CHECK(
        testing::read_file(folder / "p/sequences.bed").starts_with("22\t100\t101\ttest\t1\t-\tP\n"));
}

DOCTEST_TEST_CASE("examples: bins have windows cut from their contig, N beyond its ends") {
    const testing::TempDir folder;
    write_bins(folder / "c");
    const ExampleSet examples = ExampleSet::load(folder / "c");
    DOCTEST_CHECK(examples.task() == Task::chromatin);
    DOCTEST_CHECK(examples.sequence(0) == "NNACGT");
    DOCTEST_CHECK(examples.sequence(1) == "ACGTAC");
    DOCTEST_CHECK(examples.sequence(2) == "TTTTTT");
    DOCTEST_CHECK(examples.labels(1) == std::vector<std::uint8_t>{1, 0, 0, 0, 0, 0, 0, 0, 1});
    DOCTEST_CHECK(examples.positives(0, Split::train) == 1);
    DOCTEST_CHECK(examples.positives(0, Split::validation) == 1);
    DOCTEST_CHECK(examples.label_table()[0].positives == 2);
    DOCTEST_CHECK(testing::read_file(folder / "c/sequences.bed") ==
                  "1\t0\t2\ttrain\n1\t2\t4\tvalidation\n2\t4\t6\ttrain\n");
    DOCTEST_CHECK(genome::read_bed(folder / "c/train.bed").size() == 2);
}

DOCTEST_TEST_CASE(
    "examples: a folder that is none, of another version or damaged is refused with what to do") {
    const testing::TempDir folder;
    const auto message = [&] {
        return testing::message_of<InputError>([&] { ExampleSet::load(folder / "c"); });
    };
    fs::create_directory(folder / "c");
    DOCTEST_CHECK(testing::holds(message(), "is no folder of examples: it holds no manifest.json"));
    const auto fresh = [&] {
        fs::remove_all(folder / "c");
        write_bins(folder / "c");
    };
    fresh();
    testing::write_file(folder / "c/sequences.bed", "1\t0\t2\ttrain\n");
    DOCTEST_CHECK(testing::holds(message(), "labels.npy: is not the label matrix of 1 row and 9 labels"));
    testing::write_file(folder / "c/sequences.bed", "1\t0\t2\tlearn\n");
    DOCTEST_CHECK(testing::holds(message(), "sequences.bed:1: 'learn' is no split"));
    fresh();
    testing::write_file(folder / "c/sequences.bed", "1\t0\t2\ttrain\n1\t2\t4\ttrain\n3\t4\t6\ttrain\n");
    DOCTEST_CHECK(testing::holds(message(), "sequences.2bit: lacks contig '3'"));
    Json manifest = read_json(folder / "c/manifest.json");
    manifest["task"] = "tokens";
    testing::write_file(folder / "c/manifest.json", manifest.dump());
    DOCTEST_CHECK(testing::holds(message(), "is for the task 'tokens', which has no folders of examples"));
}

DOCTEST_TEST_CASE("examples: named pipes in place of files are refused, and not waited for") {
    const testing::TempDir folder;
    for (const char* name :
         {"manifest.json", "labels.tsv", "sequences.bed", "labels.npy", "sequences.2bit"}) {
        write_bins(folder / "c");
        fs::remove(folder / "c" / name);
        DOCTEST_REQUIRE(::mkfifo((folder / "c" / name).c_str(), 0600) == 0);
        DOCTEST_CHECK(testing::message_of<InputError>([&] { ExampleSet::load(folder / "c"); }) ==
                      (folder / "c" / name).string() + ": is a pipe, a file is needed");
        fs::remove_all(folder / "c");
    }
}

DOCTEST_TEST_CASE("examples: a file that was changed to other valid content is refused") {
    const testing::TempDir folder;
    write_bins(folder / "c");
    const std::string rows = testing::read_file(folder / "c/sequences.bed");
    testing::write_file(folder / "c/sequences.bed", "1\t0\t2\ttest\n" + rows.substr(rows.find('\n') + 1));
    DOCTEST_CHECK(testing::message_of<InputError>([&] { ExampleSet::load(folder / "c"); }) ==
                  (folder / "c/sequences.bed").string() +
                      ": was changed after the examples were made: its checksum is not manifest.json's; make "
                      "the examples again");
    testing::change_example(folder / "c/sequences.bed", rows);  // without checksums, as in older folders
    DOCTEST_CHECK(ExampleSet::load(folder / "c").split(0) == Split::train);
}

DOCTEST_TEST_CASE("examples: splits are known by name") {
    for (const Split split : {Split::train, Split::validation, Split::test})
        DOCTEST_CHECK(parse_split(to_string(split)) == split);
    DOCTEST_CHECK_THROWS_AS(parse_split("valid"), ConfigError);
}

DOCTEST_TEST_CASE(
    "examples: a manifest of other kinds of values, and coordinates of no contig, are input errors") {
    const testing::TempDir folder;
    const auto message = [&](const char* key, const Json& value) {
        fs::remove_all(folder / "c");
        write_bins(folder / "c");
        Json manifest = read_json(folder / "c/manifest.json");
        manifest[key] = value;
        write_json(folder / "c/manifest.json", manifest, Overwrite::allow);
        return testing::message_of<InputError>([&] { ExampleSet::load(folder / "c"); });
    };
    const std::string start = (folder / "c/manifest.json").string() + ": ";
    DOCTEST_CHECK(message("format", 7) == start + "does not describe examples of bigbird-dna");
    for (const Json& version : {Json("1"), Json(99)})
        DOCTEST_CHECK(message("format_version", version) ==
                      start + "is of another version of the format; make the examples again");
    DOCTEST_CHECK(message("window", "all").starts_with(start + "'all' is no window"));
    DOCTEST_CHECK(message("rows", 1000).starts_with(start + "names 1000 rows where sequences.bed has "));
    DOCTEST_CHECK(message("labels", 1000).starts_with(start + "names 1000 labels where labels.tsv has "));
    fs::remove_all(folder / "c");
    write_bins(folder / "c");
    testing::write_file(folder / "c/sequences.bed", "1\t0\t9223372036854775807\ttrain\n");
    DOCTEST_CHECK(testing::message_of<InputError>([&] { ExampleSet::load(folder / "c"); }) ==
                  (folder / "c/sequences.bed").string() + ":1: has no usable coordinates");
}
