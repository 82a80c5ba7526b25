// SPDX-License-Identifier: Apache-2.0
#include "bigbird/genome/text/text_input.hpp"

#include "bigbird/core/error.hpp"

#include <nlohmann/json.hpp>

#include <cstring>
#include <system_error>

namespace bigbird::genome {

bool is_utf8(std::string_view text) {
    unsigned char all = 0;
    for (const char letter : text)
        all |= static_cast<unsigned char>(letter);
    if (all < 0x80) return true;
    try {
        return !nlohmann::json(text).dump().empty();
    } catch (const nlohmann::json::type_error&) {
        return false;
    }
}

bool TextInput::refill() {
    begin_ = end_ = 0;  // so that no text is returned twice if reading fails
    end_ = stream_.read(buffer_.data(), buffer_.size(), line_number_);
    return end_ > 0;
}

bool TextInput::next(std::string& line) {
    line.clear();
    bool any = false;
    while (begin_ < end_ || refill()) {
        any = true;
        const char* const start = buffer_.data() + begin_;
        const void* const newline = std::memchr(start, '\n', end_ - begin_);
        if (newline != nullptr) {
            const auto length = static_cast<std::size_t>(static_cast<const char*>(newline) - start);
            line.append(start, length);
            begin_ += length + 1;
            break;
        }
        line.append(start, end_ - begin_);
        begin_ = end_;
    }
    line_number_ += any ? 1 : 0;
    if (line.ends_with('\r')) line.pop_back();
    if (line.find('\0') != std::string::npos) {
        throw InputError(
            "is no text: it holds a byte of zero, as bigWig, BAM and UTF-16 do; save UTF-16 as UTF-8", path(),
            line_number_);
    }
    if (!is_utf8(line)) {
        line.clear();  // so that it does not get into outputs
        throw InputError(std::string("is ") + not_utf8, path(), line_number_);
    }
    if (line_number_ == 1 && line.starts_with(detail::byte_order_mark))
        line.erase(0, detail::byte_order_mark.size());
    return any;
}

std::int64_t TextInput::total_bytes() const {
    std::error_code error;
    const bool known = std::filesystem::is_regular_file(path(), error);
    return known ? static_cast<std::int64_t>(std::filesystem::file_size(path(), error)) : 0;
}

}  // namespace bigbird::genome
