// SPDX-License-Identifier: Apache-2.0
#include "bigbird/genome/text/random_bytes.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/log.hpp"
#include "bigbird/core/parallel.hpp"

#include <fcntl.h>
#include <htslib/bgzf.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iterator>
#include <new>
#include <optional>
#include <utility>

namespace bigbird::genome::detail {

namespace {

constexpr std::int64_t plain_piece = std::int64_t{1} << 18;  // stays in the processor's cache
constexpr std::int64_t bgzip_piece = std::int64_t{1} << 22;
constexpr std::int64_t longest_block = 0x10000;  // bytes of a bgzip block, compressed or not
constexpr int most_scan_threads = 4;
constexpr int cached_bytes = 1 << 20;  // uncompressed blocks that a handle keeps, for windows that overlap

InputError system_fault(const char* what, const std::filesystem::path& path) {
    return InputError(std::string("cannot be ") + what + ": " + std::strerror(errno), path);
}

/// A file opened for reading at any position.
class Descriptor {
public:
    explicit Descriptor(std::filesystem::path path)
        : path_(std::move(path)), handle_(::open(path_.c_str(), O_RDONLY | O_CLOEXEC)) {
        if (handle_ < 0) throw system_fault("opened", path_);
    }
    ~Descriptor() { ::close(handle_); }
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;

    struct ::stat status() const {
        struct ::stat status {};
        if (::fstat(handle_, &status) != 0) throw system_fault("read", path_);
        return status;
    }

    /// Bytes read, fewer than `count` only at the file's end.
    std::int64_t read(std::int64_t offset, std::int64_t count, char* out) const {
        std::int64_t done = 0;
        while (done < count) {
            const ssize_t got =
                ::pread(handle_, out + done, static_cast<std::size_t>(count - done), offset + done);
            if (got < 0 && errno == EINTR) continue;
            if (got < 0) throw system_fault("read", path_);
            if (got == 0) break;
            done += got;
        }
        return done;
    }

private:
    std::filesystem::path path_;
    int handle_;
};

/// Throws InputError if `now` belongs to another file than `opened`, or if the file was changed.
void expect_unchanged(const struct ::stat& opened, const struct ::stat& now,
                      const std::filesystem::path& path) {
    if (now.st_ino != opened.st_ino || now.st_dev != opened.st_dev || now.st_size != opened.st_size ||
        now.st_mtim.tv_sec != opened.st_mtim.tv_sec || now.st_mtim.tv_nsec != opened.st_mtim.tv_nsec)
        throw InputError("changed while it was read (size or time of modification): run this again", path);
}

// -------------------------------------------------------------------------------------------------------------------------------------
// plain

class PlainBytes : public RandomBytes {
public:
    explicit PlainBytes(const std::filesystem::path& path)
        : path_(path), file_(path), opened_(file_.status()) {}

    std::int64_t size() const override { return opened_.st_size; }
    std::int64_t piece() const override { return plain_piece; }

    void read(std::int64_t offset, std::int64_t count, char* out) const override {
        const std::int64_t got = file_.read(offset, count, out);
        expect_unchanged(opened_, file_.status(), path_);
        if (got != count) throw InputError("ended before its size: run this again", path_);
    }

    void scan(const std::function<void(std::string_view)>& consume) const override {
        std::vector<char> buffer(static_cast<std::size_t>(std::min(plain_piece, size())));
        for (std::int64_t offset = 0; offset < size(); offset += plain_piece) {
            const std::int64_t count = std::min(plain_piece, size() - offset);
            read(offset, count, buffer.data());
            consume({buffer.data(), static_cast<std::size_t>(count)});
        }
    }

private:
    std::filesystem::path path_;
    Descriptor file_;
    struct ::stat opened_;
};

// -------------------------------------------------------------------------------------------------------------------------------------
// bgzip

std::int64_t number_in(std::string_view bytes) {
    return static_cast<std::int64_t>(little_endian(bytes));
}

/// The offset of a block in the compressed file and in the text.
struct Block {
    std::int64_t compressed = 0, text = 0;
};

struct BlockTable {
    std::vector<Block> blocks;
    std::int64_t text_size = 0;
};

/// Steps through blocks by the sizes in their headers (SAM specification, 4.1), without decompressing them.
class BlockWalker {
public:
    explicit BlockWalker(const std::filesystem::path& path)
        : path_(path), file_(path), file_size_(file_.status().st_size) {}

