// SPDX-License-Identifier: Apache-2.0
#include "bigbird/core/error.hpp"
#include "bigbird/core/system/child_process.hpp"
#include "bigbird/outputs/hdf5_handle.hpp"
#include "bigbird/outputs/merge/merge_scores.hpp"
#include "bigbird/outputs/outputs.hpp"
#include "bigbird/outputs/sinks.hpp"
#include "bigbird/rows/text_fields.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bigbird::outputs {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t rows_at_once = 4096;  // rows that are in memory

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

InputError damaged_hdf5(const fs::path& path) {
    return {"is cut off or damaged", path};
}

/// Texts of a dataset of one dimension, each followed by a zero byte.
std::string texts_of(hid_t dataset, hsize_t begin, hsize_t rows, const fs::path& path) {
    const Id type(H5Dget_type(dataset), H5Tclose);
    std::string all;
    if (H5Tis_variable_str(type) > 0) {
        const Hdf5Types types;
        std::vector<char*> found(rows);
        if (!read_part(dataset, types.text(), {begin}, {rows}, found.data())) throw damaged_hdf5(path);
        for (char* text : found) {
            (all += text != nullptr ? text : "") += '\0';
            H5free_memory(text);
        }
    } else {
        const std::size_t size = H5Tget_size(type);
        std::string letters(rows * size, '\0');
        if (!read_part(dataset, type, {begin}, {rows}, letters.data())) throw damaged_hdf5(path);
        for (std::size_t at = 0; at < letters.size(); at += size)
            all.append(letters, at, ::strnlen(letters.data() + at, size)) += '\0';
    }
    return all;
}

/// The file of one part, in the child process.
class Hdf5Part {
public:
    Hdf5Part(const fs::path& path, hsize_t rows, const TableSchema& schema)
        : path_(path), schema_(schema), file_(open_unlocked_hdf5(path_.c_str())) {
        if (file_ < 0) throw damaged_hdf5(path_);
        const hsize_t columns{schema.columns.size()};
        add(file_, "scores", H5T_IEEE_F32LE, {columns > 0 ? rows : 0, columns});
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
                    send(texts_of(datasets_[i], begin, rows, path_));
            }
        }
    }

private:
    InputError foreign(const std::string& name) const {
        return {"holds no '" + name +
                    "' as bigbird-dna writes it: in the file itself, of the same type and shape",
                path_};
    }
    /// Opens the dataset `name` of rows and, of a matrix, columns.
    void add(hid_t group, const std::string& name, hid_t type, const Hdf5Shape& shape) {
        if (!is_own_link(group, name)) throw foreign(name);
        const Id& dataset = datasets_.emplace_back(H5Dopen2(group, name.c_str(), H5P_DEFAULT), H5Dclose);
        if (dataset < 0 || !is_own_storage(dataset, shape.size() > 1) || !is_of_type(dataset, type))
            throw foreign(name);
        const Hdf5Shape found = shape_of(dataset);
        if (found.size() != shape.size() || found.back() != shape.back()) throw foreign(name);
        if (found != shape) throw miscounted(path_, "rows");
    }
    /// Numbers per row of the dataset.
    std::size_t width_of(std::size_t dataset) const { return dataset == 0 ? schema_.columns.size() : 1; }

    void read(std::size_t dataset, hid_t type, std::size_t begin, std::size_t rows, void* to) const {
        const Hdf5Shape start{begin, 0};
        Hdf5Shape count{rows, width_of(dataset)};
        if (dataset > 0) count.pop_back();
        if (!read_part(datasets_[dataset], type, start, count, to)) throw damaged_hdf5(path_);
    }
    template <typename Number>
    std::vector<Number> numbers(std::size_t dataset, hid_t type, std::size_t begin, std::size_t rows) const {
        std::vector<Number> read_in(rows * width_of(dataset));
        if (!read_in.empty()) read(dataset, type, begin, rows, read_in.data());
        return read_in;
    }
    fs::path path_;
    const TableSchema& schema_;
    Id file_;
    Hdf5Types types_;
    std::vector<Id> datasets_;  ///< scores, then the head's
};

