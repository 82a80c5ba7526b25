// SPDX-License-Identifier: Apache-2.0
#include "bigbird/task_models/score/edited_windows.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/task_models/score/scorers.hpp"

#include <algorithm>
#include <cmath>

namespace bigbird::task_models {

EditedWindows::EditedWindows(std::vector<ModelFolder> models, Strands strands) : models_(std::move(models)) {
    require_agreement(models_);
    for (const ModelFolder& model : models_) {
        if (!model.bins() || model.bins()->grid() != models_.front().bins()->grid())
            throw ConfigError("models that are averaged must all be bin models with equal bins and windows");
        model.network->module()->eval();
    }
    if (strands != Strands::only) directions_.push_back(false);
    if (strands != Strands::none) directions_.push_back(true);
}

EditedWindow EditedWindows::open(const std::string& dna) const {
    const at::InferenceMode inference;
    EditedWindow window(grid());
    for (const ModelFolder& model : models_)
        for (const bool reverse : directions_)
            window.readings_.push_back({&model, reverse, model.bins()->edit(dna, reverse)});
    return window;
}

template <typename Logits>
at::Tensor EditedWindow::mean_of(const Logits& logits) const {
    const at::InferenceMode inference;
    at::Tensor sum;
    for (const Reading& reading : readings_) {
        at::Tensor some =
            reading.model->calibration.probabilities(logits(reading).to(at::kDouble)).to(at::kCPU);
        if (reading.reverse) some = on_other_strand(some, reading.model->labels);
        sum = sum.defined() ? sum + some : some;
    }
    return (sum / static_cast<double>(readings_.size())).contiguous();
}

at::Tensor EditedWindow::reference() const {
    return mean_of([](const Reading& reading) {
        const at::Tensor logits = reading.bins->logits();
        return reading.reverse ? logits.flip(0) : logits;
    });
}

at::Tensor EditedWindow::edited(std::string_view dna) const {
    return mean_of([&](const Reading& reading) {
        const at::Tensor logits = reading.bins->logits(dna);
        return reading.reverse ? logits.flip(0) : logits;
    });
}

at::Tensor EditedWindow::substituted(std::span<const bins::Substitution> each, const at::Tensor& bins) const {
    constexpr std::uint8_t last_letter = 3;
    std::vector<bins::Substitution> turned(each.begin(), each.end());
    for (auto& [at, code] : turned) {
        at = grid_.window_bases() - 1 - at;
        if (code <= last_letter) code = static_cast<std::uint8_t>(last_letter - code);
    }
    return mean_of([&](const Reading& reading) {
        return reading.reverse ? reading.bins->logits(turned, grid_.window_bins - 1 - bins)
                               : reading.bins->logits(each, bins);
    });
}

double additive(double value, LinkFunction link) {
    constexpr double least = 1e-9;
    if (gives_probabilities(link)) return std::log(value) - std::log1p(-value);
    return link == LinkFunction::identity ? value : std::log(std::max(value, least));
}

}  // namespace bigbird::task_models
