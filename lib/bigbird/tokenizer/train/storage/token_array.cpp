// SPDX-License-Identifier: Apache-2.0
#include "bigbird/tokenizer/train/storage/token_array.hpp"

#include "bigbird/core/check.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <string>
#include <utility>

namespace bigbird::tokenizer {

namespace {

constexpr std::string_view alphabet = "ACGTN";
constexpr std::size_t page = std::size_t{1} << 21;
}  // namespace

Symbol symbol_of_letter(char letter) {
    const std::size_t symbol = alphabet.find(letter);
    BIGBIRD_EXPECTS(symbol != std::string_view::npos, "not one of A C G T N: " + std::string(1, letter));
    return static_cast<Symbol>(symbol);
}

char letter_of_symbol(Symbol symbol) {
    return alphabet.at(symbol);
}

template <typename Element>
SymbolArray<Element>::SymbolArray(std::size_t size) {
    reserve(size);
    size_ = size;
    data_[0] = data_[size - 1] = separator;
}

template <typename Element>
SymbolArray<Element>::~SymbolArray() {
    if (data_ != nullptr) ::munmap(data_, capacity_ * sizeof(Element));
}

template <typename Element>
SymbolArray<Element>::SymbolArray(SymbolArray&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)),
      size_(std::exchange(other.size_, 0)),
      capacity_(std::exchange(other.capacity_, 0)) {}

template <typename Element>
SymbolArray<Element>& SymbolArray<Element>::operator=(SymbolArray&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(capacity_, other.capacity_);
    return *this;
}

// mremap moves pages instead of copying them, so growth never holds the sequence twice. Huge pages, because
// the trainer reads at random positions.
template <typename Element>
void SymbolArray<Element>::reserve(std::size_t positions) {
    if (positions <= capacity_) return;
    std::size_t bytes = std::max(positions, capacity_ + capacity_ / 4) * sizeof(Element);
    bytes = (bytes + page - 1) / page * page;
    void* memory = data_ == nullptr
                       ? ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
                       : ::mremap(data_, capacity_ * sizeof(Element), bytes, MREMAP_MAYMOVE);
    if (memory == MAP_FAILED) throw std::bad_alloc();
    ::madvise(memory, bytes, MADV_HUGEPAGE);
    data_ = static_cast<Element*>(memory);
    capacity_ = bytes / sizeof(Element);
}

template <typename Element>
template <typename Other>
SymbolArray<Other> SymbolArray<Element>::turn_into(std::size_t size) && {
    BIGBIRD_EXPECTS(size * sizeof(Other) <= capacity_ * sizeof(Element), "the memory is too small");
    SymbolArray<Other> other;
    ::munmap(other.data_, other.capacity_ * sizeof(Other));
    other.data_ = reinterpret_cast<Other*>(std::exchange(data_, nullptr));
    other.capacity_ = std::exchange(capacity_, 0) * sizeof(Element) / sizeof(Other);
    other.size_ = size;
    size_ = 0;
    return other;
}

template <typename Element>
void SymbolArray<Element>::append(const std::uint8_t* letters_of_stretch, std::size_t count) {
    reserve(size_ + count + 1);
    std::copy(letters_of_stretch, letters_of_stretch + count, data_ + size_);
    size_ += count + 1;
    data_[size_ - 1] = separator;
}

template <typename Element>
void SymbolArray<Element>::move_down(std::size_t from, std::size_t to, std::size_t target) {
    std::memmove(data_ + target, data_ + from, (to - from) * sizeof(Element));
}

template class SymbolArray<Symbol>;
template class SymbolArray<std::uint8_t>;
template SymbolArray<Symbol> SymbolArray<std::uint8_t>::turn_into<Symbol>(std::size_t size) &&;

}  // namespace bigbird::tokenizer
