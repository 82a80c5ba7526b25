// SPDX-License-Identifier: Apache-2.0
#include "bigbird/task_models/network/target.hpp"

#include "support/temp_dir.hpp"
#include "support/tensors.hpp"
#include "support/testing.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/formats/json_file.hpp"

#include <ATen/ATen.h>

#include <cmath>
#include <fstream>

using namespace bigbird;
using namespace bigbird::testing;
using namespace bigbird::task_models;

DOCTEST_TEST_CASE("target: probabilities are the logistic function of logit / temperature + bias") {
    const at::Tensor logits = at::tensor({-2.0, 0.0, 1.0, 3.0}, at::kDouble).view({2, 2});
    DOCTEST_CHECK(identical(ScoreCalibration().probabilities(logits), logits.sigmoid()));
    const ScoreCalibration calibration({.temperature = 2, .biases = {0.5, -1}}, at::kCPU);
    const at::Tensor found = calibration.probabilities(logits);
    const double wanted[] = {-0.5, -1.0, 1.0, 0.5};  // -2/2+0.5, 0/2-1, 1/2+0.5, 3/2-1
    for (std::int64_t i = 0; i < 4; ++i) {
        DOCTEST_CHECK(found.view(-1)[i].item<double>() ==
                      doctest::Approx(1 / (1 + std::exp(-wanted[i]))).epsilon(1e-12));
    }
    const bool is_float = calibration.probabilities(logits.to(at::kFloat)).scalar_type() == at::kFloat;
    DOCTEST_CHECK(is_float);
}

DOCTEST_TEST_CASE("target: of labels that exclude each other probabilities are a softmax") {
    const at::Tensor logits = at::tensor({-2.0, 0.0, 1.0, 3.0, 1.0, -1.0}, at::kDouble).view({2, 3});
    const ScoreCalibration plain(LinkFunction::softmax);
    DOCTEST_CHECK(identical(plain.probabilities(logits), at::softmax(logits, 1)));
    const ScoreCalibration calibration({.temperature = 2, .biases = {0.5, -1, 0.5}}, at::kCPU,
                                       LinkFunction::softmax);
    const double wanted[] = {-0.5, -1.0, 1.0, 2.0, -0.5, 0.0};
    const at::Tensor found = calibration.probabilities(logits).view(-1);
    for (std::int64_t row = 0; row < 6; row += 3) {
        const double sum = std::exp(wanted[row]) + std::exp(wanted[row + 1]) + std::exp(wanted[row + 2]);
        for (std::int64_t i = row; i < row + 3; ++i)
            DOCTEST_CHECK(found[i].item<double>() ==
                          doctest::Approx(std::exp(wanted[i]) / sum).epsilon(1e-12));
    }
}

DOCTEST_TEST_CASE("target: a file of the other link function is refused") {
    TempDir folder;
    const at::Tensor logits = at::tensor({0.0F, 1.0F, 2.0F, 0.0F, 1.0F, 0.0F}).view({3, 2});
    auto bases = fit_on_validation(logits, at::tensor({1, 0, 1}, at::kLong), 1, LinkFunction::softmax);
    DOCTEST_REQUIRE(bases.has_value());
    DOCTEST_CHECK(bases->rows == 3);
    bases->of_bases = true;
    write_calibration(*bases, folder.path());
    DOCTEST_CHECK(*read_calibration(folder.path(), 2, LinkFunction::softmax) == bases->fit.calibration);
    DOCTEST_CHECK(read_json(folder / "calibration.json")["bases_of_validation"] == 3);
    const std::string softmax = "'probabilities = softmax(logits / temperature + biases)'",
                      logistic = "'probability = 1 / (1 + exp(-(logit / temperature + bias of the label)))'",
                      refusal =
                          (folder / "calibration.json").string() + ": was fitted for another kind of model: ";
    const auto message = [&](LinkFunction link) {
        return message_of<InputError>([&] { read_calibration(folder.path(), 2, link); });
    };
    DOCTEST_CHECK(message(LinkFunction::logistic) == refusal + softmax + ", not " + logistic);
    const auto rows = fit_on_validation(logits, logits > 0.5, 1);
    DOCTEST_REQUIRE(rows.has_value());
    write_calibration(*rows, folder.path());
    DOCTEST_CHECK(read_json(folder / "calibration.json")["rows_of_validation"] == 3);
    DOCTEST_CHECK(message(LinkFunction::softmax) == refusal + logistic + ", not " + softmax);
    DOCTEST_CHECK_FALSE(
        fit_on_validation(at::empty({0, 2}), at::empty({0}), 1, LinkFunction::softmax).has_value());
}

