// SPDX-License-Identifier: Apache-2.0
#include "bigbird/task_models/tokens/label_windows.hpp"

#include "bigbird/core/check.hpp"
#include "bigbird/core/parallel.hpp"
#include "bigbird/genome/reference/sequence.hpp"

#include <algorithm>

namespace bigbird::task_models {

namespace {

constexpr std::int64_t shortest_gap = 64, piece_bases = 1 << 20;

std::vector<genome::Interval> pieces_of(const genome::IntervalSet& bases) {
    std::vector<genome::Interval> pieces;
    for (const genome::Interval& where : bases.intervals()) {
        for (std::int64_t begin = where.begin; begin < where.end; begin += piece_bases)
            pieces.push_back({where.contig, begin, std::min(begin + piece_bases, where.end)});
    }
    return pieces;
}

/// Runs of N of shortest_gap and more letters.
std::vector<genome::Interval> gaps_in(const genome::Interval& where, const std::string& dna) {
    std::vector<genome::Interval> gaps;
    for (std::size_t begin = dna.find('N'); begin != std::string::npos; begin = dna.find('N', begin)) {
        const std::size_t end = std::min(dna.find_first_not_of('N', begin), dna.size());
        if (static_cast<std::int64_t>(end - begin) >= shortest_gap) {
            gaps.push_back({where.contig, where.begin + static_cast<std::int64_t>(begin),
                            where.begin + static_cast<std::int64_t>(end)});
        }
        begin = end;
    }
    return gaps;
}

genome::IntervalSet gaps_of(const genome::ReferenceGenome& reference, const genome::IntervalSet& bases,
                            int threads) {
    const std::vector<genome::Interval> pieces = pieces_of(bases);
    std::vector<std::vector<genome::Interval>> found(pieces.size());
    parallel_for(std::ssize(pieces), threads, [&](std::int64_t i) {
        const auto at = static_cast<std::size_t>(i);
        found[at] = gaps_in(pieces[at], reference.fetch(pieces[at]));
    });
    std::vector<genome::Interval> all;
    for (const auto& some : found)
        all.insert(all.end(), some.begin(), some.end());
    return genome::IntervalSet(all);
}

}  // namespace

LabelWindows::LabelWindows(const genome::ReferenceGenome& reference, const examples::BaseLabels& labels,
                           const genome::IntervalSet& bases, int threads)
    : reference_(reference),
      labels_(labels),
      stretches_(bases.without(gaps_of(reference, bases, threads)).intervals()),
      counts_(labels.names().size(), 0) {
    for (const genome::Interval& stretch : stretches_) {
        bases_ += stretch.size();
        ends_.push_back(bases_);
        const std::vector<std::int64_t> some = labels.counts(stretch);
        for (std::size_t i = 0; i < some.size(); ++i)
            counts_[i] += some[i];
    }
}

std::vector<std::string> LabelWindows::samples(std::int64_t count, std::int64_t length) const {
    std::vector<std::string> all, shorter;
    const std::int64_t distance = std::max(length, bases_ / count);
    for (const genome::Interval& stretch : stretches_) {
        for (std::int64_t begin = stretch.begin; begin < stretch.end; begin += distance) {
            const std::int64_t end = std::min(begin + length, stretch.end);
            (end - begin < length / 2 ? shorter : all)
                .push_back(reference_.fetch({stretch.contig, begin, end}));
        }
    }
    return all.empty() ? shorter : all;
}

LabelWindow LabelWindows::draw(Rng rng, std::int64_t size, bool both_strands) const {
    BIGBIRD_EXPECTS(bases_ > 0, "no base to draw");
    const std::int64_t place = rng.between(0, bases_ - 1);
    const auto found = std::upper_bound(ends_.begin(), ends_.end(), place);
    const genome::Interval& stretch = stretches_[static_cast<std::size_t>(found - ends_.begin())];
    const std::int64_t base = stretch.end - (*found - place);
    const std::int64_t least = std::max(stretch.begin, base - size + 1),
                       most = std::min(base, stretch.end - size);
    LabelWindow window{.where = {stretch.contig, most < least ? stretch.begin : rng.between(least, most), 0}};
    window.where.end = std::min(window.where.begin + size, stretch.end);
    window.counted_end = window.where.size();
    window.reverse = both_strands && rng.between(0, 1) == 1;
    return window;
}

std::vector<LabelWindow> LabelWindows::tiles(std::int64_t size, std::int64_t margin) const {
    BIGBIRD_EXPECTS(size > 2 * margin, "a window has bases that count");
    std::vector<LabelWindow> all;
    for (const genome::Interval& stretch : stretches_) {
        for (std::int64_t begin = stretch.begin, next = begin; begin < stretch.end; begin = next) {
            LabelWindow window{.where = {stretch.contig, std::max(stretch.begin, begin - margin), 0}};
            window.where.end = std::min(window.where.begin + size, stretch.end);
            next = window.where.end == stretch.end ? stretch.end : window.where.end - margin;
            window.counted_begin = begin - window.where.begin;
            window.counted_end = next - window.where.begin;
            all.push_back(std::move(window));
        }
    }
    return all;
}

std::string LabelWindows::sequence(const LabelWindow& window) const {
    std::string dna = reference_.fetch(window.where);
    return window.reverse ? genome::reverse_complement(dna) : dna;
}

std::vector<std::int32_t> LabelWindows::labels(const LabelWindow& window) const {
    std::vector<std::int32_t> all = labels_.labels(window.where);
    std::fill(all.begin(), all.begin() + window.counted_begin, -1);
    std::fill(all.begin() + window.counted_end, all.end(), -1);
    if (window.reverse) std::ranges::reverse(all);
    return all;
}

}  // namespace bigbird::task_models
