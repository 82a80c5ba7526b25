// SPDX-License-Identifier: Apache-2.0
#include "bigbird/core/error.hpp"
#include "bigbird/core/formats/mapped_file.hpp"
#include "bigbird/core/formats/npy_header.hpp"
#include "bigbird/core/words.hpp"
#include "bigbird/genome/text/text_input.hpp"
#include "bigbird/outputs/merge/merge_scores.hpp"
#include "bigbird/outputs/outputs.hpp"
#include "bigbird/outputs/sinks.hpp"
#include "bigbird/rows/text_fields.hpp"

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

namespace bigbird::outputs {

namespace fs = std::filesystem;

namespace {

/// The names that the columns of a .npy have as a table, from the file beside it.
std::vector<std::string> npy_columns(const fs::path& path) {
    rows::ScoreLines lines(path);
    if (lines.header().back() != npy_column_name)
        throw InputError("has no last column '" + std::string(npy_column_name) + "'", path);
    std::vector<std::string> names;
    while (lines.next())
        names.emplace_back(lines.fields().back());
    return names;
}

std::int64_t count_rows(const fs::path& path) {
    std::int64_t count = 0;
    for (rows::ScoreLines lines(path); lines.next();)
        ++count;
    return count;
}

rows::LineSource npy_lines(const fs::path& path) {
    const std::vector<fs::path> files = npy_files(path);
    require_readable(path);
    for (const fs::path& beside : files)
        if (!fs::exists(beside))
            throw InputError("lacks " + beside.filename().string() + ", which predict writes beside it",
                             path);
    const std::vector<std::string> names = npy_columns(files[2]);
    const std::int64_t rows = count_rows(files[1]);
    const auto matrix = std::make_shared<MappedFile>(path);
    if (!is_npy_of(matrix->bytes(), npy_type, rows, names.size())) {
        throw InputError("is no float32 .npy of " + counted(rows, "row") + " and " +
                             counted(names.size(), "column") +
                             ", as the .rows.tsv and .labels.tsv beside it say",
                         path);
    }
    const std::size_t header = npy_header(npy_type, rows, names.size()).size();
    return [input = std::make_shared<genome::TextInput>(files[1]), names, matrix, in_rows = false,
            numbers = matrix->bytes().subspan(header)](std::string& line) mutable {
        if (!input->next(line)) return false;
        if (!in_rows) {
            in_rows = !line.starts_with("##");
            if (in_rows)
                for (const std::string& name : names)
                    line += '\t' + name;
            return true;
        }
        for (std::size_t i = 0; i < names.size(); ++i, numbers = numbers.subspan(sizeof(float))) {
            float number = 0;
            std::memcpy(&number, numbers.data(), sizeof number);
            rows::append_number(line += '\t', number);
        }
        return true;
    };
}

}  // namespace

rows::LineSource score_lines(const fs::path& path) {
    return kind_of(path) == Kind::npy ? npy_lines(path) : hdf5_lines(path);
}

}  // namespace bigbird::outputs
