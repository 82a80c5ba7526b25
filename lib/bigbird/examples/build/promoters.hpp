// SPDX-License-Identifier: Apache-2.0
// Promoter examples: the window around each TSS, and a negative for it.
#pragma once

#include "bigbird/core/choice.hpp"
#include "bigbird/rows/window.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace bigbird::examples {

/// How negatives, the non-promoters, are made (random_bases: BigBird, F.2, after DeePromoter). They decide
/// how hard the task is, so figures of different kinds must not be compared. If the window is no multiple of
/// 20, pieces differ by one letter.
enum class NegativeKind : std::uint8_t {
    random_bases,  ///< the promoter in 20 equal pieces, 12 of which become independent, uniform bases
    permuted,      ///< 12 of the 20 pieces are permuted among themselves; composition stays
    shuffled,      ///< all bases are shuffled; the number of each dinucleotide stays
    genomic,       ///< a window of the genome away from every TSS
};
inline constexpr Choices<NegativeKind, 4> negative_choices{{{NegativeKind::random_bases, "random-bases"},
                                                            {NegativeKind::permuted, "permuted"},
                                                            {NegativeKind::shuffled, "shuffled"},
                                                            {NegativeKind::genomic, "genomic"}}};

struct PromoterOptions {
    /// BED, GTF or GFF3 (rows::read_tss). A TSS without a name is named after its position.
    std::filesystem::path tss;
    std::optional<std::filesystem::path> chain;  ///< from the assembly of `tss` to the references'
    std::vector<std::filesystem::path> references;
    rows::WindowBounds bounds;
    NegativeKind negatives = NegativeKind::random_bases;
    std::vector<std::string> validation, test;  ///< HoldOuts; by TSS base
    /// Whether a hold-out that is not given is chosen: test is from the first of the last tenth of the TSSs,
    /// in the reference's order, to the end; validation is the same before test.
    bool chooses_hold_outs = false;
    std::uint64_t seed = 0;
    bool skip_invalid = false;  ///< build however many TSSs do not fit the reference
    int threads = 1;

    /// Throws ConfigError.
    void validate() const;
};

/// Writes an example folder (FORMAT.md) into the empty `folder`. A promoter and its negative are adjacent and
/// share the split; a promoter whose window shares sequence with a window of another split is left out of one
/// of them (without_shared_windows). A promoter's negative depends only on the seed and the promoter; genomic
/// negatives also depend on the hold-outs and the other promoters. They are drawn uniformly from a split's
/// regions, overlap no promoter's window and no negative of a held-out split. With a chain, lifted.bed has
/// the TSSs (one base per row, contigs as the chain spells them), and unmapped.bed the original TSS base of
/// the others, with the reason as a seventh column. TSSs outside the reference, and those that repeat a
/// position, strand and name, are left out and counted. Logs what it did. Throws InputError (a row without
/// strand or of no base, a malformed line) and ConfigError, also where nothing is left.
void build_promoters(const PromoterOptions& options, const std::filesystem::path& folder);

}  // namespace bigbird::examples
