// SPDX-License-Identifier: Apache-2.0
#include "bigbird/examples/bit_matrix.hpp"

#include "bigbird/core/check.hpp"
#include "bigbird/core/error.hpp"
#include "bigbird/core/formats/npy_header.hpp"
#include "bigbird/examples/example_format.hpp"

#include <cmath>
#include <string>
#include <string_view>

namespace bigbird::examples {

namespace {

constexpr std::string_view bits_type = "|u1", numbers_type = "<f4";

void write_npy(const std::filesystem::path& path, const std::string& header,
               std::span<const std::byte> numbers) {
    std::ofstream out(path, std::ios::binary);
    out << header;
    out.write(reinterpret_cast<const char*>(numbers.data()), std::ssize(numbers));
    out.close();
    require_written(out, path);
}

}  // namespace

bool BitRows::any(std::size_t index) const {
    return std::ranges::any_of(
        row(index), [](std::uint8_t byte) { return byte != 0; });
}

void write_npy(const std::filesystem::path& path, const BitRows& rows) {
    const auto count = static_cast<std::int64_t>(rows.rows());
    write_npy(path, npy_header(bits_type, count, rows.row_bytes()), std::as_bytes(rows.bytes()));
}

BitRowsWriter::BitRowsWriter(std::filesystem::path path, std::size_t columns)
    : path_(std::move(path)), row_bytes_((columns + 7) / 8), out_(path_, std::ios::binary) {
    out_ << npy_header(bits_type, 0, row_bytes_);
    require_written(out_, path_);
}

void BitRowsWriter::append(std::span<const std::uint8_t> row) {
    BIGBIRD_EXPECTS(row.size() == row_bytes_, "a row of bits of another width");
    out_.write(reinterpret_cast<const char*>(row.data()), static_cast<std::streamsize>(row.size()));
    ++rows_;
    require_written(out_, path_);
}

void BitRowsWriter::finish() {
    out_.seekp(0);
    out_ << npy_header(bits_type, rows_, row_bytes_);
    out_.close();
    require_written(out_, path_);
}

BitMatrix::BitMatrix(const std::filesystem::path& path, std::int64_t rows, std::size_t columns)
    : file_(path), columns_(columns), row_bytes_((columns + 7) / 8) {
    if (!is_npy_of(file_.bytes(), bits_type, rows, row_bytes_)) {
        throw InputError("is not the label matrix of " + std::to_string(rows) + " rows and " +
                             std::to_string(columns) +
                             " labels that the folder's other files tell of; make the examples again",
                         path);
    }
    data_ = file_.bytes().subspan(npy_header(bits_type, rows, row_bytes_).size());
}

void write_npy(const std::filesystem::path& path, std::span<const float> values, std::size_t columns) {
    const auto rows = static_cast<std::int64_t>(values.size() / columns);
    write_npy(path, npy_header(numbers_type, rows, columns), std::as_bytes(values));
}

NumberMatrix::NumberMatrix(const std::filesystem::path& path, std::int64_t rows, std::size_t columns)
    : file_(path), columns_(columns) {
    if (!is_npy_of(file_.bytes(), numbers_type, rows, columns)) {
        throw InputError("is no float32 .npy of " + std::to_string(rows) + " rows and " +
                             std::to_string(columns) + " columns",
                         path);
    }
    const auto data = file_.bytes().subspan(npy_header(numbers_type, rows, columns).size());
    values_ = {reinterpret_cast<const float*>(data.data()), data.size() / sizeof(float)};
    if (!std::ranges::all_of(values_, [](float value) { return std::isfinite(value); }))
        throw InputError("holds a number that is not finite", path);
}

}  // namespace bigbird::examples
