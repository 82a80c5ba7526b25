// SPDX-License-Identifier: Apache-2.0
// DeepSEA's train.mat, valid.mat and test.mat: one-hot sequences, channels A G C T, and 0/1 labels;
// MATLAB 7.3 (HDF5) is read in slabs, MATLAB 5 at once. A separate process reads, so that a library crash on
// a damaged file ends in an error.
#pragma once

#include "bigbird/core/system/child_process.hpp"
#include "bigbird/examples/label_matrix.hpp"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace bigbird::examples {

// Checks the sizes that a MATLAB 5 .mat file declares, before matio trusts them and allocates memory. Format:
// MathWorks, "MAT-File Format", chapter 1.

/// Throws InputError if an element of a MATLAB 5 file claims more bytes than there are, and if a
/// variable is not an array of numbers. Compressed variables are inflated to their end, so that zlib compares
/// its checksum, which matio ignores; only the head is kept. Does not check files of MATLAB 7.3; refuses all
/// others, also those of MATLAB 4. Throws Stopped.
void check_mat5(const std::filesystem::path& path);

/// Reads a file by matio or, for MATLAB 7.3, by HDF5, which can crash on a damaged file: for DeepseaMat's
/// child process. The first message has the numbers of rows, labels and bases; the others are slabs: their
/// letters, then their bits. Throws as DeepseaMat.
void send_rows(const std::filesystem::path& path, std::int64_t slab_rows, const ChildReader::Send& send);

/// One .mat file, read in a separate process. Not thread-safe.
class DeepseaMat {
public:
    /// Requires an array (rows, 4, bases), and one (rows, labels) of as many rows. `slab_rows`: rows per call
    /// of next(). Throws InputError: not a .mat, truncated, damaged, or without these arrays.
    DeepseaMat(const std::filesystem::path& path, std::int64_t slab_rows);

    /// Number of distinct rows. If the second half of the file is the reverse complement of the first, as in
    /// DeepSEA's files, only the first half counts.
    std::int64_t rows() const { return rows_; }
    std::size_t labels() const { return labels_; }
    std::int64_t bases() const { return bases_; }

    struct Slab {
        std::vector<std::string> sequences;  ///< N where no channel is set
        BitRows bits;
    };
    /// The next rows, fewer where the file ends. Throws InputError if the file breaks off or a value is
    /// neither 0 nor 1, and Stopped.
    Slab next();

private:
    ChildReader reader_;
    std::int64_t slab_rows_, given_ = 0, rows_ = 0, bases_ = 0;
    std::size_t labels_ = 0;
};

}  // namespace bigbird::examples
