// SPDX-License-Identifier: Apache-2.0
#include "bigbird/rows/tss_index.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/log.hpp"
#include "bigbird/genome/regions/bed.hpp"

#include <algorithm>
#include <cstdlib>

namespace bigbird::rows {

TssIndex::TssIndex(const std::filesystem::path& tss, const genome::ReferenceGenome& reference,
                   const WindowBounds& bounds)
    : bounds_(bounds), by_contig_(reference.contigs().size()) {
    std::int64_t kept = 0, left_out = 0;
    for (const genome::BedRecord& record : genome::read_bed(tss)) {
        if (record.strand == genome::Strand::none)
            throw InputError("a TSS needs a strand, + or - in column 6", tss, record.line);
        const auto contig = reference.find(record.where.contig);
        const std::int64_t base = tss_of(record.where, record.strand);
        if (!contig || base >= reference.contigs()[*contig].length) {
            ++left_out;
            continue;
        }
        const std::string place = record.where.contig + ":" + std::to_string(base + 1);
        by_contig_[*contig].push_back({base, record.strand, record.name == "." ? place : record.name});
        ++kept;
    }
    if (left_out > 0) log_info("{}: {} TSSs do not lie on the reference", tss.string(), left_out);
    if (kept == 0) throw InputError("no TSS lies on the reference", tss);
    for (std::vector<Site>& sites : by_contig_)
        std::ranges::stable_sort(sites, {}, &Site::tss);
}

const TssIndex::Site* TssIndex::nearest(std::size_t contig, std::int64_t begin, std::int64_t end) const {
    const std::vector<Site>& sites = by_contig_[contig];
    const std::int64_t reach = std::max(std::abs(bounds_.begin), std::abs(bounds_.end));
    const Site* best = nullptr;
    std::int64_t best_distance = 0;
    for (auto site = std::ranges::lower_bound(sites, begin - reach, {}, &Site::tss);
         site != sites.end() && site->tss <= end + reach; ++site) {
        const genome::Interval window = window_about_tss({}, site->tss, site->strand, bounds_);
        if (begin < window.begin || end > window.end) continue;
        const std::int64_t distance = std::abs(begin + end - 1 - 2 * site->tss);
        if (best == nullptr || distance < best_distance) {
            best = &*site;
            best_distance = distance;
        }
    }
    return best;
}

}  // namespace bigbird::rows
