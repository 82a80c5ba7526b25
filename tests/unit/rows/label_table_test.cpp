// SPDX-License-Identifier: Apache-2.0
#include "bigbird/rows/label_table.hpp"

#include "support/temp_dir.hpp"
#include "support/testing.hpp"

#include "bigbird/core/error.hpp"

#include <algorithm>
#include <string>
#include <vector>

using namespace bigbird;
using namespace bigbird::rows;
using Indices = std::vector<std::size_t>;

namespace {

LabelTable some_labels() {
    return LabelTable({{"DHS", "K562|DNase|None", 10},
                       {"TF", "K562|CTCF|None", 20},
                       {"TF", "K562|CTCF|None", -1},
                       {"TF", "GM12878|CTCF|None", 5},
                       {"HM", "H1|H3K4me3|None", 0},
                       {"Pol2", "TF", 1}});
}

}  // namespace

DOCTEST_TEST_CASE("label_table: written and read, positives unknown where they are not said") {
    const testing::TempDir folder;
    testing::write_file(folder / "labels.tsv", some_labels().to_text());
    const LabelTable read = LabelTable::read(folder / "labels.tsv");
    DOCTEST_CHECK(read.to_text() == some_labels().to_text());
    DOCTEST_CHECK(read[2].positives == -1);
    DOCTEST_CHECK(read.groups() == std::vector<std::string>{"DHS", "TF", "HM", "Pol2"});
    testing::write_file(folder / "short.tsv", "index\tgroup\tname\n0\tTF\tA\n1\tTF\tB\n");
    DOCTEST_CHECK(LabelTable::read(folder / "short.tsv").size() == 2);
}

DOCTEST_TEST_CASE("label_table: faults are named with file and line") {
    const testing::TempDir folder;
    const auto message = [&](const std::string& text) {
        testing::write_file(folder / "l.tsv", text);
        return testing::message_of<InputError>([&] { LabelTable::read(folder / "l.tsv"); });
    };
    const std::string head = "index\tgroup\tname\tpositives\n";
    DOCTEST_CHECK(testing::holds(message("name\n"), "l.tsv:1: is no table of labels"));
    DOCTEST_CHECK(
        testing::holds(message(head + "0\tTF\tA\t1\n2\tTF\tB\t1\n"), "l.tsv:3: index '2' where 1 comes"));
    DOCTEST_CHECK(testing::holds(message(head + "0\tTF\tA\tmany\n"), "l.tsv:2: positives 'many'"));
    DOCTEST_CHECK(testing::holds(message(head + "0\tTF\n"), "l.tsv:2: a label needs"));
    DOCTEST_CHECK(testing::holds(message(head), "holds no labels"));
}

DOCTEST_TEST_CASE("label_table: repeated names get columns by unique id") {
    const LabelTable labels = some_labels();
    DOCTEST_CHECK(labels.column_name(0) == "K562|DNase|None");
    DOCTEST_CHECK(labels.column_name(1) == "001_K562_CTCF_None");
    DOCTEST_CHECK(labels.column_name(2) == "002_K562_CTCF_None");
}

DOCTEST_TEST_CASE("label_table: labels are chosen by index, range, group, name, id and pattern") {
    const LabelTable labels = some_labels();
    DOCTEST_CHECK(labels.select("") == Indices{0, 1, 2, 3, 4, 5});
    DOCTEST_CHECK(labels.select("4") == Indices{4});
    DOCTEST_CHECK(labels.select("0-2") == Indices{0, 1, 2});
    DOCTEST_CHECK(labels.select("DHS,HM") == Indices{0, 4});
    DOCTEST_CHECK(labels.select("H1|H3K4me3|None,0,0") == Indices{0, 4});
    DOCTEST_CHECK(labels.select("002_K562_CTCF_None") == Indices{2});
    DOCTEST_CHECK(labels.select("*CTCF*") == Indices{1, 2, 3});
    DOCTEST_CHECK(labels.select("K562|?????|None") == Indices{0});
    DOCTEST_CHECK(labels.select("group:TF") == Indices{1, 2, 3});
    DOCTEST_CHECK(labels.select("name:TF") == Indices{5});
}

