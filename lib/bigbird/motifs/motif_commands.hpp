// SPDX-License-Identifier: Apache-2.0
// The commands motifs-compare, motifs-find and motifs-scan.
#pragma once

#include "bigbird/core/files.hpp"
#include "bigbird/genome/reference/interval.hpp"
#include "bigbird/motifs/motif_files.hpp"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace bigbird::motifs {

// Compares motifs by Tomtom's method (Gupta et al., Genome Biology 2007, 8:R24) with complete scores (Tanaka
// et al., Bioinformatics 2011, 27:1603).

/// The best alignment of a query to a target.
struct Similarity {
    std::size_t target = 0;  ///< index
    double p_value = 1;  ///< chance that random columns of all targets are at least as similar, at any offset
    std::int64_t offset = 0;   ///< from the target's first column to the query's, on the target's strand
    std::int64_t overlap = 0;  ///< columns
    bool reverse = false;      ///< the target's reverse complement
};

/// The similarity of `query` to each target, the lowest p-value first. The score of two columns is their
/// Euclidean distance relative to its median over all targets' columns, so that columns without a partner
/// count 0. The targets' columns are the background; fewer than about 50 targets give only rough p-values.
std::vector<Similarity> compare(const Motif& query, std::span<const Motif> targets);

// Finds motifs in contributions of sequence to a score, as a simplified TF-MoDISco (Shrikumar et al., arXiv
// 1811.00416).

/// The contributions of a region's bases to a score.
struct Contributions {
    std::string dna;              ///< normalized: A C G T N
    std::vector<float> values{};  ///< value of each base; 0 where not finite
};

struct FoundMotifs {
    /// pattern_1 and on, most sites first; negative_pattern_2 if its sites lower the score.
    std::vector<Motif> motifs{};
    std::int64_t seqlets = 0;  ///< stretches with high contributions
};

/// A seqlet is a stretch of 21 bases whose sum of |contributions| exceeds the mean sum of random bases by 2.5
/// standard deviations, at least 21 bases away from any higher seqlet. The 4,000 highest are kept. The 31
/// bases around their centers are clustered by the cosine of their contributions at the best offset (10 bases
/// at most) and strand. A motif is made of the letters of a cluster of 10 seqlets or more. Both ends are
/// trimmed to where the mean contribution is at least a fifth of its maximum. Less than four bases are none.
FoundMotifs find_motifs(std::span<const Contributions> regions);

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

/// Writes the hits in the regions, in the reference's order, as BED rows. Regions that overlap are one, so
/// that each site is found once. Columns: chrom, start, end, motif id, score in bits, strand, p, q, motif
/// name, and optionally the weight. q is computed over all sites of a motif in all regions. The output does
/// not depend on the number of threads. Uses 16 bytes of memory per hit. Returns the number of hits. Throws
/// InputError, ConfigError, WriteError.
std::int64_t scan_regions(const ScanSpec& spec);

}  // namespace bigbird::motifs
