// SPDX-License-Identifier: Apache-2.0
#include "bigbird/task_models/score/effect_ranks.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/formats/is_there.hpp"
#include "bigbird/core/log.hpp"
#include "bigbird/training/find_model.hpp"

#include <algorithm>

namespace bigbird::task_models {

namespace {

constexpr const char* checksum_key = "model_sha256";
constexpr std::size_t shown_digits = 12;

std::vector<std::string> checksums_of(const rows::Provenance& run) {
    std::vector<std::string> sums;
    for (const auto& [key, value] : run)
        if (key == checksum_key) sums.push_back(value.substr(0, shown_digits));
    return sums;
}

/// The entries of `run` that `other` lacks.
std::string words_of(const rows::Provenance& run, const rows::Provenance& other) {
    std::string words;
    for (const auto& entry : run)
        if (std::ranges::find(other, entry) == other.end())
            words += (words.empty() ? "" : ", ") + entry.first + " " + entry.second;
    return words.empty() ? "defaults" : words;
}

}  // namespace

EffectRanks::EffectRanks(const VariantSpec& spec) : path_(spec.background) {
    if (path_.empty() && spec.models.size() == 1) {
        path_ = training::find_model(spec.models.front()) / "background.h5";
        is_own_ = true;
        if (!is_there(path_)) path_.clear();
    }
    if (!path_.empty()) background_ = outputs::read_background(path_);
}

void EffectRanks::require(const rows::Provenance& run, std::span<const std::string> labels) {
    if (!background_) return;
    const auto theirs = checksums_of(background_->run), ours = checksums_of(run);
    if (theirs != ours) {
        throw InputError(fmt::format("is a background of another model ({}…, this one is {}…); make one with "
                                     "build-background --model",
                                     fmt::join(theirs, ", "), fmt::join(ours, ", ")),
                         path_);
    }
    if (background_->run != run) {
        const std::string sentence = "is a background of other options (" + words_of(background_->run, run) +
                                     ", not " + words_of(run, background_->run) +
                                     "); make one with build-background and the same options";
        if (!is_own_) throw InputError(sentence, path_);
        log_warning("{}: {}; quantile and p are left out", path_.string(), sentence);
        background_.reset();
        return;
    }
    for (const std::string& label : labels) {
        const auto found = background_->find(label);
        if (!found) throw InputError("lacks the label '" + label + "'; make it again", path_);
        labels_.push_back(*found);
    }
}

void EffectRanks::fill(std::span<AlleleEffects> effects) const {
    if (!background_) return;
    for (AlleleEffects& of_allele : effects) {
        for (std::size_t i = 0; i < of_allele.size(); ++i) {
            AlleleEffect& effect = of_allele[i];
            effect.quantile = static_cast<float>(background_->quantile(labels_[i], effect.log_odds));
            effect.p = static_cast<float>(background_->p(labels_[i], effect.log_odds));
        }
    }
}

}  // namespace bigbird::task_models
