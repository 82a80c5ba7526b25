// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bigbird/core/check.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <new>
#include <utility>

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
    explicit SymbolArray(std::size_t size = 1) {
        reserve(size);
        size_ = size;
        data_[0] = data_[size - 1] = separator;
    }
    ~SymbolArray() {
        if (data_ != nullptr) ::munmap(data_, capacity_ * sizeof(Element));
    }
    SymbolArray(SymbolArray&& other) noexcept
        : data_(std::exchange(other.data_, nullptr)),
          size_(std::exchange(other.size_, 0)),
          capacity_(std::exchange(other.capacity_, 0)) {}
    SymbolArray& operator=(SymbolArray&& other) noexcept {
        std::swap(data_, other.data_);
        std::swap(size_, other.size_);
        std::swap(capacity_, other.capacity_);
        return *this;
    }
    SymbolArray(const SymbolArray&) = delete;
    SymbolArray& operator=(const SymbolArray&) = delete;

    /// Gives its memory to an array of another kind and `size` positions, which reinterprets the bytes; it
    /// must be large enough.
    template <typename Other>
    SymbolArray<Other> turn_into(std::size_t size) && {
        BIGBIRD_EXPECTS(size * sizeof(Other) <= capacity_ * sizeof(Element), "the memory is too small");
        SymbolArray<Other> other;
        ::munmap(other.data_, other.capacity_ * sizeof(Other));
        other.data_ = reinterpret_cast<Other*>(std::exchange(data_, nullptr));
        other.capacity_ = std::exchange(capacity_, 0) * sizeof(Element) / sizeof(Other);
        other.size_ = size;
        size_ = 0;
        return other;
    }

    /// Adds a stretch of A C G T N, given as numbers, followed by a separator. Throws std::bad_alloc.
    void append(const std::uint8_t* letters_of_stretch, std::size_t count) {
        reserve(size_ + count + 1);
        std::copy(letters_of_stretch, letters_of_stretch + count, data_ + size_);
        size_ += count + 1;
        data_[size_ - 1] = separator;
    }
    /// Drops everything from position `size` on, which must follow a separator.
    void truncate(std::size_t size) { size_ = size; }
    /// Moves positions [from, to) down to `target`, which is not above `from`.
    void move_down(std::size_t from, std::size_t to, std::size_t target) {
        std::memmove(data_ + target, data_ + from, (to - from) * sizeof(Element));
    }

    Element* data() { return data_; }
    const Element* data() const { return data_; }
    /// Positions, separators included; the first and the last position are separators.
    std::size_t size() const { return size_; }

private:
    template <typename>
    friend class SymbolArray;
    // mremap moves pages instead of copying them, so growth never holds the sequence twice. Huge pages,
    // because the trainer reads at random positions.
    void reserve(std::size_t positions) {
        constexpr std::size_t page = std::size_t{1} << 21;
        if (positions <= capacity_) return;
        std::size_t bytes = std::max(positions, capacity_ + capacity_ / 4) * sizeof(Element);
        bytes = (bytes + page - 1) / page * page;
        void* memory = data_ == nullptr ? ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                                                 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
                                        : ::mremap(data_, capacity_ * sizeof(Element), bytes, MREMAP_MAYMOVE);
        if (memory == MAP_FAILED) throw std::bad_alloc();
        ::madvise(memory, bytes, MADV_HUGEPAGE);
        data_ = static_cast<Element*>(memory);
        capacity_ = bytes / sizeof(Element);
    }

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
