// SPDX-License-Identifier: Apache-2.0
#include "bigbird/tokenizer/train/storage/position_list.hpp"

#include "bigbird/core/check.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

namespace bigbird::tokenizer {

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
    if (size_ > 0) {
        std::memcpy(block.data, data_, size_);
    }
    if (data_ != nullptr) {
        memory_->give_back({data_, capacity_});
    }
    data_ = block.data;
    capacity_ = static_cast<std::uint32_t>(block.size);
}

void PositionList::grow() {
    move_to(std::size_t{capacity_} + capacity_ / 4 + most_bytes);
}

void PositionList::finish() {
    if (size_ == 0) {
        clear();
    } else if (capacity_ - size_ > size_ / 8 + 32 && ListMemory::size_for(size_) < capacity_) {
        move_to(size_);
    }
}

void PositionList::clear() {
    if (data_ != nullptr) {
        memory_->give_back({data_, capacity_});
    }
    data_ = nullptr;
    size_ = capacity_ = 0;
    last_ = 0;
}

}  // namespace bigbird::tokenizer
