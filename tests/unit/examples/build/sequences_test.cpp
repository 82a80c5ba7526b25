// SPDX-License-Identifier: Apache-2.0
#include "bigbird/examples/build/sequences.hpp"

#include "support/captured_log.hpp"
#include "support/temp_dir.hpp"
#include "support/testing.hpp"

#include "bigbird/core/error.hpp"

#include <map>

using namespace bigbird;
using namespace bigbird::examples;
namespace fs = std::filesystem;

namespace {

struct Build {
    testing::TempDir folder;
    SequencesOptions options;

    fs::path file(const char* name, const std::string& text) const {
        testing::write_file(folder / name, text);
        return folder / name;
    }
    ExampleSet build() const {
        fs::remove_all(folder / "e");
        fs::create_directory(folder / "e");
        build_sequences(options, folder / "e");
        return ExampleSet::load(folder / "e");
    }
    /// What an InputError says, without the folder.
    std::string message() const {
        std::string what = testing::message_of<InputError>([&] { build(); });
        const std::string path = folder.path().string() + "/";
        for (std::size_t at = 0; (at = what.find(path)) != std::string::npos;)
            what.erase(at, path.size());
        return what;
    }
    std::string message_of(const std::string& table) {
        options.table = file("t.csv", table);
        return message();
    }
};

}  // namespace

DOCTEST_TEST_CASE("sequences: tables of the splits become classes in the order of their numbers") {
    Build build;
    build.options.table = build.file("train.csv", "sequence,label\nACGU,10\nTT,9\nGGN,10\nA,9\n");
    build.options.validation = build.file("dev.tsv", "sequence\tlabel\nCC\t9\n");
    build.options.test = build.file("test.csv", "label,sequence\n10,acgt\n");
    const ExampleSet examples = build.build();
    DOCTEST_CHECK(examples.target() == TargetKind::classes);
    DOCTEST_REQUIRE(examples.size() == 6);
    DOCTEST_CHECK(examples.label_table()[0].name == "9");
    DOCTEST_CHECK(examples.class_of(0) == 1);
    DOCTEST_CHECK(examples.sequence(0) == "ACGT");
    DOCTEST_CHECK(examples.row(4).name == "1");
    DOCTEST_CHECK(examples.split(4) == Split::validation);
    DOCTEST_CHECK(examples.sequence(5) == "ACGT");
    const Json& statistics = examples.manifest()["statistics"];
    DOCTEST_CHECK(statistics["lengths"] == Json{{"shortest", 1}, {"median", 3}, {"longest", 4}});
    DOCTEST_CHECK(statistics["letters"]["N"] == 1);
    DOCTEST_CHECK(statistics["balance"]["train"][0] == Json{{"name", "9"}, {"rows", 2}});
    DOCTEST_CHECK(statistics["overlap_with_train"]["test"] ==
                  Json{{"rows", 1}, {"in_train", 1}, {"share_31mer", 0}});
}

DOCTEST_TEST_CASE("sequences: FASTA files are classes, or have their labels in a table") {
    Build build;
    build.options.fasta = {build.file("pos.fa", ">a\nAC\n>b\nGG\n"),
                           build.file("neg.fasta", ">c\nT\n>d\nTT\n")};
    const ExampleSet classes = build.build();
    DOCTEST_CHECK(classes.label_table()[0].name == "neg");
    DOCTEST_CHECK(classes.class_of(0) == 1);
    DOCTEST_CHECK(classes.row(3).name == "d");
    build.options.table =
        build.file("t.tsv",
                   "id\tx\ty\tset\tgroup\nd\t1\t-2.5\ttest\tg1\na\t0\t3\ttrain\tg2\nb\t1e3\t0\tval\t\n"
                   "c\t0\t0\ttrain\tg1\nz\t0\t0\ttrain\tg1\n");
    build.options.labels = "y,x";
    build.options.target = TargetKind::numbers;
    build.options.split_by = "column:set";
    build.options.group_column = "group";
    const ExampleSet numbers = build.build();
    DOCTEST_CHECK(numbers.target() == TargetKind::numbers);
    DOCTEST_REQUIRE(numbers.size() == 4);
    DOCTEST_CHECK(numbers.numbers(1)[1] == 1000);
    DOCTEST_CHECK(numbers.split(3) == Split::test);
    DOCTEST_CHECK(numbers.numbers(3)[0] == -2.5F);
    DOCTEST_CHECK(numbers.group(3) == "g1");
    DOCTEST_CHECK(numbers.group(1) == ".");
    build.options.target.reset();
    DOCTEST_CHECK(build.message() == "t.tsv:3: has '3' as label 'y', which is neither 0 nor 1");
    build.options.labels.clear();
    build.options.label_column = "group";
    build.options.group_column.clear();
    DOCTEST_CHECK(
        build.message() ==
        "t.tsv:4: has '' as its class, a missing value of R or pandas: delete such rows, or give the "
        "class another name");
    build.options.fasta.push_back(build.file("more.fa", ">q\nAC\n"));
    DOCTEST_CHECK(build.message() == "more.fa:1: has the id 'q', which is not in t.tsv");
    build.options.fasta.back() = build.file("more.fa", ">a\nAC\n");
    DOCTEST_CHECK(build.message() == "more.fa:1: has the id 'a' again; ids must differ");
}

