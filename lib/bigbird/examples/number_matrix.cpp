// SPDX-License-Identifier: Apache-2.0
#include "bigbird/examples/number_matrix.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/formats/npy_header.hpp"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <fstream>
#include <string>
#include <string_view>

namespace bigbird::examples {

namespace {

constexpr std::string_view type = "<f4";

}  // namespace

void write_npy(const std::filesystem::path& path, std::span<const float> values, std::size_t columns) {
    std::ofstream out(path, std::ios::binary);
    out << npy_header(type, static_cast<std::int64_t>(values.size() / columns), columns);
    out.write(reinterpret_cast<const char*>(values.data()),
              static_cast<std::streamsize>(values.size_bytes()));
    out.close();
    if (!out) throw WriteError(path.filename().string() + ": writing failed: " + std::strerror(errno));
}

NumberMatrix::NumberMatrix(const std::filesystem::path& path, std::int64_t rows, std::size_t columns)
    : file_(path), columns_(columns) {
    if (!is_npy_of(file_.bytes(), type, rows, columns)) {
        throw InputError("is not the matrix of " + std::to_string(rows) + " rows and " +
                             std::to_string(columns) +
                             " numbers that the folder's other files tell of; make the examples again",
                         path);
    }
    const auto data = file_.bytes().subspan(npy_header(type, rows, columns).size());
    values_ = {reinterpret_cast<const float*>(data.data()), data.size() / sizeof(float)};
    if (!std::ranges::all_of(values_, [](float value) { return std::isfinite(value); }))
        throw InputError("holds a number that is not finite; make the examples again", path);
}

}  // namespace bigbird::examples
