// SPDX-License-Identifier: Apache-2.0
// Negatives made from a promoter's own sequence (BigBird, F.2, after DeePromoter): it is cut into 20 equal
// pieces, 12 of which are substituted, the other 8 stay in place.
#pragma once

#include "bigbird/core/rng.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace bigbird::examples {

/// What stands in for a promoter that is none. How hard the task is hangs on it; figures of different kinds
/// must not be compared.
enum class NegativeKind : std::uint8_t {
    random_bases,  ///< the 12 pieces become independent, uniform bases
    permuted,      ///< the 12 pieces change places among themselves; composition stays
    genomic,       ///< a window of the genome away from every TSS
};
std::string_view to_string(NegativeKind kind);
/// Throws ConfigError.
NegativeKind parse_negative_kind(std::string_view text);

constexpr int negative_pieces = 20, negative_substituted = 12;

/// `positive` (at least 20 letters) with 12 of its pieces substituted; random_bases or permuted. Where the
/// length does not divide by 20, pieces differ by one letter; then permuted pieces lie one behind the other
/// in the 12 places, cut anew.
std::string make_negative(std::string_view positive, NegativeKind kind, Rng rng);

}  // namespace bigbird::examples
