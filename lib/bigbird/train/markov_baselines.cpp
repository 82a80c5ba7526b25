// SPDX-License-Identifier: Apache-2.0
#include "bigbird/train/markov_baselines.hpp"

#include "bigbird/core/error.hpp"

#include <string>

namespace bigbird::train {

namespace {

std::string joined(const corpus::Document& document) {
    std::string text;
    for (const std::string& sentence : document.sentences) {
        text += sentence;
    }
    return text;
}

}  // namespace

MarkovBaselines::MarkovBaselines(std::span<const int> orders) : scores_(orders.size()) {
    for (const int order : orders) {
        if (order < 0 || order > 12) {
            throw ConfigError("--baseline-orders must lie between 0 and 12");
        }
        models_.emplace_back(order);
    }
}

void MarkovBaselines::add(const corpus::Document& document) {
    const std::string text = joined(document);
    for (corpus::MarkovModel& model : models_) {
        model.add(text);
    }
}

void MarkovBaselines::score(const corpus::Document& document) {
    const std::string text = joined(document);
    for (std::size_t i = 0; i < models_.size(); ++i) {
        const corpus::CodeLength length = models_[i].score(text);
        scores_[i].bits += length.bits;
        scores_[i].bases += length.bases;
    }
}

Json MarkovBaselines::to_json() const {
    Json json = Json::object();
    for (std::size_t i = 0; i < models_.size(); ++i) {
        json["markov_order_" + std::to_string(models_[i].order())] = scores_[i].bits_per_base();
    }
    if (!scores_.empty()) {
        json["markov_bases"] = scores_.front().bases;
    }
    return json;
}

}  // namespace bigbird::train
