// SPDX-License-Identifier: Apache-2.0
#include "bigbird/motifs/scanner.hpp"

#include "bigbird/core/parallel.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

namespace bigbird::motifs {

namespace {

constexpr double pseudocounts = 0.1, usual_sites = 20;  // FIMO's

/// P(score = least + i) of a sum of independent letters, computed position by position.
std::vector<double> distribution_of(const Scores& scores, const Shares& background) {
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
    std::partial_sum(p_.rbegin(), p_.rend(), p_.rbegin());
    for (double& p : p_)
        p = std::min(p, 1.0);
}

std::int32_t ScoreMatrix::threshold(double p_value) const {
    const auto first = std::ranges::partition_point(p_, [&](double p) { return p > p_value; });
    return least_ + static_cast<std::int32_t>(first - p_.begin());
}

namespace {

constexpr std::uint8_t no_letter = 4;
constexpr std::size_t block = 8192;  // starts whose letters stay in the first cache for all motifs

constexpr std::array<std::uint8_t, 256> codes_of_letters = [] {
    std::array<std::uint8_t, 256> codes{};
    codes.fill(no_letter);
    for (std::uint8_t code = 0; code < no_letter; ++code)
        codes[static_cast<unsigned char>("ACGT"[code])] = code;
    return codes;
}();

std::uint8_t code_of(char letter) {
    return codes_of_letters[static_cast<unsigned char>(letter)];
}

bool is_letter(char letter) {
    return code_of(letter) != no_letter;
}

/// Calls body(begin, end) for each run of A C G T.
void for_each_run(std::string_view dna, const std::function<void(std::size_t, std::size_t)>& body) {
    for (auto begin = std::ranges::find_if(dna, is_letter); begin != dna.end();) {
        const auto end = std::find_if_not(begin, dna.end(), is_letter);
        body(static_cast<std::size_t>(begin - dna.begin()), static_cast<std::size_t>(end - dna.begin()));
        begin = std::find_if(end, dna.end(), is_letter);
    }
}

PairTables tables_of(const Scores& scores, std::int32_t threshold) {
    constexpr std::int32_t steps = 254;
    std::int32_t most = 0;
    for (const auto& column : scores)
        most += std::ranges::max(column);
    const std::int32_t may_lose = most - threshold, step = may_lose / steps + 1;
    PairTables result;
    result.limit = static_cast<std::uint8_t>(may_lose / step);
    for (std::size_t i = 0; i < scores.size(); i += 2) {
        for (std::size_t first = 0; first < 4; ++first) {
            for (std::size_t second = 0; second < 4; ++second) {
                std::int32_t lost = std::ranges::max(scores[i]) - scores[i][first];
                if (i + 1 < scores.size()) lost += std::ranges::max(scores[i + 1]) - scores[i + 1][second];
                result.tables.push_back(static_cast<std::uint8_t>(std::min(lost / step, 255)));
            }
        }
    }
    return result;
}

std::int32_t score_of(const Scores& scores, const std::uint8_t* codes) {
    std::int32_t score = 0;
    for (std::size_t i = 0; i < scores.size(); ++i)
        score += scores[i][codes[i]];
    return score;
}

}  // namespace

Scanner::Scanner(const MotifSet& set, double p_value, int threads) {
    const Shares background = both_strands(set.background);
    matrices_.resize(set.motifs.size());
    parallel_for(std::ssize(matrices_), threads, [&](std::int64_t i) {
        const auto motif = static_cast<std::size_t>(i);
        matrices_[motif] = ScoreMatrix(set.motifs[motif], background);
    });
    for (const ScoreMatrix& matrix : matrices_) {
        const auto motif = static_cast<std::int32_t>(thresholds_.size());
        const std::int32_t threshold = thresholds_.emplace_back(matrix.threshold(p_value));
        if (threshold > matrix.most()) continue;
        for (const bool reverse : {false, true}) {
            const Scores scores = reverse ? other_strand(matrix.scores()) : matrix.scores();
            strands_.push_back({scores, threshold, motif, reverse, tables_of(scores, threshold)});
        }
    }
}

std::size_t Scanner::most_width() const {
    std::size_t width = 0;
    for (const ScoreMatrix& matrix : matrices_)
        width = std::max(width, matrix.width());
    return width;
}

void Scanner::scan_block(std::span<const std::uint8_t> codes, const std::uint8_t* pairs, std::size_t begin,
                         std::size_t end, std::vector<std::uint32_t>& candidates,
                         std::vector<Hit>& hits) const {
    for (const Strand& strand : strands_) {
        if (strand.scores.size() > codes.size()) continue;
        const std::size_t last = std::min(end, codes.size() - strand.scores.size() + 1);
        if (begin >= last) continue;
        candidates.clear();
        find_candidates(pairs + begin, last - begin, strand.tables, candidates);
        for (const std::uint32_t start : candidates) {
            const std::int32_t score = score_of(strand.scores, codes.data() + begin + start);
            if (score >= strand.threshold)
                hits.push_back(
                    {static_cast<std::uint32_t>(begin + start), score, strand.motif, strand.reverse});
        }
    }
}

std::vector<Hit> Scanner::scan(std::string_view dna, std::size_t starts) const {
    std::vector<Hit> hits;
    std::vector<std::uint8_t> codes, pairs;
    std::vector<std::uint32_t> candidates;
    for_each_run(dna, [&](std::size_t begin, std::size_t end) {
        if (begin >= starts) return;
        codes.resize(end - begin);
        std::ranges::transform(dna.substr(begin, end - begin), codes.begin(), code_of);
        pairs.assign(codes.size() + most_width() + read_ahead, 0);
        for (std::size_t i = 0; i < codes.size(); ++i)
            pairs[i] = static_cast<std::uint8_t>(4 * codes[i] + (i + 1 < codes.size() ? codes[i + 1] : 0));
        const std::size_t first = hits.size(), count = std::min(codes.size(), starts - begin);
        for (std::size_t at = 0; at < count; at += block)
            scan_block(codes, pairs.data(), at, std::min(at + block, count), candidates, hits);
        for (std::size_t i = first; i < hits.size(); ++i)
            hits[i].begin += static_cast<std::uint32_t>(begin);
    });
    std::ranges::sort(hits);
    return hits;
}

std::vector<Hit> Scanner::scan_plainly(std::string_view dna, std::size_t starts) const {
    std::vector<Hit> hits;
    std::vector<std::uint8_t> codes(dna.size());
    std::ranges::transform(dna, codes.begin(), code_of);
    for (const Strand& strand : strands_) {
        const std::size_t width = strand.scores.size();
        for (std::size_t i = 0; i < starts && i + width <= dna.size(); ++i) {
            const auto site = std::span(codes).subspan(i, width);
            if (std::ranges::find(site, no_letter) != site.end()) continue;
            const std::int32_t score = score_of(strand.scores, site.data());
            if (score >= strand.threshold)
                hits.push_back({static_cast<std::uint32_t>(i), score, strand.motif, strand.reverse});
        }
    }
    std::ranges::sort(hits);
    return hits;
}

void count_sites(std::string_view dna, std::size_t starts, std::map<std::size_t, std::int64_t>& by_width) {
    for_each_run(
        dna,
        [&](std::size_t begin, std::size_t end) {
            for (auto& [width, sites] : by_width) {
                const std::size_t last = std::min(end - std::min(width, end + 1) + 1, starts);
                if (last > begin) sites += static_cast<std::int64_t>(last - begin);
            }
        });
}

std::vector<double> q_values(const ScoreMatrix& matrix, std::int32_t threshold,
                             std::span<const std::int64_t> counts, std::int64_t tests) {
    std::vector<double> q(counts.size(), 1.0);
    std::int64_t rank = 0;
    for (std::size_t i = counts.size(); i-- > 0;) {  // from the best score on
        rank += counts[i];
        if (rank == 0) continue;
        const double p = matrix.p_value(threshold + static_cast<std::int32_t>(i));
        q[i] = std::min(1.0, p * static_cast<double>(tests) / static_cast<double>(rank));
    }
    double least = 1;
    for (double& each : q)  // no better score has a higher q-value
        each = least = std::min(least, each);
    return q;
}

}  // namespace bigbird::motifs
