// SPDX-License-Identifier: Apache-2.0
#include "bigbird/pipeline/report_page.hpp"

#include "support/temp_dir.hpp"
#include "support/testing.hpp"

#include <filesystem>

using namespace bigbird;
using namespace bigbird::tasks;
using bigbird::testing::holds;
using bigbird::testing::TempDir;
using bigbird::testing::write_file;

namespace {

void write_run(const std::filesystem::path& run, const std::string& metrics, int kept) {
    std::filesystem::create_directories(run / "model");
    write_file(run / "metrics.jsonl", metrics);
    write_file(run / "model/README.md",
               "# m\n\nThe weights are those of step " + std::to_string(kept) + ".\n\nmore\n");
}

constexpr const char* two_steps =
    "{\"step\":1,\"loss\":0.5}\n{\"step\":2,\"loss\":0.3}\n"
    "{\"step\":2,\"eval_loss\":0.4,\"eval_auroc\":0.8,\"eval_auprc\":0.2,\"eval_seconds\":1}\n"
    "{\"step\":3,\"loss\":null}\n{\"step\":4,\"loss\":0.2}\n{\"step\":4,\"eval_loss\":0.3,\"eval_auprc\":0.3}"
    "\n{\"st";

}  // namespace

DOCTEST_TEST_CASE("report_page: the interval of the difference says whether the model is better") {
    const auto said = [](const evaluation::Figure& difference) { return verdict("AUROC", difference); };
    DOCTEST_CHECK(said({0.12, 0.05, 0.2}) ==
                  "Better than a linear model: yes. AUROC is higher by 0.120 [0.050, 0.200].");
    DOCTEST_CHECK(
        said({-0.12, -0.2, -0.05}) ==
        "Better than a linear model: no. AUROC is lower: the difference is -0.120 [-0.200, -0.050].");
    DOCTEST_CHECK(
        said({0.12, -0.05, 0.2}) ==
        "Better than a linear model: cannot be told. The interval of the difference in AUROC, 0.120 "
        "[-0.050, 0.200], includes 0.");
    DOCTEST_CHECK(holds(said({0, 0, 0}), "includes 0."));
    DOCTEST_CHECK(
        said({0.12, {}, {}}) ==
        "Better than a linear model: cannot be told. The difference in AUROC, 0.120, has no interval: "
        "the test rows are too few.");
    DOCTEST_CHECK(said({}) ==
                  "Better than a linear model: cannot be told. AUROC is not defined on these rows.");
}

DOCTEST_TEST_CASE("report_page: the verdict is on AUPRC of peaks, and on AUROC of promoters") {
    evaluation::EvaluationReport report;
    report.names = {"auroc_mean", "auroc_median", "auprc_mean", "auprc_median"};
    report.files.resize(2);
    report.files[1].difference.emplace();
    report.files[1].difference->all = {{0.1, -1.0, 1.0}, {0.1, -1.0, 1.0}, {0.2, 0.1, 0.3}, {0.1, -1.0, 1.0}};
    DOCTEST_CHECK(holds(verdict(report), "yes. AUPRC is higher by 0.200 [0.100, 0.300]."));
    report.names = {"mcc", "auprc", "auroc", "f1"};
    DOCTEST_CHECK(holds(verdict(report), "yes. AUROC is"));
}

DOCTEST_TEST_CASE("report_page: curves of training and validation, and the step that was kept") {
    const TempDir folder;
    write_run(folder.path(), two_steps, 2);
    const std::string html = curves_html(folder.path());
    DOCTEST_CHECK(
        holds(html, "Loss of training (grey) and validation. Dashes: the step whose weights were kept, 2."));
    DOCTEST_CHECK(holds(html, ">AUPRC</text>"));  // rather than AUROC
    DOCTEST_CHECK(holds(html, "<title>step 4: 0.3</title>"));
    // Steps 1 to 4: step 2 is a third of the way along each picture of 280 pixels, which begins at 52.
    DOCTEST_CHECK(
        holds(html, "<line x1=154.7 y1=276.0 x2=154.7 y2=10.0 stroke='#bbb' stroke-dasharray='4 3'/>"));
}

DOCTEST_TEST_CASE(
    "report_page: members share their pictures, and without validation there is no picture of it") {
    const TempDir folder;
    DOCTEST_CHECK(curves_html(folder.path()).empty());
    write_run(folder / "members/1", two_steps, 2);
    write_run(folder / "members/2", two_steps, 4);
    DOCTEST_CHECK(
        holds(curves_html(folder.path()), ", 2 networks. Dashes: the step whose weights were kept, 2, 4."));
    write_file(folder / "metrics.jsonl", "{\"step\":1,\"eval_auroc\":0.7,\"kmer_share\":0.3}\n");
    DOCTEST_CHECK(holds(curves_html(folder.path()), "<p>Regression on k-mers makes 30 % of the score"));
    write_run(folder / "alone", "{\"step\":1,\"loss\":0.5}\n{\"step\":1,\"eval_auroc\":null}\n", 1);
    const std::string html = curves_html(folder / "alone");
    DOCTEST_CHECK(holds(html, "Loss of training (grey). Dashes"));
    DOCTEST_CHECK_FALSE(holds(html, "Validation"));
}
