// SPDX-License-Identifier: Apache-2.0
#include "bigbird/profiles/cut_counts.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/interrupt.hpp"
#include "bigbird/core/log.hpp"

#include <algorithm>
#include <cmath>

namespace bigbird::profiles {

CutCounts::CutCounts(std::span<const genome::Contig> contigs) : sites_(contigs.size()) {
    for (const genome::Contig& contig : contigs)
        lengths_.push_back(contig.length);
}

void CutCounts::add(std::size_t contig, std::int64_t position) {
    if (position < 0 || position >= lengths_[contig]) {
        ++dropped_;
        return;
    }
    sites_[contig].push_back(static_cast<std::uint32_t>(position));
    ++total_;
}

void CutCounts::finish() {
    for (std::vector<std::uint32_t>& sites : sites_)
        std::ranges::sort(sites);
}

std::span<const std::uint32_t> CutCounts::between(std::size_t contig, std::int64_t begin,
                                                  std::int64_t end) const {
    const auto& sites = sites_[contig];
    const auto from = [&](std::int64_t position) {
        return std::ranges::lower_bound(sites, std::clamp<std::int64_t>(position, 0, lengths_[contig]));
    };
    return {from(begin), from(std::max(begin, end))};
}

std::int64_t CutCounts::count(std::size_t contig, std::int64_t begin, std::int64_t end) const {
    return std::ssize(between(contig, begin, end));
}

void CutCounts::copy(std::size_t contig, std::int64_t begin, std::span<float> counts) const {
    std::ranges::fill(counts, 0.0F);
    for (const std::uint32_t site : between(contig, begin, begin + std::ssize(counts)))
        counts[static_cast<std::size_t>(site - begin)] += 1;
}

ReadCuts read_cut_counts(std::span<const std::filesystem::path> paths,
                         const genome::ReferenceGenome& reference, const examples::SignalReading& how) {
    ReadCuts read{CutCounts(reference.contigs()), {}};
    CutCounts& sites = read.sites;
    for (const std::filesystem::path& path : paths) {
        stop_if_asked();
        read.files.push_back(examples::read_signal(
            path, reference, how,
            [&](std::size_t contig, std::int64_t begin, std::int64_t end, double value) {
                if (value < 0 || value != std::floor(value))
                    throw InputError(
                        fmt::format("holds the value {} at {}:{}: profiles are learned from whole "
                                    "numbers of read ends; give the BAM or the fragments",
                                    value, reference.contigs()[contig].name, begin + 1),
                        path);
                for (std::int64_t base = begin; base < end; ++base)
                    for (auto left = static_cast<std::int64_t>(value); left > 0; --left)
                        sites.add(contig, base);
            }));
    }
    if (sites.total() == 0) throw InputError("holds no read end on the reference", paths.front());
    if (sites.dropped() > 0)
        log_info("{} read ends beyond the ends of contigs do not count", sites.dropped());
    sites.finish();
    return read;
}

}  // namespace bigbird::profiles
