// SPDX-License-Identifier: Apache-2.0
#include "bigbird/tokenizer/train/storage/position_list.hpp"

#include "bigbird/core/check.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <new>

namespace bigbird::tokenizer {

namespace {

constexpr std::size_t page = std::size_t{1} << 21, pages_per_slab = 8, smallest = 16;

// Sizes are 16, 18, … 30, 32, 36, … 60, 64, 72, …: eight from each power of two to the next.
std::size_t class_of(std::size_t bytes) {
    const std::size_t size = std::max(bytes, smallest);
    const auto power = static_cast<std::size_t>(std::bit_width(size) - 1);
    const std::size_t step = (std::size_t{1} << power) / 8;
    return (power - 4) * 8 + (size - (std::size_t{1} << power) + step - 1) / step;
}

std::size_t size_of_class(std::size_t number) {
    const std::size_t power = number / 8 + 4;
    return (std::size_t{1} << power) + ((std::size_t{1} << power) / 8) * (number % 8);
}

}  // namespace

ListMemory::~ListMemory() {
    for (const Block& slab : slabs_)
        ::munmap(slab.data, slab.size);
}

std::size_t ListMemory::size_for(std::size_t bytes) {
    return size_of_class(class_of(bytes));
}

ListMemory::Block ListMemory::fresh(std::size_t size) {
    if (left_ < size) {
        const std::size_t slab = std::max((size + page - 1) / page, pages_per_slab) * page;
        void* const memory =
            ::mmap(nullptr, slab, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (memory == MAP_FAILED) throw std::bad_alloc();
        ::madvise(memory, slab, MADV_HUGEPAGE);
        slabs_.push_back({static_cast<std::uint8_t*>(memory), slab});
        next_ = slabs_.back().data;
        left_ = slab;
    }
    const Block block{next_, size};
    next_ += size;
    left_ -= size;
    return block;
}

void ListMemory::keep(std::uint8_t* data, std::size_t number) {
    free_[number].push_back(data);
    any_free_[number / 64] |= std::uint64_t{1} << number % 64;
}

ListMemory::Block ListMemory::take(std::size_t bytes) {
    const std::size_t wanted = class_of(bytes), size = size_of_class(wanted);
    std::uint64_t bits = any_free_[wanted / 64] & ~std::uint64_t{0} << wanted % 64;
    std::size_t word = wanted / 64;
    while (bits == 0 && ++word < any_free_.size())
        bits = any_free_[word];
    if (bits == 0) return fresh(size);
    const std::size_t number = word * 64 + static_cast<std::size_t>(std::countr_zero(bits));
    std::uint8_t* const data = free_[number].back();
    free_[number].pop_back();
    if (free_[number].empty()) any_free_[word] &= ~(std::uint64_t{1} << number % 64);
    const std::size_t rest = size_of_class(number) - size;
    if (rest < size) return {data, size_of_class(number)};
    const std::size_t above = class_of(rest);
    keep(data + size, size_of_class(above) > rest ? above - 1 : above);
    return {data, size};
}

void ListMemory::give_back(const Block& block) {
    keep(block.data, class_of(block.size));
}

PositionList& PositionList::operator=(PositionList&& other) noexcept {
    if (this != &other) {
        clear();
        memory_ = other.memory_;
        data_ = std::exchange(other.data_, nullptr);
        size_ = std::exchange(other.size_, 0);
        capacity_ = std::exchange(other.capacity_, 0);
        last_ = std::exchange(other.last_, 0);
    }
    return *this;
}

void PositionList::expect(std::uint64_t count, std::uint64_t range) {
    const std::uint64_t gap = range / std::max<std::uint64_t>(count, 1);
    // Gaps are roughly geometric: the share of those above 127 (16,383, …) needs another byte.
    const double bytes = gap < 40 ? 1.1 : gap < 128 ? 1.45 : gap < 5'000 ? 2.05 : gap < 16'384 ? 2.5 : 3.1;
    move_to(static_cast<std::size_t>(bytes * static_cast<double>(count)) + most_bytes);
}

void PositionList::move_to(std::size_t capacity) {
    const ListMemory::Block block = memory_->take(capacity);
    BIGBIRD_EXPECTS(block.size <= std::numeric_limits<std::uint32_t>::max(),
                    "a list of positions outgrows 4 GB");
    if (size_ > 0) std::memcpy(block.data, data_, size_);
    if (data_ != nullptr) memory_->give_back({data_, capacity_});
    data_ = block.data;
    capacity_ = static_cast<std::uint32_t>(block.size);
}

void PositionList::finish() {
    if (size_ == 0)
        clear();
    else if (capacity_ - size_ > size_ / 8 + 32 && ListMemory::size_for(size_) < capacity_)
        move_to(size_);
}

void PositionList::clear() {
    if (data_ != nullptr) memory_->give_back({data_, capacity_});
    data_ = nullptr;
    size_ = capacity_ = 0;
    last_ = 0;
}

}  // namespace bigbird::tokenizer
