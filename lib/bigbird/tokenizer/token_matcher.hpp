// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bigbird/tokenizer/bpe_rules.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace bigbird::tokenizer {

/// Finds the longest token that begins at a place. Text comes as letter numbers: those letters that tokens
/// use, A C G T first.
class TokenMatcher {
public:
    static constexpr std::uint8_t unknown_letter = 0xFF;
    /// The letters that may be read behind any place, whatever they are: text must be followed by as many.
    static constexpr std::size_t padding = 8;

    /// The tokens by number; among them every letter that they use.
    explicit TokenMatcher(std::span<const std::string> tokens);

    std::uint8_t letter_number(char letter) const { return numbers_[static_cast<unsigned char>(letter)]; }

    /// The longest token at `letters`, of which `size` (at least 1, all known) may be used.
    Token longest(const std::uint8_t* letters, std::size_t size) const {
        const std::uint8_t* next = letters;
        const std::uint8_t* const end = letters + size;
        Match match = root_;
        std::uint64_t word;
        std::memcpy(&word, letters, sizeof word);
        if (size >= jump && (word & ~std::uint64_t{0x0303030303030303}) == 0) {
            match = jumps_[pack(word)];
            next += jump;
        }
        Token best = match.token;
        while (match.node != 0 && next != end) {
            match = nodes_[match.node * letters_ + *next++];
            best = match.token != no_token ? match.token : best;
        }
        return best;
    }

private:
    static constexpr std::size_t jump = 8;  ///< letters matched by one look-up

    /// Where a walk stands: the node (0: nothing follows) and the longest token met since the last look.
    struct Match {
        std::uint32_t node = 0;
        Token token = no_token;
    };

    /// Eight letters below 4 as 16 bits.
    static std::size_t pack(std::uint64_t word) {
        word = (word | word >> 6) & 0x000F000F000F000F;
        word = (word | word >> 12) & 0x000000FF000000FF;
        return static_cast<std::size_t>((word | word >> 24) & 0xFFFF);
    }
    void insert(std::string_view text, Token token);
    void fill_jumps();

    std::array<std::uint8_t, 256> numbers_{};
    std::size_t letters_ = 0;
    std::vector<Match> nodes_;  ///< [node * letters_ + letter]; node 1 is the root
    Match root_{1, no_token};
    std::vector<Match> jumps_;
};

}  // namespace bigbird::tokenizer
