// SPDX-License-Identifier: Apache-2.0
#include "bigbird/task_models/specs/tokens_spec.hpp"

#include "bigbird/core/error.hpp"

namespace bigbird::task_models {

namespace {

constexpr std::int64_t margin_share = 8;
constexpr double peak_by_width = 0.128;

}  // namespace

void FinetuneTokensSpec::validate() const {
    if (pretrained.empty()) throw ConfigError("--model is needed: the pretrained model to start from");
    if (none_label.empty() || none_label.find_first_of("\t\r\n") != std::string::npos) {
        throw ConfigError("--none-label must be a word without tabs and line breaks");
    }
    if (window > 0) margin_bases(window);
}

std::int64_t FinetuneTokensSpec::window_bases(std::int64_t fitting) const {
    if (window > fitting) {
        throw ConfigError("--window " + std::to_string(window) +
                          ": the model's positions hold the tokens of " + std::to_string(fitting) + " bases");
    }
    return window > 0 ? window : fitting;
}

double FinetuneTokensSpec::peak_of(std::int64_t hidden_size) const {
    return learning_rate.peak > 0 ? learning_rate.peak : peak_by_width / static_cast<double>(hidden_size);
}

std::int64_t FinetuneTokensSpec::margin_bases(std::int64_t window_bases) const {
    const std::int64_t margin_of = margin >= 0 ? margin : window_bases / margin_share;
    if (2 * margin_of >= window_bases) {
        throw ConfigError("--margin " + std::to_string(margin_of) + " leaves nothing of a window of " +
                          std::to_string(window_bases) + " bases");
    }
    return margin_of;
}

}  // namespace bigbird::task_models
