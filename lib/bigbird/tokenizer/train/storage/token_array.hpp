// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

namespace bigbird::tokenizer {

/// A symbol of the trainer: 0-4 are A C G T N, then one number per merge.
using Symbol = std::uint16_t;

/// Stretches of sequence as symbols, with a `separator` before, between and after them, in huge pages that
/// grow in place (no second copy while they grow). Not thread-safe, except that disjoint positions may be
/// written at once.
template <typename Element>
class SymbolArray {
public:
    static constexpr Element separator = std::numeric_limits<Element>::max();
    static constexpr Symbol letters = 5;

    /// Allocates `size` positions; the caller fills all but the first and the last. size >= 1.
    explicit SymbolArray(std::size_t size = 1);
    ~SymbolArray();
    SymbolArray(SymbolArray&& other) noexcept;
    SymbolArray& operator=(SymbolArray&& other) noexcept;
    SymbolArray(const SymbolArray&) = delete;
    SymbolArray& operator=(const SymbolArray&) = delete;

    /// Gives its memory to an array of another kind and `size` positions, which reinterprets the bytes; it
    /// must be large enough.
    template <typename Other>
    SymbolArray<Other> turn_into(std::size_t size) &&;

    /// Adds a stretch of A C G T N, given as numbers, followed by a separator. Throws std::bad_alloc.
    void append(const std::uint8_t* letters, std::size_t count);
    /// Drops everything from position `size` on, which must follow a separator.
    void truncate(std::size_t size) { size_ = size; }
    /// Moves positions [from, to) down to `target`, which is not above `from`.
    void move_down(std::size_t from, std::size_t to, std::size_t target);

    Element* data() { return data_; }
    const Element* data() const { return data_; }
    /// Positions, separators included; the first and the last position are separators.
    std::size_t size() const { return size_; }

private:
    template <typename>
    friend class SymbolArray;
    void reserve(std::size_t positions);

    Element* data_ = nullptr;
    std::size_t size_ = 0, capacity_ = 0;
};

/// The array has a position for each symbol that the corpus had when the array was made. A merged symbol is
/// stored at its first and its last position, with `hole` between. So the neighbors of a symbol are found
/// without links: the next begins right after it, the previous ends right before it. A symbol's width is
/// constant, the sum of its parts'.
using TokenArray = SymbolArray<Symbol>;
inline constexpr Symbol hole = 0xFFFE;

/// Letters, one byte each; during merges (packed_tokens.hpp), adjacent symbols.
using LetterArray = SymbolArray<std::uint8_t>;

/// The number of a letter of A C G T N; the letter of a number below 5.
Symbol symbol_of_letter(char letter);
char letter_of_symbol(Symbol symbol);

}  // namespace bigbird::tokenizer
