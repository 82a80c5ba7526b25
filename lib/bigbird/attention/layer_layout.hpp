// SPDX-License-Identifier: Apache-2.0
// The layouts of all heads of a layer, in the form that the tensor backends use.
#pragma once

#include "bigbird/attention/pattern/pattern.hpp"

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <tuple>
#include <utility>
#include <vector>

namespace bigbird::attention {

/// Query blocks fall into dense rows, which attend every block once in every head, and sparse rows. Immutable
/// after it is made; a copy shares its tensors.
struct LayerLayout {
    int blocks = 0, block_size = 0, heads = 0;
    bool full = false;  ///< every row dense: only `layouts` is set below
    std::shared_ptr<const std::vector<BlockLayout>> layouts;  ///< one per head
    /// ALiBi (Press and others 2021), only in full layouts: the slope of each head, by which scores fall with
    /// the distance of query and key. Empty: none.
    std::vector<float> slopes;

    at::Tensor dense_rows;   // (dense) int64 query blocks
    at::Tensor sparse_rows;  // (rows) int64 query blocks
    at::Tensor columns;  // (heads, rows, width) int64 key blocks; short rows are filled up with block 0 …
    at::Tensor bias;     // (heads, rows, width) double: ln multiplicity, … whose bias is masked_bias
    /// (heads, rows, width) int64, an index into mask_bias; undefined if no block has an element mask.
    at::Tensor mask_index;
    at::Tensor mask_bias;  // (1 + masks, block, block) double: 0 or masked_bias; the first leaves out nothing
};

/// Heads may differ; all must have the same number of blocks.
LayerLayout stack_layouts(std::vector<BlockLayout> heads, int block_size, const at::Device& device);

/// Caches layouts by (blocks, layer, device, whether in training). Thread-safe.
class LayoutCache {
public:
    /// `slopes`: LayerLayout's.
    LayoutCache(const PatternSpec& spec, int heads, std::vector<float> slopes = {})
        : spec_(spec), heads_(heads), slopes_(std::move(slopes)) {}
    std::shared_ptr<const LayerLayout> get(int blocks, int layer, const at::Device& device,
                                           bool training = false);
    const PatternSpec& spec() const { return spec_; }

private:
    PatternSpec spec_;
    int heads_;
    std::vector<float> slopes_;
    std::mutex mutex_;
    std::map<std::tuple<int, int, std::string, bool>, std::shared_ptr<const LayerLayout>> layouts_;
};

}  // namespace bigbird::attention
