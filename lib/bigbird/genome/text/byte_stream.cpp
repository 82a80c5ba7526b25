// SPDX-License-Identifier: Apache-2.0
#include "bigbird/genome/text/byte_stream.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/files.hpp"

#include <htslib/bgzf.h>
#include <htslib/hfile.h>
#include <htslib/hts.h>
#include <htslib/hts_log.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <mutex>
#include <string_view>
#include <utility>

namespace bigbird::genome::detail {

namespace {

constexpr int bgzip_code = 2;  // bgzf_compression()'s value

constexpr std::pair<std::string_view, std::string_view> foreign_formats[] = {
    {"BZh", "bzip2"},
    {"\xFD"
     "7zXZ",
     "xz"},
    {"\x28\xB5\x2F\xFD", "Zstandard"},
    {"PK\x03\x04", "zip"},
    {"\x43\x27\x41\x1A", "2bit"}};

}  // namespace

void silence_htslib() {
    static std::once_flag once;
    std::call_once(once, [] { hts_set_log_level(HTS_LOG_OFF); });
}

void CloseBgzf::operator()(BGZF* file) const noexcept {
    bgzf_close(file);
}

Compression compression_of(const std::filesystem::path& path) {
    std::ifstream in(path, std::ios::binary);
    std::array<unsigned char, 18> magic{};
    in.read(reinterpret_cast<char*>(magic.data()), magic.size());
    if (in.bad() || (in.fail() && !in.eof()))
        throw InputError(std::string("cannot be read: ") + std::strerror(errno), path);
    const std::string_view start(reinterpret_cast<const char*>(magic.data()),
                                 static_cast<std::size_t>(in.gcount()));
    for (const auto& [begin, format] : foreign_formats) {
        if (!start.starts_with(begin)) continue;
        throw InputError("is in " + std::string(format) +
                             " format, which cannot be read: convert it to plain text or compress that with "
                             "bgzip",
                         path);
    }
    if (!start.starts_with("\x1F\x8B")) return Compression::none;
    // A gzip member with an extra field BC (SAM specification, 4.1).
    const bool extra = start.size() == magic.size() && (magic[3] & 4U) != 0;
    return extra && magic[12] == 'B' && magic[13] == 'C' ? Compression::bgzip : Compression::gzip;
}

void refuse_damaged(const std::filesystem::path& path, std::int64_t line) {
    throw InputError(line > 0 ? "the file is truncated or corrupt behind this line: copy or compress it again"
                              : "is truncated or corrupt: copy or compress it again",
                     path, line);
}

void refuse_unclosed(const std::filesystem::path& path, std::int64_t line) {
    throw InputError(
        "the file ends without the empty block that closes bgzip: blocks are missing, so fetch it again, or "
        "its writer left that one out, so write it again ('bgzip -dc OLD | bgzip > NEW')",
        path, line);
}

void require_sound(BGZF& file, bool ended, const std::filesystem::path& path, std::int64_t line) {
    if (file.errcode != 0) refuse_damaged(path, line);
    if (ended && bgzf_compression(&file) == bgzip_code && file.last_block_eof == 0)
        refuse_unclosed(path, line);
}

ByteStream::ByteStream(std::filesystem::path path) : path_(std::move(path)) {
    silence_htslib();
    require_readable(path_);
    const bool compressed =
        std::filesystem::is_regular_file(path_) && compression_of(path_) != Compression::none;
    file_.reset(bgzf_open(path_.c_str(), "r"));
    if (!file_) throw InputError(std::string("cannot be opened: ") + std::strerror(errno), path_);
    if (compressed && bgzf_compression(file_.get()) == 0)
        refuse_damaged(path_, 0);  // cut within its first bytes
}

std::size_t ByteStream::read(char* out, std::size_t size, std::int64_t line) {
    BGZF& file = *file_;
    // Reads block by block: bgzf_read() over several blocks would drop the good ones if a later one is
    // damaged.
    bool failed = file.block_length == 0 && bgzf_read_block(&file) != 0;
    std::size_t count = 0;
    if (!failed && file.block_length > 0) {
        count = std::min(size, static_cast<std::size_t>(file.block_length - file.block_offset));
        failed = bgzf_read(&file, out, count) != static_cast<ssize_t>(count);
    }
    if (failed) refuse_damaged(path_, line);
    require_sound(file, count == 0, path_, line);
    bytes_read_ = htell(file.fp);
    return count;
}

}  // namespace bigbird::genome::detail
