// SPDX-License-Identifier: Apache-2.0
#include "bigbird/tasks/target.hpp"

#include "support/formula_parameters.hpp"
#include "support/temp_dir.hpp"
#include "support/tensors.hpp"
#include "support/testing.hpp"

#include "bigbird/bins/network.hpp"
#include "bigbird/core/error.hpp"
#include "bigbird/core/formats/json_file.hpp"
#include "bigbird/sequences/network.hpp"

#include <ATen/ATen.h>

#include <cmath>
#include <fstream>

using namespace bigbird;
using namespace bigbird::testing;
using namespace bigbird::tasks;

namespace {

std::unique_ptr<Target> target_named(const std::string& kind) {
    if (kind == "classes") return classes_target({1, 2, 0.5}, 0.1, at::kCPU);
    return kind == "numbers" ? numbers_target(LinkFunction::identity)
                             : numbers_target(LinkFunction::exponential);
}

/// (rows, 1, labels).
at::Tensor targets_of(const Json& expected, std::int64_t labels) {
    const Json& given = expected.at("targets");
    at::Tensor targets = at::zeros({static_cast<std::int64_t>(given.size()), 1, labels});
    for (std::size_t row = 0; row < given.size(); ++row) {
        const auto i = static_cast<std::int64_t>(row);
        if (expected.at("kind") == "classes")
            targets[i][0][given[row].get<std::int64_t>()] = 1;
        else
            targets[i][0].copy_(at::tensor(given[row].get<std::vector<float>>()));
    }
    return targets;
}

}  // namespace

DOCTEST_TEST_CASE("target: probabilities are the logistic function of logit / temperature + bias") {
    const at::Tensor logits = at::tensor({-2.0, 0.0, 1.0, 3.0}, at::kDouble).view({2, 2});
    DOCTEST_CHECK(identical(ScoreCalibration().probabilities(logits), logits.sigmoid()));
    const ScoreCalibration calibration{.temperature = 2, .biases = at::tensor({0.5, -1.0}, at::kDouble)};
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
    const ScoreCalibration plain{.link = LinkFunction::softmax};
    DOCTEST_CHECK(identical(plain.probabilities(logits), at::softmax(logits, 1)));
    const ScoreCalibration calibration{
        .link = LinkFunction::softmax, .temperature = 2, .biases = at::tensor({0.5, -1.0, 0.5}, at::kDouble)};
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
    const at::Tensor logits = at::tensor({0.0F, 1.0F, 2.0F, 0.0F, 1.0F, 0.0F}).view({3, 2}).repeat({50, 1});
    auto bases =
        fit_on_validation(logits, at::tensor({1, 0, 1}, at::kLong).repeat({50}), 1, LinkFunction::softmax);
    DOCTEST_REQUIRE(bases.has_value());
    DOCTEST_CHECK(bases->rows == 150);
    bases->of_bases = true;
    write_file(folder / "config.json", "{}");
    write_calibration(*bases, folder.path());
    DOCTEST_CHECK(*read_calibration(folder.path(), 2, LinkFunction::softmax) == bases->fit.calibration);
    DOCTEST_CHECK(read_json(folder / "calibration.json")["bases_of_validation"] == 150);
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
    DOCTEST_CHECK(read_json(folder / "calibration.json")["rows_of_validation"] == 150);
    DOCTEST_CHECK(message(LinkFunction::softmax) == refusal + logistic + ", not " + softmax);
    DOCTEST_CHECK_FALSE(
        fit_on_validation(at::empty({0, 2}), at::empty({0}), 1, LinkFunction::softmax).has_value());
}

