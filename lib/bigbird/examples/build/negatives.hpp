// SPDX-License-Identifier: Apache-2.0
// Negatives made from a promoter's own sequence. BigBird, F.2, after DeePromoter: it is cut into 20 equal
// pieces, 12 of which are substituted, the other 8 stay in place. Others: shuffled, or windows of the genome.
#pragma once

#include "bigbird/core/rng.hpp"
#include "bigbird/genome/reference/reference_genome.hpp"
#include "bigbird/genome/regions/interval_set.hpp"
#include "bigbird/rows/window.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace bigbird::examples {

/// How negatives, the non-promoters, are made. They decide how hard the task is, so figures of different
/// kinds must not be compared.
enum class NegativeKind : std::uint8_t {
    random_bases,  ///< the 12 pieces become independent, uniform bases
    permuted,      ///< the 12 pieces are permuted among themselves; composition stays
    shuffled,      ///< all bases are shuffled; the number of each dinucleotide stays
    genomic,       ///< a window of the genome away from every TSS
};
std::string_view to_string(NegativeKind kind);
/// Throws ConfigError.
NegativeKind parse_negative_kind(std::string_view text);

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

}  // namespace bigbird::examples
