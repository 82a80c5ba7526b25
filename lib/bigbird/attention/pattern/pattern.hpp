// SPDX-License-Identifier: Apache-2.0
// An attention pattern, and the block layout that it becomes for a length, a layer and a head. Standard
// library only: no backend knows a pattern's name, no pattern knows a device.
#pragma once

#include <cstddef>
#include <cstdint>
#include <ranges>
#include <string>
#include <vector>

namespace bigbird::attention {

/// Which blocks are global. ends: the first and the last (half each, the odd one in front), as in the
/// authors' code and transformers; first: the leading blocks, as in the paper's text.
enum class GlobalPlacement : std::uint8_t { ends, first };

/// The source of random blocks. uniform: ours, fixed by (seed, layer, head), over the entire sequence.
/// Version 1: the candidates of a query block `row` that is not global are its key blocks outside window and
/// globals, ascending. They are shuffled by Fisher-Yates from the front, the i-th swap with between(i, last)
/// of Rng(random_seed).split("random-blocks").split(layer).split(head).split(row). The first random_blocks
/// are taken. hf: transformers >= 4.29: in evaluation no random blocks, block 0 counted 1 + random_blocks
/// times; in training as seeded. seeded: transformers <= 4.28, and google: the authors' code, in training and
/// evaluation: the lists of random_plan().
enum class RandomSource : std::uint8_t { uniform, hf, seeded, google };

/// bigbird: blocks, as in the paper: ITC, its parts (no globals: random and window; no window: only random)
/// and, with leading globals and no random blocks, ETC. longformer: tokens, by element masks: token i attends
/// j where |i - j| <= window_tokens * dilation and dilation divides i - j; the first global_tokens attend all
/// and are attended by all. (Longformer's attention_window is 2 * window_tokens.)
enum class PatternKind : std::uint8_t { bigbird, longformer };

/// The version of `uniform` that config.json names.
inline constexpr int uniform_version = 1;

struct PatternSpec {
    int block_size = 64;    ///< tokens
    int global_blocks = 2;  ///< attend all and are attended by all
    int window_blocks = 3;  ///< odd: the block itself and its neighbors, without wrapping round; 0: none
    int random_blocks = 3;
    GlobalPlacement globals = GlobalPlacement::ends;
    RandomSource random_source = RandomSource::uniform;
    std::uint64_t random_seed = 0;
    bool full = false;  ///< "original_full"

    PatternKind kind = PatternKind::bigbird;
    int window_tokens = 256, dilation = 1, global_tokens = 0;  ///< only longformer

    /// Only seeded and google: max_position_embeddings and heads of the network, on which their lists depend.
    int plan_tokens = 4096, plan_heads = 12;

    /// Sequences of at most this many blocks attend fully: 5 + 2 random.
    int full_up_to_blocks() const { return 5 + 2 * random_blocks; }
    bool is_full(int blocks) const {
        return full || (kind == PatternKind::bigbird && blocks <= full_up_to_blocks());
    }
    /// The pattern of a network in training: hf becomes seeded.
    PatternSpec in_training() const;
    /// Whether `block` of a sequence of `blocks` is global.
    bool is_global(int blocks, int block) const;
    /// Throws ConfigError.
    void validate() const;
    bool operator==(const PatternSpec&) const = default;
};

/// The random blocks of one layer in the authors' code and in transformers, pick by pick (numpy's legacy
/// generator); the seed is the layer's index. picks[(head * (blocks - 2) + row - 1) * random_blocks + i]: key
/// blocks of the query blocks 1 .. blocks - 2. A picked block may be attended already; it then counts twice.
/// The first plan is drawn for plan_tokens (4096 in the authors' code) and serves 1,024, 3,072 and 4,096
/// tokens, in the authors' code 2,048 too. Expects (check.hpp) more than 5 + 2 random_blocks blocks. Throws
/// ConfigError if the plan cannot be drawn (plan_tokens too short).
std::vector<std::int32_t> random_plan(const PatternSpec& spec, int blocks, int heads, std::uint32_t seed);

/// Returns a pattern by name. The paper's: bigbird (ITC), bigbird-first (globals in front), bigbird-etc
/// (blocks of 84, 256 global tokens in front, none random), and the rows of Table 1: full, window, random,
/// random+window. Longformer's: sliding, dilated, global+sliding. Throws ConfigError listing the names.
PatternSpec named_pattern(const std::string& name);

/// Which key tokens of a block each query token of another attends: block x block, query by query, 1 = yes.
using ElementMask = std::vector<std::uint8_t>;

/// Which key blocks each query block attends: CSR over blocks. A key block listed with multiplicity m weighs
/// m times in the softmax (adds ln m).
struct BlockLayout {
    std::vector<std::int32_t> row_offsets{0}, columns, multiplicity;
    std::vector<std::int32_t> mask;  ///< empty, or one per column: its index in `masks`, -1 for all tokens
    std::vector<ElementMask> masks;
    int rows() const { return static_cast<int>(row_offsets.size()) - 1; }
    /// The indices of a row's entries in the lists.
    auto entries(std::int64_t row) const {
        const auto at = [&](std::int64_t i) {
            return static_cast<std::size_t>(row_offsets[static_cast<std::size_t>(i)]);
        };
        return std::views::iota(at(row), at(row + 1));
    }
    bool is_masked(std::size_t entry) const { return !mask.empty() && mask[entry] >= 0; }
    bool operator==(const BlockLayout&) const = default;
};

/// How many blocks hold some tokens.
constexpr std::int64_t filled_blocks(std::int64_t tokens, std::int64_t block_size) {
    return (tokens + block_size - 1) / block_size;
}

/// The layout of `blocks` blocks; full where the sequence is short (full_up_to_blocks) or spec.full. Columns
/// of a row ascend. Deterministic. Throws ConfigError if a plan of random blocks cannot be drawn.
BlockLayout make_layout(const PatternSpec& spec, int blocks, int layer, int head);

/// The window of a Longformer's `spec` over `blocks` blocks, preceded by `front` blocks with copies of global
/// tokens. Ignores the spec's global_tokens. Every row attends all of the front; rows of the front attend
/// nothing else.
BlockLayout windows_behind_front(const PatternSpec& spec, int front, int blocks);

// Biases that every backend adds to scores.

/// Added to the score of a padded key, as in transformers: finite, so that a row of only padding gives no
/// NaN.
inline constexpr double padding_bias = -1e4;

/// The bias for "not attended": after the row's maximum is subtracted, exp() of it is 0 in every floating
/// type, without NaN.
inline constexpr double masked_bias = -3e4;

}  // namespace bigbird::attention
