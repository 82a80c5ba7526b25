// SPDX-License-Identifier: Apache-2.0
#include "bigbird/attention/layer_layout.hpp"

#include "bigbird/core/check.hpp"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <functional>

namespace bigbird::attention {

namespace {

/// Multiplicities as a dense table: at(head, row, column).
class Counts {
public:
    explicit Counts(const std::vector<BlockLayout>& heads)
        : blocks_(static_cast<std::size_t>(heads.front().rows())) {
        table_.assign(heads.size() * blocks_ * blocks_, 0);
        for (std::size_t head = 0; head < heads.size(); ++head) {
            BIGBIRD_EXPECTS(static_cast<std::size_t>(heads[head].rows()) == blocks_,
                            "heads differ in their number of blocks");
            for (std::size_t row = 0; row < blocks_; ++row) {
                fill_row(heads[head], head, row);
            }
        }
    }
    std::int32_t at(std::size_t head, std::size_t row, std::size_t column) const {
        return table_[(head * blocks_ + row) * blocks_ + column];
    }

private:
    void fill_row(const BlockLayout& layout, std::size_t head, std::size_t row) {
        for (auto i = static_cast<std::size_t>(layout.row_offsets[row]);
             i < static_cast<std::size_t>(layout.row_offsets[row + 1]); ++i) {
            table_[(head * blocks_ + row) * blocks_ + static_cast<std::size_t>(layout.columns[i])] =
                layout.multiplicity[i];
        }
    }
    std::size_t blocks_;
    std::vector<std::int32_t> table_;
};

template <typename Predicate>
std::vector<std::int64_t> numbers_where(std::size_t count, Predicate&& predicate) {
    std::vector<std::int64_t> chosen;
    for (std::size_t i = 0; i < count; ++i) {
        if (predicate(i)) {
            chosen.push_back(static_cast<std::int64_t>(i));
        }
    }
    return chosen;
}

at::Tensor to_tensor(const std::vector<std::int64_t>& values, const at::Device& device) {
    return at::tensor(at::ArrayRef<std::int64_t>(values), at::kLong).to(device);
}

std::size_t index(std::int64_t value) {
    return static_cast<std::size_t>(value);
}

bool has_mask(const BlockLayout& layout, std::size_t row) {
    const auto begin = layout.row_offsets[row], end = layout.row_offsets[row + 1];
    return !layout.mask.empty() && std::any_of(layout.mask.begin() + begin, layout.mask.begin() + end,
                                               [](std::int32_t mask) { return mask >= 0; });
}

struct Columns {
    std::vector<std::int64_t> columns;
    std::vector<double> bias;
    std::int64_t width = 0;
};

/// Places of masks in the heads' lists, all heads' masks one after another behind the empty one.
std::vector<std::int64_t> mask_places(const std::vector<BlockLayout>& heads) {
    std::vector<std::int64_t> first;
    std::int64_t next = 1;
    for (const BlockLayout& head : heads) {
        first.push_back(next);
        next += static_cast<std::int64_t>(head.masks.size());
    }
    return first;
}

/// As columns_of: the masks of the same blocks.
std::vector<std::int64_t> mask_indices(const std::vector<BlockLayout>& heads,
                                       const std::vector<std::int64_t>& rows, std::int64_t width) {
    const std::vector<std::int64_t> first = mask_places(heads);
    std::vector<std::int64_t> indices;
    for (std::size_t head = 0; head < heads.size(); ++head) {
        for (const std::int64_t row : rows) {
            const auto begin = index(heads[head].row_offsets[index(row)]),
                       end = index(heads[head].row_offsets[index(row) + 1]);
            for (std::size_t i = begin; i < begin + index(width); ++i) {
                const bool masked = i < end && !heads[head].mask.empty() && heads[head].mask[i] >= 0;
                indices.push_back(masked ? first[head] + heads[head].mask[i] : 0);
            }
        }
    }
    return indices;
}

at::Tensor mask_biases(const std::vector<BlockLayout>& heads, std::int64_t block) {
    std::vector<at::Tensor> biases{at::zeros({block, block}, at::kDouble)};
    for (const BlockLayout& head : heads) {
        for (const ElementMask& mask : head.masks) {
            const at::Tensor attended = at::tensor(at::ArrayRef<std::uint8_t>(mask), at::kByte);
            biases.push_back((attended.view({block, block}) == 0).to(at::kDouble) * masked_bias);
        }
    }
    return at::stack(biases);
}

/// The columns of some rows of all heads, filled up to the longest row.
Columns columns_of(const Counts& counts, std::size_t heads, std::size_t blocks,
                   const std::vector<std::int64_t>& rows) {
    std::vector<std::vector<std::int64_t>> lists;
    Columns all;
    for (std::size_t head = 0; head < heads; ++head) {
        for (const std::int64_t row : rows) {
            lists.push_back(numbers_where(
                blocks, [&](std::size_t column) { return counts.at(head, index(row), column) > 0; }));
            all.width = std::max(all.width, static_cast<std::int64_t>(lists.back().size()));
        }
    }
    for (std::size_t i = 0; i < lists.size(); ++i) {
        for (const std::int64_t column : lists[i]) {
            all.columns.push_back(column);
            all.bias.push_back(
                std::log(counts.at(i / rows.size(), index(rows[i % rows.size()]), index(column))));
        }
        const auto missing = index(all.width) - lists[i].size();
        all.columns.insert(all.columns.end(), missing, 0);
        all.bias.insert(all.bias.end(), missing, masked_bias);
    }
    return all;
}

}  // namespace

LayerLayout stack_layouts(std::vector<BlockLayout> layouts, int block_size, const at::Device& device) {
    BIGBIRD_EXPECTS(!layouts.empty(), "a layer has at least one head");
    const Counts counts(layouts);
    const auto heads = layouts.size(), blocks = static_cast<std::size_t>(layouts.front().rows());
    const auto attends_all_once = [&](std::size_t row) {
        for (std::size_t head = 0; head < heads; ++head) {
            for (std::size_t column = 0; column < blocks; ++column) {
                if (counts.at(head, row, column) != 1) {
                    return false;
                }
            }
            if (has_mask(layouts[head], row)) {
                return false;
            }
        }
        return true;
    };
    const std::vector<std::int64_t> dense = numbers_where(blocks, attends_all_once);
    const std::vector<std::int64_t> sparse = numbers_where(blocks, std::not_fn(attends_all_once));

    LayerLayout layer;
    layer.blocks = static_cast<int>(blocks);
    layer.block_size = block_size;
    layer.heads = static_cast<int>(heads);
    layer.full = sparse.empty();
    layer.layouts = std::make_shared<const std::vector<BlockLayout>>(std::move(layouts));
    if (layer.full) {
        return layer;
    }
    const Columns all = columns_of(counts, heads, blocks, sparse);
    const std::vector<std::int64_t> shape{layer.heads, static_cast<std::int64_t>(sparse.size()), all.width};
    layer.dense_rows = to_tensor(dense, device);
    layer.sparse_rows = to_tensor(sparse, device);
    layer.columns = to_tensor(all.columns, device).view(shape);
    layer.bias = at::tensor(at::ArrayRef<double>(all.bias)).to(device).view(shape);
    const std::vector<BlockLayout>& kept = *layer.layouts;
    if (std::ranges::any_of(kept, [](const BlockLayout& head) { return !head.masks.empty(); })) {
        layer.mask_index = to_tensor(mask_indices(kept, sparse, all.width), device).view(shape);
        layer.mask_bias = mask_biases(kept, block_size).to(device);
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
        for (int head = 0; head < heads_; ++head) {
            heads.push_back(make_layout(training ? spec_.in_training() : spec_, blocks, layer, head));
        }
        kept = std::make_shared<const LayerLayout>(stack_layouts(std::move(heads), spec_.block_size, device));
    }
    return kept;
}

}  // namespace bigbird::attention
