// SPDX-License-Identifier: Apache-2.0
#include "bigbird/motifs/score_matrix.hpp"

#include <algorithm>
#include <cmath>

namespace bigbird::motifs {

namespace {

constexpr double pseudocounts = 0.1, usual_sites = 20;  // FIMO's

/// P(score = least + i) of a sum of independent letters, computed position by position.
std::vector<double> distribution_of(const std::vector<std::array<std::int32_t, 4>>& scores,
                                    const Shares& background) {
    std::vector<double> chance{1};
    for (const auto& column : scores) {
        const auto [least, most] = std::ranges::minmax(column);
        std::vector<double> next(chance.size() + static_cast<std::size_t>(most - least), 0.0);
        for (std::size_t letter = 0; letter < column.size(); ++letter) {
            double* const to = next.data() + (column[letter] - least);
            for (std::size_t i = 0; i < chance.size(); ++i)
                to[i] += chance[i] * background[letter];
        }
        chance = std::move(next);
    }
    return chance;
}

}  // namespace

Shares both_strands(const Shares& background) {
    const double at = (background[0] + background[3]) / 2, gc = (background[1] + background[2]) / 2;
    return {at, gc, gc, at};
}

ScoreMatrix::ScoreMatrix(const Motif& motif, const Shares& background) {
    const double sites = motif.sites > 0 ? static_cast<double>(motif.sites) : usual_sites;
    for (const Shares& column : motif.shares) {
        auto& scores = scores_.emplace_back();
        for (std::size_t letter = 0; letter < column.size(); ++letter) {
            const double share =
                (column[letter] * sites + pseudocounts * background[letter]) / (sites + pseudocounts);
            scores[letter] =
                static_cast<std::int32_t>(std::lround(std::log2(share / background[letter]) / score_unit));
        }
        least_ += std::ranges::min(scores);
    }
    p_ = distribution_of(scores_, background);
    for (std::size_t i = p_.size() - 1; i-- > 0;)
        p_[i] += p_[i + 1];
    for (double& p : p_)
        p = std::min(p, 1.0);
}

std::int32_t ScoreMatrix::threshold(double p_value) const {
    const auto first = std::ranges::partition_point(p_, [&](double p) { return p > p_value; });
    return least_ + static_cast<std::int32_t>(first - p_.begin());
}

std::vector<std::array<std::int32_t, 4>> ScoreMatrix::reversed() const {
    auto other = scores_;
    std::ranges::reverse(other);
    for (auto& column : other)
        std::ranges::reverse(column);
    return other;
}

}  // namespace bigbird::motifs
