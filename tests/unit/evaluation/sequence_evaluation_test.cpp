// SPDX-License-Identifier: Apache-2.0
#include "support/temp_dir.hpp"
#include "support/testing.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/formats/checksum.hpp"
#include "bigbird/core/rng.hpp"
#include "bigbird/evaluation/evaluation_report.hpp"
#include "bigbird/examples/example_writer.hpp"

using namespace bigbird;
using namespace bigbird::evaluation;
using examples::Split;
using examples::TargetKind;
namespace fs = std::filesystem;

namespace {

using Scores = std::vector<std::vector<float>>;  // by class
const rows::LabelTable two_classes({{".", "no", -1}, {".", "yes", -1}});

/// Rows 1 … `rows` of train, and as many of test, in groups of `group_size` rows; the scores of test are
/// right in four of five groups.
struct Scored {
    testing::TempDir folder;
    EvaluationRequest request;

    explicit Scored(int rows, int group_size = 0) {
        std::vector<examples::SequenceExample> records;
        Rng rng(1);
        std::string table = "##model=m\n#id\tlength\tstatus\tn_fraction\tclass\tno\tyes\n";
        for (const Split split : {Split::train, Split::test}) {
            for (int i = 0; i < rows; ++i) {
                const std::string id = std::to_string(i + 1);
                const std::uint32_t label = rng.uniform() < 0.4 ? 1 : 0;
                const int group = group_size > 0 ? i / group_size : i;
                records.push_back(
                    {id, group_size > 0 ? "g" + std::to_string(group) : ".", split, "ACGT", {label}, {}});
                const bool right = group % 5 != 0;
                const std::string yes = right == (label == 1) ? "0.75" : "0.25",
                                  no = yes == "0.75" ? "0.25" : "0.75";
                if (split == Split::test) table += id + "\t4\tok\t0\t.\t" + no + "\t" + yes + "\n";
            }
        }
        fs::create_directory(folder / "e");
        examples::write_sequence_examples(folder / "e", TargetKind::classes, two_classes, records,
                                          Json::object());
        testing::write_file(folder / "s.tsv", table);
        request.examples = folder / "e";
        request.scores = {{"s", folder / "s.tsv"}};
        request.task = examples::Task::sequences;
        request.options.resamples = 200;
    }
    std::string message(const std::string& table) {
        testing::write_file(folder / "s.tsv", table);
        const std::string what = testing::message_of<InputError>([&] { evaluate(request); });
        const std::string path = (folder / "s.tsv").string();
        return what.starts_with(path) ? what.substr(path.size()) : what;
    }
};

}  // namespace

DOCTEST_TEST_CASE(
    "sequence_evaluation: figures are plain numbers at the top, with their interval beside them") {
    const Scored scored(100);
    const EvaluationReport report = evaluate(scored.request);
    const Json json = to_json(report);
    DOCTEST_CHECK(json["rows"] == 100);
    DOCTEST_CHECK(json["units"] == 100);
    DOCTEST_CHECK(json["accuracy"].get<double>() == doctest::Approx(0.8));
    for (const char* name : {"accuracy", "mcc", "f1_macro", "auroc", "auprc"}) {
        DOCTEST_CAPTURE(name);
        const std::string key = name;
        DOCTEST_CHECK(json[key + "_low"].get<double>() < json[key].get<double>());
        DOCTEST_CHECK(json[key].get<double>() < json[key + "_high"].get<double>());
    }
    DOCTEST_CHECK(json["classes"][1]["name"] == "yes");
    DOCTEST_CHECK(json["confusion"][0][0].get<int>() + json["confusion"][1][1].get<int>() == 80);
    DOCTEST_CHECK(json["scores"]["s"]["model"] == "m");
    const std::string tsv = to_tsv(report);
    DOCTEST_CHECK(tsv.find("\nfigure\tof\tvalue\tlow\thigh\naccuracy\tall\t0.8\t") != std::string::npos);
    DOCTEST_CHECK(tsv.find("\nrecall\tyes\t") != std::string::npos);
    const std::string html = to_html(report);
    DOCTEST_CHECK(html.find("<h2>Confusion</h2>") != std::string::npos);
    DOCTEST_CHECK(html.find("ROC curve of yes") != std::string::npos);
    DOCTEST_CHECK(to_lines(report)[1].starts_with("accuracy  0.800 ["));
}

