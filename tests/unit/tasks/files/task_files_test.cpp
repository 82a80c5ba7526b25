// SPDX-License-Identifier: Apache-2.0
#include "bigbird/tasks/files/task_files.hpp"

#include "support/temp_dir.hpp"
#include "support/testing.hpp"

#include "bigbird/core/error.hpp"

#include <string>

using namespace bigbird;
using namespace bigbird::testing;
using namespace bigbird::tasks;

namespace {

constexpr const char* labels = "index\tgroup\tname\n0\tTF\ta\n1\tTF\tb\n";
constexpr const char* config = R"({"num_labels": 2, "bigbird_dna": {"task_model": {"task": "chromatin"}}})";

/// What check_task_files says of a folder with these files, behind the file's name; "" where all fit.
std::string finding(const std::string& name, const std::string& text) {
    const TempDir folder;
    write_file(folder / "config.json", config);
    write_file(folder / "labels.tsv", labels);
    write_file(folder / name, text);
    try {
        if (!check_task_files(folder.path())) return "is for no task";
    } catch (const InputError& error) {
        const std::string file = (folder / name).string() + ": ";
        const std::string what = error.what();
        return what.starts_with(file) ? what.substr(file.size()) : what;
    }
    return {};
}

std::string calibration_of(const char* method, const char* biases) {
    return std::string(R"({"format": 1, "method": ")") + method + R"(", "temperature": 1, "biases": )" +
           biases + "}";
}

constexpr const char* logistic = "probability = 1 / (1 + exp(-(logit / temperature + bias of the label)))";
constexpr const char* softmax = "probabilities = softmax(logits / temperature + biases)";

}  // namespace

DOCTEST_TEST_CASE("task_files: labels and calibration that fit the network") {
    DOCTEST_CHECK(finding("labels.tsv", labels).empty());
    DOCTEST_CHECK(finding("calibration.json", calibration_of(logistic, "[0, 1]")).empty());
    DOCTEST_CHECK(check_task_files(test_data("models/chromatin-grch37")));
}

DOCTEST_TEST_CASE("task_files: a model for no task has none to check") {
    const TempDir folder;
    for (const char* text : {"{}", R"({"bigbird_dna": {}})", R"({"bigbird_dna": 3})"}) {
        write_file(folder / "config.json", text);
        DOCTEST_CHECK_FALSE(check_task_files(folder.path()));
    }
}

DOCTEST_TEST_CASE("task_files: what does not fit is refused") {
    DOCTEST_CHECK(finding("labels.tsv", "index\tgroup\tname\n0\tTF\ta\n") ==
                  "has 1 label, but the network gives 2; restore the file that belongs to it");
    DOCTEST_CHECK(finding("calibration.json", calibration_of(logistic, "[0]")) ==
                  "has 1 bias, but the model has 2 labels");
    DOCTEST_CHECK(
        finding("calibration.json", calibration_of(softmax, "[0, 1]")).starts_with("was fitted for another"));
    DOCTEST_CHECK(finding("calibration.json", "{").size() > 0);
    DOCTEST_CHECK(holds(
        finding(
            "config.json",
            R"({"num_labels": 2, "bigbird_dna": {"task_model": {"task": "chromatin", "calibrated": true}}})"),
        "calibration.json: is missing, and config.json says that scores are calibrated: copy"));
    DOCTEST_CHECK(finding("config.json", R"({"bigbird_dna": {"task_model": {"task": "chromatin"}}})") ==
                  "lacks num_labels");
}

DOCTEST_TEST_CASE(
    "task_files: the link is the word of the folder, and by the kind of model in folders without one") {
    const auto link = [](const char* text) { return link_in(Json::parse(text)); };
    DOCTEST_CHECK(link(R"({"task": "chromatin"})") == LinkFunction::logistic);
    DOCTEST_CHECK(link(R"({"task": "chromatin", "target": "numbers"})") == LinkFunction::softplus);
    DOCTEST_CHECK(link(R"({"task": "chromatin", "target": "numbers", "architecture": "kmer-ridge",
                           "standardisation": {}})") == LinkFunction::identity);
    DOCTEST_CHECK(link(R"({"task": "chromatin", "target": "numbers", "architecture": "kmer-ridge",
                           "standardisation": {}, "link": "softplus"})") == LinkFunction::softplus);
    DOCTEST_CHECK(finding("config.json", R"({"num_labels": 2, "bigbird_dna": {"task_model":
                                             {"task": "chromatin", "link": "probit"}}})") ==
                  "is damaged: link is logistic, softmax, identity, exponential, softplus, counts or "
                  "strand_counts, not 'probit'");
}

DOCTEST_TEST_CASE("task_files: labels of bases exclude each other") {
    const TempDir folder;
    write_file(folder / "config.json",
               R"({"num_labels": 2, "bigbird_dna": {"task_model": {"task": "tokens"}}})");
    write_file(folder / "labels.tsv", labels);
    write_file(folder / "calibration.json", calibration_of(softmax, "[0, 1]"));
    DOCTEST_CHECK(check_task_files(folder.path()));
    write_file(folder / "calibration.json", calibration_of(logistic, "[0, 1]"));
    DOCTEST_CHECK_THROWS_AS(check_task_files(folder.path()), InputError);
}

DOCTEST_TEST_CASE("task_files: a card gets the defined figures, and how many rows they are of") {
    evaluation::EvaluationReport report{
        .kind = evaluation::Kind::promoters,
        .names = {"auroc", "auprc", "f1", "precision", "recall", "mcc", "accuracy"},
        .rows = 51,
        .about = {{"task", "promoter"}, {"split", "test"}, {"rows_not_scored", 1}}};
    evaluation::FileEvaluation file{.name = "s"};
    for (std::size_t i = 0; i < report.names.size(); ++i)
        file.figures.all.push_back({0.1 * static_cast<double>(i), {}, {}});
    file.figures.all[1].value.reset();
    file.reliability.emplace().calibration_error = 0.25;
    const auto types = [&] {
        std::string text;
        for (const auto& metric : card_figures(report, file).metrics)
            text += metric.type + " ";
        return text;
    };
    DOCTEST_CHECK(card_figures(report, file).data == "51 rows of test, which nothing was trained on");
    DOCTEST_CHECK(types() == "roc_auc f1 expected_calibration_error ");
    report.kind = evaluation::Kind::sequences;
    report.names = {"accuracy", "mcc", "f1_macro", "auroc", "auprc"};
    report.about = {{"task", "sequences"}, {"split", "validation"}};
    file.reliability.reset();
    DOCTEST_CHECK(card_figures(report, file).data == "51 rows held out to choose the step");
    DOCTEST_CHECK(types() == "accuracy f1 roc_auc average_precision ");
}
