// SPDX-License-Identifier: Apache-2.0
#include "bigbird/examples/build/mat/deepsea_mat.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/files.hpp"
#include "bigbird/core/formats/mapped_file.hpp"
#include "bigbird/core/interrupt.hpp"
#include "bigbird/core/words.hpp"
#include "bigbird/genome/reference/sequence.hpp"

#include <matio.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <new>
#include <span>

namespace bigbird::examples {

namespace {

using Bytes = std::span<const std::byte>;

constexpr std::size_t header_bytes = 128, tag_bytes = 8, flags_bytes = 8;
constexpr std::size_t most_dimensions_bytes = 4UL * 32, most_name_bytes = 4096;
constexpr std::size_t head_bytes = most_dimensions_bytes + most_name_bytes + 8 * tag_bytes;
constexpr std::size_t stretch_bytes = 1 << 16;  // bytes inflated at a time
enum Type : std::uint32_t { int32_type = 5, uint32_type = 6, matrix_type = 14, compressed_type = 15 };
constexpr std::uint32_t first_numeric_class = 6, last_numeric_class = 15;  // double to uint64

struct Element {
    std::uint32_t type;
    std::size_t size;  ///< declared size
    Bytes content;     ///< may be truncated
};

/// Reads elements one after the other.
class Elements {
public:
    Elements(Bytes bytes, bool swapped, const std::filesystem::path& path)
        : bytes_(bytes), swapped_(swapped), path_(path) {}

    bool empty() const { return bytes_.empty(); }
    /// Throws if no tag is left.
    Element next() {
        const std::uint32_t type = number_of(bytes_, 0), size = number_of(bytes_, 4);
        const bool is_small = type >> 16 != 0;  // up to four bytes within the tag
        Element element{is_small ? type & 0xffff : type, is_small ? type >> 16 : size, {}};
        const Bytes rest = bytes_.subspan(is_small ? 4 : tag_bytes);
        element.content = rest.first(std::min(element.size, rest.size()));
        const std::size_t padded =
            element.type == compressed_type ? element.size : (element.size + 7) / 8 * 8;
        const std::size_t whole = is_small ? tag_bytes : tag_bytes + padded;
        bytes_ = bytes_.subspan(std::min(whole, bytes_.size()));
        return element;
    }
    /// The same; throws where it has another type or size, or is cut off.
    Element expect(std::uint32_t type, std::size_t least, std::size_t most) {
        const Element element = next();
        if (element.type != type || element.size < least || element.size > most ||
            element.content.size() < element.size)
            throw damaged();
        return element;
    }
    /// The four-byte number at `at`.
    std::uint32_t number_of(Bytes bytes, std::size_t at) const {
        if (bytes.size() < at + 4) throw damaged();
        std::uint32_t value = 0;
        std::memcpy(&value, bytes.data() + at, 4);
        return swapped_ ? __builtin_bswap32(value) : value;
    }
    InputError damaged() const {
        return InputError("is cut off or damaged: an array's head is not whole", path_);
    }

private:
    Bytes bytes_;
    bool swapped_;
    const std::filesystem::path& path_;
};

/// Flags, dimensions and name. If compressed, the numbers after them are not checked.
void check_array(Elements parts, bool is_compressed, const std::filesystem::path& path) {
    const Element flags = parts.expect(uint32_type, flags_bytes, flags_bytes);
    const std::uint32_t kind = parts.number_of(flags.content, 0) & 0xff;
    if (kind < first_numeric_class || kind > last_numeric_class)
        throw InputError("holds a variable that is no array of numbers", path);
    const Element dimensions = parts.expect(int32_type, 8, most_dimensions_bytes);
    if (dimensions.size % 4 != 0) throw parts.damaged();
    const Element name = parts.next();
    if (name.size > most_name_bytes || name.content.size() < name.size) throw parts.damaged();
    while (!is_compressed && !parts.empty()) {
        const Element numbers = parts.next();
        if (numbers.content.size() < numbers.size) throw parts.damaged();
    }
}

/// Inflates compressed data, a stretch at a time.
class Inflation {
public:
    explicit Inflation(Bytes compressed) {
        if (inflateInit(&stream_) != Z_OK) throw std::bad_alloc();
        // zlib does not write to its input.
        stream_.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(compressed.data()));
        stream_.avail_in = static_cast<uInt>(compressed.size());
    }
    ~Inflation() { inflateEnd(&stream_); }
    Inflation(const Inflation&) = delete;
    Inflation& operator=(const Inflation&) = delete;

