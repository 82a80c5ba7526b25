// SPDX-License-Identifier: Apache-2.0
#include "bigbird/task_models/score/edited_windows.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/task_models/score/scorers.hpp"

#include <cmath>

namespace bigbird::task_models {

EditedWindows::EditedWindows(std::vector<ModelFolder> models, Strands strands) : models_(std::move(models)) {
    require_agreement(models_);
    for (const ModelFolder& model : models_) {
        if (!model.bins() || model.bins()->grid() != models_.front().bins()->grid()) {
            throw ConfigError("models that are averaged must all be bin models with equal bins and windows");
        }
        model.network->module()->eval();
    }
    if (strands != Strands::only) directions_.push_back(false);
    if (strands != Strands::none) directions_.push_back(true);
}

template <typename Logits>
at::Tensor EditedWindows::mean_of(const Logits& logits) const {
    const at::InferenceMode inference;
    at::Tensor sum;
    for (const ModelFolder& model : models_) {
        for (const bool reverse : directions_) {
            const at::Tensor some =
                model.calibration.probabilities(logits(*model.bins(), reverse).to(at::kDouble)).to(at::kCPU);
            sum = sum.defined() ? sum + some : some;
        }
    }
    return (sum / static_cast<double>(models_.size() * directions_.size())).contiguous();
}

at::Tensor EditedWindows::window(const std::string& dna) const {
    return mean_of([&](const BinNetwork& network, bool reverse) {
        const EncodedWindow encoded[] = {network.encode(dna, reverse)};
        const at::Tensor logits = network.logits(encoded)[0];
        return reverse ? logits.flip(0) : logits;
    });
}

at::Tensor EditedWindows::substituted(const std::string& dna, std::span<const bins::Substitution> each,
                                      const at::Tensor& bins) const {
    constexpr std::uint8_t last_letter = 3;
    std::vector<bins::Substitution> turned(each.begin(), each.end());
    for (auto& [at, code] : turned) {
        at = std::ssize(dna) - 1 - at;
        if (code <= last_letter) code = static_cast<std::uint8_t>(last_letter - code);
    }
    return mean_of([&](const BinNetwork& network, bool reverse) {
        if (!reverse) return network.substituted_logits(dna, false, each, bins);
        return network.substituted_logits(dna, true, turned, network.grid().window_bins - 1 - bins);
    });
}

double log_odds(double probability) {
    return std::log(probability) - std::log1p(-probability);
}

}  // namespace bigbird::task_models
