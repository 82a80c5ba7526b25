// SPDX-License-Identifier: Apache-2.0
#include "bigbird/attention/layer_layout.hpp"

#include "bigbird/core/check.hpp"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>

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

struct OwnColumns {
    std::vector<std::int64_t> columns;
    std::vector<double> bias;
    std::int64_t width = 0;
};

/// The sparse rows' columns outside `common`, filled up to the longest row.
OwnColumns own_columns(const Counts& counts, std::size_t heads, std::size_t blocks,
                       const std::vector<std::int64_t>& rows, const std::vector<std::int64_t>& common) {
    std::vector<std::vector<std::int64_t>> lists;
    OwnColumns own;
    for (std::size_t head = 0; head < heads; ++head) {
        for (const std::int64_t row : rows) {
            lists.push_back(numbers_where(blocks, [&](std::size_t column) {
                return counts.at(head, index(row), column) > 0 &&
                       !std::ranges::binary_search(common, static_cast<std::int64_t>(column));
            }));
            own.width = std::max(own.width, static_cast<std::int64_t>(lists.back().size()));
        }
    }
    for (std::size_t i = 0; i < lists.size(); ++i) {
        for (const std::int64_t column : lists[i]) {
            own.columns.push_back(column);
            own.bias.push_back(
                std::log(counts.at(i / rows.size(), index(rows[i % rows.size()]), index(column))));
        }
        const auto missing = index(own.width) - lists[i].size();
        own.columns.insert(own.columns.end(), missing, 0);
        own.bias.insert(own.bias.end(), missing, masked_bias);
    }
    return own;
}

}  // namespace

LayerLayout stack_layouts(std::vector<BlockLayout> layouts, int block_size, const at::Device& device) {
    BIGBIRD_EXPECTS(!layouts.empty(), "a layer has at least one head");
    const Counts counts(layouts);
    const auto heads = layouts.size(), blocks = static_cast<std::size_t>(layouts.front().rows());
    const auto in_every_head = [&](auto&& condition) {
        return std::ranges::all_of(numbers_where(heads, [](std::size_t) { return true; }),
                                   [&](std::int64_t head) { return condition(index(head)); });
    };
    const auto attends_all_once = [&](std::size_t row) {
        return in_every_head([&](std::size_t head) {
            return numbers_where(blocks,
                                 [&](std::size_t column) { return counts.at(head, row, column) != 1; })
                .empty();
        });
    };
    const std::vector<std::int64_t> dense = numbers_where(blocks, attends_all_once);
    const std::vector<std::int64_t> sparse =
        numbers_where(blocks, [&](std::size_t row) { return !attends_all_once(row); });

    LayerLayout layer;
    layer.blocks = static_cast<int>(blocks);
    layer.block_size = block_size;
    layer.heads = static_cast<int>(heads);
    layer.full = sparse.empty();
    layer.layouts = std::move(layouts);
    if (layer.full) {
        return layer;
    }
    const std::vector<std::int64_t> common = numbers_where(blocks, [&](std::size_t column) {
        return in_every_head([&](std::size_t head) {
            return std::ranges::all_of(
                sparse, [&](std::int64_t row) { return counts.at(head, index(row), column) > 0; });
        });
    });
    std::vector<double> common_bias;
    for (std::size_t head = 0; head < heads; ++head) {
        for (const std::int64_t row : sparse) {
            for (const std::int64_t column : common) {
                common_bias.push_back(std::log(counts.at(head, index(row), index(column))));
            }
        }
    }
    std::vector<std::int64_t> order(blocks);
    for (std::size_t i = 0; i < blocks; ++i) {
        order[index(i < sparse.size() ? sparse[i] : dense[i - sparse.size()])] = static_cast<std::int64_t>(i);
    }
    const OwnColumns own = own_columns(counts, heads, blocks, sparse, common);
    const std::vector<std::int64_t> leading{static_cast<std::int64_t>(heads),
                                            static_cast<std::int64_t>(sparse.size()), -1};
    const auto shaped = [&](std::int64_t last) {
        return std::vector<std::int64_t>{leading[0], leading[1], last};
    };
    layer.dense_rows = to_tensor(dense, device);
    layer.sparse_rows = to_tensor(sparse, device);
    layer.order = to_tensor(order, device);
    layer.common_columns = to_tensor(common, device);
    layer.common_bias = at::tensor(at::ArrayRef<double>(common_bias))
                            .to(device)
                            .view(shaped(static_cast<std::int64_t>(common.size())));
    layer.own_columns = to_tensor(own.columns, device).view(shaped(own.width));
    layer.own_bias = at::tensor(at::ArrayRef<double>(own.bias)).to(device).view(shaped(own.width));
    return layer;
}

std::shared_ptr<const LayerLayout> LayoutCache::get(int blocks, int layer, const at::Device& device) {
    const std::scoped_lock lock(mutex_);
    auto& kept = layouts_[{blocks, layer, device.str()}];
    if (!kept) {
        std::vector<BlockLayout> heads;
        for (int head = 0; head < heads_; ++head) {
            heads.push_back(make_layout(spec_, blocks, layer, head));
        }
        kept = std::make_shared<const LayerLayout>(stack_layouts(std::move(heads), spec_.block_size, device));
    }
    return kept;
}

}  // namespace bigbird::attention
