// SPDX-License-Identifier: Apache-2.0
#include "bigbird/genome/text/text_input.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/genome/text/byte_stream.hpp"
#include "bigbird/genome/text/utf8.hpp"

#include <cstring>
#include <string_view>
#include <system_error>
#include <vector>

namespace bigbird::genome {

namespace {

constexpr std::size_t buffer_bytes = std::size_t{1} << 18;
constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";

}  // namespace

struct TextInput::State {
    detail::ByteStream stream;
    std::vector<char> buffer = std::vector<char>(buffer_bytes);
    std::size_t begin = 0, end = 0;
    std::int64_t line_number = 0;

    bool refill() {
        begin = end = 0;  // so that no text is returned twice if reading fails
        end = stream.read(buffer.data(), buffer.size(), line_number);
        return end > 0;
    }

    bool next(std::string& line) {
        line.clear();
        bool any = false;
        while (begin < end || refill()) {
            any = true;
            const char* const start = buffer.data() + begin;
            const void* const newline = std::memchr(start, '\n', end - begin);
            if (newline != nullptr) {
                const auto length = static_cast<std::size_t>(static_cast<const char*>(newline) - start);
                line.append(start, length);
                begin += length + 1;
                break;
            }
            line.append(start, end - begin);
            begin = end;
        }
        line_number += any ? 1 : 0;
        if (line.ends_with('\r')) line.pop_back();
        if (line.find('\0') != std::string::npos) {
            throw InputError("is no text: it holds a byte of zero, as UTF-16 does; save it as UTF-8",
                             stream.path(), line_number);
        }
        if (!is_utf8(line)) {
            line.clear();  // so that it does not get into outputs
            throw InputError(std::string("is ") + not_utf8, stream.path(), line_number);
        }
        if (line_number == 1 && line.starts_with(byte_order_mark)) line.erase(0, byte_order_mark.size());
        return any;
    }
};

TextInput::TextInput(std::filesystem::path path) : state_(new State{detail::ByteStream(std::move(path))}) {}
TextInput::~TextInput() = default;
TextInput::TextInput(TextInput&&) noexcept = default;

bool TextInput::next(std::string& line) {
    return state_->next(line);
}

std::int64_t TextInput::line_number() const {
    return state_->line_number;
}

const std::filesystem::path& TextInput::path() const {
    return state_->stream.path();
}

std::int64_t TextInput::bytes_read() const {
    return state_->stream.bytes_read();
}

std::int64_t TextInput::total_bytes() const {
    std::error_code error;
    const bool known = std::filesystem::is_regular_file(path(), error);
    return known ? static_cast<std::int64_t>(std::filesystem::file_size(path(), error)) : 0;
}

}  // namespace bigbird::genome
