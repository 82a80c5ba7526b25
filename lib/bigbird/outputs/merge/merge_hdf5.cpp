// SPDX-License-Identifier: Apache-2.0
#include "bigbird/core/error.hpp"
#include "bigbird/core/interrupt.hpp"
#include "bigbird/core/system/child_process.hpp"
#include "bigbird/outputs/hdf5_handle.hpp"
#include "bigbird/outputs/hdf5_sink.hpp"
#include "bigbird/outputs/hdf5_types.hpp"
#include "bigbird/outputs/merge/mergers.hpp"

#include <algorithm>
#include <cstring>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace bigbird::outputs {
namespace fs = std::filesystem;

namespace {

constexpr std::int64_t rows_at_once = 4096;  // what is held of a part

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

/// Whether what is stored is of this type: the library would convert others.
bool is_of_type(hid_t dataset, hid_t type) {
    const Id stored(H5Dget_type(dataset), H5Tclose);
    if (H5Tequal(stored, type) > 0) return true;
    // A small file's strings have a length.
    const std::size_t size = H5Tget_size(stored);
    return H5Tis_variable_str(type) > 0 && H5Tget_class(stored) == H5T_STRING &&
           size <= Hdf5Types::most_letters && H5Tequal(stored, Hdf5Types::text_of(size)) > 0;
}

/// Rows and, of a matrix, columns; empty where there are none.
std::vector<hsize_t> shape_of(hid_t dataset) {
    const Id space(H5Dget_space(dataset), H5Sclose);
    std::vector<hsize_t> shape(static_cast<std::size_t>(std::max(0, H5Sget_simple_extent_ndims(space))));
    H5Sget_simple_extent_dims(space, shape.data(), nullptr);
    return shape;
}

/// Rows of a message: the scores, then the head's columns, integers and reals as they are, of texts the
/// lengths, 8 bytes each, and then their letters.
struct RowStretch {
    std::int64_t begin = 0, count = 0;
};

/// The file of one part, from which rows are read.
class PartFile {
public:
    PartFile(const Part& part, const Layout& layout)
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
    /// The message of these rows.
    std::string read(const RowStretch& stretch) const {
        std::string text;
        if (!layout_.columns.empty()) append_numbers<float>(0, H5T_NATIVE_FLOAT, stretch, text);
        for (std::size_t i = 0; i < layout_.head.size(); ++i)
            append_field(i, stretch, text);
        return text;
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
        if (dataset < 0 || !is_own_storage(dataset, shape.size() > 1) || !is_of_type(dataset, type)) {
            throw foreign(name);
        }
        const std::vector<hsize_t> found = shape_of(dataset);
        if (found.size() != shape.size() || found.back() != shape.back()) throw foreign(name);
        if (found != shape) throw miscounted(path_, "rows");
    }
    /// How many numbers a row of the dataset has.
    std::size_t width_of(std::size_t dataset) const { return dataset == 0 ? layout_.columns.size() : 1; }

    void read(std::size_t dataset, hid_t type, const RowStretch& stretch, void* to) const {
        const hsize_t start[2] = {static_cast<hsize_t>(stretch.begin), 0},
                      count[2] = {static_cast<hsize_t>(stretch.count), hsize_t{width_of(dataset)}};
        const int rank = dataset == 0 ? 2 : 1;
        const Id space(H5Dget_space(datasets_[dataset]), H5Sclose),
            memory(H5Screate_simple(rank, count, nullptr), H5Sclose);
        if (H5Sselect_hyperslab(space, H5S_SELECT_SET, start, nullptr, count, nullptr) < 0 ||
            H5Dread(datasets_[dataset], type, memory, space, H5P_DEFAULT, to) < 0) {
            throw damaged();
        }
    }
    template <typename Number>
    void append_numbers(std::size_t dataset, hid_t type, const RowStretch& stretch, std::string& text) const {
        std::vector<Number> numbers(static_cast<std::size_t>(stretch.count) * width_of(dataset));
        read(dataset, type, stretch, numbers.data());
        text.append(reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(Number));
    }
    void append_short_texts(std::size_t dataset, hid_t type, const RowStretch& stretch,
                            std::string& text) const {
        const std::size_t size = H5Tget_size(type);
        std::string all(static_cast<std::size_t>(stretch.count) * size, '\0'), letters;
        read(dataset, type, stretch, all.data());
        for (std::size_t at = 0; at < all.size(); at += size) {
            const std::uint64_t length = ::strnlen(all.data() + at, size);
            text.append(reinterpret_cast<const char*>(&length), sizeof length);
            letters.append(all, at, length);
        }
        text += letters;
    }
    void append_texts(std::size_t dataset, const RowStretch& stretch, std::string& text) const {
        const Id type(H5Dget_type(datasets_[dataset]), H5Tclose);
        if (H5Tis_variable_str(type) <= 0) return append_short_texts(dataset, type, stretch, text);
        std::vector<char*> texts(static_cast<std::size_t>(stretch.count));
        read(dataset, types_.text(), stretch, texts.data());
        const auto view = [](const char* one) { return std::string_view(one != nullptr ? one : ""); };
        for (const char* one : texts) {
            const std::uint64_t size = view(one).size();
            text.append(reinterpret_cast<const char*>(&size), sizeof size);
        }
        for (char* one : texts) {
            text += view(one);
            H5free_memory(one);
        }
    }
    void append_field(std::size_t column, const RowStretch& stretch, std::string& text) const {
        switch (layout_.head[column].kind) {
            case FieldKind::integer:
                return append_numbers<std::int64_t>(column + 1, H5T_NATIVE_INT64, stretch, text);
            case FieldKind::real:
                return append_numbers<double>(column + 1, H5T_NATIVE_DOUBLE, stretch, text);
            case FieldKind::text:
                return append_texts(column + 1, stretch, text);
        }
    }