/// `words`: the number of rows, and a ScoreRun with the columns.
void send_part(const fs::path& path, const ChildReader::Words& words, const ChildReader::Send& send) {
    start_hdf5();
    const std::size_t rows = std::stoull(words.at(0));
    const TableSchema schema = score_run_from_json(Json::parse(words.at(1)), path).schema;
    const Hdf5Part file(path, rows, schema);
    send("");
    for (std::size_t begin = 0; begin < rows; begin += rows_at_once)
        file.send_rows(begin, std::min(rows_at_once, rows - begin), send);
}

/// The HDF5 library reads in a child process, since it can crash on a damaged file. `schema` must outlive it.
/// Throws InputError if the file does not fit `rows` and `schema`, and where it leads to other files.
class Hdf5Rows {
public:
    using Fields = std::vector<rows::Field>;

    Hdf5Rows(const fs::path& path, std::size_t rows, const TableSchema& schema)
        : schema_(schema),
          left_(rows),
          reader_(path, send_part, {std::to_string(rows), to_json(ScoreRun{schema}).dump()}) {
        reader_.next();  // the file is open
    }
    /// The fields and the scores of the next row, which must be there, until the next call.
    std::pair<const Fields&, std::span<const float>> next() {
        if (next_ == held_) load();
        head_.clear();
        for (const Fields& column : columns_)
            head_.push_back(column[next_]);
        const std::size_t width = schema_.columns.size();
        return {head_, std::span(scores_).subspan(next_++ * width, width)};
    }

private:
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

/// Runs in the child process: sends the run of a file of scores, and the number of rows.
void send_run(const fs::path& path, const ChildReader::Words&, const ChildReader::Send& send) {
    start_hdf5();
    const Id file = open_unlocked_hdf5(path.c_str());
    ScoreRun run;
    for (const auto& head : {region_head(), record_head(true), record_head(false)})
        if (run.schema.head.empty() && std::ranges::all_of(head, [&](const HeadColumn& column) {
                return H5Lexists(file, ("rows/" + column.name).c_str(), H5P_DEFAULT) > 0;
            }))
            run.schema.head = head;
    const Id scores(H5Dopen2(file, "scores", H5P_DEFAULT), H5Dclose),
        names(H5Dopen2(file, "labels/column", H5P_DEFAULT), H5Dclose), type(H5Dget_type(scores), H5Tclose);
    const Hdf5Shape shape = shape_of(scores);
    if (run.schema.head.empty() || shape.size() != 2 || shape_of(names) != Hdf5Shape{shape.back()})
        throw InputError("holds no scores of regions or sequences as predict writes them", path);
    const std::string texts = texts_of(names, 0, shape.back(), path);
    for (std::size_t at = 0; at < texts.size(); at += run.schema.columns.back().name.size() + 1)
        run.schema.columns.push_back({.name = texts.c_str() + at, .label = "", .id = ""});
    const auto add = [](hid_t attributes, const char* name, const H5A_info_t*, void* to) -> herr_t {
        static_cast<rows::Provenance*>(to)->emplace_back(
            std::string_view(name).starts_with("model_sha256") ? "model_sha256" : name,  // or model_sha256_2
            text_attribute(attributes, name).value_or(""));
        return 0;
    };
    H5Aiterate2(file, H5_INDEX_NAME, H5_ITER_NATIVE, nullptr, add, &run.schema.provenance);
    send(to_json(run).dump());
    send(ChildReader::bytes_of(std::vector<hsize_t>{shape.front()}));
}

}  // namespace

rows::LineSource hdf5_lines(const fs::path& path) {
    if (kind_of(path) != Kind::hdf5) return {};
    require_readable(path);
    ChildReader reader(path, send_run);
    const auto schema =
        std::make_shared<TableSchema>(score_run_from_json(Json::parse(reader.next()), path).schema);
    const std::vector<hsize_t> count = reader.next_numbers<hsize_t>();
    if (count.size() != 1) reader.throw_unfit();
    return [schema, part = std::make_shared<Hdf5Rows>(path, count.front(), *schema),
            head = lines_before_rows(*schema), left = count.front()](std::string& line) mutable {
        line.clear();
        if (!head.empty()) {
            line = head.substr(0, head.find('\n'));
            head.erase(0, line.size() + 1);
            return true;
        }
        if (left == 0) return false;
        --left;
        const auto [fields, scores] = part->next();
        append_fields(line, fields);
        for (const float score : scores) {
            rows::append_number(line, score);
            line += '\t';
        }
        line.pop_back();
        return true;
    };
}

}  // namespace bigbird::outputs