DOCTEST_TEST_CASE("target: the file gives back what was written") {
    TempDir folder;
    DOCTEST_CHECK_FALSE(read_calibration(folder.path(), 2).has_value());
    at::Tensor logits = at::empty({250, 2}), truth = at::zeros({250, 2}, at::kByte);
    for (std::int64_t i = 0; i < 250; ++i) {
        logits[i][0] = static_cast<double>(i % 7) - 3;
        logits[i][1] = static_cast<double>(i % 5) - 1;
        truth[i][0] = i % 7 > 3 || i % 10 == 0 ? 1 : 0;
        truth[i][1] = i % 5 > 3 || i % 9 == 0 ? 1 : 0;
    }
    const auto fitted = fit_on_validation(logits, truth, 1);
    DOCTEST_REQUIRE(fitted.has_value());
    DOCTEST_CHECK(fitted->rows == 250);
    DOCTEST_CHECK(fitted->fit.loss_after < fitted->fit.loss_before);
    write_file(folder / "config.json", R"({"num_labels": 2})");
    write_calibration(*fitted, folder.path());
    DOCTEST_CHECK(read_json(folder / "config.json") ==
                  Json{{"num_labels", 2}, {"bigbird_dna", {{"task_model", {{"calibrated", true}}}}}});
    const auto read = read_calibration(folder.path(), 2);
    DOCTEST_REQUIRE(read.has_value());
    DOCTEST_CHECK(*read == fitted->fit.calibration);
    DOCTEST_CHECK_FALSE(fit_on_validation(at::empty({0, 2}), at::empty({0, 2}), 1).has_value());
}

