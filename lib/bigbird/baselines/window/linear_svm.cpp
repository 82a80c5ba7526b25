// SPDX-License-Identifier: Apache-2.0
#include "bigbird/baselines/window/linear_svm.hpp"

#include "bigbird/core/check.hpp"

#include <ATen/ATen.h>
#include <linear.h>

#include <algorithm>
#include <array>

namespace bigbird::baselines {

LinearSvm::LinearSvm(std::int64_t features) : features_(features) {
    set_print_string_function([](const char*) {});
}

LinearSvm::~LinearSvm() = default;

void LinearSvm::add(std::span<const float> row) {
    BIGBIRD_EXPECTS(std::ssize(row) == features_, "a value for every feature");
    std::vector<Feature> present;
    for (std::size_t i = 0; i < row.size(); ++i)
        if (row[i] != 0) present.push_back({static_cast<std::int32_t>(i), row[i]});
    add(present);
}

void LinearSvm::add(std::span<const Feature> row) {
    std::vector<feature_node> nodes;
    nodes.reserve(row.size() + 2);
    for (const Feature& feature : row)
        nodes.push_back({feature.index + 1, static_cast<double>(feature.value)});
    nodes.push_back({static_cast<int>(features_) + 1, 1.0});  // the bias
    nodes.push_back({-1, 0});
    rows_.push_back(std::move(nodes));
}

std::size_t LinearSvm::bytes() const {
    std::size_t count = 0;
    for (const auto& row : rows_)
        count += row.size();
    return count * sizeof(feature_node);
}

LinearScores LinearSvm::train(std::span<const std::uint8_t> labels, const SvmSpec& spec) const {
    BIGBIRD_EXPECTS(labels.size() == rows_.size() && !labels.empty(), "a label for every row");
    const at::Tensor weight = at::zeros({features_}, at::kDouble), bias = at::zeros({}, at::kDouble);
    const auto positives = std::ranges::count(labels, std::uint8_t{1});
    if (positives == 0 || positives == std::ssize(labels)) {
        bias.fill_(positives == 0 ? -1 : 1);
        return {weight, bias};
    }
    std::vector<double> targets(labels.size());
    std::ranges::transform(labels, targets.begin(),
                           [](std::uint8_t label) { return label == 1 ? 1.0 : -1.0; });
    std::vector<feature_node*> rows;
    for (const auto& row : rows_)
        rows.push_back(const_cast<feature_node*>(row.data()));  // LIBLINEAR only reads them
    problem problem{};
    problem.l = static_cast<int>(rows.size());
    problem.n = static_cast<int>(features_) + 1;
    problem.y = targets.data();
    problem.x = rows.data();
    problem.bias = 1;
    std::array<int, 1> weighted{1};
    std::array<double, 1> weights{spec.positive_weight};
    parameter parameter{};
    parameter.solver_type = spec.loss == MarginLoss::logistic ? L2R_LR : L2R_L1LOSS_SVC_DUAL;
    parameter.eps = spec.tolerance;
    parameter.C = spec.cost;
    parameter.nr_weight = 1;
    parameter.weight_label = weighted.data();
    parameter.weight = weights.data();
    std::srand(1);
    ::model* solved = ::train(&problem, &parameter);
    const double sign = solved->label[0] == 1 ? 1 : -1;  // weights belong to the class that came first
    for (std::int64_t i = 0; i < features_; ++i)
        weight.mutable_data_ptr<double>()[i] = sign * solved->w[i];
    bias.fill_(sign * solved->w[features_]);
    free_and_destroy_model(&solved);
    return {weight, bias};
}

}  // namespace bigbird::baselines
