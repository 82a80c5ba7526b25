// SPDX-License-Identifier: Apache-2.0
#include "bigbird/tokenizer/position_list.hpp"

#include <algorithm>

namespace bigbird::tokenizer {

void PositionList::expect(std::uint64_t count, std::uint64_t range) {
    const std::uint64_t gap = range / std::max<std::uint64_t>(count, 1);
    // Gaps are roughly geometric: the share of those above 127 (16,383, …) needs another byte.
    const double bytes = gap < 40 ? 1.1 : gap < 128 ? 1.45 : gap < 5'000 ? 2.05 : gap < 16'384 ? 2.5 : 3.1;
    bytes_.reserve(static_cast<std::size_t>(bytes * static_cast<double>(count)) + 8);
}

void PositionList::finish() {
    if (bytes_.capacity() - bytes_.size() > bytes_.size() / 8 + 32) {
        bytes_.shrink_to_fit();
    }
}

}  // namespace bigbird::tokenizer
