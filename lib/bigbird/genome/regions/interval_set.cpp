// SPDX-License-Identifier: Apache-2.0
#include "bigbird/genome/regions/interval_set.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/log.hpp"
#include "bigbird/core/words.hpp"
#include "bigbird/genome/reference/contig_names.hpp"

#include <algorithm>
#include <set>

namespace bigbird::genome {

namespace {

using Spans = std::vector<Span>;

void merge(Spans& spans) {
    std::ranges::sort(spans, {}, &Span::begin);
    Spans merged;
    for (const Span& span : spans)
        if (!merged.empty() && span.begin <= merged.back().end)
            merged.back().end = std::max(merged.back().end, span.end);
        else
            merged.push_back(span);
    spans = std::move(merged);
}

/// The first span that ends after `position`.
std::span<const Span>::iterator first_behind(std::span<const Span> spans, std::int64_t position) {
    return std::ranges::upper_bound(spans, position, {}, &Span::end);
}

/// The bases of a BED file that are on the reference.
IntervalSet read_interval_set(const ReferenceGenome& reference, const std::filesystem::path& path) {
    std::vector<Interval> intervals;
    AssemblyFit fit;
    BedReader reader(path);
    while (auto record = reader.next()) {
        if (place(record->where, reference) == Fit::unknown_contig) {
            fit.add(record->where, Fit::unknown_contig, reference);
            continue;
        }
        const std::size_t contig = *reference.find(record->where.contig);
        record->where.end = std::min(record->where.end, reference.contigs()[contig].length);
        if (record->where.begin < record->where.end) intervals.push_back(std::move(record->where));
    }
    if (fit.rows > 0) {
        log_warning("{}: left out {} on contigs that the reference lacks ({})", path.string(),
                    counted(fit.rows, "interval"), fit.foreign_names());
    }
    return IntervalSet(intervals);
}

}  // namespace

IntervalSet::IntervalSet(std::span<const Interval> intervals) {
    for (const Interval& interval : intervals)
        if (interval.begin < interval.end)
            contigs_[interval.contig].push_back({interval.begin, interval.end});
    for (auto& [contig, spans] : contigs_)
        merge(spans);
}

std::int64_t IntervalSet::bases() const {
    std::int64_t total = 0;
    for (const auto& [contig, spans] : contigs_)
        for (const Span& span : spans)
            total += span.end - span.begin;
    return total;
}

std::span<const Span> IntervalSet::spans(std::string_view contig) const {
    const auto found = contigs_.find(contig);
    return found == contigs_.end() ? std::span<const Span>() : found->second;
}

std::vector<Interval> IntervalSet::intervals() const {
    std::vector<Interval> result;
    for (const auto& [contig, spans] : contigs_)
        for (const Span& span : spans)
            result.push_back({contig, span.begin, span.end});
    return result;
}

bool IntervalSet::overlaps(const Interval& where) const {
    const std::span<const Span> all = spans(where.contig);
    const auto span = first_behind(all, where.begin);
    return where.begin < where.end && span != all.end() && span->begin < where.end;
}

bool IntervalSet::contains(const Interval& where) const {
    const std::span<const Span> all = spans(where.contig);
    const auto span = first_behind(all, where.begin);
    return span != all.end() && span->begin <= where.begin && where.end <= span->end;
}

IntervalSet IntervalSet::united(const IntervalSet& other) const {
    IntervalSet result = *this;
    for (const auto& [contig, spans] : other.contigs_) {
        Spans& mine = result.contigs_[contig];
        mine.insert(mine.end(), spans.begin(), spans.end());
        merge(mine);
    }
    return result;
}

IntervalSet IntervalSet::intersected(const IntervalSet& other) const {
    return without(without(other));
}

IntervalSet IntervalSet::without(const IntervalSet& other) const {
    IntervalSet result;
    for (const auto& [contig, spans] : contigs_) {
        const std::span<const Span> cuts = other.spans(contig);
        Spans left;
        for (const Span& span : spans) {
            std::int64_t begin = span.begin;
            for (auto cut = first_behind(cuts, span.begin); cut != cuts.end() && cut->begin < span.end;
                 ++cut) {
                if (begin < cut->begin) left.push_back({begin, cut->begin});
                begin = cut->end;
            }
            if (begin < span.end) left.push_back({begin, span.end});
        }
        if (!left.empty()) result.contigs_.emplace(contig, std::move(left));
    }
    return result;
}

Fit place(Interval& where, const ReferenceGenome& reference) {
    const auto contig = reference.find(where.contig);
    if (!contig) return Fit::unknown_contig;
    where.contig = reference.contigs()[*contig].name;
    return where.begin >= 0 && where.end <= reference.contigs()[*contig].length ? Fit::inside : Fit::past_end;
}

std::string why_off(const Interval& where, const ReferenceGenome& reference) {
    const auto contig = reference.find(where.contig);
    if (!contig) return "contig '" + where.contig + "' is not in the reference";
    const Contig& known = reference.contigs()[*contig];
    return "end " + std::to_string(where.end) + " is past the end of contig '" + known.name +
           "', which has " + std::to_string(known.length) + " bases";
}

namespace {

/// `renames`: contigs get the reference's names.
PlacedBed place_rows(BedReader reader, const ReferenceGenome& reference, bool renames) {
    std::vector<BedRecord> records;
    std::set<std::string> names;
    while (auto record = reader.next()) {
        names.insert(record->where.contig);
        records.push_back(std::move(*record));
    }
    const bool other_genome = numbered_differently(reference.contigs(), names);
    PlacedBed placed;
    for (BedRecord& record : records) {
        Interval where = record.where;
        const Fit fit = other_genome ? Fit::unknown_contig : place(where, reference);
        placed.fit.add(where, fit, reference, record.line);
        if (renames) record.where = std::move(where);
        if (fit == Fit::inside) placed.records.push_back(std::move(record));
    }
    return placed;
}

}  // namespace

PlacedBed read_bed_on(const ReferenceGenome& reference, const std::filesystem::path& path) {
    return place_rows(BedReader(path), reference, true);
}

std::vector<BedRecord> read_regions_on(const ReferenceGenome& reference, const std::filesystem::path& path,
                                       const std::string& option) {
    PlacedBed bed = place_rows(BedReader(path, reference, option), reference, false);
    require_assembly(bed.fit, reference, path.string(), "rows", false, false);
    if (bed.fit.off_reference() > 0)
        log_warning("{}: left out {} of {} rows: {}", path.string(), bed.fit.off_reference(), bed.fit.rows,
                    bed.fit.misfits());
    return std::move(bed.records);
}

Interval region_on(const ReferenceGenome& reference, const std::string& text, const std::string& option) {
    const std::size_t colon = text.rfind(':');
    const bool is_contig = reference.find(text).has_value();
    Interval region{text, 0, longest_contig};
    if (!is_contig || (colon != std::string::npos && reference.find(text.substr(0, colon))))
        region = parse_region(text);
    if (is_contig && region.contig != text) {
        throw ConfigError(option + " '" + text +
                          "' is the name of a contig and a region of another: write '{" + text + "}' or '{" +
                          region.contig + "}" + text.substr(colon) + "'");
    }
    const auto contig = reference.find(region.contig);
    if (!contig) {
        throw ConfigError(option + " '" + text +
                          "' is neither a contig or region of the reference nor a BED file");
    }
    const Contig& known = reference.contigs()[*contig];
    if (region.begin >= known.length) {
        throw ConfigError(option + " '" + text + "' is past the end of contig '" + known.name +
                          "', which has " + std::to_string(known.length) + " bases");
    }
    return {known.name, region.begin, std::min(region.end, known.length)};
}

IntervalSet read_region_set(const ReferenceGenome& reference, std::span<const std::string> texts,
                            const std::string& option) {
    IntervalSet set;
    std::vector<Interval> regions;
    for (const std::string& text : texts) {
        std::error_code ignored;
        if (!reference.find(text) && std::filesystem::exists(text, ignored)) {
            set = set.united(read_interval_set(reference, text));
            continue;
        }
        regions.push_back(region_on(reference, text, option));
    }
    return set.united(IntervalSet(regions));
}

}  // namespace bigbird::genome