DOCTEST_TEST_CASE("target: labels with few positives are not calibrated, and do not count in the fit") {
    const at::Tensor logits = random_tensor({500, 3}, 5, at::kFloat);
    at::Tensor truth = (logits > 0.3).to(at::kByte);
    const auto keep = [&](std::int64_t label, std::int64_t ones) {
        const at::Tensor column = truth.select(1, label);
        column.copy_(column.logical_and(column.cumsum(0) <= ones));
    };
    keep(0, 60);
    keep(1, 49);
    const auto fitted = fit_on_validation(logits, truth, 1);
    DOCTEST_REQUIRE(fitted.has_value());
    const at::Tensor others = at::tensor({0, 2});
    const auto alone = fit_on_validation(logits.index_select(1, others), truth.index_select(1, others), 1);
    const evaluation::Calibration &all = fitted->fit.calibration, &two = alone->fit.calibration;
    DOCTEST_CHECK(all.temperature == two.temperature);
    DOCTEST_CHECK(all.biases == std::vector<double>{two.biases[0], 0, two.biases[1]});
    DOCTEST_CHECK(two.biases[0] != 0);
    for (const std::int64_t label : {0, 2})
        keep(label, 49);
    DOCTEST_CHECK_FALSE(fit_on_validation(logits, truth, 1).has_value());
    DOCTEST_CHECK_FALSE(fit_on_validation(logits, 1 - truth, 1).has_value());  // few negatives
    const at::Tensor classes = truth.select(1, 1).to(at::kLong);
    DOCTEST_CHECK_FALSE(fit_on_validation(logits, classes, 1, LinkFunction::softmax).has_value());
    DOCTEST_CHECK(too_few_to_calibrate() == "no label has 50 positives and 50 negatives in validation");
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

DOCTEST_TEST_CASE("target: PyTorch's losses and gradients of a network of sequences") {
    for (const Json& expected : read_json(test_data("sequences/network.json"))) {
        const auto kind = expected.at("kind").get<std::string>();
        DOCTEST_CAPTURE(kind);
        sequences::Config config{
            .filters = 16, .width = 9, .hidden = 16, .heads = 2, .dense = 8, .dropout = 0, .head_dropout = 0};
        config.both_strands = expected.at("both_strands").get<bool>();
        config.places = expected.at("places").get<std::int64_t>();
        const auto labels = static_cast<std::int64_t>(expected.at("logits")[0].size());
        sequences::Network network(config, labels);
        const auto parameters = fill_by_formula(*network);
        std::vector<at::Tensor> rows;
        std::vector<std::int64_t> lengths;
        for (const Json& sequence : expected.at("sequences")) {
            auto dna = sequence.get<std::string>();
            lengths.push_back(std::ssize(dna));
            dna.resize(static_cast<std::size_t>(config.padded(std::ssize(dna))), 'N');
            rows.push_back(bins::codes_of(dna));
        }
        network->train();
        const at::Tensor logits = network->forward(at::stack(rows), lengths).unsqueeze(1);
        const at::Tensor loss = target_named(kind)->loss_sum(logits, targets_of(expected, labels), {});
        DOCTEST_CHECK(loss.item<double>() ==
                      doctest::Approx(expected.at("loss").get<double>()).epsilon(1e-4));
        loss.backward();
        for (const auto& [name, parameter] : parameters) {
            DOCTEST_CAPTURE(name);
            if (!parameter.grad().defined()) {
                DOCTEST_CHECK(!expected.at("gradients").contains(name));
                continue;
            }
            const at::Tensor noise = (at::arange(parameter.numel(), at::kDouble) + 1).sin();
            const double sum = parameter.grad().flatten().to(at::kDouble).dot(noise).item<double>();
            const double size = parameter.grad().norm().item<double>();
            DOCTEST_CHECK(std::abs(sum - expected.at("gradients").at(name).get<double>()) <
                          1e-3 * (size + 1));
        }
    }
}

DOCTEST_TEST_CASE("target: figures of classes") {
    const auto target = classes_target({1, 1}, 0.2, at::kCPU);
    const at::Tensor logits = at::tensor({2.0F, 0.0F, 0.0F, 1.0F, 1.0F, 0.0F, 0.0F, 3.0F}).view({4, 2});
    const Json figures = target->figures(logits, at::tensor({0, 1, 1, 1}, at::kLong), 0);
    DOCTEST_CHECK(figures.at("eval_accuracy") == 0.75);
    DOCTEST_CHECK(figures.at("eval_auroc") == 1.0);
    DOCTEST_CHECK(figures.at("eval_mcc").get<double>() == doctest::Approx(0.57735).epsilon(1e-4));
    // (ln(1+e^-2) + ln(1+e^-1) + ln(1+e^1) + ln(1+e^-3)) / 4
    DOCTEST_CHECK(figures.at("eval_loss").get<double>() == doctest::Approx(0.45051).epsilon(1e-4));
    const at::Tensor bias = target->bias_at({0.25, 0.75});
    DOCTEST_CHECK((bias[1] - bias[0]).item<double>() == doctest::Approx(std::log(3)));
}

DOCTEST_TEST_CASE("target: figures of numbers and of counts") {
    const at::Tensor values = at::tensor({1.0F, 2.0F, 4.0F}).view({3, 1}),
                     truth = at::tensor({1.0F, 3.0F, 5.0F}).view({3, 1});
    const Json figures = numbers_target(LinkFunction::identity)->figures(values, truth, 0.5);
    DOCTEST_CHECK(figures.at("eval_pearson").get<double>() == doctest::Approx(0.981981).epsilon(1e-5));
    DOCTEST_CHECK(figures.at("eval_r2").get<double>() == doctest::Approx(0.75));
    const Json counts = numbers_target(LinkFunction::exponential)->figures(values.log(), truth, 0.5);
    DOCTEST_CHECK(counts.at("eval_r2").get<double>() == doctest::Approx(0.75).epsilon(1e-6));
    DOCTEST_CHECK(numbers_target(LinkFunction::exponential)->bias_at({std::exp(2.0)}).item<double>() ==
                  doctest::Approx(2));
}

DOCTEST_TEST_CASE("target: shape and total have PyTorch's multinomial's loss and gradient") {
    const Json expected = read_json(test_data("sequences/coverage.json"));
    const auto tensor = [&](const char* name) {
        std::vector<float> values;
        for (const Json& window : expected.at(name))
            for (const Json& base : window)
                for (const Json& track : base)
                    values.push_back(track.get<float>());
        return at::tensor(values).view({2, 12, 2});
    };
    const at::Tensor logits = tensor("logits").requires_grad_(true);
    const at::Tensor loss = numbers_target(LinkFunction::softplus, CoverageLoss::poisson_multinomial)
                                ->loss_sum(logits, tensor("counts"), {});
    DOCTEST_CHECK(loss.item<double>() == doctest::Approx(expected.at("loss").get<double>()).epsilon(1e-5));
    loss.backward();
    DOCTEST_CHECK(difference(logits.grad(), tensor("gradient")) < 1e-5);
}

DOCTEST_TEST_CASE("target: coverage has PyTorch's Poisson loss, and the others as written") {
    const at::Tensor logits = random_tensor({2, 5, 3}, 1, at::kFloat).requires_grad_(true),
                     y = random_tensor({2, 5, 3}, 2, at::kFloat).abs(), rate = at::softplus(logits);
    at::Tensor counts = at::ones({2, 5, 1}, at::kByte);
    counts[0][0] = 0;
    counts[1][4] = 0;
    const auto loss = [&](CoverageLoss of) {
        return numbers_target(LinkFunction::softplus, of)->loss_sum(logits, y, counts).item<double>();
    };
    const at::Tensor poisson = at::poisson_nll_loss(rate, y, false, false, 0, at::Reduction::None);
    DOCTEST_CHECK(loss(CoverageLoss::poisson) == doctest::Approx((poisson * counts).sum().item<double>()));
    double shape = 0, squares = 0;
    for (int window = 0; window < 2; ++window) {
        for (int track = 0; track < 3; ++track) {
            double rates = 0, sum = 0;
            const auto at = [&](const at::Tensor& of, int bin) {
                return of[window][bin][track].item<double>();
            };
            for (int bin = 0; bin < 5; ++bin) {
                if (counts[window][bin].item<int>() == 0) continue;
                rates += at(rate, bin);
                sum += at(y, bin);
                squares += std::pow(std::log1p(at(rate, bin)) - std::log1p(at(y, bin)), 2);
            }
            for (int bin = 0; bin < 5; ++bin)
                if (counts[window][bin].item<int>() != 0)
                    shape -= at(y, bin) * std::log(at(rate, bin) / rates);
            shape += 0.2 * (rates - sum * std::log(rates));
        }
    }
    DOCTEST_CHECK(loss(CoverageLoss::poisson_multinomial) == doctest::Approx(shape));
    DOCTEST_CHECK(loss(CoverageLoss::log_squared) == doctest::Approx(squares));
    const at::Tensor bias = numbers_target(LinkFunction::softplus, CoverageLoss::poisson)->bias_at({1, 0.25});
    DOCTEST_CHECK(difference(at::softplus(bias), at::tensor({1.0, 0.25}, at::kDouble)) < 1e-12);
    const ScoreCalibration values{.link = LinkFunction::softplus,
                                  .biases = at::zeros({3}, at::kDouble),
                                  .deviation = at::tensor({1.0, 2.0, 3.0}, at::kDouble)};
    DOCTEST_CHECK(difference(values.probabilities(logits), rate * at::tensor({1.0F, 2.0F, 3.0F})) < 1e-6);
}

DOCTEST_TEST_CASE(
    "target: a teacher's half of the loss is taken at temperature 4, and falls towards its scores") {
    const at::Tensor logits = 4 * random_tensor({2, 5, 3}, 1, at::kFloat) - 3,
                     labels = (random_tensor({2, 5, 3}, 2, at::kFloat) > 0.5).to(at::kFloat),
                     taught = (3 * random_tensor({2, 5, 3}, 3, at::kFloat) - 5).sigmoid();
    at::Tensor counts = at::ones({2, 5, 1}, at::kByte);
    counts[1][4] = 0;
    constexpr double weight = 3, temperature = 4;
    const auto cross_entropy = [](double logit, double ones, double positive) {
        return positive * ones * std::log1p(std::exp(-logit)) + (1 - ones) * std::log1p(std::exp(logit));
    };
    double plain = 0;
    for (std::int64_t i = 0; i < 27; ++i) {  // 9 of 10 bins count
        const auto value = [&](const at::Tensor& of) { return of.view({-1})[i].item<double>(); };
        const double odds = weight * value(taught) / (1 - value(taught));
        plain += cross_entropy(value(logits), value(labels), weight) / 2;
        plain += temperature * temperature / 2 *
                 cross_entropy(value(logits) / temperature, 1 / (1 + std::pow(odds, -1 / temperature)), 1);
    }
    const auto target = labels_target({weight}, at::kCPU);
    const auto loss = [&](const at::Tensor& of) {
        return target->loss_sum(of, at::cat({labels, taught}, 2), counts).item<double>();
    };
    DOCTEST_CHECK(loss(logits) == doctest::Approx(plain).epsilon(1e-5));
    DOCTEST_CHECK(loss(at::logit(taught) + std::log(weight)) < plain);
    const auto with = [&](const at::Tensor& second) {
        return target->loss_sum(logits, at::cat({labels, second}, 2), counts).item<double>();
    };
    DOCTEST_CHECK(std::isfinite(with(labels)));  // probabilities of 0 and 1
    DOCTEST_CHECK(with(at::full_like(labels, -1)) ==
                  doctest::Approx(target->loss_sum(logits, labels, counts).item<double>()));
}
