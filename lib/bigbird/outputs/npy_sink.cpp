// SPDX-License-Identifier: Apache-2.0
#include "bigbird/outputs/npy_sink.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/formats/half.hpp"
#include "bigbird/core/formats/npy_header.hpp"
#include "bigbird/genome/text/text_output.hpp"
#include "bigbird/outputs/table_sink.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <fstream>
#include <limits>
#include <string_view>

namespace bigbird::outputs {
namespace fs = std::filesystem;

static_assert(std::endian::native == std::endian::little, "numbers are written as they lie in memory");

namespace {

class NpySink : public Sink {
public:
    NpySink(const fs::path& path, Overwrite overwrite, const TableSchema& schema)
        : columns_(schema.columns.size()),
          precision_(schema.precision),
          missing_(columns_, std::numeric_limits<float>::quiet_NaN()),
          matrix_(path, overwrite),
          rows_(npy_files(path)[1], overwrite),
          labels_(npy_files(path)[2], overwrite),
          out_(matrix_.path(), std::ios::binary) {
        out_ << npy_header(npy_type(precision_), 0, columns_);
        std::string head = rows::provenance_lines(schema.provenance) + "#";
        for (const HeadColumn& column : schema.head)
            head += column.name + '\t';
        head.back() = '\n';
        rows_.write(head);
        labels_.write("column\tindex\tgroup\tname\tid\n");
        for (std::size_t i = 0; i < columns_; ++i) {
            const Column& column = schema.columns[i];
            labels_.write(std::to_string(i) + '\t' + std::to_string(column.index) + '\t' + column.group +
                          '\t' + column.label + '\t' + column.id + '\n');
        }
    }
    void write(std::span<const rows::Field> head, std::span<const float> values) override {
        line_.clear();
        append_fields(line_, head);
        line_.back() = '\n';
        const std::span<const float> row = values.empty() ? std::span<const float>(missing_) : values;
        if (precision_ == Precision::float32) return copy(line_, std::as_bytes(row));
        halves_.resize(row.size());
        std::ranges::transform(row, halves_.begin(), half_of);
        copy(line_, std::as_bytes(std::span<const std::uint16_t>(halves_)));
    }
    void copy(std::string_view line, std::span<const std::byte> numbers) override {
        out_.write(reinterpret_cast<const char*>(numbers.data()), std::ssize(numbers));
        if (!out_) throw WriteError(matrix_.target().string() + ": writing failed: is the disk full?");
        rows_.write(line);
        ++count_;
    }
    std::int64_t records() const override { return count_; }
    void finish(std::vector<PendingOutput*>& pending) override {
        out_.seekp(0);
        out_ << npy_header(npy_type(precision_), count_, columns_);
        out_.close();
        if (!out_) throw WriteError(matrix_.target().string() + ": writing failed: is the disk full?");
        pending.insert(pending.end(), {rows_.finish(), labels_.finish(), &matrix_});
    }

private:
    std::size_t columns_;
    Precision precision_;
    std::vector<std::uint16_t> halves_;
    std::vector<float> missing_;
    PendingOutput matrix_;
    genome::TextOutput rows_, labels_;
    std::ofstream out_;
    std::string line_;
    std::int64_t count_ = 0;
};

}  // namespace

std::unique_ptr<Sink> npy_sink(const fs::path& path, Overwrite overwrite, const TableSchema& schema) {
    return std::make_unique<NpySink>(path, overwrite, schema);
}

std::string_view npy_type(Precision precision) {
    return precision == Precision::float16 ? "<f2" : "<f4";
}

std::vector<fs::path> npy_files(const fs::path& path) {
    fs::path rows = path, labels = path;
    return {path, rows.replace_extension(".rows.tsv"), labels.replace_extension(".labels.tsv")};
}

}  // namespace bigbird::outputs
