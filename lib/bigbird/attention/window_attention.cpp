// SPDX-License-Identifier: Apache-2.0
#include "bigbird/attention/window_attention.hpp"

#include "bigbird/attention/backends.hpp"
#include "bigbird/attention/pattern/pattern.hpp"
#include "bigbird/core/check.hpp"

#include <ATen/ATen.h>

#include <algorithm>

namespace bigbird::attention {

namespace {

/// The positions of the global tokens as an index of rows for gather() on `like`, (batch, heads, length,
/// head_dim).
at::Tensor index_of(const GlobalTokens& tokens, const at::Tensor& like) {
    return tokens.places.unsqueeze(1).unsqueeze(3).expand({-1, like.size(1), -1, like.size(3)});
}

/// x with `front` rows before it: the global tokens' rows, then 0.
at::Tensor with_front(const at::Tensor& x, const GlobalTokens& tokens, std::int64_t front) {
    const at::Tensor rows = x.gather(2, index_of(tokens, x));  // (batch, heads, most, head_dim)
    return at::cat({at::constant_pad_nd(rows, {0, 0, 0, front - tokens.most()}), x}, 2);
}

}  // namespace

GlobalTokens find_global_tokens(const at::Tensor& global, const at::Tensor& key_mask) {
    BIGBIRD_EXPECTS(global.sizes() == key_mask.sizes() && global.scalar_type() == at::kBool,
                    "the global tokens must be (batch, length) bool");
    const at::Tensor set = global.logical_and(key_mask);
    const at::Tensor counts = set.sum(1);  // (batch)
    const auto most = counts.max().item<std::int64_t>();
    if (most == 0) return {.places = {}, .are_real = {}, .local = key_mask};
    const at::Tensor numbers = at::arange(most, counts.options());
    // A stable sort moves the set tokens to the front.
    const at::Tensor order = std::get<1>(at::sort(set.to(at::kByte), true, 1, true));  // (batch, length)
    return {.places = order.narrow(1, 0, most),
            .are_real = numbers.unsqueeze(0) < counts.unsqueeze(1),
            .local = key_mask.logical_and(set.logical_not())};
}

GlobalTokens leading_global_tokens(std::int64_t count, const at::Tensor& key_mask) {
    const std::int64_t length = key_mask.size(1), most = std::min(count, length);
    if (most <= 0) return {.places = {}, .are_real = {}, .local = key_mask};
    const at::Tensor numbers = at::arange(length, key_mask.options().dtype(at::kLong));
    return {.places = numbers.narrow(0, 0, most).unsqueeze(0).expand({key_mask.size(0), -1}),
            .are_real = key_mask.narrow(1, 0, most),
            .local = key_mask.logical_and((numbers >= most).unsqueeze(0))};
}

WindowLayouts::WindowLayouts(std::vector<std::vector<PatternSpec>> windows) : windows_(std::move(windows)) {
    BIGBIRD_EXPECTS(!windows_.empty() && !windows_.front().empty(), "there is at least one layer and head");
}

std::shared_ptr<const LayerLayout> WindowLayouts::get(int blocks, std::int64_t globals, int layer,
                                                      const at::Device& device) {
    const std::vector<PatternSpec>& heads = windows_.at(static_cast<std::size_t>(layer));
    const int block = heads.front().block_size, front = static_cast<int>(filled_blocks(globals, block));
    const auto first = static_cast<std::size_t>(std::ranges::find(windows_, heads) - windows_.begin());
    const std::scoped_lock lock(mutex_);
    auto& kept = layouts_[{blocks, front, first, device.str()}];
    if (!kept) {
        std::vector<BlockLayout> layouts;
        for (const PatternSpec& window : heads)
            layouts.push_back(windows_behind_front(window, front, blocks));
        kept = std::make_shared<const LayerLayout>(stack_layouts(std::move(layouts), block, device));
    }
    return kept;
}

at::Tensor window_attention(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                            const GlobalTokens& tokens, const LayerLayout& layout, Backend backend) {
    const std::int64_t length = q.size(2), total = std::int64_t{layout.blocks} * layout.block_size,
                       front = total - length;
    if (front == 0) {
        const at::Tensor context = sparse_attention(q, k, v, tokens.local, layout, backend);
        return layout.full ? context * tokens.local.unsqueeze(1).unsqueeze(3).to(q.scalar_type()) : context;
    }
    BIGBIRD_EXPECTS(front >= tokens.most(), "the layout has no room for the global tokens");
    const at::Tensor mask =
        at::cat({at::constant_pad_nd(tokens.are_real, {0, front - tokens.most()}), tokens.local}, 1);
    const at::Tensor queries = at::constant_pad_nd(q, {0, 0, front, 0});
    return sparse_attention(queries, with_front(k, tokens, front), with_front(v, tokens, front), mask, layout,
                            backend)
        .narrow(2, front, length);
}

at::Tensor with_global_rows(const at::Tensor& context, const at::Tensor& q, const at::Tensor& k,
                            const at::Tensor& v, const at::Tensor& key_mask, const GlobalTokens& tokens) {
    const at::Tensor counted = tokens.are_real.unsqueeze(1).unsqueeze(3).to(context.scalar_type());
    const at::Tensor rows =
        full_attention(q, k, v, key_mask, {}).to(context.scalar_type()) * counted;  // (batch, heads, most, …)
    return context.scatter_add(2, index_of(tokens, rows), rows);
}

at::Tensor global_rows(const at::Tensor& x, const GlobalTokens& tokens) {
    return x.gather(1, tokens.places.unsqueeze(2).expand({-1, -1, x.size(2)}));
}

}  // namespace bigbird::attention