    /// The next bytes, in `buffer`; fewer than its size at the end, or if the rest cannot be inflated.
    Bytes next(std::span<std::byte> buffer) {
        stream_.next_out = reinterpret_cast<Bytef*>(buffer.data());
        stream_.avail_out = static_cast<uInt>(buffer.size());
        while (state_ == Z_OK && stream_.avail_out > 0)
            state_ = inflate(&stream_, Z_NO_FLUSH);
        return buffer.first(buffer.size() - stream_.avail_out);
    }
    /// Whether everything was inflated and the checksum after it is right.
    bool is_whole() const { return state_ == Z_STREAM_END; }

private:
    z_stream stream_{};
    int state_ = Z_OK;
};

void check_compressed(Bytes compressed, bool swapped, const std::filesystem::path& path) {
    std::vector<std::byte> buffer(head_bytes);
    Inflation inflation(compressed);
    const Bytes head = inflation.next(buffer);
    Elements inside(head, swapped, path);
    const Element array = inside.next();
    if (array.type != matrix_type) throw inside.damaged();
    check_array(Elements(array.content, swapped, path), true, path);
    const std::uint64_t least = tag_bytes + array.size, most = (least + 7) / 8 * 8;
    std::uint64_t bytes = head.size();
    std::vector<std::byte> rest(stretch_bytes);
    for (std::size_t got = rest.size(); got == rest.size() && bytes <= most; bytes += got) {
        stop_if_asked();
        got = inflation.next(rest).size();
    }
    if (!inflation.is_whole() || bytes < least || bytes > most) {
        throw InputError("is damaged: a compressed array's length or checksum is wrong; fetch it again",
                         path);
    }
}

}  // namespace

void check_mat5(const std::filesystem::path& path) {
    const MappedFile file(path);
    const Bytes bytes = file.bytes();
    std::array<char, 4> mark{};  // version and byte order
    if (bytes.size() >= header_bytes)
        std::memcpy(mark.data(), bytes.data() + header_bytes - mark.size(), mark.size());
    using Mark = std::array<char, 4>;
    const bool little = mark == Mark{0, 1, 'I', 'M'}, big = mark == Mark{1, 0, 'M', 'I'};
    if (mark == Mark{0, 2, 'I', 'M'} || mark == Mark{2, 0, 'M', 'I'}) return;
    // matio would treat any other file as MATLAB 4, and its first numbers as sizes.
    if (!little && !big) throw InputError("is no .mat file of MATLAB 5 or 7.3, or is cut off", path);
    for (Elements variables(bytes.subspan(header_bytes), big, path); !variables.empty();) {
        const Element element = variables.next();
        if (element.content.size() < element.size) throw variables.damaged();
        if (element.type == matrix_type) check_array(Elements(element.content, big, path), false, path);
        if (element.type == compressed_type) check_compressed(element.content, big, path);
    }
}

