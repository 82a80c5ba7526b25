// SPDX-License-Identifier: Apache-2.0
#include "bigbird/core/error.hpp"
#include "bigbird/core/parse_number.hpp"
#include "bigbird/outputs/hdf5_handle.hpp"
#include "bigbird/outputs/sinks.hpp"
#include "bigbird/rows/text_fields.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <utility>

namespace bigbird::outputs {
namespace fs = std::filesystem;

namespace {

using Handle = Hdf5Handle;

constexpr std::int64_t chunk_bytes = 1 << 20;
constexpr std::int64_t most_rows_per_chunk = 4096, chunks_of_small_file = 16;
static_assert(most_rows_per_chunk * chunks_of_small_file == most_rows_of_small_hdf5);

/// A column's fields of the buffered rows, in the vector of its kind.
struct HeldFields {
    explicit HeldFields(FieldKind of) : kind(of) {}

    void add(const rows::Field& field) {
        const auto* const text = std::get_if<std::string_view>(&field);
        if (kind == FieldKind::integer)  // -1 where a malformed line has no number
            integers.push_back(text != nullptr ? parse_number<std::int64_t>(*text).value_or(-1)
                                               : std::get<std::int64_t>(field));
        else if (kind == FieldKind::real)
            reals.push_back(std::get<double>(field));
        else
            texts.emplace_back(std::get<std::string_view>(field));
    }
    void clear() {
        integers.clear();
        reals.clear();
        texts.clear();
    }

    FieldKind kind;
    std::vector<std::int64_t> integers;
    std::vector<double> reals;
    std::vector<std::string> texts;
};

/// Texts in the memory layout that HDF5 expects: pointers, or adjacent texts if the type has a length.
class HeldTexts {
public:
    HeldTexts(const std::vector<std::string>& texts, hid_t type) {
        const std::size_t size = H5Tis_variable_str(type) > 0 ? 0 : H5Tget_size(type);
        for (const std::string& text : texts) {
            pointers_.push_back(text.c_str());
            if (size > 0) (letters_ += text).resize(pointers_.size() * size);
        }
    }
    const void* data() const {
        return letters_.empty() ? static_cast<const void*>(pointers_.data()) : letters_.data();
    }

private:
    std::vector<const char*> pointers_;
    std::string letters_;
};

/// The file is created when the first rows are written, or at the end. In a small file, whose rows are all
/// still buffered at the end, chunks are no larger than the data, all are compressed, and texts have the
/// length of the longest.
class Hdf5Sink : public Sink {
public:
    Hdf5Sink(const fs::path& path, Overwrite overwrite, const TableSchema& schema)
        : pending_(path, overwrite),
          schema_(schema),
          columns_(schema.columns.size()),
          chunk_rows_(std::clamp<std::int64_t>(
              chunk_bytes / std::max<std::int64_t>(1, 4 * static_cast<std::int64_t>(columns_)), 1,
              most_rows_per_chunk)),
          types_((start_hdf5(), Hdf5Types())) {
        for (const HeadColumn& column : schema_.head)
            fields_.emplace_back(column.kind);
        if (schema.many_rows) create(false);
    }

    void write(std::span<const rows::Field> head, std::span<const float> values) override {
        if (held_ == (file_ ? chunk_rows_ : chunks_of_small_file * chunk_rows_)) flush();
        for (std::size_t i = 0; i < head.size(); ++i)
            fields_[i].add(head[i]);
        if (values.empty())
            values_.insert(values_.end(), columns_, std::numeric_limits<float>::quiet_NaN());
        else
            values_.insert(values_.end(), values.begin(), values.end());
        ++held_;
    }
    std::int64_t records() const override { return written_ + held_; }

