// SPDX-License-Identifier: Apache-2.0
// Longformer's attention: windows of tokens, and global tokens anywhere, chosen per sample. Global tokens
// attend all tokens by projections of their own, and all tokens attend them. It is built on block attention
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
    /// (batch, most) int64, ascending, `most` being the largest number in a sample; undefined: there are
    /// none.
    at::Tensor places;
    at::Tensor are_real;  ///< (batch, most) bool: false behind a sample's last one
    at::Tensor local;     ///< (batch, length) bool: the real tokens that are not global
    std::int64_t most() const;
};

/// Those that `global` names, of the real tokens; both (batch, length) bool. Waits for a GPU to count them.
GlobalTokens find_global_tokens(const at::Tensor& global, const at::Tensor& key_mask);
/// The first `count` tokens of every sample, where they are real. Waits for nothing.
GlobalTokens leading_global_tokens(std::int64_t count, const at::Tensor& key_mask);

/// Layouts of layers whose heads have windows of their own, made on first use and kept. Thread-safe.
class WindowLayouts {
public:
    /// [layer][head], of PatternKind::longformer and one block size; their global_tokens do not count.
    explicit WindowLayouts(std::vector<std::vector<PatternSpec>> windows);
    /// For `blocks` blocks behind the blocks that `globals` tokens fill; layers of equal windows share one.
    std::shared_ptr<const LayerLayout> get(int blocks, std::int64_t globals, int layer,
                                           const at::Device& device);

private:
    std::vector<std::vector<PatternSpec>> windows_;
    std::mutex mutex_;
    std::map<std::tuple<int, int, std::size_t, std::string>, std::shared_ptr<const LayerLayout>> layouts_;
};

/// What the local tokens attend: the window of `layout` without the global tokens in it, and all global
/// tokens; global and padded tokens give 0. q, k, v and the result: (batch, heads, length, head_dim).
/// Differentiable.
at::Tensor window_attention(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                            const GlobalTokens& tokens, const LayerLayout& layout,
                            Backend backend = Backend::automatic);

/// `context`, which window_attention() returned, with the rows of the global tokens: those attend all real
/// tokens. q: (batch, heads, most, head_dim), the global tokens' own queries; k and v: (batch, heads, length,
/// head_dim), the keys and values that global tokens see. Differentiable.
at::Tensor with_global_rows(const at::Tensor& context, const at::Tensor& q, const at::Tensor& k,
                            const at::Tensor& v, const at::Tensor& key_mask, const GlobalTokens& tokens);

/// The rows of the global tokens, (batch, length, columns) -> (batch, most, columns); any row where a sample
/// has fewer.
at::Tensor global_rows(const at::Tensor& x, const GlobalTokens& tokens);

}  // namespace bigbird::attention
