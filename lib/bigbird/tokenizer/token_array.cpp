// SPDX-License-Identifier: Apache-2.0
#include "bigbird/tokenizer/token_array.hpp"

#include "bigbird/core/check.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <new>
#include <string>
#include <utility>

namespace bigbird::tokenizer {

namespace {

constexpr std::string_view alphabet = "ACGTN";
constexpr std::size_t page = std::size_t{1} << 21;

constexpr std::array<Symbol, 256> make_symbols() {
    std::array<Symbol, 256> symbols{};
    symbols.fill(TokenArray::separator);
    for (std::size_t i = 0; i < alphabet.size(); ++i) {
        symbols[static_cast<unsigned char>(alphabet[i])] = static_cast<Symbol>(i);
    }
    return symbols;
}
constexpr std::array<Symbol, 256> symbols = make_symbols();

}  // namespace

Symbol symbol_of_letter(char letter) {
    const Symbol symbol = symbols[static_cast<unsigned char>(letter)];
    BIGBIRD_EXPECTS(symbol != TokenArray::separator, "not one of A C G T N: " + std::string(1, letter));
    return symbol;
}

char letter_of_symbol(Symbol symbol) {
    return alphabet.at(symbol);
}

TokenArray::TokenArray() {
    reserve(1);
    data_[size_++] = separator;
}

TokenArray::~TokenArray() {
    if (data_ != nullptr) {
        ::munmap(data_, capacity_ * sizeof(Symbol));
    }
}

TokenArray::TokenArray(TokenArray&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)),
      size_(std::exchange(other.size_, 0)),
      capacity_(std::exchange(other.capacity_, 0)) {}

TokenArray& TokenArray::operator=(TokenArray&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(capacity_, other.capacity_);
    return *this;
}

// mremap moves pages instead of copying them, so growth never holds the sequence twice. Huge pages, because
// the trainer reads at random places.
void TokenArray::reserve(std::size_t places) {
    if (places <= capacity_) {
        return;
    }
    std::size_t bytes = std::max(places, capacity_ + capacity_ / 4) * sizeof(Symbol);
    bytes = (bytes + page - 1) / page * page;
    void* memory = data_ == nullptr
                       ? ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
                       : ::mremap(data_, capacity_ * sizeof(Symbol), bytes, MREMAP_MAYMOVE);
    if (memory == MAP_FAILED) {
        throw std::bad_alloc();
    }
    ::madvise(memory, bytes, MADV_HUGEPAGE);
    data_ = static_cast<Symbol*>(memory);
    capacity_ = bytes / sizeof(Symbol);
}

void TokenArray::append(std::string_view dna) {
    reserve(size_ + dna.size() + 1);
    Symbol* out = data_ + size_;
    for (const char letter : dna) {
        *out++ = symbols[static_cast<unsigned char>(letter)];
    }
    *out = separator;
    size_ += dna.size() + 1;
}

void TokenArray::move_down(std::size_t from, std::size_t to, std::size_t target) {
    std::memmove(data_ + target, data_ + from, (to - from) * sizeof(Symbol));
}

}  // namespace bigbird::tokenizer
