// SPDX-License-Identifier: Apache-2.0
#include "bigbird/core/error.hpp"
#include "bigbird/core/system/child_process.hpp"
#include "bigbird/outputs/hdf5_handle.hpp"
#include "bigbird/outputs/merge/part_rows.hpp"
#include "bigbird/outputs/outputs.hpp"

#include <algorithm>
#include <deque>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bigbird::outputs {
namespace fs = std::filesystem;

namespace {

constexpr std::size_t rows_at_once = 4096;  // rows of a part that are in memory

using Id = Hdf5Handle;

/// Whether a name is an object of this file: soft and external links lead elsewhere.
bool is_own_link(hid_t group, const std::string& name) {
    H5L_info_t link{};
    return name.find('/') == std::string::npos && H5Lget_info(group, name.c_str(), &link, H5P_DEFAULT) >= 0 &&
           link.type == H5L_TYPE_HARD;
}

/// Whether the numbers are in this file, in chunks compressed as by the sink. (Virtual and external datasets
/// refer to other files.)
bool is_own_storage(hid_t dataset, bool matrix) {
    const Id properties(H5Dget_create_plist(dataset), H5Pclose);
    const std::vector<H5Z_filter_t> packed{H5Z_FILTER_SHUFFLE, H5Z_FILTER_DEFLATE};
    std::vector<H5Z_filter_t> found;
    for (int i = 0; i < H5Pget_nfilters(properties); ++i) {
        unsigned flags = 0;
        std::size_t values = 0;
        found.push_back(H5Pget_filter2(properties, static_cast<unsigned>(i), &flags, &values, nullptr, 0,
                                       nullptr, nullptr));
    }
    return H5Pget_layout(properties) == H5D_CHUNKED && H5Pget_external_count(properties) == 0 &&
           (found == packed || (!matrix && found.empty()));
}

/// Whether the stored type is exactly this one; the library would convert others.
bool is_of_type(hid_t dataset, hid_t type) {
    const Id stored(H5Dget_type(dataset), H5Tclose);
    if (H5Tequal(stored, type) > 0) return true;
    // A small file's strings have a length.
    const std::size_t size = H5Tget_size(stored);
    return H5Tis_variable_str(type) > 0 && H5Tget_class(stored) == H5T_STRING &&
           size <= Hdf5Types::most_letters && H5Tequal(stored, Hdf5Types::text_of(size)) > 0;
}

/// Rows and, of a matrix, columns; empty if there are none.
std::vector<hsize_t> shape_of(hid_t dataset) {
    const Id space(H5Dget_space(dataset), H5Sclose);
    std::vector<hsize_t> shape(static_cast<std::size_t>(std::max(0, H5Sget_simple_extent_ndims(space))));
    H5Sget_simple_extent_dims(space, shape.data(), nullptr);
    return shape;
}

/// The file of one part, in the child process.
class Hdf5Part {
public:
    Hdf5Part(const Part& part, const TableSchema& schema)
        : path_(part.path),
          schema_(schema),
          file_(open_unlocked_hdf5(path_.c_str())),
          types_(schema.precision) {
        if (file_ < 0) throw damaged();
        const auto rows = static_cast<hsize_t>(records_of(part.record)),
                   columns = hsize_t{schema.columns.size()};
        add(file_, "scores", types_.scores(), {columns > 0 ? rows : 0, columns});
        if (!is_own_link(file_, "rows")) throw foreign("rows");
        const Id group(H5Gopen2(file_, "rows", H5P_DEFAULT), H5Gclose);
        for (const HeadColumn& column : schema.head)
            add(group, column.name, types_.field(column.kind), {rows});
    }
    /// Sends the scores of these rows, then each column of the head.
    void send_rows(std::size_t begin, std::size_t rows, const ChildReader::Send& send) const {
        send(ChildReader::bytes_of(numbers<float>(0, H5T_NATIVE_FLOAT, begin, rows)));
        for (std::size_t i = 1; i < datasets_.size(); ++i) {
            switch (schema_.head[i - 1].kind) {
                case FieldKind::integer:
                    send(ChildReader::bytes_of(numbers<std::int64_t>(i, H5T_NATIVE_INT64, begin, rows)));
                    break;
                case FieldKind::real:
                    send(ChildReader::bytes_of(numbers<double>(i, H5T_NATIVE_DOUBLE, begin, rows)));
                    break;
                case FieldKind::text:
                    send(texts(i, begin, rows));
            }
        }
    }

private:
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
        if (dataset < 0 || !is_own_storage(dataset, shape.size() > 1) || !is_of_type(dataset, type))
            throw foreign(name);
        const std::vector<hsize_t> found = shape_of(dataset);
        if (found.size() != shape.size() || found.back() != shape.back()) throw foreign(name);
        if (found != shape) throw miscounted(path_, "rows");
    }
    /// Numbers per row of the dataset.
    std::size_t width_of(std::size_t dataset) const { return dataset == 0 ? schema_.columns.size() : 1; }

