// SPDX-License-Identifier: Apache-2.0
// A matrix of labels or numbers as NumPy's .npy (format 1.0, C order). Numbers are float32. Bits are uint8,
// row after row, each in full bytes, the first column in the lowest bit. In Python:
// np.unpackbits(np.load(path), axis=1, count=columns, bitorder="little").
#pragma once

#include "bigbird/core/formats/mapped_file.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <span>
#include <vector>

namespace bigbird::examples {

/// Rows of bits in memory.
class BitRows {
public:
    explicit BitRows(std::size_t columns) : row_bytes_((columns + 7) / 8) {}

    std::size_t row_bytes() const { return row_bytes_; }
    std::size_t rows() const { return row_bytes_ == 0 ? 0 : bytes_.size() / row_bytes_; }
    void resize(std::size_t rows) { bytes_.resize(rows * row_bytes_); }
    void set(std::size_t row, std::size_t column) {
        bytes_[row * row_bytes_ + column / 8] =
            static_cast<std::uint8_t>(bytes_[row * row_bytes_ + column / 8] | (1U << (column % 8)));
    }
    bool get(std::size_t row, std::size_t column) const {
        return ((bytes_[row * row_bytes_ + column / 8] >> (column % 8)) & 1U) != 0;
    }
    std::span<const std::uint8_t> row(std::size_t row) const {
        return std::span(bytes_).subspan(row * row_bytes_, row_bytes_);
    }
    bool any(std::size_t row) const;
    void append(std::span<const std::uint8_t> row) { bytes_.insert(bytes_.end(), row.begin(), row.end()); }
    std::span<const std::uint8_t> bytes() const { return bytes_; }

private:
    std::size_t row_bytes_;
    std::vector<std::uint8_t> bytes_;
};

/// Scores are numbers, NaN in rows that have none.
enum class Cells : std::uint8_t { bits, numbers, scores };

/// Writes a matrix row by row, directly to the path: give one inside a PendingOutput. Every call throws
/// WriteError. Not thread-safe.
class LabelWriter {
public:
    LabelWriter(std::filesystem::path path, Cells cells, std::size_t columns);
    /// A row: bits in full bytes, as BitRows holds them, or floats.
    void append(std::span<const std::byte> row);
    /// Writes the number of rows into the header.
    void finish();

private:
    std::filesystem::path path_;
    Cells cells_;
    std::size_t columns_, bytes_ = 0;
    std::ofstream out_;
};

/// Reads from mapped memory. Const calls are thread-safe.
class LabelMatrix {
public:
    /// Throws InputError if the file is missing, no such .npy, not rows x columns, or numbers are not finite.
    LabelMatrix(const std::filesystem::path& path, Cells cells, std::int64_t rows, std::size_t columns);

    bool holds_numbers() const { return cells_ != Cells::bits; }
    /// Of numbers. The other members are of bits.
    std::span<const float> numbers(std::int64_t row) const {
        return {reinterpret_cast<const float*>(bytes_of(row).data()), columns_};
    }
    bool get(std::int64_t row, std::size_t column) const {
        return ((std::to_integer<unsigned>(bytes_of(row)[column / 8]) >> (column % 8)) & 1U) != 0;
    }
    /// Calls visit(column) for each 1 of a row, ascending; 0s cost almost nothing.
    template <typename Visit>
    void for_each_one(std::int64_t row, const Visit& visit) const {
        const auto bytes = bytes_of(row);
        for (std::size_t begin = 0; begin < row_bytes_; begin += sizeof(std::uint64_t)) {
            std::uint64_t word = 0;  // little-endian
            std::memcpy(&word, &bytes[begin], std::min(sizeof word, row_bytes_ - begin));
            for (; word != 0; word &= word - 1) {
                const std::size_t column = 8 * begin + static_cast<std::size_t>(std::countr_zero(word));
                if (column < columns_) visit(column);
            }
        }
    }

private:
    std::span<const std::byte> bytes_of(std::int64_t row) const {
        return data_.subspan(static_cast<std::size_t>(row) * row_bytes_, row_bytes_);
    }

    MappedFile file_;
    std::span<const std::byte> data_;
    Cells cells_;
    std::size_t columns_, row_bytes_;
};

}  // namespace bigbird::examples
