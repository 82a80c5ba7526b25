// SPDX-License-Identifier: Apache-2.0
// A splice network that a test can compute by hand: a position's probabilities are a function of five bases.
#pragma once

#include "bigbird/scoring/splicing/splice_model.hpp"

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace bigbird::testing {

inline std::string random_bases(std::size_t count, std::uint32_t seed) {
    std::string dna;
    for (std::size_t i = 0; i < count; ++i) {
        seed = seed * 1664525U + 1013904223U;
        dna += "ACGT"[seed >> 30U];
    }
    return dna;
}

/// Probabilities in multiples of 1/256, so that sums are exact.
inline std::vector<float> hashed_probabilities(std::span<const std::uint8_t> bases, std::int64_t channels) {
    std::uint32_t hash = 2166136261U;
    for (const std::uint8_t base : bases)
        hash = (hash ^ base) * 16777619U;
    std::vector<float> values;
    for (std::int64_t channel = 0; channel < channels; ++channel) {
        hash = hash * 1664525U + 1013904223U;
        values.push_back(static_cast<float>(hash >> 25U) / 256);
    }
    return values;
}

class FakeModel : public splicing::SpliceModel {
public:
    explicit FakeModel(std::int64_t channels = 3) : channels_(channels) {}
    std::int64_t context() const override { return 4; }
    std::int64_t channels() const override { return channels_; }
    const std::string& family() const override { return channels_ == 3 ? splice_ : pangolin_; }
    const std::string& sha256() const override { return sha256_; }
    std::vector<std::vector<float>> edited(std::span<const std::uint8_t> codes,
                                           std::span<const networks::SpliceEdit> edits, int) const override {
        std::vector<std::vector<float>> results;
        for (const networks::SpliceEdit& edit : edits) {
            std::vector<std::uint8_t> bases(codes.begin(), codes.end());
            const auto at = bases.erase(bases.begin() + edit.at, bases.begin() + edit.at + edit.removed);
            bases.insert(at, edit.inserted.begin(), edit.inserted.end());
            std::vector<float>& values = results.emplace_back();
            for (std::int64_t position = edit.begin; position < edit.end; ++position) {
                const auto of_position = probabilities_(
                    std::span(bases).subspan(static_cast<std::size_t>(position), 5), channels_);
                values.insert(values.end(), of_position.begin(), of_position.end());
            }
            passes += 1;
        }
        stretches.push_back(static_cast<std::int64_t>(codes.size()));
        return results;
    }
    using Probabilities = std::function<std::vector<float>(std::span<const std::uint8_t>, std::int64_t)>;
    void set(Probabilities probabilities) { probabilities_ = std::move(probabilities); }

    mutable std::int64_t passes = 0;              ///< windows that were asked for
    mutable std::vector<std::int64_t> stretches;  ///< their bases

private:
    std::int64_t channels_;
    std::string splice_ = "SpliceAI", pangolin_ = "Pangolin";
    std::string sha256_ = "0123456789abcdef0123456789abcdef";
    Probabilities probabilities_ = hashed_probabilities;
};

}  // namespace bigbird::testing
