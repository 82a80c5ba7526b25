// SPDX-License-Identifier: Apache-2.0
#include "bigbird/examples/base_labels.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/genome/regions/interval_set.hpp"
#include "bigbird/rows/text_fields.hpp"

#include <algorithm>
#include <set>
#include <tuple>

namespace bigbird::examples {

namespace {

/// Rows on the reference with a label, by position.
std::vector<genome::BedRecord> read_rows(const genome::ReferenceGenome& reference,
                                         const std::filesystem::path& bed) {
    std::vector<genome::BedRecord> rows;
    genome::BedReader reader(bed);
    while (auto record = reader.next()) {
        if (record->name == ".") {
            throw InputError("has no label in column 4: a row is contig, start, end, label", bed,
                             record->line);
        }
        if (record->name != none_label && rows::is_missing(record->name)) {
            throw InputError("has '" + record->name + "', a missing value, as its label: delete such rows",
                             bed, record->line);
        }
        if (genome::place(record->where, reference) != genome::Fit::inside)
            throw InputError(genome::why_off(record->where, reference), bed, record->line);
        if (record->where.size() > 0) rows.push_back(std::move(*record));
    }
    std::ranges::stable_sort(rows, {}, [](const genome::BedRecord& row) {
        return std::tie(row.where.contig, row.where.begin, row.where.end);
    });
    return rows;
}

[[noreturn]] void refuse_overlap(const genome::BedRecord& one, const genome::BedRecord& other,
                                 const std::filesystem::path& bed) {
    const genome::BedRecord &first = one.line < other.line ? one : other,
                            &second = one.line < other.line ? other : one;
    throw InputError("'" + second.name + "' at " + genome::to_string(second.where) + " overlaps '" +
                         first.name + "' of line " + std::to_string(first.line) + ": a base has one label",
                     bed, second.line);
}

/// Calls use(begin, end, label) for the parts of spans in [begin, end).
template <typename Use>
void for_each_part(std::span<const LabelledSpan> spans, std::int64_t begin, std::int64_t end,
                   const Use& use) {
    auto span = std::ranges::upper_bound(spans, begin, {}, &LabelledSpan::end);
    for (; span != spans.end() && span->begin < end; ++span)
        use(std::max(begin, span->begin), std::min(end, span->end), span->label);
}

}  // namespace

BaseLabels BaseLabels::read(const genome::ReferenceGenome& reference, const std::filesystem::path& bed) {
    const std::vector<genome::BedRecord> rows = read_rows(reference, bed);
    std::set<std::string> named;
    for (const genome::BedRecord& row : rows)
        named.insert(row.name);
    named.erase(none_label);
    if (named.empty()) throw InputError("labels no base", bed);
    BaseLabels labels;
    labels.names_.emplace_back(none_label);
    labels.names_.insert(labels.names_.end(), named.begin(), named.end());
    labels.first_lines_.assign(labels.names_.size(), 0);
    const genome::BedRecord* last = nullptr;  // the row of the contig with the largest end so far
    for (const genome::BedRecord& row : rows) {
        std::vector<LabelledSpan>& spans = labels.contigs_[row.where.contig];
        const auto found = std::find(labels.names_.begin(), labels.names_.end(), row.name);
        const auto label = static_cast<std::size_t>(found - labels.names_.begin());
        std::int64_t& first = labels.first_lines_[label];
        first = first == 0 ? row.line : std::min(first, row.line);
        const LabelledSpan span{row.where.begin, row.where.end, static_cast<std::int32_t>(label)};
        if (spans.empty() || span.begin > spans.back().end ||
            (span.begin == spans.back().end && span.label != spans.back().label)) {
            spans.push_back(span);
            last = &row;
            continue;
        }
        if (span.label != spans.back().label) refuse_overlap(*last, row, bed);
        if (span.end > spans.back().end) last = &row;
        spans.back().end = std::max(spans.back().end, span.end);
    }
    return labels;
}

std::span<const LabelledSpan> BaseLabels::spans(std::string_view contig) const {
    const auto found = contigs_.find(contig);
    return found == contigs_.end() ? std::span<const LabelledSpan>() : std::span(found->second);
}

std::vector<genome::Interval> BaseLabels::extents() const {
    std::vector<genome::Interval> all;
    for (const auto& [contig, spans] : contigs_)
        all.push_back({contig, spans.front().begin, spans.back().end});
    return all;
}

std::vector<std::int32_t> BaseLabels::labels(const genome::Interval& where) const {
    std::vector<std::int32_t> all(static_cast<std::size_t>(where.size()), 0);
    for_each_part(spans(where.contig), where.begin, where.end,
                  [&](std::int64_t begin, std::int64_t end, std::int32_t label) {
                      std::fill(all.begin() + (begin - where.begin), all.begin() + (end - where.begin),
                                label);
                  });
    return all;
}

std::vector<std::int64_t> BaseLabels::counts(const genome::Interval& where) const {
    std::vector<std::int64_t> sums(names_.size(), 0);
    sums[0] = where.size();
    for_each_part(spans(where.contig), where.begin, where.end,
                  [&](std::int64_t begin, std::int64_t end, std::int32_t label) {
                      sums[static_cast<std::size_t>(label)] += end - begin;
                      sums[0] -= end - begin;
                  });
    return sums;
}

}  // namespace bigbird::examples