DOCTEST_TEST_CASE("sequence_evaluation: groups are drawn as a whole, which widens intervals") {
    const auto width = [](const Scored& scored) {
        const Json json = to_json(evaluate(scored.request));
        return json["accuracy_high"].get<double>() - json["accuracy_low"].get<double>();
    };
    const Scored rows(400), groups(400, 20);
    DOCTEST_CHECK(to_json(evaluate(groups.request))["units"] == 20);
    DOCTEST_CHECK(width(groups) > 2 * width(rows));
}

DOCTEST_TEST_CASE("sequence_evaluation: files are compared row by row") {
    Scored scored(100);
    testing::write_file(scored.folder / "other.csv", [&] {
        std::string csv = "id,yes,no\n";
        for (int i = 1; i <= 100; ++i)
            csv += std::to_string(i) + (i <= 50 ? ",0.9,0.1\n" : ",0.1,0.9\n");
        return csv;
    }());
    scored.request.scores.push_back({"other", scored.folder / "other.csv"});
    const Json json = to_json(evaluate(scored.request));
    const Json& other = json["others"][0];
    DOCTEST_CHECK(other["name"] == "other");
    DOCTEST_CHECK(other["difference"]["accuracy"].get<double>() ==
                  doctest::Approx(other["accuracy"].get<double>() - 0.8));
    DOCTEST_CHECK(other["difference"]["accuracy_high"].get<double>() < 0);
}

DOCTEST_TEST_CASE("sequence_evaluation: classes called as columns, NA or with commas are found in CSV") {
    const Scored scored(1);
    const rows::LabelTable classes({{".", "NA", -1}, {".", "length", -1}, {".", "a,\"b\"", -1}});
    std::vector<examples::SequenceExample> records;
    for (const char* id : {"NA", ".", "n,1"})
        records.push_back({id, ".", Split::test, "ACGT", {static_cast<std::uint32_t>(records.size())}, {}});
    fs::create_directory(scored.folder / "c");
    examples::write_sequence_examples(scored.folder / "c", TargetKind::classes, classes, records,
                                      Json::object());
    const auto examples = examples::ExampleSet::load(scored.folder / "c");
    const auto scores = [&](const std::string& text) {
        testing::write_file(scored.folder / "c.csv", text);
        return join_scores(examples, scored.folder / "c.csv", Split::test).scores;
    };
    const std::string head = "id,length,status,n_fraction,class,";
    DOCTEST_CHECK(scores(head + "NA,length,\"a,\"\"b\"\"\"\nNA,4,ok,0,NA,1,0,0\n.,4,ok,0,length,0,0.75,0.25\n"
                                "\"n,1\",4,all_n,1,,,,\n") == Scores{{1, 0}, {0, 0.75F}, {0, 0.25F}});
    DOCTEST_CHECK(testing::holds(
        testing::message_of<InputError>([&] { scores(head + "NA,\"a,\"\"b\"\"\"\nNA,4,ok,0,NA,1,0\n"); }),
        "has no column 'length'"));
    DOCTEST_CHECK(testing::holds(
        testing::message_of<InputError>([&] { scores(head + "NA,length,NA,\"a,\"\"b\"\"\"\n"); }),
        "has two columns 'NA'"));
}

DOCTEST_TEST_CASE("sequence_evaluation: scores of another split or of other examples are refused") {
    Scored scored(100);
    const std::string own = sha256_of_file(scored.folder / "e/manifest.json"),
                      rows = testing::read_file(scored.folder / "s.tsv"), of = "##examples_sha256=";
    for (const std::string& head : {of + own + "\n##split=test\n", of + own + "\n##split=all\n"}) {
        testing::write_file(scored.folder / "s.tsv", head + rows);
        DOCTEST_CHECK(evaluate(scored.request).rows == 100);
    }
    DOCTEST_CHECK(scored.message(of + own + "\n##split=train\n" + rows) ==
                  ": has scores of split train, and split test is evaluated: score it with predict --split "
                  "test, or evaluate with --split train");
    DOCTEST_CHECK(scored.message(of + "0\n##split=test\n" + rows)
                      .starts_with(": has scores of other examples than " + (scored.folder / "e").string()));
    testing::write_file(scored.folder / "s.tsv", rows);  // each file is looked at
    testing::write_file(scored.folder / "t.tsv", "##split=train\n" + rows);
    scored.request.scores.push_back({"t", scored.folder / "t.tsv"});
    DOCTEST_CHECK(testing::message_of<InputError>([&] {
                      evaluate(scored.request);
                  }).starts_with((scored.folder / "t.tsv").string() + ": has scores of split train"));
}

