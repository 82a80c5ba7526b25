// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bigbird/core/nucleotide.hpp"
#include "bigbird/tokenizer/encode/exact_encoder.hpp"

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace bigbird::tokenizer {

/// By letter, after normalised_base(): its place in ACGTN.
inline constexpr std::array<std::uint8_t, 256> letter_codes = [] {
    std::array<std::uint8_t, 256> codes{};
    for (std::size_t letter = 0; letter < codes.size(); ++letter)
        codes[letter] = static_cast<std::uint8_t>(
            std::string_view("ACGTN").find(normalised_base(static_cast<char>(letter))));
    return codes;
}();

/// Cuts sequence into single bases or k-mers. Each run of A C G T is cut from its left end into k-mers that
/// do not overlap. The remainder at its right end, fewer than k letters, and each N are single letters. Ids:
/// the letters A C G T N from `first_letter`, then, where k > 1, all k-mers in alphabetical order. Immutable,
/// thread-safe; holds nothing but k.
class KmerEncoder {
public:
    static constexpr int longest = 12;               ///< 16,777,216 k-mers
    static constexpr std::int32_t first_letter = 5;  ///< smaller ids are special tokens
    static constexpr std::int32_t first_kmer = 10;

    /// Throws ConfigError if k is not in [1, longest].
    explicit KmerEncoder(int k);

    /// Including special tokens.
    std::int32_t vocab_size() const { return first_kmer + (k_ > 1 ? std::int32_t{1} << (2 * k_) : 0); }
    /// The letters of an id in [first_letter, vocab_size).
    std::string spelling(std::int32_t id) const;

    /// Ids of a sequence of any length, after normalised_base(), and with `with_spans` the letters of `dna`
    /// for each. Uses one thread; speed is limited by writing the ids.
    Encoding encode(std::string_view dna, bool with_spans) const;

private:
    int k_;
};

}  // namespace bigbird::tokenizer
