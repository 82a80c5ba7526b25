// SPDX-License-Identifier: Apache-2.0
// Promoter examples: the window around each TSS, and a negative for it.
#pragma once

#include "bigbird/examples/build/negatives.hpp"
#include "bigbird/genome/reference/reference_genome.hpp"
#include "bigbird/genome/regions/interval_set.hpp"
#include "bigbird/rows/window.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace bigbird::examples {

/// A transcription start site on the reference.
struct PromoterSite {
    std::string contig, name;  ///< contig as the reference spells it; the name is never "."
    std::int64_t tss = 0;
    genome::Strand strand = genome::Strand::forward;
};

/// Counts of the rows of a TSS file, by what happened to them.
struct SiteCounts {
    std::int64_t read = 0, unmapped = 0, repeated = 0;
    genome::AssemblyFit fit;
};

struct PromoterSites {
    std::vector<PromoterSite> sites;  ///< in the file's order, each once
    SiteCounts counts;
};

/// Reads a BED file of TSSs (tss_of a row; EPDnew's have one base) and maps them to the reference, by a chain
/// file if there is one. With a chain file, writes lifted.bed (one base per row, contigs as the chain spells
/// them) and unmapped.bed (the original TSS base, and the reason as a seventh column) into `folder`. Rows
/// outside the reference, and rows that repeat a position, strand and name, are left out and counted; a row
/// without a name is named after its position. Logs what happened. Throws InputError: a row without strand or
/// of no base, a malformed line, no TSS left.
PromoterSites read_promoter_sites(const std::filesystem::path& tss,
                                  const std::optional<std::filesystem::path>& chain,
                                  const genome::ReferenceGenome& reference,
                                  const std::filesystem::path& folder);

struct PromoterOptions {
    std::filesystem::path tss;
    std::optional<std::filesystem::path> chain;
    std::vector<std::filesystem::path> references;
    rows::WindowBounds bounds;
    NegativeKind negatives = NegativeKind::random_bases;
    std::vector<std::string> validation, test;  ///< HoldOuts; by TSS base
    double max_n_fraction = 0.5;  ///< largest share of N in a window; all-N windows are always left out
    std::uint64_t seed = 0;
    bool skip_invalid = false;  ///< build however many TSSs do not fit the reference
    int threads = 1;

    /// Throws ConfigError.
    void validate() const;
};

/// Writes an example folder (FORMAT.md) into the empty `folder`. A promoter and its negative are adjacent and
/// share the split; a promoter whose window shares sequence with a window of another split is left out of one
/// of them (without_shared_windows). A promoter's negative depends only on the seed and the promoter; genomic
/// negatives also depend on the hold-outs and the other promoters. Logs what it did. Throws InputError and
/// ConfigError, also where nothing is left.
void build_promoters(const PromoterOptions& options, const std::filesystem::path& folder);

}  // namespace bigbird::examples
