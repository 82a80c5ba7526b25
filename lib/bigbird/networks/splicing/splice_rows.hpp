// SPDX-License-Identifier: Apache-2.0
// Memory of maps.
#pragma once

#include "bigbird/networks/splicing/cpu/splice_kernels.hpp"

#include <sys/mman.h>

#include <cstdint>
#include <memory>
#include <new>

namespace bigbird::networks {

/// Rows of 32 channels, uninitialized, on boundaries of 64 bytes; many of them in huge pages, since they are
/// read in steps of up to 3 kB.
class SpliceRows {
public:
    SpliceRows() = default;
    explicit SpliceRows(std::int64_t rows) : rows_(rows) {
        const std::size_t bytes = static_cast<std::size_t>(rows * splice_channels) * sizeof(float);
        const bool huge = bytes >= huge_page;
        const std::align_val_t alignment{huge ? huge_page : 64};
        memory_ = {static_cast<float*>(::operator new(bytes, alignment)), Free{alignment}};
        if (huge) ::madvise(memory_.get(), bytes, MADV_HUGEPAGE);
    }

    /// Makes room, and forgets what was there.
    void reserve(std::int64_t rows) {
        if (rows > rows_) *this = SpliceRows(rows);
    }
    float* row(std::int64_t index) const { return memory_.get() + index * splice_channels; }

private:
    static constexpr std::size_t huge_page = std::size_t{1} << 21;
    struct Free {
        std::align_val_t alignment;
        void operator()(float* memory) const noexcept { ::operator delete(memory, alignment); }
    };
    std::unique_ptr<float, Free> memory_{nullptr, Free{std::align_val_t{64}}};
    std::int64_t rows_ = 0;
};

}  // namespace bigbird::networks
