// SPDX-License-Identifier: Apache-2.0
// Promoter examples: the window around each TSS, and a negative for it.
#pragma once

#include "bigbird/core/choice.hpp"
#include "bigbird/core/rng.hpp"
#include "bigbird/genome/reference/reference_genome.hpp"
#include "bigbird/genome/regions/assembly_fit.hpp"
#include "bigbird/genome/regions/bed.hpp"
#include "bigbird/genome/regions/interval_set.hpp"
#include "bigbird/rows/window.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bigbird::examples {

// Negatives made from a promoter's own sequence. BigBird, F.2, after DeePromoter: it is cut into 20 equal
// pieces, 12 of which are substituted, the other 8 stay in place. Others: shuffled, or windows of the genome.

/// How negatives, the non-promoters, are made. They decide how hard the task is, so figures of different
/// kinds must not be compared.
enum class NegativeKind : std::uint8_t {
    random_bases,  ///< the 12 pieces become independent, uniform bases
    permuted,      ///< the 12 pieces are permuted among themselves; composition stays
    shuffled,      ///< all bases are shuffled; the number of each dinucleotide stays
    genomic,       ///< a window of the genome away from every TSS
};
inline constexpr Choices<NegativeKind, 4> negative_choices{{{NegativeKind::random_bases, "random-bases"},
                                                            {NegativeKind::permuted, "permuted"},
                                                            {NegativeKind::shuffled, "shuffled"},
                                                            {NegativeKind::genomic, "genomic"}}};

constexpr int negative_pieces = 20, negative_substituted = 12;

/// Makes a negative from `positive` (at least 20 letters) by shuffling it, or by changing 12 of its 20 pieces
/// (random_bases or permuted). If the length is not a multiple of 20, pieces differ by one letter. Permuted
/// pieces are then joined and cut again to fill the 12 gaps.
std::string make_negative(std::string_view positive, NegativeKind kind, Rng rng);

/// Draws windows of the genome without a TSS. Const calls are thread-safe.
class GenomicNegatives {
public:
    /// `zone`: the allowed positions of base 0. `avoided`: regions that windows must not overlap.
    GenomicNegatives(const genome::ReferenceGenome& reference, const rows::WindowBounds& bounds,
                     double max_n_fraction, const genome::IntervalSet& zone, genome::IntervalSet avoided);

    struct Window {
        std::string contig, sequence;  ///< on its strand
        std::int64_t base = 0;
    };
    /// Draws uniformly from the bases of the zone. The window must be inside its contig, not overlap
    /// `avoided`, and not exceed the maximum share of N. Throws ConfigError if ten thousand draws fail.
    Window draw(genome::Strand strand, Rng rng) const;

private:
    const genome::ReferenceGenome& reference_;
    rows::WindowBounds bounds_;
    double max_n_fraction_;
    std::vector<genome::Interval> zone_;
    std::vector<std::int64_t> ends_;  ///< running sums of the zone's sizes
    genome::IntervalSet avoided_;
};

struct PromoterSites {
    /// TSSs of one base each, in the file's order, each once; contigs as the reference spells them, and no
    /// name is ".".
    std::vector<genome::BedRecord> sites;
    std::int64_t read = 0, unmapped = 0, repeated = 0;  ///< rows of the file
    genome::AssemblyFit fit;                            ///< of the rows that are mapped
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
