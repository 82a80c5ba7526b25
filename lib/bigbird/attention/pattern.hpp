// SPDX-License-Identifier: Apache-2.0
// An attention pattern, and the block layout that it becomes for a length, a layer and a head. Standard
// library only: no backend knows a pattern's name, no pattern knows a device.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace bigbird::attention {

/// Which blocks are global. ends: the first and the last (half each, the odd one in front), as in the
/// authors' code and transformers; first: the leading blocks, as in the paper's text.
enum class GlobalPlacement : std::uint8_t { ends, first };

/// Where random blocks come from.
/// uniform: ours, fixed by (seed, layer, head), over the whole sequence. Version 1: for the query block `row`
/// that is not global, the key blocks that it does not attend already (neither window nor global), ascending,
/// are shuffled by Fisher-Yates from the front, the i-th swap with between(i, last) of
/// Rng(random_seed).split("random-blocks").split(layer).split(head).split(row); the first random_blocks are
/// taken. hf: transformers >= 4.29 in evaluation: no random blocks, block 0 counted 1 + random_blocks times.
/// A compatibility mode for evaluation alone: networks refuse to train sparsely with it (ConfigError).
enum class RandomSource : std::uint8_t { uniform, hf };

/// The version of `uniform` that config.json names.
inline constexpr int uniform_version = 1;

struct PatternSpec {
    int block_size = 64;    ///< tokens
    int global_blocks = 2;  ///< attend all and are attended by all
    int window_blocks = 3;  ///< odd: the block itself and its neighbours, without wrapping round
    int random_blocks = 3;
    GlobalPlacement globals = GlobalPlacement::ends;
    RandomSource random_source = RandomSource::uniform;
    std::uint64_t random_seed = 0;
    bool full = false;  ///< "original_full"

    /// Sequences of at most this many blocks attend fully: 5 + 2 random.
    int full_up_to_blocks() const { return 5 + 2 * random_blocks; }
    bool is_full(int blocks) const { return full || blocks <= full_up_to_blocks(); }
    /// Throws ConfigError.
    void validate() const;
    bool operator==(const PatternSpec&) const = default;
};

/// Which key blocks each query block attends: CSR over blocks. A key block listed with multiplicity m weighs
/// m times in the softmax (adds ln m).
struct BlockLayout {
    std::vector<std::int32_t> row_offsets{0}, columns, multiplicity;
    int rows() const { return static_cast<int>(row_offsets.size()) - 1; }
    bool operator==(const BlockLayout&) const = default;
};

/// BigBird-ITC for `blocks` blocks; full where the sequence is short (full_up_to_blocks) or spec.full.
/// Columns of a row ascend. Deterministic.
BlockLayout make_layout(const PatternSpec& spec, int blocks, int layer, int head);

}  // namespace bigbird::attention
