// SPDX-License-Identifier: Apache-2.0
#include "bigbird/core/error.hpp"
#include "bigbird/core/parse_number.hpp"
#include "bigbird/core/words.hpp"
#include "bigbird/evaluation/evaluation_report.hpp"
#include "bigbird/genome/reference/contig_names.hpp"
#include "bigbird/genome/regions/bed.hpp"
#include "bigbird/genome/regions/interval_set.hpp"
#include "bigbird/outputs/merge/merge_scores.hpp"
#include "bigbird/rows/score_table.hpp"
#include "bigbird/rows/text_fields.hpp"
#include "bigbird/rows/tss.hpp"

#include <cmath>
#include <set>

namespace bigbird::evaluation {

namespace {

using genome::Interval;
using genome::IntervalSet;

struct Scan {
    std::vector<Interval> scanned, called;
};

Scan read_scan(const std::filesystem::path& path, double threshold) {
    rows::ScoreReader reader(path, outputs::score_lines(path));
    if (reader.columns().size() != 1) {
        throw InputError("has " + counted(reader.columns().size(), "column") +
                             " of scores; a scan of predict-promoter has one",
                         path);
    }
    const bool ours = !reader.provenance().empty();
    if (ours && (rows::value_of(reader.provenance(), "tile").empty() ||
                 rows::value_of(reader.provenance(), "pool") != "none"))
        throw InputError("is no scan, tile by tile: predict-promoter --tile writes one", path);
    Scan scan;
    rows::ScoreRow row;
    std::vector<float> values;
    while (reader.next(row, values)) {
        if (std::isnan(values[0])) continue;
        const auto begin = parse_number<std::int64_t>(row.begin), end = parse_number<std::int64_t>(row.end);
        if (!begin || !end) throw InputError("start and end must be numbers", path, reader.line_number());
        scan.scanned.push_back({row.contig, *begin, *end});
        if (static_cast<double>(values[0]) >= threshold) scan.called.push_back(scan.scanned.back());
    }
    return scan;
}

/// Spans that are at most `distance` apart become one.
std::vector<Interval> merged(std::span<const Interval> intervals, std::int64_t distance) {
    std::vector<Interval> calls;
    for (const Interval& one : IntervalSet(intervals).intervals())
        if (!calls.empty() && calls.back().contig == one.contig && one.begin - calls.back().end <= distance)
            calls.back().end = one.end;
        else
            calls.push_back(one);
    return calls;
}

IntervalSet widened(std::span<const Interval> intervals, std::int64_t distance) {
    std::vector<Interval> wide;
    for (const Interval& one : intervals)
        wide.push_back({one.contig, std::max<std::int64_t>(0, one.begin - distance), one.end + distance});
    return IntervalSet(wide);
}

/// TSS bases that were scanned, contigs spelled as in the scan.
std::vector<Interval> scanned_tss(const std::filesystem::path& path, const IntervalSet& scanned) {
    std::vector<genome::Contig> contigs;
    std::set<std::string> seen;
    for (const Interval& one : scanned.intervals())
        if (seen.insert(one.contig).second) contigs.push_back({one.contig, 0});
    const genome::ContigNames names(contigs);
    std::vector<Interval> sites;
    bool any = false;
    for (const genome::BedRecord& record : rows::read_tss(path, false)) {
        const auto contig = names.find(record.where.contig);
        if (!contig) continue;
        any = true;
        const Interval site{contigs[*contig].name, record.where.begin, record.where.end};
        if (scanned.contains(site)) sites.push_back(site);
    }
    if (!any)
        throw InputError("has no TSS on the contigs that were scanned; give TSSs of the same assembly", path);
    return sites;
}

std::optional<double> ratio(std::int64_t part, std::int64_t whole) {
    return whole > 0 ? std::optional(static_cast<double>(part) / static_cast<double>(whole)) : std::nullopt;
}

}  // namespace

ScanFigures evaluate_scan(const ScanOptions& options, double threshold) {
    const Scan scan = read_scan(options.scores, threshold);
    const IntervalSet scanned(scan.scanned);
    const std::vector<Interval> calls = merged(scan.called, options.distance);
    const std::vector<Interval> sites = scanned_tss(options.tss, scanned);
    const IntervalSet near_tss = widened(sites, options.distance),
                      near_call = widened(calls, options.distance);
    ScanFigures figures;
    figures.threshold = threshold;
    figures.scanned_bases = scanned.bases();
    figures.calls = std::ssize(calls);
    for (const Interval& call : calls)
        figures.right_calls += near_tss.overlaps(call) ? 1 : 0;
    figures.tss = std::ssize(sites);
    for (const Interval& site : sites)
        figures.found_tss += near_call.overlaps(site) ? 1 : 0;
    if (figures.scanned_bases > 0) {
        figures.false_calls_a_megabase = 1e6 * static_cast<double>(figures.calls - figures.right_calls) /
                                         static_cast<double>(figures.scanned_bases);
    }
    figures.precision = ratio(figures.right_calls, figures.calls);
    figures.recall = ratio(figures.found_tss, figures.tss);
    return figures;
}

Json to_json(const ScanFigures& figures) {
    return {{"threshold", figures.threshold},
            {"scanned_bases", figures.scanned_bases},
            {"calls", figures.calls},
            {"right_calls", figures.right_calls},
            {"tss", figures.tss},
            {"found_tss", figures.found_tss},
            {"false_calls_a_megabase", number(figures.false_calls_a_megabase)},
            {"precision", number(figures.precision)},
            {"recall", number(figures.recall)}};
}

}  // namespace bigbird::evaluation
