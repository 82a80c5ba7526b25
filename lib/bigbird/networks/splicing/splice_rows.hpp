// SPDX-License-Identifier: Apache-2.0
// Memory of maps.
#pragma once

#include "bigbird/networks/splicing/cpu/splice_kernels.hpp"

#include <cstdint>
#include <memory>
#include <new>

namespace bigbird::networks {

/// Rows of 32 channels, uninitialized, on boundaries of 64 bytes.
class SpliceRows {
public:
    SpliceRows() = default;
    explicit SpliceRows(std::int64_t rows)
        : memory_(static_cast<float*>(
              ::operator new(static_cast<std::size_t>(rows* splice_channels) * sizeof(float), alignment))),
          rows_(rows) {}

    /// Makes room, and forgets what was there.
    void reserve(std::int64_t rows) {
        if (rows > rows_) *this = SpliceRows(rows);
    }
    float* row(std::int64_t index) const { return memory_.get() + index * splice_channels; }

private:
    static constexpr std::align_val_t alignment{64};
    struct Free {
        void operator()(float* memory) const noexcept { ::operator delete(memory, alignment); }
    };
    std::unique_ptr<float, Free> memory_;
    std::int64_t rows_ = 0;
};

}  // namespace bigbird::networks