    void finish(std::vector<PendingOutput*>& pending) override {
        if (!file_) create(true);
        flush();
        bool fine = scores_->close();
        for (Handle& dataset : rows_)
            fine = dataset.close() && fine;
        require(file_->close() && fine);
        pending.push_back(&pending_);
    }

private:
    void require(bool fine) const { require_hdf5_written(fine, pending_.target()); }
    void create(bool small) {
        small_ = small;
        file_.emplace(create_unlocked_hdf5(pending_.path().c_str(), small));
        Hdf5Writer writer{*file_, *file_ >= 0};
        std::map<std::string, int> seen;
        for (const auto& [key, value] : schema_.provenance) {
            const int before = seen[key]++;  // several models have one key
            writer.attribute(before == 0 ? key : key + "_" + std::to_string(before + 1), value,
                             types_.text());
        }
        write_labels(writer);
        const Handle group = writer.group("rows");
        require(writer.fine);
        scores_.emplace(create_growing(*file_, "scores", H5T_IEEE_F32LE, true));
        for (std::size_t i = 0; i < fields_.size(); ++i) {
            const bool text = fields_[i].kind == FieldKind::text;
            const Handle type =
                text ? text_for(fields_[i].texts) : Handle(H5Tcopy(types_.field(fields_[i].kind)), H5Tclose);
            rows_.push_back(create_growing(group, schema_.head[i].name.c_str(), type, false));
        }
    }
    Handle text_for(const std::vector<std::string>& texts) const {
        std::size_t longest = 1;
        for (const std::string& text : texts)
            longest = std::max(longest, text.size());
        return longest <= Hdf5Types::most_letters && small_ ? Hdf5Types::text_of(longest)
                                                            : Handle(H5Tcopy(types_.text()), H5Tclose);
    }
    /// Creates a growing dataset without rows.
    Handle create_growing(hid_t parent, const char* name, hid_t type, bool matrix) {
        const int rank = matrix ? 2 : 1;
        const hsize_t none[2] = {0, columns_}, most[2] = {H5S_UNLIMITED, columns_};
        const std::int64_t rows = small_ ? std::clamp<std::int64_t>(held_, 1, chunk_rows_) : chunk_rows_;
        Hdf5Shape chunk{static_cast<hsize_t>(rows)};
        if (matrix) chunk.push_back(std::max<hsize_t>(1, columns_));
        const Handle space(H5Screate_simple(rank, none, most), H5Sclose);
        const Handle properties = dataset_properties(chunk, matrix || small_);
        Handle dataset(H5Dcreate2(parent, name, type, space, H5P_DEFAULT, properties, H5P_DEFAULT), H5Dclose);
        require(dataset >= 0);
        return dataset;
    }
    void write_labels(Hdf5Writer& writer) const {
        const std::vector<Column>& columns = schema_.columns;
        const Handle group = writer.group("labels");
        const Hdf5Shape size{columns.size()}, chunk = small_ && !columns.empty() ? size : Hdf5Shape();
        std::vector<std::int64_t> indices;
        for (const Column& column : columns)
            indices.push_back(column.index);
        writer.dataset(group, "index", H5T_STD_I64LE, H5T_NATIVE_INT64, size, indices.data(), chunk);
        const std::pair<const char*, std::string Column::*> texts[] = {{"column", &Column::name},
                                                                       {"group", &Column::group},
                                                                       {"name", &Column::label},
                                                                       {"id", &Column::id}};
        for (const auto& [name, member] : texts) {
            std::vector<std::string> values;
            for (const Column& column : columns)
                values.push_back(column.*member);
            const Handle type = text_for(values);
            writer.dataset(group, name, type, type, size, HeldTexts(values, type).data(), chunk);
        }
    }

    void append(hid_t dataset, hid_t held, int rank, const void* data) {
        const hsize_t size[2] = {static_cast<hsize_t>(written_ + held_), columns_};
        const hsize_t start[2] = {static_cast<hsize_t>(written_), 0};
        const hsize_t count[2] = {static_cast<hsize_t>(held_), columns_};
        require(H5Dset_extent(dataset, size) >= 0);
        const Handle space(H5Dget_space(dataset), H5Sclose);
        const Handle memory(H5Screate_simple(rank, count, nullptr), H5Sclose);
        require(H5Sselect_hyperslab(space, H5S_SELECT_SET, start, nullptr, count, nullptr) >= 0 &&
                H5Dwrite(dataset, held, memory, space, H5P_DEFAULT, data) >= 0);
    }
    void append_fields(std::size_t i) {
        switch (fields_[i].kind) {
            case FieldKind::integer:
                return append(rows_[i], H5T_NATIVE_INT64, 1, fields_[i].integers.data());
            case FieldKind::real:
                return append(rows_[i], H5T_NATIVE_DOUBLE, 1, fields_[i].reals.data());
            case FieldKind::text:
                const Handle type(H5Dget_type(rows_[i]), H5Tclose);
                return append(rows_[i], type, 1, HeldTexts(fields_[i].texts, type).data());
        }
    }
    void flush() {
        if (held_ == 0) return;
        if (!file_) create(false);
        if (columns_ > 0) append(*scores_, H5T_NATIVE_FLOAT, 2, values_.data());
        for (std::size_t i = 0; i < fields_.size(); ++i) {
            append_fields(i);
            fields_[i].clear();
        }
        values_.clear();
        written_ += held_;
        held_ = 0;
    }

    PendingOutput pending_;
    TableSchema schema_;
    std::size_t columns_;
    std::int64_t chunk_rows_;
    Hdf5Types types_;
    bool small_ = false;
    std::optional<Handle> file_, scores_;
    std::vector<Handle> rows_;
    std::vector<HeldFields> fields_;  ///< by head column
    std::vector<float> values_;       ///< (rows held, columns)
    std::int64_t held_ = 0, written_ = 0;
};

}  // namespace

std::unique_ptr<Sink> hdf5_sink(const fs::path& path, Overwrite overwrite, const TableSchema& schema) {
    return std::make_unique<Hdf5Sink>(path, overwrite, schema);
}

}  // namespace bigbird::outputs