DOCTEST_TEST_CASE("sequences: groups and similar records stay on one side") {
    Build build;
    std::string table = "sequence,label,family\n";
    for (int i = 0; i < 200; ++i)
        table += std::string(static_cast<std::size_t>(20 + i % 5), 'A') + "," + std::to_string(i % 2) + ",f" +
                 std::to_string(i % 23) + "\n";
    build.options.table = build.file("t.csv", table);
    build.options.split_by = "fraction:0.5,0.25,0.25";
    build.options.group_column = "family";
    const ExampleSet examples = build.build();
    std::map<std::string, Split> splits;
    for (std::int64_t i = 0; i < examples.size(); ++i)
        DOCTEST_CHECK(splits.emplace(examples.group(i), examples.split(i)).first->second ==
                      examples.split(i));
    DOCTEST_CHECK(!examples.rows(Split::test).empty());
    build.options.split_by = "similarity:0.5,0.25,0.25";  // all share their only 16-mer
    DOCTEST_CHECK(build.build().rows(Split::train).size() == 200);
}

DOCTEST_TEST_CASE("sequences: classes are files of FASTA or of a sequence per line") {
    Build build;
    build.options.fasta = {build.file("pos.txt", "ACGTACGT\nACGTACGG\n"),
                           build.file("neg.fa", ">1\nCCCC\nGGGG\n>2\nCCCCAAAA\n>1\nCC\n")};
    const ExampleSet examples = build.build();
    DOCTEST_REQUIRE(examples.size() == 5);
    DOCTEST_CHECK(examples.label_table()[1].name == "pos");
    DOCTEST_CHECK(examples.row(0).name == "pos.1");
    DOCTEST_CHECK(examples.row(2).name == "1");
    DOCTEST_CHECK(examples.row(4).name == "neg.3");  // its id is the first record's
    DOCTEST_CHECK(examples.centred(1, 8) == "ACGTACGG");
}

DOCTEST_TEST_CASE("sequences: files name their classes up to their known endings, and no two alike") {
    Build build;
    fs::create_directory(build.folder / "B");
    build.options.fasta = {build.file("K562.pos.fa", ">a\nAC\n>b\nGG\n"),
                           build.file("K562.neg.fasta", ">c\nT\n>d\nTT\n"),
                           build.file("NA.fa", ">e\nA\n>f\nG\n")};
    const ExampleSet examples = build.build();
    for (std::size_t i = 0; i < 3; ++i)
        DOCTEST_CHECK(examples.label_table()[i].name == (std::array{"K562.neg", "K562.pos", "NA"})[i]);
    build.options.fasta[2] = build.file("B/K562.pos.fna", ">e\nA\n>f\nG\n");
    const std::string what = testing::message_of<ConfigError>([&] { build.build(); });
    DOCTEST_CHECK(what == build.options.fasta[0].string() + " and " + build.options.fasta[2].string() +
                              " are both called 'K562.pos': rename one or join them, if they are one class");
}

DOCTEST_TEST_CASE("sequences: a missing group is none, as an empty one is, and the header can be forced") {
    Build build;
    build.options.table = build.file("t.tsv", "1\tACGT\tNA\n1\tAC\tg\n2\tGG\t\n2\tTT\tg\n");
    build.options.sequence_column = "2";
    build.options.label_column = "1";
    build.options.group_column = "3";
    const ExampleSet examples = build.build();
    DOCTEST_REQUIRE(examples.size() == 4);
    for (std::int64_t i = 0; i < 4; ++i)
        DOCTEST_CHECK(examples.group(i) == (i % 2 == 0 ? "." : "g"));
    build.options.header = true;
    DOCTEST_CHECK(build.message() ==
                  "t.tsv:2: has the only record of class '1': a class needs two; for numbers "
                  "give --target number");
}

