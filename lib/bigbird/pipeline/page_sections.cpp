// SPDX-License-Identifier: Apache-2.0
#include "bigbird/pipeline/page_sections.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/formats/is_there.hpp"
#include "bigbird/core/log.hpp"
#include "bigbird/core/parse_number.hpp"
#include "bigbird/evaluation/plot.hpp"
#include "bigbird/examples/build/sheet.hpp"
#include "bigbird/genome/reference/reference_genome.hpp"
#include "bigbird/genome/regions/interval_set.hpp"
#include "bigbird/motifs/motif_files.hpp"
#include "bigbird/rows/score_table.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>
#include <utility>

namespace bigbird::tasks {
namespace fs = std::filesystem;

namespace {

using genome::Interval;
using motifs::Shares;

constexpr std::int64_t region_length = 100'000;
constexpr std::size_t regions = 3, labels_per_region = 4;

/// Positives by label in one stretch.
struct Block {
    Interval where{};
    std::vector<std::int64_t> positives{};

    auto rank() const {
        const auto labels = std::ranges::count_if(positives, [](std::int64_t count) { return count > 0; });
        return std::pair(labels, std::accumulate(positives.begin(), positives.end(), std::int64_t{0}));
    }
};

std::vector<std::size_t> commonest_labels(const Block& block) {
    std::vector<std::size_t> order(block.positives.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(
        order, std::greater{}, [&](std::size_t label) { return block.positives[label]; });
    std::erase_if(order, [&](std::size_t label) { return block.positives[label] == 0; });
    if (order.size() > labels_per_region) order.resize(labels_per_region);
    return order;
}

/// A region's scores: for each of its labels, by bin from its start; NaN for bins without a score.
using RegionScores = std::vector<std::vector<float>>;

std::vector<RegionScores> read_scores(std::span<const ShownRegion> shown, std::int64_t bin,
                                      const fs::path& table) {
    std::vector<RegionScores> scores;
    for (const ShownRegion& region : shown) {
        const auto bins = static_cast<std::size_t>((region.where.size() + bin - 1) / bin);
        scores.emplace_back(region.labels.size(), std::vector<float>(bins, NAN));
    }
    rows::ScoreReader reader(table);
    rows::ScoreRow row;
    for (std::vector<float> values; reader.next(row, values);) {
        const std::int64_t begin = parse_number<std::int64_t>(row.begin).value_or(-1);
        for (std::size_t r = 0; r < shown.size(); ++r) {
            const Interval& where = shown[r].where;
            if (row.contig != where.contig || begin < where.begin || begin >= where.end) continue;
            for (std::size_t l = 0; l < shown[r].labels.size(); ++l)
                scores[r][l][static_cast<std::size_t>((begin - where.begin) / bin)] =
                    values.at(shown[r].labels[l]);
        }
    }
    return scores;
}

/// The peaks of the shown labels.
std::map<std::size_t, genome::IntervalSet> read_peaks(const examples::ChromatinOptions& options,
                                                      std::span<const ShownRegion> shown) {
    const auto reference = genome::open_references(options.references);
    const auto files = examples::read_label_files(options.peaks);
    std::map<std::size_t, genome::IntervalSet> peaks;
    for (const ShownRegion& region : shown) {
        for (const std::size_t label : region.labels) {
            if (peaks.contains(label)) continue;
            std::vector<Interval> intervals;
            for (const fs::path& file : files.at(label).paths)
                for (const genome::BedRecord& record : genome::read_bed_on(*reference, file).records)
                    intervals.push_back(record.where);
            peaks[label] = genome::IntervalSet(intervals);
        }
    }
    return peaks;
}

constexpr int letter_width = 14, height = 60;
constexpr double most_bits = 2;

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

double information(const Shares& place) {
    double bits = most_bits;
    for (const double share : place)
        if (share > 0) bits += share * std::log2(share);
    return std::max(0.0, bits);
}

/// Stacks the letters of a position, with the most common on top.
std::string column(const Shares& place, std::size_t index) {
    constexpr double least = 0.5;  // minimum height of a drawn letter in pixels
    std::array<std::size_t, 4> order{};
    std::iota(order.begin(), order.end(), 0U);
    std::ranges::stable_sort(order, {}, [&](std::size_t letter) { return place[letter]; });
    std::string svg;
    double bottom = height;
    for (const std::size_t letter : order) {
        const double size = place[letter] * information(place) / most_bits * height;
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

std::string logo(const motifs::Motif& motif) {
    const auto width = motif.shares.size() * letter_width;
    std::string letters;
    for (std::size_t i = 0; i < motif.shares.size(); ++i)
        letters += column(motif.shares[i], i);
    return fmt::format(
        "<figure><svg width={0} height={1} viewBox='0 0 {0} {1}'>{2}<line x1=0 y1={3} x2={0} y2={3} "
        "stroke='#999'/></svg><figcaption>{4}, {5} sites</figcaption></figure>\n",
        width, height + 1, letters, height, evaluation::escaped_html(motif.name), motif.sites);
}

}  // namespace

std::vector<ShownRegion> choose_regions(const examples::ExampleSet& set, std::int64_t length,
                                        std::size_t most) {
    std::vector<Block> blocks;
    std::vector<std::uint8_t> labels(set.label_table().size());
    for (const std::int64_t index : set.rows(examples::Split::test)) {
        const examples::ExampleRow row = set.row(index);
        const Interval& where = row.where;
        if (blocks.empty() || blocks.back().where.contig != where.contig ||
            blocks.back().where.begin / length != where.begin / length)
            blocks.push_back({where, std::vector<std::int64_t>(labels.size())});
        blocks.back().where.end = where.end;
        set.copy_labels(index, labels);
        for (std::size_t label = 0; label < labels.size(); ++label)
            blocks.back().positives[label] += labels[label];
    }
    std::ranges::stable_sort(blocks, std::greater{}, &Block::rank);
    std::vector<ShownRegion> chosen;
    for (const Block& block : blocks) {
        std::vector<std::size_t> of_block = commonest_labels(block);
        if (chosen.size() == most || of_block.empty()) break;
        chosen.push_back({block.where, std::move(of_block)});
    }
    return chosen;
}

std::string tracks_html(const examples::ChromatinOptions& peaks, const examples::ExampleSet& set,
                        const fs::path& scores) {
    const std::vector<ShownRegion> shown = choose_regions(set, region_length, regions);
    if (shown.empty()) return "";
    const std::vector<RegionScores> read = read_scores(shown, peaks.bin, scores);
    const auto sets = read_peaks(peaks, shown);
    std::string html = fmt::format(
        "<h2>Held-out regions</h2><p>Scores of the model (red) above the peaks (black), for the {} labels "
        "with the "
        "most positive bins of each region. Shown are the stretches of {} kb of test with peaks of the most "
        "labels, "
        "chosen without looking at scores; each track has its own scale.</p>\n",
        labels_per_region, region_length / 1000);
    for (std::size_t r = 0; r < shown.size(); ++r) {
        const Interval& where = shown[r].where;
        evaluation::RegionPicture picture(where);
        for (std::size_t l = 0; l < shown[r].labels.size(); ++l) {
            const std::size_t label = shown[r].labels[l];
            picture.track(set.label_table()[label].name, read[r][l], peaks.bin,
                          sets.at(label).spans(where.contig));
        }
        html += picture.html(fmt::format("{}:{}-{}", where.contig, where.begin + 1, where.end));
    }
    return html;
}

std::string logos_html(const std::filesystem::path& meme) {
    if (!is_there(meme)) return "";
    const std::vector<motifs::Motif> found = motifs::read_motifs(meme).motifs;
    std::string html = fmt::format(
        "<h2>Motifs that the model began from</h2><p>Found in the training rows of the label below each, "
        "before training; {} of the first filters begin as these. Full height: 2 bits. run/{} has them for "
        "MEME's "
        "tools.</p><div class=pictures>",
        found.size(), evaluation::escaped_html(meme.filename().string()));
    for (const motifs::Motif& motif : found)
        html += logo(motif);
    return html + "</div>\n";
}

}  // namespace bigbird::tasks
