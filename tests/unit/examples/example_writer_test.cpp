// SPDX-License-Identifier: Apache-2.0
#include "bigbird/examples/example_writer.hpp"

#include "change_example.hpp"
#include "support/temp_dir.hpp"
#include "support/testing.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/examples/examples.hpp"

using namespace bigbird;
using namespace bigbird::rows;
using namespace bigbird::examples;
namespace fs = std::filesystem;

DOCTEST_TEST_CASE("example_writer: counts rows by split and says them in the manifest") {
    const testing::TempDir folder;
    ExampleWriter writer(folder.path(), Task::chromatin, {-4, 4}, 1);
    const std::vector<std::uint8_t> yes{1};
    writer.add({.where = {"1", 0, 8}, .split = Split::test}, yes);
    writer.add({.where = {"1", 8, 16}, .split = Split::train}, yes);
    writer.add({.where = {"1", 16, 24}, .split = Split::test}, yes);
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

namespace {

const rows::LabelTable two_classes({{".", "0", -1}, {".", "donor site", -1}});

void write_classes(const fs::path& folder) {
    fs::create_directory(folder);
    write_sequence_examples(folder, TargetKind::classes, two_classes,
                            std::vector<SequenceExample>{
                                {"a", "g1", Split::train, "ACGTN", {1}, {}},
                                {"b", "g2", Split::test, "TTT", {0}, {}},
                                {"c", "g1", Split::train, "A", {1}, {}},
                            },
                            {{"parameters", {{"seed", 7}}}});
}

}  // namespace

DOCTEST_TEST_CASE("sequence_writer: records of classes read back with their own lengths") {
    const testing::TempDir folder;
    write_classes(folder / "e");
    const ExampleSet examples = ExampleSet::load(folder / "e");
    DOCTEST_CHECK(examples.task() == Task::sequences);
    DOCTEST_CHECK(examples.target() == TargetKind::classes);
    DOCTEST_REQUIRE(examples.size() == 3);
    DOCTEST_CHECK(examples.bounds() == rows::WindowBounds{-2, 3});
    DOCTEST_CHECK(examples.rows(Split::train) == std::vector<std::int64_t>{0, 2});
    DOCTEST_CHECK(examples.row(1).name == "b");
    DOCTEST_CHECK(examples.row(1).where == genome::Interval{"b", 0, 3});
    DOCTEST_CHECK(examples.group(2) == "g1");
    DOCTEST_CHECK(examples.class_of(0) == 1);
    DOCTEST_CHECK(examples.class_of(1) == 0);
    DOCTEST_CHECK(examples.labels(2) == std::vector<std::uint8_t>{0, 1});
    DOCTEST_CHECK(examples.positives(1, Split::train) == 2);
    DOCTEST_CHECK(examples.label_table()[1].name == "donor site");
    DOCTEST_CHECK(examples.label_table()[1].positives == 2);
    DOCTEST_CHECK(examples.sequence(0) == "ACGTN");
    DOCTEST_CHECK(examples.length(2) == 1);
    DOCTEST_CHECK(examples.centred(0, 3) == "CGT");
    DOCTEST_CHECK(examples.centred(1, 7) == "NNTTTNN");
    DOCTEST_CHECK(examples.centred(1, 2) == "TT");
    DOCTEST_CHECK(examples.manifest()["parameters"]["seed"] == 7);
    DOCTEST_CHECK(testing::read_file(folder / "e/records.tsv") ==
                  "#id\tsplit\tlength\tn_fraction\tgroup\tclass\na\ttrain\t5\t0.2\tg1\tdonor site\n"
                  "b\ttest\t3\t0\tg2\t0\nc\ttrain\t1\t0\tg1\tdonor site\n");
}

DOCTEST_TEST_CASE("sequence_writer: labels on their own and numbers have a column each") {
    const testing::TempDir folder;
    fs::create_directory(folder / "l");
    const rows::LabelTable labels({{".", "x", -1}, {".", "y", -1}});
    const std::vector<SequenceExample> labelled{{"a", ".", Split::train, "ACGT", {0, 1}, {}},
                                                {"b", ".", Split::train, "ACGA", {}, {}}};
    write_sequence_examples(folder / "l", TargetKind::labels, labels, labelled, Json::object());
    const ExampleSet both = ExampleSet::load(folder / "l");
    DOCTEST_CHECK(both.target() == TargetKind::labels);
    DOCTEST_CHECK(both.labels(0) == std::vector<std::uint8_t>{1, 1});
    DOCTEST_CHECK(both.labels(1) == std::vector<std::uint8_t>{0, 0});
    DOCTEST_CHECK(both.group(0) == ".");
    fs::create_directory(folder / "n");
    const std::vector<SequenceExample> numbered{{"a", ".", Split::train, "ACGT", {}, {1.5F, -2}},
                                                {"b", ".", Split::validation, "ACGA", {}, {0, 1e-7F}}};
    write_sequence_examples(folder / "n", TargetKind::numbers, labels, numbered, Json::object());
    const ExampleSet numbers = ExampleSet::load(folder / "n");
    DOCTEST_CHECK(numbers.target() == TargetKind::numbers);
    DOCTEST_CHECK(numbers.numbers(0)[1] == -2);
    DOCTEST_CHECK(numbers.numbers(1)[1] == 1e-7F);
    DOCTEST_CHECK(numbers.label_table()[0].positives == 2);
    DOCTEST_CHECK(testing::read_file(folder / "n/records.tsv")
                      .ends_with("x\ty\na\ttrain\t4\t0\t.\t1.5\t-2\nb\tvalidation\t4\t0\t.\t0\t1e-07\n"));
}

DOCTEST_TEST_CASE("sequence_writer: folders of sequences whose files do not agree are refused") {
    const testing::TempDir folder;
    const auto message = [&](const char* file, const std::string& text) {
        fs::remove_all(folder / "e");
        write_classes(folder / "e");
        testing::change_example(folder / "e" / file, text);
        return testing::message_of<InputError>([&] { ExampleSet::load(folder / "e"); });
    };
    const std::string head = "#id\tsplit\tlength\tn_fraction\tgroup\tclass\n";
    DOCTEST_CHECK(message("records.tsv", head)
                      .ends_with("labels.npy: is not the label matrix of 0 rows and 2 labels that the "
                                 "folder's other files describe; make the examples again"));
    DOCTEST_CHECK(
        message("records.tsv", "a\ttrain\t5\t0\t.\tx\n")
            .ends_with("records.tsv:1: does not begin with '#id split length n_fraction group ...'; "
                       "make the examples again"));
    DOCTEST_CHECK(message("records.tsv", head + "a\ttrain\t0\t0\t.\tx\n")
                      .ends_with("records.tsv:2: has no usable length"));
    DOCTEST_CHECK(message("records.tsv", head + "a\ttrain\t5\t0\t.\n")
                      .ends_with("records.tsv:2: has 5 columns where more than 5 are"));
    const std::string rest = "b\ttest\t3\t0\t.\tx\nc\ttrain\t1\t0\t.\tx\n";
    DOCTEST_CHECK(message("records.tsv", head + "a\ttrain\t6\t0\t.\tx\n" + rest)
                      .ends_with("sequences.2bit: has a record of another length than records.tsv says; make "
                                 "the examples again"));
    write_classes(folder / "f");
    std::string matrix = testing::read_file(folder / "f/labels.npy");
    matrix.back() = '\3';
    DOCTEST_CHECK(message("labels.npy", matrix).ends_with("labels.npy: gives row 2 not one class"));
    Json manifest = read_json(folder / "f/manifest.json");
    manifest["target"] = "words";
    write_json(folder / "f/manifest.json", manifest, Overwrite::allow);
    DOCTEST_CHECK(testing::message_of<InputError>([&] { ExampleSet::load(folder / "f"); }) ==
                  (folder / "f/manifest.json").string() + ": names no target that is known: 'words'");
}
