// SPDX-License-Identifier: Apache-2.0
#include "bigbird/task_models/specs/finetune_spec.hpp"

#include "bigbird/baselines/names/architecture_names.hpp"
#include "bigbird/core/error.hpp"

#include <algorithm>
#include <cmath>

namespace bigbird::task_models {

namespace {

void check_start(const FinetuneSpec& spec) {
    if (spec.is_bigbird() && spec.pretrained.empty()) {
        throw ConfigError(
            std::string("--model is needed: the pretrained model to start from (--architecture bigbird)") +
            (spec.task == examples::Task::chromatin ? "; --architecture bigbird-bins needs none" : ""));
    }
    if (!spec.is_bigbird() && spec.random_weights) {
        throw ConfigError("--random-weights is for --architecture bigbird: " + spec.architecture +
                          " starts from nothing");
    }
    if (!spec.is_bigbird() && !spec.is_bins()) {
        baselines::require_architecture(spec.architecture);
        if (!spec.pretrained.empty()) {
            throw ConfigError("--model is for --architecture bigbird: " + spec.architecture +
                              " starts from nothing");
        }
    }
}

void check_bins(const FinetuneSpec& spec) {
    const std::string model = spec.is_bigbird() ? "--head bins" : "--architecture bigbird-bins";
    const auto refuse = [&](bool given, const std::string& option, const std::string& why) {
        if (given) throw ConfigError(option + " is not of " + model + ": " + why);
    };
    if (spec.task != examples::Task::chromatin) {
        throw ConfigError(model + " scores bins: use finetune-chromatin");
    }
    refuse(!spec.is_bigbird() && !spec.pretrained.empty(), "--model", "it starts from nothing");
    refuse(spec.pooling != "cls", "--pooling", "its head sees the mean over each bin's bases");
    refuse(spec.window.has_value(), "--window", "give --window-bins, its context in bins");
    refuse(spec.sampling != Sampling::uniform, "--sampling", "every bin of a window is in the loss");
    if (spec.bins.averaging < 0 || spec.bins.averaging >= 1) {
        throw ConfigError("--average-weights must be at least 0 and below 1");
    }
}

}  // namespace

bool FinetuneSpec::is_bigbird() const {
    return architecture == "bigbird";
}

bool FinetuneSpec::is_bins() const {
    return architecture == "bigbird-bins" || (is_bigbird() && head == "bins");
}

bool FinetuneSpec::is_linear() const {
    return !is_bigbird() && !is_bins() && !baselines::is_network(architecture);
}

void FinetuneSpec::validate() const {
    check_start(*this);
    if (is_bins()) check_bins(*this);
}

training::LearningRateSpec FinetuneSpec::rate_over(std::int64_t samples, std::int64_t per_step) const {
    if (learning_rate.total_steps > 0) return learning_rate.over(learning_rate.total_steps);
    const double steps = std::ceil(epochs * static_cast<double>(samples) / static_cast<double>(per_step));
    return learning_rate.over(std::max<std::int64_t>(1, static_cast<std::int64_t>(steps)));
}

}  // namespace bigbird::task_models