namespace {

struct CloseMat {
    void operator()(mat_t* file) const { Mat_Close(file); }
};
struct FreeVariable {
    void operator()(matvar_t* variable) const { Mat_VarFree(variable); }
};
using Variable = std::unique_ptr<matvar_t, FreeVariable>;

constexpr std::size_t most_rows = std::numeric_limits<int>::max();
constexpr std::size_t most_columns = std::size_t{1} << 20;  // bases, and labels; DeepSEA has 1,000 and 919

void stay_silent(int, char*) {}

std::size_t element_bytes(matio_classes kind) {
    if (kind == MAT_C_UINT8 || kind == MAT_C_INT8) return 1;
    if (kind == MAT_C_SINGLE) return 4;
    return kind == MAT_C_DOUBLE ? 8 : 0;
}

/// The two arrays, read in this process by matio or, for MATLAB 7.3, by HDF5, which can crash on a damaged
/// file: sequences (rows, 4, bases), channels A G C T, and labels (rows, labels).
class MatArrays {
public:
    /// Throws InputError: not a .mat file, truncated, without the two arrays, or with different numbers of
    /// rows in them.
    explicit MatArrays(const std::filesystem::path& path) : path_(path) {
        require_readable(path_);
        check_mat5(path_);
        Mat_LogInitFunc("bigbird-dna", stay_silent);
        file_.reset(Mat_Open(path_.c_str(), MAT_ACC_RDONLY));
        if (!file_) throw InputError("is no .mat file of MATLAB 5 or 7.3, or is cut off", path_);
        while (Variable variable{Mat_VarReadNextInfo(file_.get())}) {
            const bool numbers = element_bytes(variable->class_type) > 0 && variable->isComplex == 0;
            if (numbers && variable->rank == 3 && variable->dims[1] == 4)
                sequences_ = std::move(variable);
            else if (numbers && variable->rank == 2 && !labels_)
                labels_ = std::move(variable);
        }
        if (!sequences_ || !labels_) {
            throw InputError(
                "is cut off or of another shape: DeepSEA's has an array of sequences (rows, 4, bases) and "
                "one of labels (rows, labels)",
                path_);
        }
        if (sequences_->dims[0] != labels_->dims[0]) {
            throw InputError("has " + counted(sequences_->dims[0], "sequence") + " but " +
                                 counted(labels_->dims[0], "row") + " of labels",
                             path_);
        }
        for (const matvar_t* variable : {sequences_.get(), labels_.get()}) {
            for (int d = 0; d < variable->rank; ++d) {
                const std::size_t most = d == 0 ? most_rows : most_columns;
                if (variable->dims[d] == 0 || variable->dims[d] > most)
                    throw InputError("holds an array without rows, or one too large to be DeepSEA's", path_);
            }
        }
        if (Mat_GetVersion(file_.get()) != MAT_FT_MAT73) {
            // Compressed arrays of MATLAB 5 can only be read from their beginning.
            if (!may_hold(*sequences_) || !may_hold(*labels_)) throw broken_off();
            if (Mat_VarReadDataAll(file_.get(), sequences_.get()) != 0 ||
                Mat_VarReadDataAll(file_.get(), labels_.get()) != 0)
                throw broken_off();
            whole_ = true;
        }
    }

    std::int64_t rows() const { return static_cast<std::int64_t>(sequences_->dims[0]); }
    std::int64_t labels_of_row() const { return static_cast<std::int64_t>(labels_->dims[1]); }
    std::int64_t bases() const { return static_cast<std::int64_t>(sequences_->dims[2]); }

    /// Sequences of rows [begin, begin + count), joined; N where no channel is set. Throws InputError if the
    /// file breaks off or a value is neither 0 nor 1.
    std::string read_sequences(std::int64_t begin, std::int64_t count) {
        const auto length = static_cast<std::size_t>(bases());
        std::string text(static_cast<std::size_t>(count) * length, 'N');
        for_each_one(sequences_.get(), begin, count, [&](std::size_t row, std::size_t column) {
            text[row * length + column / 4] = "AGCT"[column % 4];
        });
        return text;
    }
    BitRows read_labels(std::int64_t begin, std::int64_t count) {
        BitRows bits(static_cast<std::size_t>(labels_of_row()));
        bits.resize(static_cast<std::size_t>(count));
        for_each_one(labels_.get(), begin, count,
                     [&](std::size_t row, std::size_t column) { bits.set(row, column); });
        return bits;
    }
    /// Number of distinct rows: half of them if the second half is the reverse complement of the first,
    /// judged by the first, middle and last row of a half.
    std::int64_t distinct_rows() {
        const std::int64_t half = rows() / 2;
        if (rows() % 2 != 0) return rows();
        for (const std::int64_t row : {std::int64_t{0}, half / 2, half - 1}) {
            if (genome::reverse_complement(read_sequences(row, 1)) != read_sequences(row + half, 1))
                return rows();
            const BitRows here = read_labels(row, 1), there = read_labels(row + half, 1);
            if (!std::ranges::equal(here.bytes(), there.bytes())) return rows();
        }
        return half;
    }

private:
    /// Whether a file of this size can hold an array: zlib makes at most 1,032 bytes of one, and numbers may
    /// be stored as bytes.
    bool may_hold(const matvar_t& variable) const {
        constexpr std::uint64_t most_of_a_byte = 8UL * 1032;
        std::uint64_t cells = 1;
        for (int d = 0; d < variable.rank; ++d)
            if (__builtin_mul_overflow(cells, std::uint64_t{variable.dims[d]}, &cells)) return false;
        return cells / most_of_a_byte <= std::filesystem::file_size(path_);
    }

    InputError broken_off() const { return {"breaks off inside its data; fetch it again", path_}; }

