// SPDX-License-Identifier: Apache-2.0
#include "bigbird/pipeline/logo.hpp"

#include "bigbird/core/log.hpp"
#include "bigbird/evaluation/plot.hpp"
#include "bigbird/motifs/motif_commands.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

namespace bigbird::tasks {

using motifs::Shares;

namespace {

constexpr int letter_width = 14, height = 60;

/// A C G T as outlines in a square of 100, so that a letter can be stretched to any height.
constexpr std::array outlines{"M0 100 38 0H62L100 100H76L69 78H31L24 100ZM37 59H63L50 20Z",
                              "M99 31C92 10 75 0 52 0 20 0 0 20 0 50 0 80 20 100 52 100 75 100 92 90 99 "
                              "69L77 62C73 75 65 81 52 81 34 81 "
                              "23 69 23 50 23 31 34 19 52 19 65 19 73 25 77 38Z",
                              "M99 31C92 10 75 0 52 0 20 0 0 20 0 50 0 80 20 100 52 100 72 100 88 93 99 "
                              "82V45H54V63H77V73C71 78 63 81 53 81 "
                              "34 81 23 69 23 50 23 31 34 19 52 19 65 19 73 25 77 36Z",
                              "M0 0H100V20H62V100H38V20H0Z"};
constexpr std::array colours{"#2e8b57", "#1b6ca8", "#c98a1b", "#d1495b"};

/// Stacks the letters of a position, with the most common on top.
std::string column(const Shares& place, std::size_t index, double most_bits) {
    constexpr double least = 0.5;  // minimum height of a drawn letter in pixels
    std::array<std::size_t, 4> order{};
    std::iota(order.begin(), order.end(), 0U);
    std::ranges::stable_sort(order, {}, [&](std::size_t letter) { return place[letter]; });
    std::string svg;
    double bottom = height;
    for (const std::size_t letter : order) {
        const double size = place[letter] * information_of(place) / most_bits * height;
        if (size < least) continue;
        bottom -= size;
        svg += fmt::format(
            "<path d='{}' fill='{}' fill-rule=evenodd transform='translate({} {:.1f}) scale({:.3f} "
            "{:.4f})'/>",
            outlines[letter], colours[letter], static_cast<double>(index * letter_width) + 0.5, bottom,
            (letter_width - 1) / 100.0, size / 100);
    }
    return svg;
}

}  // namespace

double information_of(const Shares& place) {
    double bits = 2;
    for (const double share : place)
        if (share > 0) bits += share * std::log2(share);
    return std::max(0.0, bits);
}

std::string logo_html(std::span<const Shares> shares, const std::string& caption, double most_bits) {
    const auto width = shares.size() * letter_width;
    std::string letters;
    for (std::size_t i = 0; i < shares.size(); ++i)
        letters += column(shares[i], i, most_bits);
    return fmt::format(
        "<figure><svg width={0} height={1} viewBox='0 0 {0} {1}'>{2}<line x1=0 y1={3} x2={0} y2={3} "
        "stroke='#999'/></svg><figcaption>{4}</figcaption></figure>\n",
        width, height + 1, letters, height, evaluation::escaped_html(caption));
}

std::string nearest_motif(const motifs::Motif& motif, std::span<const motifs::Motif> known) {
    if (known.empty()) return "";
    const motifs::Similarity best = motifs::compare(motif, known).front();
    const motifs::Motif& target = known[best.target];
    return fmt::format("; most similar: {}{} (p {:.2g})", target.id,
                       target.name.empty() ? "" : " " + target.name, best.p_value);
}

}  // namespace bigbird::tasks
