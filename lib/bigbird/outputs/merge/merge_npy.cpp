// SPDX-License-Identifier: Apache-2.0
#include "bigbird/core/error.hpp"
#include "bigbird/core/formats/mapped_file.hpp"
#include "bigbird/core/formats/npy_header.hpp"
#include "bigbird/core/interrupt.hpp"
#include "bigbird/outputs/merge/mergers.hpp"
#include "bigbird/outputs/npy_sink.hpp"

#include <algorithm>
#include <array>
#include <fstream>
#include <memory>
#include <string>

namespace bigbird::outputs {
namespace fs = std::filesystem;

namespace {

void copy(std::istream& from, std::ostream& to, std::int64_t bytes, const fs::path& name) {
    constexpr std::int64_t most = std::int64_t{1} << 20;
    std::string buffer;
    for (std::int64_t left = bytes; left > 0; left -= std::ssize(buffer)) {
        buffer.resize(static_cast<std::size_t>(std::min(left, most)));
        if (!from.read(buffer.data(), std::ssize(buffer))) {
            throw miscounted(name, "rows");
        }
        to.write(buffer.data(), std::ssize(buffer));
    }
}

/// Numbers of another type or order would be taken for others.
void check_matrix(const Part& part, const Layout& layout) {
    const std::int64_t rows = records_of(part.record);
    const std::size_t columns = layout.columns.size();
    if (is_npy_of(MappedFile(part.path).bytes(), npy_type(layout.precision), rows, columns)) return;
    throw InputError("is not the matrix of " + std::to_string(rows) + " rows and " + std::to_string(columns) +
                         " columns of " + std::string(word_of(precision_choices, layout.precision)) +
                         " that its .part.json counts: one of the two was changed",
                     part.path);
}

void merge_matrices(const Merge& merge, std::ostream& out) {
    const auto columns = static_cast<std::int64_t>(merge.run.layout.columns.size());
    const Precision precision = merge.run.layout.precision;
    const std::string_view type = npy_type(precision);
    const std::int64_t header_bytes = std::ssize(npy_header(type, 0, 0));
    const std::int64_t number_bytes = precision == Precision::float16 ? 2 : 4;
    for (const Part& part : merge.parts)
        check_matrix(part, merge.run.layout);
    std::vector<std::unique_ptr<std::ifstream>> parts;
    for (const Part& part : merge.parts) {
        parts.push_back(std::make_unique<std::ifstream>(part.path, std::ios::binary));
        parts.back()->seekg(header_bytes);
    }
    std::int64_t rows = 0;
    for (const Piece& piece : merge.order)
        rows += piece.records;
    out << npy_header(type, rows, static_cast<std::size_t>(columns));
    for (const Piece& piece : merge.order) {
        stop_if_asked();
        copy(*parts[piece.part], out, piece.records * columns * number_bytes, merge.parts[piece.part].path);
    }
}

}  // namespace

void merge_npy(const Merge& merge) {
    const std::vector<fs::path> outputs = npy_files(merge.output);
    std::vector<fs::path> rows;
    for (const Part& part : merge.parts)
        rows.push_back(npy_files(part.path)[1]);
    PendingOutput matrix(outputs[0], merge.overwrite), labels(outputs[2], merge.overwrite);
    labels.write([&](std::ostream& out) {
        out << std::ifstream(npy_files(merge.parts.front().path)[2], std::ios::binary).rdbuf();
    });
    matrix.write([&](std::ostream& out) { merge_matrices(merge, out); });
    const auto lines = merge_lines(merge, rows, outputs[1]);
    commit_together(std::array{lines->finish(), &labels, &matrix});
}

}  // namespace bigbird::outputs