    fs::path path_;
    const Layout& layout_;
    Id file_;
    Hdf5Types types_;
    std::vector<Id> datasets_;  ///< scores, then the head's
};

/// The child's side: an empty message once the file is open, then the rows.
void send_rows(const Part& part, const Layout& layout, const ChildReader::Send& send) {
    start_hdf5();
    const PartFile file(part, layout);
    send("");
    const std::int64_t rows = records_of(part.record);
    for (std::int64_t begin = 0; begin < rows; begin += rows_at_once)
        send(file.read({begin, std::min(rows_at_once, rows - begin)}));
}

/// Cuts an answer into what it holds.
class Hdf5Answer {
public:
    Hdf5Answer(const fs::path& part, std::string_view text) : part_(part), left_(text) {}

    std::string_view take(std::uint64_t size) {
        if (size > left_.size()) throw unfit_answer(part_);
        const std::string_view taken = left_.substr(0, size);
        left_.remove_prefix(size);
        return taken;
    }
    template <typename Number>
    std::vector<Number> take_numbers(std::size_t count) {
        std::vector<Number> numbers(count);
        const std::string_view bytes = take(std::uint64_t{count} * sizeof(Number));
        if (count > 0) std::memcpy(numbers.data(), bytes.data(), bytes.size());
        return numbers;
    }
    void require_end() const {
        if (!left_.empty()) throw unfit_answer(part_);
    }

private:
    const fs::path& part_;
    std::string_view left_;
};

/// The rows of one part, from the first on, which the HDF5 library reads in a process of its own: a damaged
/// file ends that process alone.
class PartRows {
public:
    PartRows(const Part& part, const Layout& layout)
        : path_(part.path),
          layout_(layout),
          left_(records_of(part.record)),
          reader_(path_, [&](const ChildReader::Send& send) { send_rows(part, layout, send); }) {
        reader_.next();
    }
    void copy(std::int64_t rows, Sink& sink) {
        const std::size_t columns = layout_.columns.size();
        Fields head;
        for (; rows > 0; --rows, ++next_) {
            if (next_ == held_rows_) load();
            head.clear();
            for (const Fields& fields : held_)
                head.push_back(fields[next_]);
            sink.write(head, std::span(scores_).subspan(next_ * columns, columns));
        }
    }

private:
    using Fields = std::vector<rows::Field>;

    /// A column's fields; the texts are views into what `answer` cuts.
    static Fields take_fields(Hdf5Answer& answer, FieldKind kind, std::size_t rows) {
        Fields fields;
        fields.reserve(rows);
        switch (kind) {
            case FieldKind::integer:
                for (const std::int64_t number : answer.take_numbers<std::int64_t>(rows))
                    fields.emplace_back(number);
                break;
            case FieldKind::real:
                for (const double number : answer.take_numbers<double>(rows))
                    fields.emplace_back(number);
                break;
            case FieldKind::text:
                for (const std::uint64_t size : answer.take_numbers<std::uint64_t>(rows))
                    fields.emplace_back(answer.take(size));
        }
        return fields;
    }
    void load() {
        held_rows_ = static_cast<std::size_t>(std::min(rows_at_once, left_));
        left_ -= std::min(rows_at_once, left_);
        next_ = 0;
        text_ = reader_.next();
        Hdf5Answer answer(path_, text_);
        scores_ = answer.take_numbers<float>(held_rows_ * layout_.columns.size());
        held_.clear();
        for (const HeadColumn& column : layout_.head)
            held_.push_back(take_fields(answer, column.kind, held_rows_));
        answer.require_end();
    }

    fs::path path_;
    const Layout& layout_;
    std::int64_t left_;  ///< rows that have not come yet
    ChildReader reader_;
    std::string text_;  ///< the last message, cut into what follows
    std::vector<float> scores_;
    std::vector<Fields> held_;
    std::size_t held_rows_ = 0, next_ = 0;
};

}  // namespace

void merge_hdf5(const Merge& merge) {
    std::deque<PartRows> parts;  // made before this process opens a file: forks share the library's state
    for (const Part& part : merge.parts)
        parts.emplace_back(part, merge.run.layout);
    const auto sink = hdf5_sink(merge.output, merge.overwrite, merge.run.layout);
    for (const Piece& piece : merge.order)
        parts[piece.part].copy(piece.records, *sink);
    sink->commit();
}

}  // namespace bigbird::outputs
