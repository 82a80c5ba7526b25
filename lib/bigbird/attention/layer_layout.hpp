// SPDX-License-Identifier: Apache-2.0
// The layouts of all heads of a layer, in the form that the tensor backends use.
#pragma once

#include "bigbird/attention/pattern.hpp"

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <tuple>
#include <vector>

namespace bigbird::attention {

/// Query blocks fall into dense rows, which attend every block once in every head, and sparse rows. Key
/// blocks that every sparse row of every head attends (the global ones) are common; a sparse row's other key
/// blocks are its own. Immutable after it is made.
struct LayerLayout {
    int blocks = 0, block_size = 0, heads = 0;
    bool full = false;                 ///< every row dense: nothing below but `layouts` is set
    std::vector<BlockLayout> layouts;  ///< one a head

    at::Tensor dense_rows;   // (dense) int64 query blocks
    at::Tensor sparse_rows;  // (rows) int64 query blocks
    at::Tensor order;        // (blocks) int64: where each block stands in sparse_rows followed by dense_rows
    at::Tensor common_columns;  // (common) int64 key blocks
    at::Tensor common_bias;     // (heads, rows, common) double: ln multiplicity
    at::Tensor own_columns;  // (heads, rows, width) int64 key blocks; short rows are filled up with block 0 …
    at::Tensor own_bias;     // (heads, rows, width) double: ln multiplicity, … whose bias is masked_bias
};

/// Stands for "not attended" in biases: exp() of it is 0 in every floating type after the row's maximum is
/// taken off, and no NaN can come of it.
inline constexpr double masked_bias = -3e4;

/// Heads may differ; all must have the same number of blocks.
LayerLayout stack_layouts(std::vector<BlockLayout> heads, int block_size, const at::Device& device);

/// Layouts by (blocks, layer, device), made on first use and kept. Thread-safe.
class LayoutCache {
public:
    LayoutCache(const PatternSpec& spec, int heads) : spec_(spec), heads_(heads) {}
    std::shared_ptr<const LayerLayout> get(int blocks, int layer, const at::Device& device);
    const PatternSpec& spec() const { return spec_; }

private:
    PatternSpec spec_;
    int heads_;
    std::mutex mutex_;
    std::map<std::tuple<int, int, std::string>, std::shared_ptr<const LayerLayout>> layouts_;
};

}  // namespace bigbird::attention
