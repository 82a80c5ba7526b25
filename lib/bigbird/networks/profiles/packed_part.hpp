// SPDX-License-Identifier: Apache-2.0
// A network in the form that our kernels take: weights in the order in which they are read, and which
// positions each layer computes.
#pragma once

#include "bigbird/networks/files/profile_model.hpp"
#include "bigbird/networks/profiles/cpu/profile_kernels.hpp"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <vector>

namespace bigbird::networks {

struct PartTensors;

/// Of Cherimoya's norm.
inline constexpr double norm_epsilon = 1e-3;

/// Floats whose address is a multiple of 64 bytes; not initialized.
class Floats {
public:
    Floats() = default;
    explicit Floats(std::int64_t size);
    float* data() { return data_.get(); }
    const float* data() const { return data_.get(); }
    std::int64_t size() const { return size_; }
    /// At least this size; forgets what it held if it was smaller.
    float* reserve(std::int64_t size);

private:
    struct Free {
        void operator()(float* data) const { std::free(data); }
    };
    std::unique_ptr<float[], Free> data_;
    std::int64_t size_ = 0;
};
Floats zeros(std::int64_t size);

/// Positions are bases of the window; those of a trunk are at the middles of what the stem reads.
struct PositionRange {
    std::int64_t begin = 0, end = 0;
    std::int64_t size() const { return end - begin; }
    bool holds(std::int64_t position) const { return position >= begin && position < end; }
};

class PackedPart {
public:
    explicit PackedPart(const PartTensors& part);

    const ProfileShape& shape() const { return shape_; }
    const ProfileKernels& kernels() const { return *kernels_; }
    std::int64_t row() const { return row_; }
    /// Floats of a row of the profile's products: for each column, taps back to front, and zeros up to the
    /// next column.
    std::int64_t profile_row() const { return profile_.out; }
    std::int64_t profile_column(std::int64_t column) const { return column * profile_width_; }

    /// Stages: 0 is the stem, i the trunk after i layers.
    std::size_t stages() const { return ranges_.size(); }
    /// Positions of a stage that the heads need.
    const PositionRange& range(std::size_t stage) const { return ranges_[stage]; }
    PositionRange output() const;
    /// Positions whose products give the profile.
    PositionRange profile_rows() const;
    PositionRange counts() const;
    /// Positions by which a table of rows is larger than the window, on each side.
    std::int64_t margin() const { return margin_; }
    /// A row of zeros.
    const float* zero() const { return zero_.data(); }
    /// Bases of the window that the stem reads before a position.
    std::int64_t stem_left() const { return (shape_.stem - 1) / 2; }
    /// Pairs of layer i that have a position in its range; both may be beyond the window's ends.
    const std::vector<std::int64_t>& pairs(std::size_t i) const { return layers_[i].pairs; }

    const StemWeights& stem() const { return stem_; }
    DilatedLayer dilated(std::size_t i) const;
    const float* taps(std::size_t i) const { return layers_[i].bias.data(); }
    FeedForward feed_forward(std::size_t i) const;
    const Product& profile() const { return profile_; }
    float profile_bias(std::int64_t column) const { return profile_bias_[static_cast<std::size_t>(column)]; }
    /// The log count of a group, from the filters' sums over counts().
    float log_count(const float* sums, std::int64_t group) const;

private:
    struct Layer {
        Floats weights, second, bias;  ///< bias: taps in Cherimoya
        std::vector<std::int64_t> pairs;
    };
    void find_ranges();
    /// Whether pairs of layer i begin here, and have a position in its range.
    bool is_pair(std::size_t i, std::int64_t first) const;
    void pack_stem(const PartTensors& part);
    Layer packed_layer(const PartTensors& part, std::size_t i) const;
    void pack_heads(const PartTensors& part);

    ProfileShape shape_;
    const ProfileKernels* kernels_;
    std::int64_t row_ = 0, inner_ = 0, margin_ = 0, profile_width_ = 0;
    std::vector<PositionRange> ranges_;
    Floats stem_table_, stem_bias_, profile_weights_, zero_;
    StemWeights stem_;
    std::vector<Layer> layers_;
    Product profile_;
    std::vector<float> profile_bias_, counts_, counts_bias_;
};

}  // namespace bigbird::networks
