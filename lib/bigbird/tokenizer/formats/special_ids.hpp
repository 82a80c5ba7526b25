// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace bigbird::tokenizer {

/// The special pieces' ids in every tokenizer of ours. Others' may differ: DnaTokenizer::special_ids().
namespace special {
inline constexpr std::int32_t pad = 0, unk = 1, cls = 2, sep = 3, mask = 4, count = 5;
}

/// -1 where a tokenizer lacks one.
struct SpecialIds {
    std::int32_t pad = special::pad, unk = special::unk, cls = special::cls, sep = special::sep,
                 mask = special::mask;
    bool operator==(const SpecialIds&) const = default;
};

}  // namespace bigbird::tokenizer
