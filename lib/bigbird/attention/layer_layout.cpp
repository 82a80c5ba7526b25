// SPDX-License-Identifier: Apache-2.0
#include "bigbird/attention/layer_layout.hpp"

#include "bigbird/core/check.hpp"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace bigbird::attention {

namespace {

std::size_t index(std::int64_t value) {
    return static_cast<std::size_t>(value);
}

at::Tensor to_tensor(const std::vector<std::int64_t>& values, const at::Device& device) {
    return at::tensor(at::ArrayRef<std::int64_t>(values), at::kLong).to(device);
}

bool attends_all_once(const BlockLayout& layout, std::int64_t row) {
    const auto entries = layout.entries(row);
    return std::ssize(entries) == layout.rows() && std::ranges::all_of(entries, [&](std::size_t i) {
               return layout.multiplicity[i] == 1 && !layout.is_masked(i);
           });
}

/// (heads, rows, width): the columns of some rows of all heads, padded to the longest row.
struct Columns {
    std::vector<std::int64_t> columns;
    std::vector<double> bias;
    std::vector<std::int64_t> masks;  ///< the masks of all heads in order, after an empty one
    std::int64_t width = 0;
};

Columns columns_of(const std::vector<BlockLayout>& heads, const std::vector<std::int64_t>& rows) {
    Columns all;
    for (const BlockLayout& head : heads)
        for (const std::int64_t row : rows)
            all.width = std::max(all.width, static_cast<std::int64_t>(head.entries(row).size()));
    std::int64_t first_mask = 1;
    for (const BlockLayout& head : heads) {
        for (const std::int64_t row : rows) {
            const auto entries = head.entries(row);
            for (const std::size_t i : entries) {
                all.columns.push_back(head.columns[i]);
                all.bias.push_back(std::log(head.multiplicity[i]));
                all.masks.push_back(head.is_masked(i) ? first_mask + head.mask[i] : 0);
            }
            const std::size_t rest = index(all.width) - entries.size();
            all.columns.insert(all.columns.end(), rest, 0);
            all.bias.insert(all.bias.end(), rest, masked_bias);
            all.masks.insert(all.masks.end(), rest, 0);
        }
        first_mask += std::ssize(head.masks);
    }
    return all;
}

}  // namespace

LayerLayout stack_layouts(std::vector<BlockLayout> layouts, int block_size, const at::Device& device) {
    BIGBIRD_EXPECTS(!layouts.empty(), "a layer has at least one head");
    LayerLayout layer;
    layer.blocks = layouts.front().rows();
    layer.block_size = block_size;
    layer.heads = static_cast<int>(layouts.size());
    for (const BlockLayout& head : layouts)
        BIGBIRD_EXPECTS(head.rows() == layer.blocks, "heads differ in their number of blocks");
    std::vector<std::int64_t> dense, sparse;
    for (std::int64_t row = 0; row < layer.blocks; ++row) {
        const bool all_dense = std::ranges::all_of(
            layouts, [&](const BlockLayout& head) { return attends_all_once(head, row); });
        (all_dense ? dense : sparse).push_back(row);
    }
    layer.full = sparse.empty();
    layer.layouts = std::make_shared<const std::vector<BlockLayout>>(std::move(layouts));
    if (layer.full) return layer;
    const std::vector<BlockLayout>& heads = *layer.layouts;
    const Columns all = columns_of(heads, sparse);
    const std::vector<std::int64_t> shape{layer.heads, std::ssize(sparse), all.width};
    layer.dense_rows = to_tensor(dense, device);
    layer.sparse_rows = to_tensor(sparse, device);
    layer.columns = to_tensor(all.columns, device).view(shape);
    layer.bias = at::tensor(at::ArrayRef<double>(all.bias)).to(device).view(shape);
    if (std::ranges::any_of(heads, [](const BlockLayout& head) { return !head.masks.empty(); })) {
        layer.mask_index = to_tensor(all.masks, device).view(shape);
        std::vector<at::Tensor> biases{at::zeros({block_size, block_size}, at::kDouble)};
        for (const BlockLayout& head : heads)
            for (const ElementMask& mask : head.masks)
                biases.push_back((at::tensor(at::ArrayRef<std::uint8_t>(mask), at::kByte) == 0)
                                     .view({block_size, block_size})
                                     .to(at::kDouble) *
                                 masked_bias);
        layer.mask_bias = at::stack(biases).to(device);
    }
    return layer;
}

std::shared_ptr<const LayerLayout> LayoutCache::get(int blocks, int layer, const at::Device& device,
                                                    bool training) {
    training = training && spec_.random_source == RandomSource::hf;
    const std::scoped_lock lock(mutex_);
    auto& kept = layouts_[{blocks, layer, device.str(), training}];
    if (!kept) {
        std::vector<BlockLayout> heads;
        for (int head = 0; head < heads_; ++head)
            heads.push_back(make_layout(training ? spec_.in_training() : spec_, blocks, layer, head));
        LayerLayout made = stack_layouts(std::move(heads), spec_.block_size, device);
        made.slopes = slopes_;
        kept = std::make_shared<const LayerLayout>(std::move(made));
    }
    return kept;
}

}  // namespace bigbird::attention
