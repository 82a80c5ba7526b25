// SPDX-License-Identifier: Apache-2.0
// The spectra of a dilated convolution's weights.
#pragma once

#include "bigbird/networks/splicing/cpu/splice_kernels.hpp"
#include "bigbird/networks/splicing/splice_rows.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace bigbird::networks {

class FourierFilter {
public:
    /// weights: (taps, 32 in, 32 out).
    FourierFilter(std::span<const float> weights, std::int64_t taps, std::int64_t dilation);

    SpliceSpectrum view(const float* bias) const {
        return {weights_.row(0), twiddles_.data(), bias, taps_, dilation_, points_};
    }
    /// Numbers that the kernel works in.
    std::int64_t work_rows() const { return points_ * splice_spectra * 2; }
    /// Rows of a result that are computed together, so that threads do not change a bit.
    std::int64_t rows_together() const;
    /// Whether fewer operations compute `rows` rows than by the filter itself.
    bool pays(std::int64_t rows) const;

private:
    std::int64_t taps_, dilation_, points_;
    SpliceRows weights_;
    std::vector<float> twiddles_;
};

}  // namespace bigbird::networks
