// SPDX-License-Identifier: Apache-2.0
// Scores of each letter of regions as arrays, in the two forms that TF-MoDISco reads:
//   X.h5   raw/seq int8 and shap/seq float32, both (regions, 4, length), letters A C G T: one-hot sequence, 0
//          where it is N, and hypothetical scores; regions/chrom, start, end, name; the provenance as
//          attributes. `modisco motifs -i X.h5`
//   X.npz  arr_0, the hypothetical scores, and X.onehot.npz with arr_0, the one-hot sequence, both of that
//          shape. `modisco motifs -s X.onehot.npz -a X.npz`
#pragma once

#include "bigbird/core/files.hpp"
#include "bigbird/genome/reference/interval.hpp"
#include "bigbird/rows/score_table.hpp"

#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace bigbird::outputs {

/// Whether the name ends in .h5, .hdf5 or .npz.
bool is_letter_arrays(const std::filesystem::path& path);
/// The files that such a path stands for.
std::vector<std::filesystem::path> letter_array_files(const std::filesystem::path& path);

/// Regions in order. Not thread-safe.
class LetterArrays {
public:
    virtual ~LetterArrays() = default;
    /// `dna`: normalised; `scores`: (length, 4) row by row, what is no number becomes 0. Throws InputError
    /// where the region's length is not that of those before it, WriteError.
    void add(const genome::Interval& where, const std::string& name, std::string_view dna,
             std::span<const float> scores);
    /// Ends the files and adds them to `pending`. Throws WriteError.
    virtual void finish(std::vector<PendingOutput*>& pending) = 0;

protected:
    /// A region's arrays, (4, length).
    virtual void write(const genome::Interval& where, const std::string& name,
                       std::span<const std::int8_t> letters, std::span<const float> scores) = 0;
    std::size_t length() const { return length_; }

private:
    std::size_t length_ = 0;
};

std::unique_ptr<LetterArrays> letter_arrays(const std::filesystem::path& path, Overwrite overwrite,
                                            const rows::Provenance& provenance);

}  // namespace bigbird::outputs