    /// Calls visit(row, column) for each 1 in `count` rows of an array from row `begin` on, whose first index
    /// runs fastest, as MATLAB lays it out.
    template <typename Visit>
    void for_each_one(matvar_t* variable, std::int64_t begin, std::int64_t count, const Visit& visit) {
        std::array<int, 3> start{static_cast<int>(begin), 0, 0}, stride{1, 1, 1},
            edge{static_cast<int>(count), 1, 1};
        const auto rows = static_cast<std::size_t>(count);
        std::size_t columns = 1;
        for (int d = 1; d < variable->rank; ++d) {
            edge[static_cast<std::size_t>(d)] = static_cast<int>(variable->dims[d]);
            columns *= variable->dims[d];
        }
        if (!whole_) {
            buffer_.resize(rows * columns * element_bytes(variable->class_type));
            if (Mat_VarReadData(file_.get(), variable, buffer_.data(), start.data(), stride.data(),
                                edge.data()) != 0)
                throw broken_off();
        }
        const std::size_t height = whole_ ? variable->dims[0] : rows;
        const std::size_t first = whole_ ? static_cast<std::size_t>(begin) : 0;
        const auto visit_ones = [&](const auto* cells) {
            for (std::size_t column = 0; column < columns; ++column) {
                for (std::size_t row = 0; row < rows; ++row) {
                    const auto value = cells[height * column + first + row];
                    if (value == 1)
                        visit(row, column);
                    else if (value != 0)
                        throw InputError("holds the value " + std::to_string(static_cast<double>(value)) +
                                             " where only 0 and 1 make sense",
                                         path_);
                }
            }
        };
        const void* const data = whole_ ? variable->data : buffer_.data();
        if (variable->class_type == MAT_C_SINGLE)
            visit_ones(static_cast<const float*>(data));
        else if (variable->class_type == MAT_C_DOUBLE)
            visit_ones(static_cast<const double*>(data));
        else
            visit_ones(static_cast<const std::uint8_t*>(data));
    }

    std::filesystem::path path_;
    std::unique_ptr<mat_t, CloseMat> file_;
    Variable sequences_, labels_;
    bool whole_ = false;  ///< both arrays are in memory
    std::vector<std::byte> buffer_;
};

}  // namespace

void send_rows(const std::filesystem::path& path, std::int64_t slab_rows, const ChildReader::Send& send) {
    MatArrays arrays(path);
    const std::int64_t rows = arrays.distinct_rows();
    send(ChildReader::bytes_of(std::vector{rows, arrays.labels_of_row(), arrays.bases()}));
    for (std::int64_t begin = 0; begin < rows; begin += slab_rows) {
        const std::int64_t count = std::min(slab_rows, rows - begin);
        std::string text = arrays.read_sequences(begin, count);
        const BitRows bits = arrays.read_labels(begin, count);
        text.append(bits.bytes().begin(), bits.bytes().end());
        send(text);
    }
}

DeepseaMat::DeepseaMat(const std::filesystem::path& path, std::int64_t slab_rows)
    : reader_(path,
              [](const std::filesystem::path& file, const ChildReader::Words& words,
                 const ChildReader::Send& send) { send_rows(file, std::stoll(words.at(0)), send); },
              {std::to_string(slab_rows)}),
      slab_rows_(slab_rows) {
    const std::vector<std::int64_t> sizes = reader_.next_numbers<std::int64_t>();
    rows_ = sizes.at(0);
    labels_ = static_cast<std::size_t>(sizes.at(1));
    bases_ = sizes.at(2);
}

DeepseaMat::Slab DeepseaMat::next() {
    const std::int64_t count = std::min(slab_rows_, rows_ - given_);
    given_ += count;
    const std::string text = reader_.next();
    const auto rows = static_cast<std::size_t>(count), length = static_cast<std::size_t>(bases_);
    Slab slab{{}, BitRows(labels_)};
    if (text.size() != rows * (length + slab.bits.row_bytes())) reader_.throw_unfit();
    for (std::size_t row = 0; row < rows; ++row)
        slab.sequences.push_back(text.substr(row * length, length));
    const auto* bits = reinterpret_cast<const std::uint8_t*>(text.data()) + rows * length;
    slab.bits.append({bits, rows * slab.bits.row_bytes()});
    return slab;
}

}  // namespace bigbird::examples