DOCTEST_TEST_CASE("sequence_evaluation: a threshold is for two classes and labels") {
    Scored scored(100);
    scored.request.threshold = {ThresholdRule::Kind::given, 0.2};
    const Json json = to_json(evaluate(scored.request));
    DOCTEST_CHECK(json["confusion"][0][0] == 0);
    DOCTEST_CHECK(json["mcc"].is_null());
    DOCTEST_CHECK(json["parameters"]["threshold"] == 0.2);
    fs::create_directory(scored.folder / "n");
    const std::vector<examples::SequenceExample> records{{"a", ".", Split::test, "AC", {}, {1}},
                                                         {"b", ".", Split::test, "AC", {}, {2}},
                                                         {"c", ".", Split::test, "AC", {}, {4}}};
    examples::write_sequence_examples(scored.folder / "n", TargetKind::numbers,
                                      rows::LabelTable({{".", "y", -1}}), records, Json::object());
    scored.request.examples = scored.folder / "n";
    DOCTEST_CHECK(testing::message_of<ConfigError>([&] { evaluate(scored.request); }) ==
                  "--threshold is for two classes and for labels; these examples have numbers");
    scored.request.threshold = {};
    testing::write_file(scored.folder / "s.tsv", "#id\ty\na\t1\nb\t2\nc\t3\n");
    const EvaluationReport report = evaluate(scored.request);
    DOCTEST_CHECK(to_json(report)["spearman"].get<double>() == doctest::Approx(1));
    DOCTEST_CHECK(to_json(report)["mse"].get<double>() == doctest::Approx(1.0 / 3));
    DOCTEST_CHECK(to_html(report).find("s: y, 3 rows") != std::string::npos);
}

DOCTEST_TEST_CASE("sequence_scores: rows are told by id, or by their place among all rows") {
    const Scored scored(3);
    const auto examples = examples::ExampleSet::load(scored.folder / "e");
    const auto join = [&](const std::string& table, Split split, WantedRows wanted = WantedRows::all) {
        testing::write_file(scored.folder / "t.tsv", "#id\tno\tyes\n" + table);
        return join_scores(examples, scored.folder / "t.tsv", split, wanted);
    };
    const std::string train = "1\t0\t1\n2\t0\t1\n3\t0\t1\n", test = "1\t1\t0\n2\t1\t0\n3\t1\t0\n";
    const ScoredRows whole = join(train + test, Split::test);
    DOCTEST_CHECK(whole.rows == std::vector<std::int64_t>{3, 4, 5});
    DOCTEST_CHECK(whole.scores == Scores{{1, 1, 1}, {0, 0, 0}});
    DOCTEST_CHECK(whole.other_rows == 3);
    const ScoredRows shuffled = join("3\t1\t0\n1\t0.5\t0.5\n2\tNA\tNA\n9\t1\t0\n", Split::test);
    DOCTEST_CHECK(shuffled.rows == std::vector<std::int64_t>{3, 5});
    DOCTEST_CHECK(shuffled.scores == Scores{{0.5, 1}, {0.5, 0}});
    DOCTEST_CHECK(shuffled.not_scored == 1);
    DOCTEST_CHECK(shuffled.other_rows == 1);
    DOCTEST_CHECK(join("2\t1\t0\n", Split::test, WantedRows::scored).lacking == 2);
}

DOCTEST_TEST_CASE("sequence_scores: what is wrong with a table is said with file and line") {
    Scored scored(3);
    const std::string head = "#id\tno\tyes\n";
    DOCTEST_CHECK(scored.message("#chrom\tno\tyes\n")
                      .starts_with(":1: is no table of scores of these examples: it has no column 'id'"));
    DOCTEST_CHECK(scored.message("##x=y\nid,no\n")
                      .starts_with(":2: is no table of scores of these examples: it has no column 'yes'"));
    DOCTEST_CHECK(
        scored.message(head + "1\t0\t1\n2\t0\t1\n") ==
        ": lacks 1 of the 3 rows of split test, the first is '3'; score them with predict-sequences "
        "--examples, or evaluate those that are there with --rows scored");
    DOCTEST_CHECK(scored.message(head + "1\t0\t1\n2\t0\t1\n3\t0\t1\n2\t0\t1\n") ==
                  ":5: row '2' is scored twice");
    DOCTEST_CHECK(scored.message(head + "1\t0\tx\n") ==
                  ":2: score 'x' in column yes is neither a number nor NA");
    DOCTEST_CHECK(scored.message(head + "1\t0\n") == ":2: has 2 columns where the header has 3");
    DOCTEST_CHECK(scored.message(head + "1\tNA\tNA\n2\tNA\tNA\n3\tNA\tNA\n") ==
                  ": no row of split test has scores");
}
