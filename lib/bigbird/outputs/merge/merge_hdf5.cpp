// SPDX-License-Identifier: Apache-2.0
#include "bigbird/core/error.hpp"
#include "bigbird/core/interrupt.hpp"
#include "bigbird/outputs/hdf5_handle.hpp"
#include "bigbird/outputs/hdf5_sink.hpp"
#include "bigbird/outputs/hdf5_types.hpp"
#include "bigbird/outputs/merge/mergers.hpp"

#include <algorithm>
#include <memory>
#include <string>

namespace bigbird::outputs {
namespace fs = std::filesystem;

namespace {

constexpr std::int64_t rows_at_once = 4096;

using Id = Hdf5Handle;

/// Whether a name stands for an object of this file: soft and external links lead elsewhere.
bool is_own_link(hid_t group, const std::string& name) {
    H5L_info_t link{};
    return name.find('/') == std::string::npos && H5Lget_info(group, name.c_str(), &link, H5P_DEFAULT) >= 0 &&
           link.type == H5L_TYPE_HARD;
}

/// Whether the numbers lie in this file, in chunks packed as the sink packs them: those of virtual and
/// external datasets lie in files that such a dataset names.
bool is_own_storage(hid_t dataset, bool matrix) {
    const Id properties(H5Dget_create_plist(dataset), H5Pclose);
    const std::vector<H5Z_filter_t> filters =
        matrix ? std::vector{H5Z_FILTER_SHUFFLE, H5Z_FILTER_DEFLATE} : std::vector<H5Z_filter_t>();
    std::vector<H5Z_filter_t> found;
    for (int i = 0; i < H5Pget_nfilters(properties); ++i) {
        unsigned flags = 0;
        std::size_t values = 0;
        found.push_back(H5Pget_filter2(properties, static_cast<unsigned>(i), &flags, &values, nullptr, 0,
                                       nullptr, nullptr));
    }
    return H5Pget_layout(properties) == H5D_CHUNKED && H5Pget_external_count(properties) == 0 &&
           found == filters;
}

/// Whether what is stored is of this type: the library would convert others.
bool is_of_type(hid_t dataset, hid_t type) {
    const Id stored(H5Dget_type(dataset), H5Tclose);
    return H5Tequal(stored, type) > 0;
}

/// Rows and, of a matrix, columns; empty where there are none.
std::vector<hsize_t> shape_of(hid_t dataset) {
    const Id space(H5Dget_space(dataset), H5Sclose);
    std::vector<hsize_t> shape(static_cast<std::size_t>(std::max(0, H5Sget_simple_extent_ndims(space))));
    H5Sget_simple_extent_dims(space, shape.data(), nullptr);
    return shape;
}

/// The rows of one part, from the first on.
class PartRows {
public:
    PartRows(const Part& part, const Layout& layout)
        : path_(part.path),
          layout_(layout),
          file_(open_unlocked_hdf5(path_.c_str()), H5Fclose),
          types_(layout.precision) {
        if (file_ < 0) throw damaged();
        const auto rows = static_cast<hsize_t>(records_of(part.record)),
                   columns = hsize_t{layout.columns.size()};
        add(file_, "scores", types_.scores(), {columns > 0 ? rows : 0, columns});
        if (!is_own_link(file_, "rows")) throw foreign("rows");
        const Id group(H5Gopen2(file_, "rows", H5P_DEFAULT), H5Gclose);
        for (const HeadColumn& column : layout.head)
            add(group, column.name, types_.field(column.kind), {rows});
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

    InputError damaged() const { return {"is cut off or damaged", path_}; }
    InputError foreign(const std::string& name) const {
        return {"holds no '" + name +
                    "' as bigbird-dna writes it: in the file itself, of the same type and shape",
                path_};
    }
    /// Opens the dataset `name` of rows and, of a matrix, columns.
    void add(hid_t group, const std::string& name, hid_t type, const std::vector<hsize_t>& shape) {
        if (!is_own_link(group, name)) throw foreign(name);
        const Id& dataset = datasets_.emplace_back(H5Dopen2(group, name.c_str(), H5P_DEFAULT), H5Dclose);
        if (dataset < 0 || !is_own_storage(dataset, shape.size() > 1) || !is_of_type(dataset, type)) {
            throw foreign(name);
        }
        const std::vector<hsize_t> found = shape_of(dataset);
        if (found.size() != shape.size() || found.back() != shape.back()) throw foreign(name);
        if (found != shape) throw miscounted(path_, "rows");
    }
    void read(std::size_t dataset, hid_t type, std::int64_t rows, std::int64_t columns, void* to) const {
        const hsize_t start[2] = {static_cast<hsize_t>(next_), 0},
                      count[2] = {static_cast<hsize_t>(rows), static_cast<hsize_t>(columns)};
        const int rank = dataset == 0 ? 2 : 1;
        const Id space(H5Dget_space(datasets_[dataset]), H5Sclose),
            memory(H5Screate_simple(rank, count, nullptr), H5Sclose);
        if (H5Sselect_hyperslab(space, H5S_SELECT_SET, start, nullptr, count, nullptr) < 0 ||
            H5Dread(datasets_[dataset], type, memory, space, H5P_DEFAULT, to) < 0) {
            throw damaged();
        }
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
                read(column + 1, types_.text(), rows, 1, held.texts.data());
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
    Id file_;
    Hdf5Types types_;
    std::vector<Id> datasets_;  ///< scores, then the head's
    std::int64_t next_ = 0;
};

}  // namespace

void merge_hdf5(const Merge& merge) {
    start_hdf5();
    std::vector<PartRows> parts;
    for (const Part& part : merge.parts)
        parts.emplace_back(part, merge.run.layout);
    const auto sink = hdf5_sink(merge.output, merge.overwrite, merge.run.layout);
    for (const Piece& piece : merge.order)
        parts[piece.part].copy(piece.records, *sink);
    sink->commit();
}

}  // namespace bigbird::outputs
