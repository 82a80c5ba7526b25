// SPDX-License-Identifier: Apache-2.0
#include "bigbird/rows/row.hpp"

#include "bigbird/core/check.hpp"

#include <algorithm>
#include <cmath>

namespace bigbird::rows {

std::string_view to_string(RowStatus status) {
    constexpr std::string_view words[] = {"malformed", "no_contig",    "bad_interval", "past_end", "no_alt",
                                          "symbolic",  "ref_mismatch", "too_long",     "no_tss",   "all_n",
                                          "truncated", "padded",       "has_n",        "ok"};
    return words[static_cast<std::size_t>(status)];
}

bool is_scored(RowStatus status) {
    return status > RowStatus::all_n;
}

RowStatus status_of(std::string_view dna, bool padded, std::string_view other) {
    const auto has_n = [](std::string_view bases) { return bases.find('N') != std::string_view::npos; };
    if (dna.find_first_not_of('N') == std::string_view::npos) return RowStatus::all_n;
    if (padded) return RowStatus::padded;
    return has_n(dna) || has_n(other) ? RowStatus::has_n : RowStatus::ok;
}

RegionFields fields_of(const Row& row) {
    const char* const strand = row.strand == genome::Strand::forward   ? "+"
                               : row.strand == genome::Strand::reverse ? "-"
                                                                       : ".";
    RegionFields fields{
        row.where.contig, row.where.begin,          row.where.end,         row.name,
        row.score,        std::string_view(strand), to_string(row.status), rounded_share(row.n_fraction)};
    BIGBIRD_EXPECTS(row.as_read.empty() || row.as_read.size() == 6, "a malformed row has six columns");
    std::copy(row.as_read.begin(), row.as_read.end(), fields.begin());
    return fields;
}

std::array<Field, record_columns.size()> record_fields_of(const Row& row) {
    return {row.where.contig, row.where.size(), to_string(row.status), rounded_share(row.n_fraction)};
}

double rounded_share(double n_fraction) {
    return std::round(n_fraction * 1e6) / 1e6;
}

}  // namespace bigbird::rows