DOCTEST_TEST_CASE("sequences: what is wrong with a table is said with file and line") {
    Build build;
    const std::string head = "id,sequence,label\n";
    DOCTEST_CHECK(build.message_of(head) == "t.csv: holds no sequences");
    DOCTEST_CHECK(build.message_of(head + "a,ACGT,x\nb,,y\n") == "t.csv:3: has an empty sequence");
    DOCTEST_CHECK(build.message_of(head + "a,ACGT,x\na,AC,x\n") ==
                  "t.csv:3: has the id 'a' of t.csv:2 again; ids must differ");
    DOCTEST_CHECK(build.message_of(head + "a,AC,x\nb,AC,x\nc,AC,y\n") ==
                  "t.csv:4: has the only record of class 'y': a class needs two; for numbers give --target "
                  "number");
    DOCTEST_CHECK(build.message_of(head + "a,AC,x\nb,AC,x\n") == "t.csv: has one class only, 'x'");
    for (const std::string word : {"NA", "<NA>", "None", "nan"}) {
        DOCTEST_CHECK(
            build.message_of(head + "a,AC,x\nb,AC,\"" + word + "\"\n") ==
            "t.csv:3: has '" + word +
                "' as its class, a missing value of R or pandas: delete such rows, or give the class "
                "another name");
    }
    DOCTEST_CHECK(
        build.message_of(head + "a,MKLLIE,x\nb,AC,x\n") ==
        "t.csv: 4 of 8 letters stand for no nucleotide, the first 'L' in line 2: are these proteins?");
    DOCTEST_CHECK(build.message_of(">a\nAC\n") == "t.csv: is FASTA: give it as --fasta");
    std::string many = head;
    for (int i = 0; i < 2002; ++i)
        many += std::to_string(i) + ",AC," + std::to_string(i / 2) + "\n";
    DOCTEST_CHECK(build.message_of(many) ==
                  "t.csv:2002: has class number 1001, '1000': at most 1000 are learned; "
                  "for numbers give --target number");
    build.options.test = build.file("test.csv", head + "a,AC,z\nb,AC,z\n");
    DOCTEST_CHECK(build.message_of(head + "a,AC,x\nb,AC,x\n") ==
                  "test.csv:2: has class 'z' in test, which train lacks");
    build.options.test.clear();
    build.options.target = TargetKind::numbers;
    for (const char* text : {"nan", "", "inf", "1e39", "one"}) {
        DOCTEST_CHECK(build.message_of(head + "a,AC,1\nb,AC," + text + "\n") ==
                      "t.csv:3: has '" + std::string(text) +
                          "' as 'label', which is no finite number: delete such rows");
    }
    build.options.split_by = "column:id";
    DOCTEST_CHECK(build.message_of(head + "a,AC,1\n") ==
                  "t.csv:2: has 'a' in column 'id'; it takes train, validation or test");
    DOCTEST_CHECK(build.message_of(head + "test,AC,1\n") == "t.csv: leaves no record for training");
}

DOCTEST_TEST_CASE("sequences: a class is written in one way, and torn groups are told") {
    Build build;
    const std::string head = "sequence,label,gene\n";
    const std::pair<const char*, const char*> spellings[] = {{"1", "1.0"}, {"enh", "enh "}, {"7", " 07"}};
    for (const auto& [one, other] : spellings)
        DOCTEST_CHECK(build.message_of(head + "AC," + one + ",a\nAC,x,a\nAC," + other + ",a\n") ==
                      "t.csv:4: has class '" + std::string(other) + "', and " +
                          (build.folder / "t.csv").filename().string() + ":2 '" + one +
                          "': write one class in one way");
    build.options.group_column = "gene";
    build.options.table = build.file("t.csv", head + "AC,x,a\nAG,y,b\nAT,x,b\nCC,y,c\nCG,y,\n");
    build.options.test = build.file("u.csv", head + "GG,x,b\nGT,y,c\nTT,y,d\nTA,x,\n");
    const testing::CapturedLog log;
    build.build();
    DOCTEST_CHECK(testing::holds(log.text(), "in several splits: 2 groups with 5 records, such as 'b'; "));
}

DOCTEST_TEST_CASE("sequences: options that do not go together are refused") {
    const auto message = [](const SequencesOptions& options) {
        return testing::message_of<ConfigError>([&] { options.validate(); });
    };
    DOCTEST_CHECK(message({}) == "--table or --fasta is needed");
    DOCTEST_CHECK(message({.fasta = {"a"}}) ==
                  "--fasta takes a file per class, or --table of ids and labels");
    DOCTEST_CHECK(message({.fasta = {"a", "b"}, .target = TargetKind::numbers}) ==
                  "--fasta with a file per class has no columns: leave out --label-column, --target and "
                  "--group-column, or give --table");
    DOCTEST_CHECK(message({.table = "t", .labels = "a,b", .target = TargetKind::classes}) ==
                  "--target classes takes one --label-column");
    DOCTEST_CHECK(message({.table = "t", .test = "u", .split_by = "fraction"}) ==
                  "--split-by is for one table: leave out --validation and --test");
    DOCTEST_CHECK(message({.fasta = {"a", "b"}, .split_by = "column:x"}) ==
                  "--split-by column:x needs --table");
}
