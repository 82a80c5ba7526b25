// SPDX-License-Identifier: Apache-2.0
#include "bigbird/motifs/motif_commands.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace bigbird::motifs {

namespace {

constexpr double score_bins = 100;  // number of bins over a query's column scores

using Chances = std::vector<double>;

double distance(const Shares& a, const Shares& b) {
    double sum = 0;
    for (std::size_t letter = 0; letter < a.size(); ++letter)
        sum += (a[letter] - b[letter]) * (a[letter] - b[letter]);
    return std::sqrt(sum);
}

double median_of(std::vector<double> values) {
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::ranges::nth_element(values, middle);
    return *middle;
}

/// The columns of all targets on both strands. Those of target t begin at begins[2 * t], and on the reverse
/// strand at begins[2 * t + 1].
struct Columns {
    explicit Columns(std::span<const Motif> targets) {
        for (const Motif& target : targets) {
            for (const Motif& strand : {target, reverse_complement(target)}) {
                begins.push_back(all.size());
                all.insert(all.end(), strand.shares.begin(), strand.shares.end());
            }
        }
    }
    std::vector<Shares> all{};
    std::vector<std::size_t> begins{};
};

/// Whole-number scores of a query's columns against all targets' columns.
struct ColumnScores {
    std::vector<std::vector<std::int32_t>> scores{};  ///< [query's column][target's column]
    std::int32_t least = 0, range = 0;

    ColumnScores(const Motif& query, const Columns& columns) {
        std::vector<std::vector<double>> exact;
        double low = 0, high = 0;
        for (const Shares& column : query.shares) {
            std::vector<double>& row = exact.emplace_back();
            for (const Shares& other : columns.all)
                row.push_back(-distance(column, other));
            const double median = median_of(row);
            for (double& score : row) {
                score -= median;
                low = std::min(low, score);
                high = std::max(high, score);
            }
        }
        const double scale = high > low ? score_bins / (high - low) : 1;
        least = static_cast<std::int32_t>(std::lround(low * scale));
        range = static_cast<std::int32_t>(std::lround(high * scale)) - least;
        for (const auto& row : exact) {
            auto& whole = scores.emplace_back();
            for (const double score : row)
                whole.push_back(static_cast<std::int32_t>(std::lround(score * scale)));
        }
    }
    /// Chances of one column's score, from `least` on.
    Chances chances(std::size_t column) const {
        Chances chances(static_cast<std::size_t>(range) + 1, 0.0);
        for (const std::int32_t score : scores[column])
            chances[static_cast<std::size_t>(score - least)] +=
                1 / static_cast<double>(scores[column].size());
        return chances;
    }
};

/// The chance that `count` of the query's columns, from `first` on, reach a score.
class SpanTails {
public:
    explicit SpanTails(const ColumnScores& scores) : width_(scores.scores.size()), least_(scores.least) {
        std::vector<Chances> columns;
        for (std::size_t i = 0; i < width_; ++i)
            columns.push_back(scores.chances(i));
        tails_.resize(width_ * (width_ + 1));
        for (std::size_t first = 0; first < width_; ++first) {
            Chances chances{1};
            for (std::size_t count = 1; first + count <= width_; ++count) {
                chances = convolve(chances, columns[first + count - 1]);
                Chances& tail = tails_[first * (width_ + 1) + count] = chances;
                std::partial_sum(tail.rbegin(), tail.rend(), tail.rbegin());
            }
        }
    }

    double at_least(std::int32_t score, std::size_t first, std::size_t count) const {
        const Chances& tail = tails_[first * (width_ + 1) + count];
        const std::int32_t index = score - least_ * static_cast<std::int32_t>(count);
        if (index <= 0) return 1;
        return static_cast<std::size_t>(index) < tail.size() ? tail[static_cast<std::size_t>(index)] : 0;
    }

private:
    static Chances convolve(const Chances& a, const Chances& b) {
        Chances sum(a.size() + b.size() - 1, 0.0);
        for (std::size_t j = 0; j < b.size(); ++j) {
            if (b[j] == 0) continue;
            for (std::size_t i = 0; i < a.size(); ++i)
                sum[i + j] += a[i] * b[j];
        }
        return sum;
    }

    std::size_t width_;
    std::int32_t least_;
    std::vector<Chances> tails_;  ///< (first, count)
};

/// Query columns [first, first + count) aligned with target columns from `target` on. The query begins
/// `offset` columns after the target's first column.
struct Overlap {
    std::size_t first = 0, target = 0, count = 0;
};

Overlap overlap_at(std::int64_t offset, std::size_t query, std::size_t target) {
    const std::int64_t first = std::max<std::int64_t>(0, -offset), begin = std::max<std::int64_t>(0, offset);
    const std::int64_t count =
        std::min(static_cast<std::int64_t>(query) - first, static_cast<std::int64_t>(target) - begin);
    return {static_cast<std::size_t>(first), static_cast<std::size_t>(begin),
            static_cast<std::size_t>(count)};
}

/// The best offset on one strand of a target, and the chance that any offset is at least as good.
Similarity best_offset(const ColumnScores& scores, const SpanTails& tails, std::size_t begin,
                       std::size_t width) {
    const std::size_t query = scores.scores.size();
    const auto from = 1 - static_cast<std::int64_t>(query), to = static_cast<std::int64_t>(width);
    Similarity best;
    std::int32_t best_score = std::numeric_limits<std::int32_t>::min();
    for (std::int64_t offset = from; offset < to; ++offset) {
        const Overlap where = overlap_at(offset, query, width);
        std::int32_t score = 0;
        for (std::size_t i = 0; i < where.count; ++i)
            score += scores.scores[where.first + i][begin + where.target + i];
        if (score <= best_score) continue;
        best_score = score;
        best.offset = offset;
        best.overlap = static_cast<std::int64_t>(where.count);
    }
    double log_none = 0;  // log probability that no offset is as good
    for (std::int64_t offset = from; offset < to; ++offset) {
        const Overlap where = overlap_at(offset, query, width);
        log_none += std::log1p(-std::min(tails.at_least(best_score, where.first, where.count), 1 - 1e-15));
    }
    best.p_value = -std::expm1(log_none);
    return best;
}

}  // namespace

std::vector<Similarity> compare(const Motif& query, std::span<const Motif> targets) {
    const Columns columns(targets);
    const ColumnScores scores(query, columns);
    const SpanTails tails(scores);
    std::vector<Similarity> found;
    for (std::size_t target = 0; target < targets.size(); ++target) {
        const std::size_t width = targets[target].shares.size();
        Similarity best = best_offset(scores, tails, columns.begins[2 * target], width);
        const Similarity other = best_offset(scores, tails, columns.begins[2 * target + 1], width);
        const bool reverse = other.p_value < best.p_value;
        if (reverse) best = other;
        best.reverse = reverse;
        best.target = target;
        best.p_value *= 2 - best.p_value;  // for the better of two strands
        found.push_back(best);
    }
    std::ranges::stable_sort(found, {}, &Similarity::p_value);
    return found;
}

}  // namespace bigbird::motifs
