// SPDX-License-Identifier: Apache-2.0
#include "bigbird/rows/window.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/parse_number.hpp"
#include "bigbird/rows/text_fields.hpp"

namespace bigbird::rows {

WindowBounds parse_window_bounds(std::string_view text) {
    const std::size_t colon = text.find(':');
    if (colon != std::string_view::npos) {
        const auto begin = parse_number<std::int64_t>(text.substr(0, colon));
        const auto end = parse_number<std::int64_t>(text.substr(colon + 1));
        constexpr std::int64_t far = 100'000'000;
        if (begin && end && *begin<*end&& * begin> - far && *end < far) {
            if (*end - *begin > longest_window)
                throw ConfigError("window '" + std::string(text) + "' has more than 2^24 bases");
            return {*begin, *end};
        }
    }
    throw ConfigError("'" + std::string(text) +
                      "' is no window; write A:B with A < B, bases from the TSS, such as -5000:3000");
}

std::string to_string(const WindowBounds& bounds) {
    return std::to_string(bounds.begin) + ":" + std::to_string(bounds.end);
}

std::int64_t tss_of(const genome::Interval& where, genome::Strand strand) {
    return strand == genome::Strand::reverse && where.size() > 0 ? where.end - 1 : where.begin;
}

genome::Interval window_about_tss(const std::string& contig, std::int64_t tss, genome::Strand strand,
                                  const WindowBounds& bounds) {
    if (strand == genome::Strand::reverse) return {contig, tss - bounds.end + 1, tss - bounds.begin + 1};
    return {contig, tss + bounds.begin, tss + bounds.end};
}

genome::Interval window_of(const genome::BedRecord& record, Anchor anchor, const WindowBounds& bounds) {
    if (anchor == Anchor::itself) return record.where;
    if (anchor == Anchor::tss || (anchor == Anchor::automatic && record.where.size() == 1)) {
        return window_about_tss(record.where.contig, tss_of(record.where, record.strand), record.strand,
                                bounds);
    }
    if (anchor == Anchor::summit && record.summit) {
        const std::int64_t summit = record.where.begin + *record.summit;
        return genome::window_around({record.where.contig, summit, summit + 1}, bounds.size());
    }
    return genome::window_around(record.where, bounds.size());
}

}  // namespace bigbird::rows
