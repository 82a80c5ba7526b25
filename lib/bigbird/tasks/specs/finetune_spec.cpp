// SPDX-License-Identifier: Apache-2.0
#include "bigbird/tasks/specs/finetune_spec.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/log.hpp"
#include "bigbird/core/words.hpp"

#include <algorithm>
#include <cmath>

namespace bigbird::tasks {

namespace {

constexpr std::int64_t default_patience = 3;
constexpr double peak_of_tiny = 1e-3;
constexpr double width_of_tiny = 128;
constexpr double least_with_lora = 5e-4;  // B of an adapter begins at 0

void check_start(const FinetuneSpec& spec) {
    const Architecture& row = spec.row();
    if (row.reads_tokens() && spec.pretrained.empty()) {
        const std::string others = names_without_model(spec.task);
        throw ConfigError("--model is needed: the pretrained model to start from" +
                          (others.empty() ? "" : ". Without one, give --architecture: " + others));
    }
    if (!row.reads_tokens() && spec.random_weights) {
        throw ConfigError("--random-weights is for --architecture bigbird: " + spec.architecture +
                          " starts from nothing");
    }
    if (row.scores == Scores::records && !traits_of(spec.task).has_records) {
        throw ConfigError("--architecture " + spec.architecture +
                          " reads sequences of any length: build-sequences makes its examples");
    }
    if (!spec.pretrained.empty() && !row.reads_tokens() && !row.scores_bins()) {
        throw ConfigError(std::string("--model is for --architecture bigbird") +
                          (traits_of(spec.task).has_bins ? " and bigbird-bins: " : ": ") + spec.architecture +
                          " starts from nothing");
    }
}

void check_bins(const FinetuneSpec& spec) {
    const std::string model =
        spec.row().reads_tokens() ? "--head bins" : "--architecture " + spec.architecture;
    const auto refuse = [&](bool given, const std::string& option, const std::string& why) {
        if (given) throw ConfigError(option + " is not of " + model + ": " + why);
    };
    if (!spec.row().is_for(spec.task)) throw ConfigError(model + " scores bins: use finetune-chromatin");
    refuse(spec.pooling != "cls", "--pooling", "its head sees the mean over each bin's bases");
    refuse(spec.window.has_value(), "--window", "give --window BP, the bases of its bins");
}

}  // namespace

void FinetuneSpec::validate() const {
    check_start(*this);
    if (row().scores_bins()) check_bins(*this);
    if (!row().scores_bins() && bins.window > 0)
        throw ConfigError("--window takes A:B with this model, such as -500:500");
}

training::LearningRateSpec FinetuneSpec::rate_over(std::int64_t samples, std::int64_t per_step) const {
    if (learning_rate.total_steps > 0) return learning_rate.over(learning_rate.total_steps);
    constexpr double samples_in_all = 250'000, fewest = 6, most = 15;
    const double usual = samples_in_all / static_cast<double>(std::max<std::int64_t>(1, samples));
    const double passes = epochs > 0 ? epochs : std::clamp(usual, fewest, most);
    const double steps = std::ceil(passes * static_cast<double>(samples) / static_cast<double>(per_step));
    return learning_rate.over(std::max(fewest_steps, static_cast<std::int64_t>(steps)));
}

std::int64_t FinetuneSpec::waits_for() const {
    return patience.value_or(learning_rate.total_steps > 0 ? 0 : default_patience);
}

std::string FinetuneSpec::length() const {
    return learning_rate.total_steps > 0 ? counted(learning_rate.total_steps, "step")
                                         : fmt::format("{:g} {}", epochs, epochs == 1 ? "epoch" : "epochs");
}

FinetuneSpec promoter_model_spec() {
    FinetuneSpec spec;
    spec.task = examples::Task::promoter;
    spec.architecture = deepromoter_name;
    spec.epochs = 30;
    spec.fewest_steps = 300;
    return spec;
}

FinetuneSpec sequence_model_spec() {
    FinetuneSpec spec;
    spec.task = examples::Task::sequences;
    spec.architecture = sequence_name;
    spec.epochs = 0;
    spec.batch_size = 64;
    spec.learning_rate.peak = 2e-3;
    spec.learning_rate.decay = training::Decay::cosine;
    spec.optimizer.weight_decay = 0.05;
    return spec;
}

FinetuneSpec bin_model_spec() {
    FinetuneSpec spec;
    spec.architecture = bins_name;
    spec.epochs = 10;
    spec.fewest_steps = 300;
    spec.batch_size = 8;
    spec.learning_rate.peak = 1e-3;
    spec.learning_rate.decay = training::Decay::cosine;
    spec.optimizer.weight_decay = 0.05;
    spec.optimizer.beta1 = 0.9;
    spec.optimizer.beta2 = 0.98;
    spec.positive_weight = 1;
    spec.both_strands = true;
    spec.bins.motifs = 48;
    return spec;
}

FinetuneSpec profile_model_spec() {
    FinetuneSpec spec;
    spec.architecture = bins_name;  // not used
    spec.epochs = 10;
    spec.fewest_steps = 2000;
    spec.batch_size = 16;  // of one cost, more steps brought more than larger batches
    spec.learning_rate.peak = 2e-3;
    spec.learning_rate.decay = training::Decay::cosine;
    spec.optimizer.weight_decay = 0;
    spec.optimizer.clip_norm = 0;
    return spec;
}

FinetuneSpec coverage_model_spec() {
    FinetuneSpec spec = bin_model_spec();
    spec.epochs = 30;
    spec.fewest_steps = 1000;
    spec.learning_rate.peak = 2e-3;
    return spec;
}

FinetuneSpec token_model_spec() {
    FinetuneSpec spec;
    spec.task = examples::Task::tokens;
    spec.head = "tokens";
    spec.batch_size = 8;
    spec.learning_rate.peak = 0;
    return spec;
}

std::int64_t TokensSpec::window_bases(std::int64_t fitting) const {
    if (window > fitting) {
        throw ConfigError("--window " + std::to_string(window) +
                          ": the model's positions hold the tokens of " + std::to_string(fitting) + " bases");
    }
    return window > 0 ? window : fitting;
}

double FinetuneSpec::peak_of(std::int64_t hidden_size) const {
    if (learning_rate.peak > 0) return learning_rate.peak;
    const double narrower = std::min(1.0, width_of_tiny / static_cast<double>(hidden_size));
    const double peak = peak_of_tiny * narrower * narrower;
    return lora.rank > 0 ? std::max(peak, least_with_lora) : peak;
}

}  // namespace bigbird::tasks