DOCTEST_TEST_CASE("target: the file gives back what was written") {
    TempDir folder;
    DOCTEST_CHECK_FALSE(read_calibration(folder.path(), 2).has_value());
    at::Tensor logits = at::empty({50, 2}), truth = at::zeros({50, 2}, at::kByte);
    for (std::int64_t i = 0; i < 50; ++i) {
        logits[i][0] = static_cast<double>(i % 7) - 3;
        logits[i][1] = static_cast<double>(i % 5) - 1;
        truth[i][0] = i % 7 > 3 || i % 10 == 0 ? 1 : 0;
        truth[i][1] = i % 5 > 3 || i % 9 == 0 ? 1 : 0;
    }
    const auto fitted = fit_on_validation(logits, truth, 1);
    DOCTEST_REQUIRE(fitted.has_value());
    DOCTEST_CHECK(fitted->rows == 50);
    DOCTEST_CHECK(fitted->fit.loss_after < fitted->fit.loss_before);
    write_calibration(*fitted, folder.path());
    const auto read = read_calibration(folder.path(), 2);
    DOCTEST_REQUIRE(read.has_value());
    DOCTEST_CHECK(*read == fitted->fit.calibration);
    DOCTEST_CHECK_FALSE(fit_on_validation(at::empty({0, 2}), at::empty({0, 2}), 1).has_value());
}

DOCTEST_TEST_CASE("target: a damaged file is refused with a sentence") {
    TempDir folder;
    const auto refused = [&](const char* text) {
        std::ofstream(folder / "calibration.json") << text;
        DOCTEST_CHECK_THROWS_AS(read_calibration(folder.path(), 2), InputError);
    };
    refused("{");
    refused("[]");
    refused(R"({"format": 1, "temperature": 1})");
    refused(R"({"format": 1, "temperature": 0, "biases": [0, 0]})");
    refused(R"({"format": 1, "temperature": 1e999, "biases": [0, 0]})");
    refused(R"({"format": 1, "temperature": 1, "biases": [0]})");
    refused(R"({"format": 1, "temperature": 1, "biases": [0, null]})");
    refused(R"({"format": 1, "temperature": 1, "biases": [0, 0], "method": 7})");
    refused(R"({"format": 2, "temperature": 1, "biases": [0, 0]})");
    std::ofstream(folder / "calibration.json") << R"({"format": 1, "temperature": 3, "biases": [0, 1]})";
    DOCTEST_CHECK(read_calibration(folder.path(), 2)->biases[1] == 1);
}

DOCTEST_TEST_CASE("target: figures count the labels that have ten bases, but that of no row") {
    at::Tensor truth = at::zeros({60}, at::kLong), scores = at::zeros({60, 3});
    truth.narrow(0, 10, 20).fill_(1);
    truth.narrow(0, 50, 5).fill_(2);
    scores.select(1, 0).fill_(0.4);
    scores.select(1, 1).narrow(0, 20, 20).fill_(0.6);  // ten right, ten wrong
    const Json figures = label_figures(scores, truth);
    DOCTEST_CHECK(figures["eval_labels"] == 1);
    DOCTEST_CHECK(figures["eval_f1"].get<double>() == doctest::Approx(0.5));
    DOCTEST_CHECK(figures["eval_auroc"].get<double>() == doctest::Approx(0.625));
    DOCTEST_CHECK(label_figures(scores, at::zeros({60}, at::kLong))["eval_auroc"].is_null());
}
