// SPDX-License-Identifier: Apache-2.0
#include "bigbird/core/error.hpp"
#include "bigbird/core/formats/mapped_file.hpp"
#include "bigbird/core/formats/npy_header.hpp"
#include "bigbird/genome/text/text_input.hpp"
#include "bigbird/outputs/merge/part_rows.hpp"
#include "bigbird/outputs/npy_sink.hpp"
#include "bigbird/outputs/outputs.hpp"

#include <cstddef>
#include <string>

namespace bigbird::outputs {
namespace fs = std::filesystem;

namespace {

class LineRows : public PartRows {
public:
    LineRows(const fs::path& path, bool csv) : lines_(path) {
        while (lines_.next(line_) && !csv && line_.starts_with("##")) {
        }
    }
    void copy(std::int64_t records, Outputs& whole) override {
        for (; records > 0; --records) {
            if (!lines_.next(line_)) throw miscounted(lines_.path(), "lines");
            whole.copy(line_ += '\n', next_numbers());
        }
    }
    void require_end() override {
        if (lines_.next(line_)) throw miscounted(lines_.path(), "lines");
    }

private:
    virtual std::span<const std::byte> next_numbers() { return {}; }

    genome::TextInput lines_;
    std::string line_;
};

class NpyRows : public LineRows {
public:
    NpyRows(const Part& part, const TableSchema& schema)
        : LineRows(npy_files(part.path)[1], false),
          file_(part.path),
          row_bytes_(schema.columns.size() * (schema.precision == Precision::float16 ? 2 : 4)) {
        const std::int64_t rows = records_of(part.record);
        const std::size_t columns = schema.columns.size();
        const std::string_view type = npy_type(schema.precision);
        if (!is_npy_of(file_.bytes(), type, rows, columns)) {  // otherwise numbers would be misread
            throw InputError("is not the matrix of " + std::to_string(rows) + " rows and " +
                                 std::to_string(columns) + " columns of " +
                                 std::string(word_of(precision_choices, schema.precision)) +
                                 " that its .part.json counts: one of the two was changed",
                             part.path);
        }
        left_ = file_.bytes().subspan(npy_header(type, rows, columns).size());
    }

private:
    std::span<const std::byte> next_numbers() override {
        const auto row = left_.first(row_bytes_);
        left_ = left_.subspan(row_bytes_);
        return row;
    }

    MappedFile file_;
    std::size_t row_bytes_;
    std::span<const std::byte> left_;
};

}  // namespace

std::unique_ptr<PartRows> line_rows(const fs::path& path, bool csv) {
    return std::make_unique<LineRows>(path, csv);
}

std::unique_ptr<PartRows> npy_rows(const Part& part, const TableSchema& schema) {
    return std::make_unique<NpyRows>(part, schema);
}

}  // namespace bigbird::outputs
