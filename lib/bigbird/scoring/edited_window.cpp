// SPDX-License-Identifier: Apache-2.0
#include "bigbird/scoring/edited_window.hpp"

#include "bigbird/scoring/placement.hpp"

#include <algorithm>
#include <cmath>

namespace bigbird::tasks {

EditedWindow::EditedWindow(std::span<const ModelFolder> models, Strands strands, std::string_view dna,
                           const Job& job) {
    const at::InferenceMode inference;
    for (const ModelFolder& model : models)
        for (const bool reverse : directions_of(strands))
            readings_.push_back({&model, reverse, model.network->edit(dna, reverse, job)});
}

template <typename Logits>
at::Tensor EditedWindow::mean_of(const Logits& logits) const {
    const at::InferenceMode inference;
    at::Tensor sum;
    for (const Reading& reading : readings_) {
        at::Tensor some =
            reading.model->calibration.probabilities(logits(*reading.window).to(at::kDouble)).to(at::kCPU);
        if (reading.reverse) some = on_other_strand(some, reading.model->labels);
        sum = sum.defined() ? sum + some : some;
    }
    return (sum / static_cast<double>(readings_.size())).contiguous();
}

at::Tensor EditedWindow::reference() const {
    return mean_of([](const NetworkWindow& window) { return window.logits(); });
}

at::Tensor EditedWindow::substituted(std::span<const bins::Substitution> each,
                                     const at::Tensor& segments) const {
    return mean_of([&](const NetworkWindow& window) { return window.logits(each, segments); });
}

at::Tensor EditedWindow::edited(std::span<const std::string> texts) const {
    return mean_of([&](const NetworkWindow& window) { return window.logits(texts); });
}

double additive(double value, LinkFunction link) {
    constexpr double least = 1e-9;
    if (gives_probabilities(link)) return std::log(value) - std::log1p(-value);
    return link == LinkFunction::identity ? value : std::log(std::max(value + count_offset(link), least));
}

std::string_view additive_effect(LinkFunction link) {
    if (gives_probabilities(link)) return "log_odds";
    return link == LinkFunction::identity ? "difference" : "log_ratio";
}

}  // namespace bigbird::tasks
