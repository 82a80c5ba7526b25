// SPDX-License-Identifier: Apache-2.0
// The labels of all bins of long stretches of the genome, so that windows of many bins can be cut anywhere:
// bins.bed and bins.npy of an example folder (FORMAT.md).
#pragma once

#include "bigbird/examples/examples.hpp"
#include "bigbird/examples/label_matrix.hpp"
#include "bigbird/examples/two_bit.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace bigbird::examples {

/// Bins `first` to `first + count`, of one contig and one split; bin i begins at base i * size.
struct BinStretch {
    std::string contig;
    Split split = Split::train;
    std::int64_t first = 0, count = 0;
    std::int64_t row = 0;  ///< row of `first` in bins.npy
    bool operator==(const BinStretch&) const = default;
};

/// Adds a bin to the last stretch if it continues it, else as a new stretch.
void add_bin(std::vector<BinStretch>& stretches, const std::string& contig, std::int64_t bin, Split split);
/// Writes bins.bed into `folder`, a PendingOutput's. `bin`: bases. Throws WriteError.
void write_stretches(const std::filesystem::path& folder, std::span<const BinStretch> stretches,
                     std::int64_t bin);

/// Reads bins from mapped memory, with their sequence; for tracks, targets.npy instead of bins.npy. Const
/// calls are thread-safe.
class LabelledBins {
public:
    /// Throws InputError if the folder has no such files (it was imported),
    /// or if they contradict each other.
    static LabelledBins load(const std::filesystem::path& directory) { return LabelledBins(directory); }

    /// Whether bins have numbers and not labels.
    bool has_numbers() const { return matrix_->holds_numbers(); }
    /// One number per track. Requires has_numbers().
    std::span<const float> numbers(std::int64_t row) const { return matrix_->numbers(row); }

    std::int64_t bin_size() const { return bin_; }
    const rows::LabelTable& label_table() const { return labels_; }
    /// In the order of the reference.
    std::span<const BinStretch> stretches() const { return stretches_; }
    /// Labels, 0 or 1 each, of the bin at `row` of bins.npy.
    void copy_labels(std::int64_t row, std::span<std::uint8_t> out) const;
    /// Calls visit(label) for each label that the bin at `row` has, ascending. For numbers, calls it for each
    /// track in which the bin exceeds 95 % of a sample of train's bins.
    template <typename Visit>
    void for_each_label(std::int64_t row, const Visit& visit) const {
        if (!has_numbers()) return matrix_->for_each_one(row, visit);
        const std::span<const float> own = numbers(row);
        for (std::size_t track = 0; track < own.size(); ++track)
            if (own[track] > high_[track]) visit(track);
    }
    /// Exactly end - begin letters; N outside the contig and where the folder holds no sequence.
    std::string sequence(const std::string& contig, std::int64_t begin, std::int64_t end) const;

private:
    explicit LabelledBins(const std::filesystem::path& directory);
    std::int64_t read_stretches(const std::filesystem::path& path);
    std::vector<float> high_numbers() const;

    std::int64_t bin_;
    rows::LabelTable labels_;
    std::vector<BinStretch> stretches_;
    std::optional<TwoBitReader> store_;
    std::optional<LabelMatrix> matrix_;
    std::vector<float> high_;  ///< value of each track
};

}  // namespace bigbird::examples
