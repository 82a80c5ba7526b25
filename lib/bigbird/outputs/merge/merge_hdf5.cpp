// SPDX-License-Identifier: Apache-2.0
#include "bigbird/core/error.hpp"
#include "bigbird/core/interrupt.hpp"
#include "bigbird/outputs/hdf5_handle.hpp"
#include "bigbird/outputs/hdf5_sink.hpp"
#include "bigbird/outputs/merge/mergers.hpp"

#include <algorithm>
#include <memory>
#include <string>

namespace bigbird::outputs {
namespace fs = std::filesystem;

namespace {

constexpr std::int64_t rows_at_once = 4096;

using Id = Hdf5Handle;

/// The rows of one part, from the first on.
class PartRows {
public:
    PartRows(const fs::path& path, const Layout& layout)
        : path_(path),
          layout_(layout),
          file_(open_unlocked_hdf5(path.c_str()), H5Fclose),
          text_(H5Tcopy(H5T_C_S1), H5Tclose) {
        require(file_ >= 0);
        H5Tset_size(text_, H5T_VARIABLE);
        H5Tset_cset(text_, H5T_CSET_UTF8);
        datasets_.emplace_back(H5Dopen2(file_, "scores", H5P_DEFAULT), H5Dclose);
        for (const HeadColumn& column : layout.head)
            datasets_.emplace_back(H5Dopen2(file_, ("rows/" + column.name).c_str(), H5P_DEFAULT), H5Dclose);
        for (const Id& dataset : datasets_)
            require(dataset >= 0);
    }
    void copy(std::int64_t rows, Sink& sink) {
        for (; rows > 0; rows -= rows_at_once) {
            stop_if_asked();
            copy_some(std::min(rows, rows_at_once), sink);
        }
    }

private:
    struct Held {
        std::vector<std::int64_t> integers;
        std::vector<double> reals;
        std::vector<char*> texts;
    };

    void require(bool fine) const {
        if (!fine) throw InputError("holds fewer rows than its record says, or is damaged", path_);
    }
    void read(std::size_t dataset, hid_t type, std::int64_t rows, std::int64_t columns, void* to) const {
        const hsize_t start[2] = {static_cast<hsize_t>(next_), 0},
                      count[2] = {static_cast<hsize_t>(rows), static_cast<hsize_t>(columns)};
        const int rank = dataset == 0 ? 2 : 1;
        const Id space(H5Dget_space(datasets_[dataset]), H5Sclose),
            memory(H5Screate_simple(rank, count, nullptr), H5Sclose);
        hsize_t size[2] = {0, 0};
        require(H5Sget_simple_extent_ndims(space) == rank &&
                H5Sget_simple_extent_dims(space, size, nullptr) == rank);
        require(start[0] + count[0] <= size[0] && (rank == 1 || size[1] == count[1]));
        require(H5Sselect_hyperslab(space, H5S_SELECT_SET, start, nullptr, count, nullptr) >= 0 &&
                H5Dread(datasets_[dataset], type, memory, space, H5P_DEFAULT, to) >= 0);
    }
    Held read_field(std::size_t column, std::int64_t rows) const {
        Held held;
        const auto count = static_cast<std::size_t>(rows);
        switch (layout_.head[column].kind) {
            case FieldKind::integer:
                held.integers.resize(count);
                read(column + 1, H5T_NATIVE_INT64, rows, 1, held.integers.data());
                break;
            case FieldKind::real:
                held.reals.resize(count);
                read(column + 1, H5T_NATIVE_DOUBLE, rows, 1, held.reals.data());
                break;
            case FieldKind::text:
                held.texts.resize(count);
                read(column + 1, text_, rows, 1, held.texts.data());
        }
        return held;
    }
    static rows::Field field_of(const Held& held, std::size_t row) {
        if (!held.integers.empty()) return held.integers[row];
        if (!held.reals.empty()) return held.reals[row];
        return std::string_view(held.texts[row] != nullptr ? held.texts[row] : "");
    }
    void copy_some(std::int64_t rows, Sink& sink) {
        const std::size_t columns = layout_.columns.size();
        std::vector<float> scores(static_cast<std::size_t>(rows) * columns);
        if (columns > 0) read(0, H5T_NATIVE_FLOAT, rows, static_cast<std::int64_t>(columns), scores.data());
        std::vector<Held> fields;
        for (std::size_t i = 0; i < layout_.head.size(); ++i)
            fields.push_back(read_field(i, rows));
        std::vector<rows::Field> head;
        for (std::size_t row = 0; row < static_cast<std::size_t>(rows); ++row) {
            head.clear();
            for (const Held& field : fields)
                head.push_back(field_of(field, row));
            sink.write(head, std::span(scores).subspan(row * columns, columns));
        }
        for (const Held& field : fields)
            for (char* text : field.texts)
                H5free_memory(text);
        next_ += rows;
    }

    fs::path path_;
    const Layout& layout_;
    Id file_, text_;
    std::vector<Id> datasets_;  ///< scores, then the head's
    std::int64_t next_ = 0;
};

}  // namespace

void merge_hdf5(const Merge& merge) {
    start_hdf5();
    std::vector<PartRows> parts;
    for (const Part& part : merge.parts)
        parts.emplace_back(part.path, merge.run.layout);
    const auto sink = hdf5_sink(merge.output, merge.overwrite, merge.run.layout);
    for (const Piece& piece : merge.order)
        parts[piece.part].copy(piece.records, *sink);
    sink->commit();
}

}  // namespace bigbird::outputs