    /// All blocks; `known` are the first ones, or none.
    BlockTable complete(std::vector<Block> known) {
        BlockTable table{std::move(known)};
        Block at;
        if (!table.blocks.empty()) {
            at = table.blocks.back();
            table.blocks.pop_back();
        }
        std::int64_t last_text = -1;
        while (at.compressed < file_size_) {
            const std::int64_t size = block_size(at.compressed);
            last_text = number_in(bytes(at.compressed + size - 4, 4));
            if (last_text > longest_block) truncated();
            table.blocks.push_back(at);
            at.compressed += size;
            at.text += last_text;
        }
        if (at.compressed != file_size_) truncated();
        if (last_text != 0) refuse_unclosed(path_);
        table.text_size = at.text;
        return table;
    }

private:
    [[noreturn]] void truncated() const { refuse_damaged(path_); }

    std::int64_t block_size(std::int64_t offset) {
        const std::string_view head = bytes(offset, 12);
        if (!head.starts_with("\x1F\x8B") || (head[3] & 4) == 0) truncated();
        const std::int64_t extra_size = number_in(head.substr(10));
        std::string_view extra = bytes(offset + 12, extra_size);
        while (extra.size() >= 4) {
            const std::int64_t length = number_in(extra.substr(2, 2));
            if (extra.starts_with("BC") && length == 2 && extra.size() >= 6) {
                const std::int64_t size = number_in(extra.substr(4, 2)) + 1;
                if (size < 12 + extra_size + 8 || offset + size > file_size_) truncated();
                return size;
            }
            extra.remove_prefix(std::min(static_cast<std::size_t>(4 + length), extra.size()));
        }
        truncated();
    }

    /// `count` bytes at `offset`, valid until the next call.
    std::string_view bytes(std::int64_t offset, std::int64_t count) {
        if (offset < begin_ || offset + count > begin_ + filled_) {
            begin_ = offset;
            filled_ = file_.read(offset, static_cast<std::int64_t>(buffer_.size()), buffer_.data());
            if (filled_ < count) truncated();
        }
        return {buffer_.data() + (offset - begin_), static_cast<std::size_t>(count)};
    }

    std::filesystem::path path_;
    Descriptor file_;
    std::int64_t file_size_, begin_ = 0, filled_ = 0;
    std::vector<char> buffer_ = std::vector<char>(std::size_t{1} << 20);
};

/// The blocks that a .gzi names; nullopt if it does not fit the file's size, or names too long a block.
/// Format: the number of entries, then compressed and uncompressed offset of each block but the first, all
/// 64-bit little-endian.
std::optional<std::vector<Block>> read_gzi(const std::filesystem::path& index, std::int64_t compressed_size) {
    const Descriptor file(index);
    std::string content(static_cast<std::size_t>(file.status().st_size), '\0');
    file.read(0, std::ssize(content), content.data());
    std::string_view bytes = content;
    if (bytes.size() % 16 != 8 || little_endian(bytes.substr(0, 8)) != bytes.size() / 16) return std::nullopt;
    std::vector<Block> blocks(1);
    for (bytes.remove_prefix(8); !bytes.empty(); bytes.remove_prefix(16)) {
        const Block block{number_in(bytes.substr(0, 8)), number_in(bytes.substr(8, 8))};
        const Block& before = blocks.back();
        const bool rises = block.compressed > before.compressed && block.text >= before.text;
        if (!rises || block.compressed >= compressed_size ||
            block.compressed - before.compressed > longest_block || block.text - before.text > longest_block)
            return std::nullopt;
        blocks.push_back(block);
    }
    return blocks;
}

BlockTable read_blocks(const std::filesystem::path& path) {
    std::filesystem::path index = path;
    index += ".gzi";
    if (!is_fresh_index(index, path)) return BlockWalker(path).complete({});
    const auto known = read_gzi(index, static_cast<std::int64_t>(std::filesystem::file_size(path)));
    try {
        if (known) return BlockWalker(path).complete(*known);  // adds the blocks after the index's last one
    } catch (const InputError&) {
    }
    throw InputError("does not fit " + path.string() +
                         ": delete it, or make it anew with bgzip -r, and see whether that file is whole",
                     index);
}

class BgzipBytes : public RandomBytes {
public:
    explicit BgzipBytes(const std::filesystem::path& path)
        : path_(path), opened_(Descriptor(path).status()), table_(read_blocks(path)) {
        silence_htslib();
    }

