// SPDX-License-Identifier: Apache-2.0
// Writes the scores of each letter of regions as arrays, in the two formats that TF-MoDISco reads:
//   X.h5   raw/seq int8 and shap/seq float32, both (regions, 4, length), letters A C G T: one-hot sequence, 0
//          where it is N, and hypothetical scores; regions/chrom, start, end, name; the provenance as
//          attributes. `modisco motifs -i X.h5`
//   X.npz  arr_0, the hypothetical scores, and X.onehot.npz with arr_0, the one-hot sequence, both of that
//          shape. `modisco motifs -s X.onehot.npz -a X.npz`
#pragma once

#include "bigbird/core/files.hpp"
#include "bigbird/genome/reference/interval.hpp"
#include "bigbird/rows/score_table.hpp"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace bigbird::outputs {

/// Whether the name ends in .h5, .hdf5 or .npz.
bool is_letter_arrays(const std::filesystem::path& path);
/// The files of such an output.
std::vector<std::filesystem::path> letter_array_files(const std::filesystem::path& path);

/// Throws InputError unless a region has as many bases as the regions before it, `length`.
void require_length(const genome::Interval& where, std::int64_t bases, std::int64_t length);

/// Takes regions in order and keeps them, at 20 bytes per base, until finish(). Not thread-safe.
class LetterArrays {
public:
    /// Throws ConfigError if an output exists or cannot be made.
    LetterArrays(const std::filesystem::path& path, Overwrite overwrite, rows::Provenance provenance);
    /// `dna`: normalized; `scores`: (length, 4) row by row, NaN becomes 0. Throws InputError if the
    /// region's length differs from the earlier ones'.
    void add(const genome::Interval& where, const std::string& name, std::string_view dna,
             std::span<const float> scores);
    /// Writes the files and adds them to `pending`. Throws WriteError.
    void finish(std::vector<PendingOutput*>& pending);

private:
    void write_hdf5(const std::filesystem::path& path) const;
    /// `bytes`: of the numbers of a `type` such as "<f4".
    void write_npz(const PendingOutput& output, std::string_view type,
                   std::span<const std::byte> bytes) const;

    std::vector<std::unique_ptr<PendingOutput>> files_;
    rows::Provenance provenance_;
    std::size_t length_ = 0;
    std::vector<genome::Interval> regions_;
    std::vector<std::string> names_;
    std::vector<std::int8_t> letters_;  ///< (regions, 4, length)
    std::vector<float> scores_;         ///< likewise
};

}  // namespace bigbird::outputs