    void read(std::size_t dataset, hid_t type, std::size_t begin, std::size_t rows, void* to) const {
        const hsize_t start[2] = {begin, 0}, count[2] = {rows, width_of(dataset)};
        const Id space(H5Dget_space(datasets_[dataset]), H5Sclose),
            memory(H5Screate_simple(dataset == 0 ? 2 : 1, count, nullptr), H5Sclose);
        if (H5Sselect_hyperslab(space, H5S_SELECT_SET, start, nullptr, count, nullptr) < 0 ||
            H5Dread(datasets_[dataset], type, memory, space, H5P_DEFAULT, to) < 0)
            throw damaged();
    }
    template <typename Number>
    std::vector<Number> numbers(std::size_t dataset, hid_t type, std::size_t begin, std::size_t rows) const {
        std::vector<Number> read_in(rows * width_of(dataset));
        if (!read_in.empty()) read(dataset, type, begin, rows, read_in.data());
        return read_in;
    }
    /// Texts, each followed by a zero byte.
    std::string texts(std::size_t dataset, std::size_t begin, std::size_t rows) const {
        const Id type(H5Dget_type(datasets_[dataset]), H5Tclose);
        std::string all;
        if (H5Tis_variable_str(type) > 0) {
            std::vector<char*> found(rows);
            read(dataset, types_.text(), begin, rows, found.data());
            for (char* text : found) {
                (all += text != nullptr ? text : "") += '\0';
                H5free_memory(text);
            }
        } else {
            const std::size_t size = H5Tget_size(type);
            std::string letters(rows * size, '\0');
            read(dataset, type, begin, rows, letters.data());
            for (std::size_t at = 0; at < letters.size(); at += size)
                all.append(letters, at, ::strnlen(letters.data() + at, size)) += '\0';
        }
        return all;
    }

    fs::path path_;
    const TableSchema& schema_;
    Id file_;
    Hdf5Types types_;
    std::vector<Id> datasets_;  ///< scores, then the head's
};

void send_part(const Part& part, const TableSchema& schema, const ChildReader::Send& send) {
    start_hdf5();
    const Hdf5Part file(part, schema);
    send("");
    const auto rows = static_cast<std::size_t>(records_of(part.record));
    for (std::size_t begin = 0; begin < rows; begin += rows_at_once)
        file.send_rows(begin, std::min(rows_at_once, rows - begin), send);
}

class Hdf5Rows : public PartRows {
public:
    Hdf5Rows(const Part& part, const TableSchema& schema)
        : schema_(schema),
          left_(static_cast<std::size_t>(records_of(part.record))),
          reader_(part.path, [&](const ChildReader::Send& send) { send_part(part, schema, send); }) {
        reader_.next();  // the file is open
    }
    void copy(std::int64_t records, Outputs& whole) override {
        const std::size_t width = schema_.columns.size();
        for (; records > 0; --records, ++next_) {
            if (next_ == held_) load();
            head_.clear();
            for (const Fields& column : columns_)
                head_.push_back(column[next_]);
            whole.write(head_, std::span(scores_).subspan(next_ * width, width));
        }
    }

private:
    using Fields = std::vector<rows::Field>;

    void load() {
        held_ = std::min(rows_at_once, left_);
        left_ -= held_;
        next_ = 0;
        scores_ = numbers<float>(held_ * schema_.columns.size());
        columns_.clear();
        texts_.clear();
        for (const HeadColumn& column : schema_.head)
            columns_.push_back(fields(column.kind));
    }
    template <typename Number>
    std::vector<Number> numbers(std::size_t count) {
        std::vector<Number> sent = reader_.next_numbers<Number>();
        if (sent.size() != count) reader_.throw_unfit();
        return sent;
    }
    template <typename Number>
    Fields number_fields() {
        const std::vector<Number> sent = numbers<Number>(held_);
        return {sent.begin(), sent.end()};
    }
    /// Views into `texts_`.
    Fields text_fields() {
        std::string_view text = texts_.emplace_back(reader_.next());
        Fields found;
        for (std::size_t end = 0; found.size() < held_; text.remove_prefix(end + 1)) {
            end = text.find('\0');
            if (end == std::string_view::npos) reader_.throw_unfit();
            found.emplace_back(text.substr(0, end));
        }
        return found;
    }
    Fields fields(FieldKind kind) {
        switch (kind) {
            case FieldKind::integer:
                return number_fields<std::int64_t>();
            case FieldKind::real:
                return number_fields<double>();
            case FieldKind::text:
                break;
        }
        return text_fields();
    }

    const TableSchema& schema_;
    std::size_t left_;  ///< rows that have not been read yet
    ChildReader reader_;
    std::vector<float> scores_;    ///< (rows held, columns)
    std::vector<Fields> columns_;  ///< the head's, of the rows held
    std::deque<std::string> texts_;
    Fields head_;
    std::size_t held_ = 0, next_ = 0;
};

}  // namespace

std::unique_ptr<PartRows> hdf5_rows(const Part& part, const TableSchema& schema) {
    return std::make_unique<Hdf5Rows>(part, schema);
}

}  // namespace bigbird::outputs
