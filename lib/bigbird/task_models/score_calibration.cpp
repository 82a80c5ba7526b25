// SPDX-License-Identifier: Apache-2.0
#include "bigbird/task_models/score_calibration.hpp"

#include "bigbird/evaluation/curves/softmax_calibration.hpp"

#include <ATen/ATen.h>

namespace bigbird::task_models {
std::optional<FittedCalibration> fit_on_validation(const at::Tensor& logits, const at::Tensor& truth,
                                                   int threads) {
    const at::Tensor scores = logits.to(at::kFloat).t().contiguous();  // (labels, rows)
    const at::Tensor ones = truth.to(at::kByte).t().contiguous();      // (labels, rows)
    const auto count = static_cast<std::size_t>(scores.numel());
    const auto fit = evaluation::fit_calibration({scores.const_data_ptr<float>(), count},
                                                 {ones.const_data_ptr<std::uint8_t>(), count},
                                                 static_cast<std::size_t>(scores.size(0)), threads);
    if (!fit) return std::nullopt;
    return FittedCalibration{*fit, scores.size(1)};
}

std::optional<FittedCalibration> fit_softmax_on_validation(const at::Tensor& logits, const at::Tensor& truth,
                                                           int threads) {
    const at::Tensor scores = logits.to(at::kFloat).contiguous();  // (bases, labels)
    const at::Tensor labels = truth.to(at::kInt).contiguous();     // (bases)
    const auto fit = evaluation::fit_softmax_calibration(
        {scores.const_data_ptr<float>(), static_cast<std::size_t>(scores.numel())},
        {labels.const_data_ptr<std::int32_t>(), static_cast<std::size_t>(labels.numel())},
        static_cast<std::size_t>(scores.size(1)), threads);
    if (!fit) return std::nullopt;
    return FittedCalibration{*fit, scores.size(0), LinkFunction::softmax};
}

ScoreCalibration::ScoreCalibration(const evaluation::Calibration& calibration, const at::Device& device,
                                   LinkFunction link)
    : link_(link),
      temperature_(calibration.temperature),
      biases_(at::tensor(calibration.biases, at::kDouble).to(device)) {}

at::Tensor ScoreCalibration::probabilities(const at::Tensor& logits) const {
    const at::Tensor scores =
        biases_.defined() ? logits / temperature_ + biases_.to(logits.options()) : logits;
    return link_ == LinkFunction::softmax ? scores.softmax(-1) : scores.sigmoid();
}

}  // namespace bigbird::task_models
