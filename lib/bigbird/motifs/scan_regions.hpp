// SPDX-License-Identifier: Apache-2.0
// The command motifs-scan.
#pragma once

#include "bigbird/core/files.hpp"
#include "bigbird/genome/reference/interval.hpp"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <vector>

namespace bigbird::motifs {

struct ScanSpec {
    std::filesystem::path motifs, regions{};  ///< regions: a BED; empty: every contig
    std::vector<std::filesystem::path> references{};
    /// Called with the contigs of the reference before any thread starts. The function that it returns gives
    /// the column `weight` for a contig's index, begin and end; nullopt becomes NA. Empty: no such column.
    using Weight = std::function<std::optional<double>(std::size_t, std::int64_t, std::int64_t)>;
    std::function<Weight(std::span<const genome::Contig>)> weights{};
    double p_value = 1e-4;
    std::filesystem::path output = "-";
    Overwrite overwrite = Overwrite::refuse;
    int threads = 1;
};

/// Writes the hits of each region, in the regions' order, as BED rows. Columns: chrom, start, end, motif id,
/// score in bits, strand, p, q, motif name, and optionally the weight. q is computed over all sites of a
/// motif in all regions. The output does not depend on the number of threads. Uses 16 bytes of memory per
/// hit. Returns the number of hits. Throws InputError, ConfigError, WriteError.
std::int64_t scan_regions(const ScanSpec& spec);

}  // namespace bigbird::motifs
