// SPDX-License-Identifier: Apache-2.0
// The report of a Hopper kernel that was ended because a barrier did not move (PipelineIsa's
// wait_or_give_up): a 64-bit word for each producer warp of a thread block. Host and device read the same
// words.
#pragma once

#include "bigbird/attention/cuda/device/hopper/pipeline.hpp"

#include <cstdint>
#include <string>

namespace bigbird::attention::cuda {

/// Warps of a thread block at most, and the words of a kernel's report.
inline constexpr int report_words = 32;

/// Where a warp waited. `block`: modulo 65536. `offset`: of the barrier, in bytes of the block's shared
/// memory, below 2^18. `turns`: bit i is the parity of the turn that barrier i of the team was in.
struct StuckWait {
    std::uint32_t block = 0, offset = 0, turns = 0;
};

/// One store writes all of it, so that the words of several blocks never mix.
BIGBIRD_DEVICE std::uint64_t pack_wait(const StuckWait& wait) {
    return std::uint64_t{1} << 63 | std::uint64_t{wait.turns & 0x7FFFU} << 48 |
           std::uint64_t{wait.block & 0xFFFFU} << 32 | wait.offset;
}
/// Whether anything was written.
inline bool is_stuck(std::uint64_t word) {
    return word >> 63 != 0;
}
inline StuckWait unpack_wait(std::uint64_t word) {
    return {static_cast<std::uint32_t>(word >> 32 & 0xFFFFU), static_cast<std::uint32_t>(word),
            static_cast<std::uint32_t>(word >> 48 & 0x7FFFU)};
}

/// "step_empty 2 of team 0: its copies never arrived", or "…: its readers never let it go".
template <typename Shape>
std::string describe_wait(const StuckWait& wait) {
    using Shared = PipelineShared<Shape>;
    const int at = static_cast<int>(wait.offset), number = (at % Shared::bytes - Shared::barriers_at) / 8;
    const bool is_unit = number < 2 * Shared::unit_buffers;
    const int first = is_unit ? 0 : 2 * Shared::unit_buffers,
              buffers = is_unit ? Shared::unit_buffers : Shared::step_buffers,
              buffer = (number - first) % buffers;
    if (number < 0 || number - first >= 2 * buffers) return "the barrier at byte " + std::to_string(at);
    const auto turn = [&](int barrier) { return wait.turns >> barrier & 1U; };
    const bool is_full = number - first < buffers;
    const char* reason = is_full || turn(first + buffer) == turn(first + buffers + buffer)
                             ? ": its copies never arrived"
                             : ": its readers never let it go";
    return std::string(is_unit ? "unit" : "step") + (is_full ? "_full " : "_empty ") +
           std::to_string(buffer) + " of team " + std::to_string(at / Shared::bytes) + reason;
}

/// A line for each warp of a kernel that wrote its word, or nothing.
template <typename Shape>
std::string describe_waits(const char* kernel, const std::uint64_t* words) {
    std::string text;
    for (int warp = 0; warp < report_words; ++warp) {
        if (is_stuck(words[warp])) {
            const StuckWait wait = unpack_wait(words[warp]);
            text += std::string("bigbird-cuda: the ") + kernel + " kernel was ended: warp " +
                    std::to_string(warp) + " of block " + std::to_string(wait.block) +
                    " waited too long for " + describe_wait<Shape>(wait) + "\n";
        }
    }
    return text;
}

}  // namespace bigbird::attention::cuda
