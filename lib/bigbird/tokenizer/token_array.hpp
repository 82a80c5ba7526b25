// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace bigbird::tokenizer {

/// A symbol of the trainer: 0-4 are A C G T N, then one number a merge.
using Symbol = std::uint16_t;

/// Sequence as symbols, one place a base, growing in place (no second copy while it grows). A symbol stands
/// at the first and the last place of the bases that it spells, `hole` between them; `separator` before,
/// between and after stretches. So the neighbours of a symbol are found without links: the next one begins
/// right behind it, the previous one ends right before it. Not thread-safe, except that disjoint places may
/// be written at once.
class TokenArray {
public:
    static constexpr Symbol separator = 0xFFFF, hole = 0xFFFE;
    static constexpr Symbol letters = 5;

    TokenArray();
    ~TokenArray();
    TokenArray(TokenArray&& other) noexcept;
    TokenArray& operator=(TokenArray&& other) noexcept;
    TokenArray(const TokenArray&) = delete;
    TokenArray& operator=(const TokenArray&) = delete;

    /// Adds a stretch of A C G T N and a separator behind it. Throws std::bad_alloc.
    void append(std::string_view dna);
    /// Drops everything from place `size` on, which must follow a separator.
    void truncate(std::size_t size) { size_ = size; }
    /// Moves places [from, to) down to `target`, which is not above `from`.
    void move_down(std::size_t from, std::size_t to, std::size_t target);

    Symbol* data() { return data_; }
    const Symbol* data() const { return data_; }
    /// Places, separators included; the first and the last place are separators.
    std::size_t size() const { return size_; }

private:
    void reserve(std::size_t places);

    Symbol* data_ = nullptr;
    std::size_t size_ = 0, capacity_ = 0;
};

/// The number of a letter of A C G T N; the letter of a number below 5.
Symbol symbol_of_letter(char letter);
char letter_of_symbol(Symbol symbol);

}  // namespace bigbird::tokenizer