DOCTEST_TEST_CASE("label_table: what is ambiguous or fits nothing is refused, and says what would do") {
    const LabelTable labels = some_labels();
    const auto message = [&](const char* selection) {
        return testing::message_of<ConfigError>([&] { labels.select(selection); });
    };
    DOCTEST_CHECK(message("K562|CTCF|None") ==
                  "the label selection 'K562|CTCF|None' is the name of labels 1, 2; choose by index or by "
                  "unique id, as "
                  "001_K562_CTCF_None");
    DOCTEST_CHECK(testing::holds(message("TF"), "is both a group and a name; write group:TF or name:TF"));
    DOCTEST_CHECK(testing::holds(message("6"), "is outside the labels 0-5"));
    DOCTEST_CHECK(message("3-1") ==
                  "the label selection '3-1' runs backwards; write the smaller index first");
    DOCTEST_CHECK(testing::holds(message("CTCF"), "fits no label"));
    DOCTEST_CHECK(testing::holds(message("ctcf"), "the nearest are 'K562|CTCF|None'"));
    DOCTEST_CHECK(testing::holds(message("ctcf"), "'bigbird-dna info --labels MODEL' lists all"));
}

DOCTEST_TEST_CASE("label_table: a name goes before an index, and may hold commas") {
    const LabelTable labels(
        {{"TF", "2", -1}, {"TF", "a,b", -1}, {"TF", "c", -1}, {"TF", "3", -1}, {"TF", "40", -1}});
    DOCTEST_CHECK(
        testing::message_of<ConfigError>([&] { labels.select("2"); }) ==
        "the label selection '2' is the name of label 0 and the index of label 'c'; write name:2 or "
        "index:2");
    DOCTEST_CHECK(labels.select("name:2") == Indices{0});
    DOCTEST_CHECK(labels.select("index:2") == Indices{2});
    DOCTEST_CHECK(labels.select("3") == Indices{3});
    DOCTEST_CHECK(labels.select("40,1") == Indices{1, 4});
    DOCTEST_CHECK(labels.select("a,b") == Indices{1});
    DOCTEST_CHECK(labels.select("c,name:a,b,3") == Indices{1, 2, 3});
}

DOCTEST_TEST_CASE("label_table: the labels of a strand pair name each other, in the file, too") {
    const LabelTable table({{".", "plus", 5, 2}, {".", "both", 6}, {".", "minus", 7, 0}});
    DOCTEST_CHECK(table.has_strand_pairs());
    DOCTEST_CHECK((table.on_other_strand(0) == 2 && table.on_other_strand(1) == 1));
    const testing::TempDir folder;
    testing::write_file(folder / "labels.tsv", table.to_text());
    DOCTEST_CHECK(table.to_text().find("index\tgroup\tname\tpositives\tstrand_pair\n") == 0);
    DOCTEST_CHECK(LabelTable::read(folder / "labels.tsv").to_text() == table.to_text());
    testing::write_file(folder / "half.tsv",
                        "index\tgroup\tname\tpositives\tstrand_pair\n0\t.\ta\t5\t1\n1\t.\tb\t6\t.\n");
    DOCTEST_CHECK_THROWS_AS(LabelTable::read(folder / "half.tsv"), InputError);
    DOCTEST_CHECK_THROWS_AS(LabelTable(std::vector<Label>{{".", "a", 5, 1}, {".", "b", 6}}), ConfigError);
    DOCTEST_CHECK_THROWS_AS(LabelTable(std::vector<Label>{{".", "a", 5, 1}}), ConfigError);
    DOCTEST_CHECK(!LabelTable(std::vector<Label>{{".", "a", 5}}).has_strand_pairs());
}

DOCTEST_TEST_CASE("label_table: DeepSEA's names keep their order and tell repeated ones apart") {
    std::vector<Label> labels;
    for (int i = 0; i < 919; ++i)
        labels.push_back({i < 125 ? "DHS" : i < 815 ? "TF" : "HM", "cell" + std::to_string(i % 844), -1});
    const LabelTable table(labels);
    std::vector<std::string> columns;
    for (std::size_t i = 0; i < table.size(); ++i)
        columns.push_back(table.column_name(i));
    std::sort(columns.begin(), columns.end());
    DOCTEST_CHECK(std::adjacent_find(columns.begin(), columns.end()) == columns.end());
    DOCTEST_CHECK(table.select("TF").size() == 690);
}
