// SPDX-License-Identifier: Apache-2.0
// DeepSEA's train.mat, valid.mat and test.mat: one-hot sequences, channels A G C T, and 0/1 labels;
// MATLAB 7.3 (HDF5) is read in slabs, MATLAB 5 at once. A separate process reads, so that a library crash on
// a damaged file ends in an error.
#pragma once

#include "bigbird/examples/bit_matrix.hpp"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace bigbird::examples {

/// One .mat file. Not thread-safe.
class DeepseaMat {
public:
    /// Call it where this process has one thread. Requires an array (rows, 4, bases), and one (rows, labels)
    /// with the same number of rows. `slab_rows`: rows per call of next(). Throws InputError: not a .mat,
    /// truncated, without these arrays, or damaged so that the library crashes.
    DeepseaMat(const std::filesystem::path& path, std::int64_t slab_rows);
    ~DeepseaMat();
    DeepseaMat(DeepseaMat&&) noexcept;

    /// Number of distinct rows. If the second half of the file is the reverse complement of the first, as in
    /// DeepSEA's files, only the first half counts.
    std::int64_t rows() const;
    std::size_t labels() const;
    std::int64_t bases() const;
    const std::filesystem::path& path() const;

    struct Slab {
        std::vector<std::string> sequences;  ///< N where no channel is set
        BitRows bits;
    };
    /// The next rows, fewer where the file ends. Throws InputError if the file breaks off or a value is
    /// neither 0 nor 1, and Stopped.
    Slab next();

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace bigbird::examples
