// SPDX-License-Identifier: Apache-2.0
#include "bigbird/examples/label_matrix.hpp"

#include "bigbird/core/check.hpp"
#include "bigbird/core/error.hpp"
#include "bigbird/core/formats/npy_header.hpp"
#include "bigbird/core/words.hpp"
#include "bigbird/examples/example_format.hpp"

#include <cmath>
#include <string>
#include <utility>

namespace bigbird::examples {

namespace {

/// Bytes of a row.
std::size_t width_of(Cells cells, std::size_t columns) {
    return cells == Cells::bits ? (columns + 7) / 8 : columns * sizeof(float);
}

std::string header_of(Cells cells, std::int64_t rows, std::size_t columns) {
    return cells == Cells::bits ? npy_header("|u1", rows, width_of(cells, columns))
                                : npy_header("<f4", rows, columns);
}

}  // namespace

bool BitRows::any(std::size_t index) const {
    return std::ranges::any_of(
        row(index), [](std::uint8_t byte) { return byte != 0; });
}

LabelWriter::LabelWriter(std::filesystem::path path, Cells cells, std::size_t columns)
    : path_(std::move(path)), cells_(cells), columns_(columns), out_(path_, std::ios::binary) {
    out_ << header_of(cells_, 0, columns_);
    require_written(out_, path_);
}

void LabelWriter::append(std::span<const std::byte> row) {
    BIGBIRD_EXPECTS(row.size() == width_of(cells_, columns_), "a row of another width");
    out_.write(reinterpret_cast<const char*>(row.data()), std::ssize(row));
    bytes_ += row.size();
    require_written(out_, path_);
}

void LabelWriter::finish() {
    out_.seekp(0);
    out_ << header_of(cells_, static_cast<std::int64_t>(bytes_ / width_of(cells_, columns_)), columns_);
    out_.close();
    require_written(out_, path_);
}

LabelMatrix::LabelMatrix(const std::filesystem::path& path, Cells cells, std::int64_t rows,
                         std::size_t columns)
    : file_(path), cells_(cells), columns_(columns), row_bytes_(width_of(cells, columns)) {
    const std::string shape = counted(rows, "row") + " and " + counted(columns, "label");
    if (cells == Cells::bits && !is_npy_of(file_.bytes(), "|u1", rows, row_bytes_)) {
        throw InputError("is not the label matrix of " + shape +
                             " that the folder's other files describe; make the examples again",
                         path);
    }
    if (cells != Cells::bits && !is_npy_of(file_.bytes(), "<f4", rows, columns))
        throw InputError("is no float32 .npy of " + shape, path);
    data_ = file_.bytes().subspan(header_of(cells, rows, columns).size());
    for (std::int64_t row = 0; cells == Cells::numbers && row < rows; ++row)
        if (!std::ranges::all_of(numbers(row), [](float value) { return std::isfinite(value); }))
            throw InputError("holds a number that is not finite", path);
}

}  // namespace bigbird::examples
