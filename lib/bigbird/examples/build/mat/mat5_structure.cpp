// SPDX-License-Identifier: Apache-2.0
#include "bigbird/examples/build/mat/mat5_structure.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/formats/mapped_file.hpp"
#include "bigbird/core/interrupt.hpp"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <new>
#include <span>
#include <vector>

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
        const std::uint32_t type = number(0), size = number(4);
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
    std::uint32_t number(std::size_t at) const { return number_of(bytes_, at); }
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

/// Number of bytes left; stops counting one stretch after `most`.
std::uint64_t count_rest(Inflation& inflation, std::uint64_t most) {
    std::vector<std::byte> buffer(stretch_bytes);
    std::uint64_t bytes = 0;
    for (bool more = true; more && bytes <= most;) {
        stop_if_asked();
        const std::size_t got = inflation.next(buffer).size();
        bytes += got;
        more = got == buffer.size();
    }
    return bytes;
}

void check_compressed(Bytes compressed, bool swapped, const std::filesystem::path& path) {
    std::vector<std::byte> buffer(head_bytes);
    Inflation inflation(compressed);
    const Bytes head = inflation.next(buffer);
    Elements inside(head, swapped, path);
    const Element array = inside.next();
    if (array.type != matrix_type) throw inside.damaged();
    check_array(Elements(array.content, swapped, path), true, path);
    const std::uint64_t least = tag_bytes + array.size, most = (least + 7) / 8 * 8;
    const std::uint64_t bytes = head.size() + count_rest(inflation, most);
    if (!inflation.is_whole() || bytes < least || bytes > most) {
        throw InputError("is damaged: a compressed array's length or checksum is wrong; fetch it again",
                         path);
    }
}

void check_variable(const Element& element, bool swapped, const std::filesystem::path& path) {
    if (element.type == matrix_type) {
        check_array(Elements(element.content, swapped, path), false, path);
        return;
    }
    check_compressed(element.content, swapped, path);
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
        if (element.type == matrix_type || element.type == compressed_type)
            check_variable(element, big, path);
    }
}

}  // namespace bigbird::examples
