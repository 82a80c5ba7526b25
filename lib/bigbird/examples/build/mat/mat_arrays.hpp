// SPDX-License-Identifier: Apache-2.0
// The two arrays of a .mat file of DeepSEA's form, read in this process by matio or, for MATLAB 7.3, by HDF5.
// Both can crash on a damaged file, so deepsea_mat.hpp reads them in a separate process.
#pragma once

#include "bigbird/examples/bit_matrix.hpp"

#include <cstdint>
#include <filesystem>
#include <memory>
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

/// Sequences (rows, 4, bases), channels A G C T, and labels (rows, labels). Not thread-safe.
class MatArrays {
public:
    /// Throws InputError: not a .mat file, truncated, without the two arrays, or with different numbers of
    /// rows in them.
    explicit MatArrays(std::filesystem::path path);
    ~MatArrays();
    MatArrays(const MatArrays&) = delete;
    MatArrays& operator=(const MatArrays&) = delete;

    std::int64_t rows() const;
    std::int64_t labels() const;
    std::int64_t bases() const;

    /// Sequences of rows [begin, begin + count); N where no channel is set. Throws InputError if the file
    /// breaks off or a value is neither 0 nor 1.
    std::vector<std::string> read_sequences(std::int64_t begin, std::int64_t count);
    BitRows read_labels(std::int64_t begin, std::int64_t count);

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace bigbird::examples
