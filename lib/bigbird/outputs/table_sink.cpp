// SPDX-License-Identifier: Apache-2.0
#include "bigbird/core/check.hpp"
#include "bigbird/core/error.hpp"
#include "bigbird/core/formats/npy_header.hpp"
#include "bigbird/genome/text/text_output.hpp"
#include "bigbird/outputs/output_spec.hpp"
#include "bigbird/outputs/sinks.hpp"
#include "bigbird/rows/text_fields.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <fstream>
#include <limits>

namespace bigbird::outputs {

namespace {

class LineSink : public Sink {
public:
    LineSink(const std::filesystem::path& path, Overwrite overwrite, const TableSchema& schema, int threads)
        : output_(path, overwrite, threads, schema.part ? genome::Compress::fast : genome::Compress::usual) {}
    std::int64_t records() const override { return lines_; }
    void finish(std::vector<PendingOutput*>& pending) override {
        if (PendingOutput* const file = output_.finish()) pending.push_back(file);
    }

protected:
    void write_line() {
        output_.write(line_);
        ++lines_;
    }

    genome::TextOutput output_;
    std::string line_;

private:
    std::int64_t lines_ = 0;
};

void append_field(std::string& line, const rows::Field& field) {
    if (const auto* integer = std::get_if<std::int64_t>(&field)) {
        line += std::to_string(*integer);
    } else if (const auto* real = std::get_if<double>(&field)) {
        rows::append_number(line, *real);
    } else {
        const std::string_view text = std::get<std::string_view>(field);
        line += text.empty() ? "." : text;
    }
}

class TableSink : public LineSink {
public:
    TableSink(const std::filesystem::path& path, Overwrite overwrite, const TableSchema& schema, int threads)
        : LineSink(path, overwrite, schema, threads), csv_(kind_of(path) == Kind::csv), schema_(schema) {
        const std::string text = lines_before_rows(schema);
        output_.write(csv_ ? rows::csv_of(text, path) : text);
    }
    void write(std::span<const rows::Field> head, std::span<const float> values) override {
        const std::size_t columns = schema_.columns.size();
        BIGBIRD_EXPECTS(head.size() == schema_.head.size() && (values.empty() || values.size() == columns),
                        "one field and one score for each column is needed");
        line_.clear();
        if (schema_.part)
            append_exact(head);
        else
            csv_ ? append_csv(head) : append_fields(line_, head);
        for (std::size_t i = 0; i < columns; ++i) {
            if (!values.empty() && (schema_.part || !std::isnan(values[i])))
                rows::append_exact(line_, values[i]);
            else if (!csv_)
                line_ += "NA";
            line_ += csv_ ? ',' : '\t';
        }
        line_.back() = '\n';
        write_line();
    }

private:
    void append_exact(std::span<const rows::Field> head) {
        for (const rows::Field& field : head) {
            if (const auto* const text = std::get_if<std::string_view>(&field))
                line_ += *text;
            else if (const auto* const real = std::get_if<double>(&field))
                rows::append_exact(line_, *real);
            else
                append_field(line_, field);
            line_ += '\t';
        }
    }
    /// Only a missing number and an optional text are empty: other texts may be "NA" or ".".
    void append_csv(std::span<const rows::Field> head) {
        for (std::size_t i = 0; i < head.size(); ++i) {
            const auto& [name, kind, optional] = schema_.head[i];
            const auto* const text = std::get_if<std::string_view>(&head[i]);
            const auto* const real = std::get_if<double>(&head[i]);
            const bool may_lack = optional || kind != FieldKind::text;
            const bool lacks = text != nullptr ? text->empty() || (may_lack && *text == ".")
                                               : real != nullptr && std::isnan(*real);
            field_.clear();
            if (!lacks) append_field(field_, head[i]);
            rows::append_csv_field(line_, field_);
            line_ += ',';
        }
    }

