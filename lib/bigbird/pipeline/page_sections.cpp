// SPDX-License-Identifier: Apache-2.0
#include "bigbird/pipeline/page_sections.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/log.hpp"
#include "bigbird/core/parse_number.hpp"
#include "bigbird/evaluation/plot.hpp"
#include "bigbird/examples/build/sheet.hpp"
#include "bigbird/genome/reference/reference_genome.hpp"
#include "bigbird/genome/regions/interval_set.hpp"
#include "bigbird/rows/score_table.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <utility>

namespace bigbird::tasks {
namespace fs = std::filesystem;

namespace {

using genome::Interval;

constexpr std::int64_t region_length = 100'000;
constexpr std::size_t most_regions_shown = 3, labels_per_region = 4;

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
    const std::vector<ShownRegion> shown = choose_regions(set, region_length, most_regions_shown);
    if (shown.empty()) return "";
    const std::vector<RegionScores> read = read_scores(shown, peaks.bin, scores);
    const auto sets = read_peaks(peaks, shown);
    std::string html = fmt::format(
        "<h2>Held-out regions</h2><p>Scores of the model (red) above the peaks (black), each on its own "
        "scale, in the stretches of {} kb of test with peaks of the most labels.</p>\n",
        region_length / 1000);
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

}  // namespace bigbird::tasks
