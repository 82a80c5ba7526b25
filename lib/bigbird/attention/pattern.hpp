// SPDX-License-Identifier: Apache-2.0
// An attention pattern, and the block layout that it becomes for a length, a layer and a head. Standard library only: no backend knows a
// pattern's name, no pattern knows a device.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace bigbird::attention {

enum class GlobalPlacement : std::uint8_t { ends, first };  ///< first and last block (authors' code) or the first blocks (paper's text)

/// Where random blocks come from. uniform: ours, fixed by (seed, layer, head), over the whole sequence. hf: transformers >= 4.29 in evaluation,
/// block 0 counted 1 + r times. (`seeded` and `google`: bigbird.md, 1.5.)
enum class RandomSource : std::uint8_t { uniform, hf };

struct PatternSpec {
    int block_size = 64;
    int global_blocks = 2;
    int window_blocks = 3;
    int random_blocks = 3;
    GlobalPlacement globals = GlobalPlacement::ends;
    RandomSource random_source = RandomSource::uniform;
    std::uint64_t random_seed = 0;
    bool full = false;  ///< "original_full"

    /// Sequences of at most this many blocks attend fully: 5 + 2 random.
    int full_up_to_blocks() const { return 5 + 2 * random_blocks; }
    /// Throws ConfigError.
    void validate() const;
};

/// Which key blocks each query block attends: CSR over blocks. A key block listed with multiplicity m weighs m times in the softmax (adds ln m).
struct BlockLayout {
    std::vector<std::int32_t> row_offsets{0}, columns, multiplicity;
    int rows() const { return static_cast<int>(row_offsets.size()) - 1; }
    bool operator==(const BlockLayout&) const = default;
};

/// BigBird-ITC for `blocks` blocks; full where the sequence is short (full_up_to_blocks) or spec.full. Columns of a row ascend. Deterministic.
BlockLayout make_layout(const PatternSpec& spec, int blocks, int layer, int head);

}  // namespace bigbird::attention