    std::string field_;
    bool csv_;
    TableSchema schema_;
};

class LongSink : public LineSink {
public:
    LongSink(const std::filesystem::path& path, Overwrite overwrite, const TableSchema& schema,
             float min_score, int threads)
        : LineSink(path, overwrite, schema, threads),
          columns_(schema.columns),
          min_score_(min_score),
          has_quantities_(!schema.effect.empty()) {
        std::string text = rows::provenance_lines(schema.provenance) + "##min_score=";
        rows::append_number(text, min_score);
        if (has_quantities_) {
            const auto& quantity = &Column::quantity;
            const auto labels = std::ranges::count(columns_, columns_.front().quantity, quantity);
            per_label_ = columns_.size() / static_cast<std::size_t>(labels);
            compared_ = static_cast<std::size_t>(std::ranges::find(columns_, schema.effect, quantity) -
                                                 columns_.begin());
            if (compared_ == columns_.size())
                throw ConfigError(
                    "--min-score of a .long.tsv is a size of log_odds or difference: add one of them to "
                    "--write");
            text += "\n##min_score_of=absolute " + schema.effect;
        }
        text += "\n#";
        for (const HeadColumn& column : schema.head)
            text += column.name + '\t';
        output_.write(text + "index\tgroup\tlabel\t" + (has_quantities_ ? "quantity\t" : "") + "value\n");
    }
    void write(std::span<const rows::Field> head, std::span<const float> values) override {
        prefix_.clear();
        for (std::size_t i = 0; i < values.size(); ++i) {
            const float score = values[i - i % per_label_ + compared_];
            if (!((has_quantities_ ? std::abs(score) : score) >= min_score_)) continue;
            if (prefix_.empty()) append_fields(prefix_, head);
            const auto& [name, index, group, label, id, quantity] = columns_[i];
            line_ = prefix_ + std::to_string(index) + '\t' + group + '\t' + label + '\t';
            if (has_quantities_) line_ += quantity + '\t';
            rows::append_number(line_, values[i]);
            line_ += '\n';
            write_line();
        }
    }

private:
    std::vector<Column> columns_;
    float min_score_;
    bool has_quantities_;
    std::size_t per_label_ = 1, compared_ = 0;  ///< columns of a label; which of them the threshold compares
    std::string prefix_;
};

}  // namespace

std::unique_ptr<Sink> table_sink(const std::filesystem::path& path, Overwrite overwrite,
                                 const TableSchema& schema, int threads) {
    return std::make_unique<TableSink>(path, overwrite, schema, threads);
}

std::string lines_before_rows(const TableSchema& schema) {
    std::string text = rows::provenance_lines(schema.provenance);
    for (std::size_t i = 0; i < schema.head.size(); ++i)
        text += (i == 0 ? "#" : "\t") + schema.head[i].name;
    for (const Column& column : schema.columns)
        text += '\t' + rows::without_breaks(column.name);
    return text += '\n';
}

void append_fields(std::string& line, std::span<const rows::Field> fields) {
    for (const rows::Field& field : fields) {
        append_field(line, field);
        line += '\t';
    }
}

std::unique_ptr<Sink> long_sink(const std::filesystem::path& path, Overwrite overwrite,
                                const TableSchema& schema, float min_score, int threads) {
    return std::make_unique<LongSink>(path, overwrite, schema, min_score, threads);
}

namespace fs = std::filesystem;

static_assert(std::endian::native == std::endian::little, "numbers are written as they lie in memory");

namespace {

class NpySink : public Sink {
public:
    NpySink(const fs::path& path, Overwrite overwrite, const TableSchema& schema)
        : columns_(schema.columns.size()),
          missing_(columns_, std::numeric_limits<float>::quiet_NaN()),
          matrix_(path, overwrite),
          rows_(npy_files(path)[1], overwrite),
          labels_(npy_files(path)[2], overwrite),
          out_(matrix_.path(), std::ios::binary) {
        out_ << npy_header(npy_type, 0, columns_);
        std::string head = rows::provenance_lines(schema.provenance) + "#";
        for (const HeadColumn& column : schema.head)
            head += column.name + '\t';
        head.back() = '\n';
        rows_.write(head);
        labels_.write("column\tindex\tgroup\tname\tid\t" + std::string(npy_column_name) + "\n");
        for (std::size_t i = 0; i < columns_; ++i) {
            const Column& column = schema.columns[i];
            labels_.write(std::to_string(i) + '\t' + std::to_string(column.index) + '\t' + column.group +
                          '\t' + column.label + '\t' + column.id + '\t' + column.name + '\n');
        }
    }
    void write(std::span<const rows::Field> head, std::span<const float> values) override {
        line_.clear();
        append_fields(line_, head);
        line_.back() = '\n';
        const std::span<const float> row = values.empty() ? std::span<const float>(missing_) : values;
        put(std::as_bytes(row));
    }
    std::int64_t records() const override { return count_; }
    void finish(std::vector<PendingOutput*>& pending) override {
        out_.seekp(0);
        out_ << npy_header(npy_type, count_, columns_);
        out_.close();
        if (!out_) throw WriteError(matrix_.target().string() + ": writing failed: is the disk full?");
        pending.insert(pending.end(), {rows_.finish(), labels_.finish(), &matrix_});
    }

private:
    void put(std::span<const std::byte> numbers) {
        out_.write(reinterpret_cast<const char*>(numbers.data()), std::ssize(numbers));
        if (!out_) throw WriteError(matrix_.target().string() + ": writing failed: is the disk full?");
        rows_.write(line_);
        ++count_;
    }

    std::size_t columns_;
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

std::vector<fs::path> npy_files(const fs::path& path) {
    fs::path rows = path, labels = path;
    return {path, rows.replace_extension(".rows.tsv"), labels.replace_extension(".labels.tsv")};
}

}  // namespace bigbird::outputs