    std::int64_t size() const override { return table_.text_size; }
    std::int64_t piece() const override { return bgzip_piece; }

    void read(std::int64_t offset, std::int64_t count, char* out) const override {
        if (count == 0) return;
        const auto after = std::ranges::upper_bound(table_.blocks, offset, {}, &Block::text);
        const Block& block = *(after - 1);
        const std::int64_t virtual_offset = block.compressed << 16U | (offset - block.text);
        struct ::stat now {};
        if (::stat(path_.c_str(), &now) != 0) throw system_fault("read any more", path_);
        expect_unchanged(opened_, now, path_);
        const Borrowed handle = borrow();
        errno = 0;
        if (offset - block.text > 0xFFFF || bgzf_seek(handle.get(), virtual_offset, SEEK_SET) != 0 ||
            bgzf_read(handle.get(), out, static_cast<std::size_t>(count)) != count) {
            if (errno == ENOMEM) throw std::bad_alloc();
            throw InputError(
                "is truncated or corrupt, or its .gzi does not fit it: delete that, or copy or compress the "
                "file again",
                path_);
        }
    }

    void scan(const std::function<void(std::string_view)>& consume) const override {
        const std::int64_t pieces = (size() + bgzip_piece - 1) / bgzip_piece;
        const std::function make = [this](std::int64_t piece) {
            const std::int64_t offset = piece * bgzip_piece;
            std::string text(static_cast<std::size_t>(std::min(bgzip_piece, size() - offset)), '\0');
            read(offset, static_cast<std::int64_t>(text.size()), text.data());
            return text;
        };
        ordered_pipeline<std::string>(pieces, std::min(resolve_threads(0), most_scan_threads), make,
                                      [&](std::string&& text) { consume(text); });
    }

private:
    /// A handle for one thread, which goes back to the idle ones.
    using Borrowed = std::unique_ptr<BGZF, std::function<void(BGZF*)>>;

    Borrowed borrow() const {
        Borrowed handle(nullptr, [this](BGZF* file) {
            const std::scoped_lock lock(mutex_);
            idle_.emplace_back(file);
        });
        {
            const std::scoped_lock lock(mutex_);
            if (!idle_.empty()) {
                handle.reset(idle_.back().release());
                idle_.pop_back();
                return handle;
            }
        }
        handle.reset(bgzf_open(path_.c_str(), "r"));
        if (!handle) throw system_fault("opened", path_);
        bgzf_set_cache_size(handle.get(), cached_bytes);
        return handle;
    }

    std::filesystem::path path_;
    struct ::stat opened_;
    BlockTable table_;
    mutable std::mutex mutex_;
    mutable std::vector<BgzfHandle> idle_;
};

}  // namespace

std::unique_ptr<RandomBytes> open_random(const std::filesystem::path& path, Compression compression) {
    if (compression == Compression::bgzip) return std::make_unique<BgzipBytes>(path);
    return std::make_unique<PlainBytes>(path);
}

bool is_fresh_index(const std::filesystem::path& index, const std::filesystem::path& file) {
    std::error_code error;
    const bool is_file = std::filesystem::is_regular_file(index, error);  // opening a pipe would block
    const auto made = std::filesystem::last_write_time(index, error);
    if (!is_file || error) return false;
    if (made < std::filesystem::last_write_time(file)) {
        log_warning("{} is older than {} and was not used", index.string(), file.string());
        return false;
    }
    return true;
}

}  // namespace bigbird::genome::detail
