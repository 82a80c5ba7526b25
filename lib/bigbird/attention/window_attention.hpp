// SPDX-License-Identifier: Apache-2.0
// Longformer's attention: windows of tokens, and global tokens anywhere, chosen per sample. Global tokens
// attend all tokens by separate projections, and all tokens attend them. It is built on block attention
// (attention.hpp): the global tokens' keys and values are copied into full blocks in front of the sequence
// and masked at their own positions. So any layout and any backend serves.
#pragma once

#include "bigbird/attention/attention.hpp"

#include <ATen/core/Tensor.h>

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <tuple>
#include <vector>

namespace bigbird::attention {

/// The global tokens of a batch.
struct GlobalTokens {
    /// Positions of global tokens: (batch, most) int64, ascending, where `most` is the largest number in a
    /// sample. Undefined without global tokens.
    at::Tensor places;
    at::Tensor are_real;  ///< (batch, most) bool: false after a sample's last global token
    at::Tensor local;     ///< (batch, length) bool: the real tokens that are not global
    std::int64_t most() const { return places.defined() ? places.size(1) : 0; }
};

/// Finds the real tokens that `global` marks. `global` and `key_mask`: (batch, length) bool. Waits for the
/// GPU, because it needs their number.
GlobalTokens find_global_tokens(const at::Tensor& global, const at::Tensor& key_mask);
/// Makes the first `count` tokens of every sample global, if they are real. Does not wait for the GPU.
GlobalTokens leading_global_tokens(std::int64_t count, const at::Tensor& key_mask);

/// Layouts of layers whose heads have different windows, created on first use and cached. Thread-safe.
class WindowLayouts {
public:
    /// [layer][head], all of PatternKind::longformer with one block size. Their global_tokens are ignored.
    explicit WindowLayouts(std::vector<std::vector<PatternSpec>> windows);
    /// The layout for `blocks` blocks, preceded by the blocks that `globals` tokens fill. Layers with equal
    /// windows share a layout.
    std::shared_ptr<const LayerLayout> get(int blocks, std::int64_t globals, int layer,
                                           const at::Device& device);

private:
    std::vector<std::vector<PatternSpec>> windows_;
    std::mutex mutex_;
    std::map<std::tuple<int, int, std::size_t, std::string>, std::shared_ptr<const LayerLayout>> layouts_;
};

/// Attention of the local tokens: to the window of `layout` without its global tokens, and to all global
/// tokens. Rows of global and padded tokens are 0. q, k, v and the result: (batch, heads, length, head_dim).
/// Differentiable.
at::Tensor window_attention(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                            const GlobalTokens& tokens, const LayerLayout& layout,
                            Backend backend = Backend::automatic);

/// Returns `context` of window_attention() with the rows of the global tokens filled in; these attend all
/// real tokens. q: (batch, heads, most, head_dim), the separate queries of global tokens. k and v: (batch,
/// heads, length, head_dim), the keys and values for global tokens. Differentiable.
at::Tensor with_global_rows(const at::Tensor& context, const at::Tensor& q, const at::Tensor& k,
                            const at::Tensor& v, const at::Tensor& key_mask, const GlobalTokens& tokens);

/// The rows of the global tokens, (batch, length, columns) -> (batch, most, columns). If a sample has fewer,
/// the remaining rows are arbitrary.
at::Tensor global_rows(const at::Tensor& x, const GlobalTokens& tokens);

}  // namespace bigbird::attention
