// SPDX-License-Identifier: Apache-2.0
// Negatives made from a promoter's own sequence (BigBird, F.2, after DeePromoter): it is cut into 20 equal
// pieces, 12 of which are substituted, the other 8 stay in place.
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
    permuted,      ///< the 12 pieces change places among themselves; composition stays
    genomic,       ///< a window of the genome away from every TSS
};
std::string_view to_string(NegativeKind kind);
/// Throws ConfigError.
NegativeKind parse_negative_kind(std::string_view text);

constexpr int negative_pieces = 20, negative_substituted = 12;

/// `positive` (at least 20 letters) with 12 of its 20 pieces substituted; random_bases or permuted. Where the
/// length does not divide by 20, pieces differ by one letter; then the permuted pieces are joined and cut
/// again to fill the 12 gaps.
std::string make_negative(std::string_view positive, NegativeKind kind, Rng rng);

/// Windows of the genome that no TSS has. Const calls are thread-safe.
class GenomicNegatives {
public:
    /// `zone` is where their base 0 may be; `avoided` is what windows must not touch.
    GenomicNegatives(const genome::ReferenceGenome& reference, const rows::WindowBounds& bounds,
                     double max_n_fraction, const genome::IntervalSet& zone, genome::IntervalSet avoided);

    struct Window {
        std::string contig, sequence;  ///< on its strand
        std::int64_t base = 0;
    };
    /// Uniform over the bases of the zone whose window is inside its contig, touches nothing avoided and has
    /// not too much N. Throws ConfigError where ten thousand draws find none.
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
