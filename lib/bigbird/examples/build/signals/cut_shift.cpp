// SPDX-License-Identifier: Apache-2.0
#include "bigbird/examples/build/signals/cut_shift.hpp"

#include "bigbird/examples/build/signals/tn5_motif.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <string_view>
#include <vector>

namespace bigbird::examples {

namespace {

constexpr std::int64_t fewest_sites = 1000, most_spans = 4'000'000;
constexpr double errors_of_margin = 10;  // five standard errors of 2 bits per site

/// Row 0 is `first` bases from a 5' end, in the direction of the read; log2 of shares over the background's.
struct Motif {
    std::int64_t first = 0;
    std::vector<std::array<double, 4>> rows{};
};

std::array<double, 4> shares_of(const std::array<double, 4>& counts) {
    constexpr double pseudo_count = 0.25;
    double sum = 0;
    for (const double count : counts)
        sum += count + pseudo_count;
    std::array<double, 4> shares{};
    for (std::size_t letter = 0; letter < shares.size(); ++letter)
        shares[letter] = (counts[letter] + pseudo_count) / sum;
    return shares;
}

/// The letters far from the sites.
template <std::size_t width>
std::array<double, 4> background_of(const BaseCounts<width>& counts) {
    constexpr std::size_t far = 8;
    std::array<double, 4> sum{};
    for (std::size_t row = 0; row < width; ++row)
        for (std::size_t letter = 0; letter < sum.size() && (row < far || row >= width - far); ++letter)
            sum[letter] += counts[row][letter];
    return shares_of(sum);
}

/// The other strand: rows and letters in reverse order; row width / 2 stays the site.
template <std::size_t width>
BaseCounts<width> turned(const BaseCounts<width>& counts) {
    BaseCounts<width> result{};
    for (std::size_t row = 1; row < width; ++row)
        for (std::size_t letter = 0; letter < 4; ++letter)
            result[row][letter] = counts[width - row][3 - letter];
    return result;
}

/// The motif of the sites themselves, which are unshifted.
template <std::size_t width>
Motif motif_of(const BaseCounts<width>& counts, std::int64_t first, std::int64_t end) {
    const std::array<double, 4> background = background_of(counts);
    Motif motif{.first = first};
    for (std::int64_t row = first; row < end; ++row) {
        const auto shares = shares_of(counts[static_cast<std::size_t>(row + std::int64_t{width / 2})]);
        motif.rows.emplace_back();
        for (std::size_t letter = 0; letter < 4; ++letter)
            motif.rows.back()[letter] = std::log2(shares[letter] / background[letter]);
    }
    return motif;
}

Motif motif_of_tn5() {
    Motif motif{.first = tn5_first};
    for (const auto& row : tn5_motif)
        motif.rows.push_back(row);
    return motif;
}

/// log2 of how much likelier the letters are by the motif than by the background, per site, if the sites were
/// moved by `shift` in the direction of the read.
template <std::size_t width>
double score(const BaseCounts<width>& counts, const Motif& motif, std::int64_t shift) {
    const std::array<double, 4> background = background_of(counts);
    double sum = 0;
    for (std::size_t i = 0; i < motif.rows.size(); ++i) {
        const std::int64_t row = std::int64_t{width / 2} + motif.first + static_cast<std::int64_t>(i) - shift;
        const auto shares = shares_of(counts[static_cast<std::size_t>(row)]);
        double total = 0;
        for (std::size_t letter = 0; letter < 4; ++letter) {
            sum += shares[letter] * motif.rows[i][letter];
            total += background[letter] * std::exp2(motif.rows[i][letter]);
        }
        sum -= std::log2(total);
    }
    return sum;
}

/// Adds the rows around a base that is `shift` behind the middle one.
template <std::size_t width, std::size_t size>
void add_rows(const BaseCounts<width>& counts, std::int64_t shift, BaseCounts<size>& sums) {
    constexpr std::int64_t most = (width - size) / 2;
    const auto first = static_cast<std::size_t>(most + std::clamp(shift, -most, most));
    for (std::size_t row = 0; row < size; ++row)
        for (std::size_t letter = 0; letter < 4; ++letter)
            sums[row][letter] += counts[first + row][letter];
}

/// The shifts that files have, the first of which is assumed; and where the enzyme cuts.
struct Known {
    std::vector<EndShift> shifts{{0, 0}};
    EndShift cut{};
};

Known known_of(Assay assay) {
    if (assay == Assay::dnase) return {{{0, 0}, {0, 1}}, {0, 1}};
    Known tn5{.cut = {4, -4}};
    for (std::int64_t begin = 3; begin <= 5; ++begin)
        for (std::int64_t end = -6; end <= -4; ++end)
            tn5.shifts.push_back({begin, end});
    return tn5;
}

}  // namespace

bool CutSites::add(const AlignedSpan& span) {
    if (span.begin_is_5prime) ++forward_[{span.contig, span.begin}];
    if (span.end_is_5prime) ++reverse_[{span.contig, span.end - 1}];
    return ++spans_ < most_spans && std::min(std::ssize(forward_), std::ssize(reverse_)) < enough_sites;
}

BaseCounts<CutSites::width> CutSites::around(const Sites& sites,
                                             const genome::ReferenceGenome& reference) const {
    constexpr std::int64_t half = width / 2, chunk = 1 << 17;
    BaseCounts<width> counts{};
    genome::Interval where;
    std::string dna;
    for (const auto& [place, reads] : sites) {
        const std::string& contig = reference.contigs()[place.first].name;
        const std::int64_t begin = place.second - half;
        if (contig != where.contig || begin < where.begin || begin + std::int64_t{width} > where.end) {
            where = {contig, begin, begin + chunk};
            dna = reference.fetch(where);
        }
        const double weight = std::sqrt(static_cast<double>(reads));
        const auto at = static_cast<std::size_t>(begin - where.begin);
        for (std::size_t row = 0; row < width; ++row)
            if (const std::size_t letter = std::string_view("ACGT").find(dna[at + row]); letter < 4)
                counts[row][letter] += weight;
    }
    return counts;
}

ShiftFound CutSites::find(Assay assay, const genome::ReferenceGenome& reference,
                          const EndShift* given) const {
    const BaseCounts<width> forward = around(forward_, reference), reverse = around(reverse_, reference),
                            back = turned(reverse);
    const Known known = known_of(assay);
    const Motif motif = assay == Assay::dnase ? motif_of(forward, -10, 10) : motif_of_tn5();
    std::vector<std::pair<double, EndShift>> scores;
    for (const EndShift& shift : known.shifts)
        scores.emplace_back(score(forward, motif, shift.begin) + score(back, motif, -shift.end), shift);
    std::ranges::stable_sort(scores, std::greater(), [](const auto& one) { return one.first; });
    ShiftFound found;
    found.sites = std::min(std::ssize(forward_), std::ssize(reverse_));
    found.margin = scores[0].first - scores[1].first;
    found.clear = found.sites >= fewest_sites &&
                  found.margin >= errors_of_margin / std::sqrt(static_cast<double>(found.sites));
    if (found.clear) found.in_file = scores.front().second;
    found.applied = given != nullptr
                        ? *given
                        : EndShift{known.cut.begin - found.in_file.begin, known.cut.end - found.in_file.end};
    add_rows(forward, found.applied.begin, found.logo);
    add_rows(reverse, found.applied.end, found.logo);
    return found;
}

}  // namespace bigbird::examples
