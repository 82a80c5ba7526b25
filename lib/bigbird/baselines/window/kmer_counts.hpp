// SPDX-License-Identifier: Apache-2.0
// k-mer features of a sequence of any length, for logistic regression and ridge regression.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace bigbird::baselines {

/// Which features a sequence has.
struct KmerWords {
    std::vector<int> lengths{5, 6};  ///< lengths of the counted k-mers
    /// A k-mer and its reverse complement are one feature.
    bool both_strands = true;
    /// Number of positions, from the start of the sequence, whose dinucleotides are separate features.
    std::int64_t positions = 0;
    bool operator==(const KmerWords&) const = default;
};

/// A feature other than 0.
struct Feature {
    std::int32_t index = 0;
    float value = 0;
    bool operator==(const Feature&) const = default;
};

/// The square root of each k-mer's count, and 1 for each dinucleotide at its position. k-mers with N are left
/// out. Immutable; thread-safe.
class KmerCounts {
public:
    /// Throws ConfigError if a length is not from 1 to 8 or there are no features.
    explicit KmerCounts(const KmerWords& words);

    std::int64_t size() const { return size_; }
    /// The features of base codes (base_codes.hpp), with ascending indices.
    std::vector<Feature> count(std::span<const std::int32_t> bases) const;

private:
    struct Words {
        int length;
        std::vector<std::int32_t> feature;  ///< feature of each of 4^length words
    };
    void add_counts(const Words& words, std::span<const std::int32_t> bases,
                    std::vector<Feature>& features) const;

    std::vector<Words> words_;
    std::int64_t positions_, first_position_ = 0, size_ = 0;
};

}  // namespace bigbird::baselines
