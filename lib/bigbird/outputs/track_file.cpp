// SPDX-License-Identifier: Apache-2.0
#include "bigbird/outputs/track_file.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/genome/text/text_output.hpp"
#include "bigbird/rows/text_fields.hpp"

// Two of the headers do not declare their functions as extern "C".
extern "C" {
#include <bigWigIO.h>
}
#include <bigWig.h>
extern "C" {
#include <bwCommon.h>
}

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>

namespace bigbird::outputs {
namespace fs = std::filesystem;

namespace {

/// What open_bigwig_stream() reads and writes.
struct File {
    int handle;
    std::string name;
};

ssize_t read_file(void* cookie, char* out, std::size_t size) {
    const auto* const file = static_cast<const File*>(cookie);
    ssize_t count = 0;
    do {
        count = ::read(file->handle, out, size);
    } while (count < 0 && errno == EINTR);
    if (count < 0) throw WriteError(file->name + ": cannot be read back: " + std::strerror(errno));
    return count;
}

/// 0 is an error, as fopencookie() has it.
ssize_t write_file(void* cookie, const char* data, std::size_t size) {
    std::size_t done = 0;
    while (done < size) {
        const ssize_t count = ::write(static_cast<const File*>(cookie)->handle, data + done, size - done);
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) return 0;
        done += static_cast<std::size_t>(count);
    }
    return static_cast<ssize_t>(done);
}

int seek_file(void* cookie, off64_t* offset, int whence) {
    const off64_t position = ::lseek64(static_cast<const File*>(cookie)->handle, *offset, whence);
    if (position < 0) return -1;
    *offset = position;
    return 0;
}

int close_file(void* cookie) {
    const std::unique_ptr<File> file(static_cast<File*>(cookie));
    return ::close(file->handle);
}

}  // namespace

std::FILE* open_bigwig_stream(const fs::path& path, const fs::path& name) {
    auto file = std::make_unique<File>(
        File{::open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600), name.string()});
    if (file->handle < 0) return nullptr;
    std::FILE* const stream = ::fopencookie(
        file.get(), "w+", {.read = read_file, .write = write_file, .seek = seek_file, .close = close_file});
    if (stream == nullptr) {
        ::close(file->handle);
        return nullptr;
    }
    static_cast<void>(file.release());
    return stream;
}

namespace {

class BedGraphFile : public TrackFile {
public:
    BedGraphFile(const fs::path& path, Overwrite overwrite, std::span<const genome::Contig> contigs)
        : TrackFile({contigs.begin(), contigs.end()}), output_(path, overwrite) {}
    void write(const EachSegment& each, std::vector<PendingOutput*>& pending) override {
        std::string line;
        each([&](const Segment& segment) {
            line = contigs_[segment.contig].name + '\t' + std::to_string(segment.begin) + '\t' +
                   std::to_string(segment.end) + '\t';
            rows::append_number(line, segment.value);
            output_.write(line += '\n');
        });
        if (PendingOutput* const file = output_.finish()) pending.push_back(file);
    }

private:
    genome::TextOutput output_;
};

/// Discards an unfinished file.
struct CloseBigWig {
    void operator()(bigWigFile_t* file) const {
        file->isWrite = 0;
        bwClose(file);
    }
};
using BigWigFile = std::unique_ptr<bigWigFile_t, CloseBigWig>;

/// Opens a file for writing like bwOpen(), but returns null on failure. bwOpen() would end the program by a
/// signal.
BigWigFile open_bigwig(const fs::path& path, const fs::path& name) {
    auto* const file = static_cast<bigWigFile_t*>(std::calloc(1, sizeof(bigWigFile_t)));
    if (file == nullptr) return nullptr;
    BigWigFile owner(file);
    file->writeBuffer = static_cast<bwWriteBuffer_t*>(std::calloc(1, sizeof(bwWriteBuffer_t)));
    if (file->writeBuffer == nullptr) return nullptr;
    constexpr std::uint32_t block_header_bytes = 24;
    file->writeBuffer->l = block_header_bytes;
    std::FILE* const stream = open_bigwig_stream(path, name);
    if (stream == nullptr) return nullptr;
    file->URL = static_cast<URL_t*>(std::calloc(1, sizeof(URL_t)));
    if (file->URL == nullptr) {
        std::fclose(stream);
        return nullptr;
    }
    file->URL->type = BWG_FILE;
    file->URL->x.fp = stream;
    file->isWrite = 1;
    return owner;
}

/// Writes the index of a file without intervals, and a range of zero. libBigWig omits them, but readers need
/// them: the header of UCSC's R tree, and a leaf without entries.
bool write_empty_index(bigWigFile_t& file) {
    constexpr long field_of_offset = 0x18;
    FILE* const stream = file.URL->x.fp;
    if (std::fseek(stream, 0, SEEK_END) != 0) return false;
    const std::uint64_t offset = file.hdr->indexOffset = static_cast<std::uint64_t>(std::ftell(stream));
    std::array<std::uint32_t, 13> index{0x2468ACE0, 256};
    index[8] = static_cast<std::uint32_t>(offset);  // end of the data
    index[9] = static_cast<std::uint32_t>(offset >> 32U);
    index[10] = index[12] = 1;  // entries per slot; the root is a leaf
    file.hdr->minVal = file.hdr->maxVal = 0;
    return std::fwrite(index.data(), sizeof index, 1, stream) == 1 &&
           std::fseek(stream, field_of_offset, SEEK_SET) == 0 &&
           std::fwrite(&offset, sizeof offset, 1, stream) == 1 &&
           std::fseek(stream, 0, SEEK_END) == 0;  // libBigWig continues writing there
}

/// Writes index and zoom levels. bwClose() does not report failed writes, but the stream's error flag does.
bool finish_bigwig(bigWigFile_t& file) {
    const bool finished = bwFinalize(&file) == 0;
    file.isWrite = 0;
    FILE* const stream = file.URL->x.fp;
    return std::fflush(stream) == 0 && std::ferror(stream) == 0 && finished;
}

/// Sorts contigs by name, because readers search them as sorted keys of a tree.
std::vector<genome::Contig> by_name(std::span<const genome::Contig> contigs) {
    std::vector<genome::Contig> sorted(contigs.begin(), contigs.end());
    std::ranges::sort(sorted, {}, &genome::Contig::name);
    return sorted;
}

class BigWigTrack : public TrackFile {
public:
    BigWigTrack(const fs::path& path, Overwrite overwrite, std::span<const genome::Contig> contigs)
        : TrackFile(by_name(contigs)), pending_(path, overwrite) {}
    void write(const EachSegment& each, std::vector<PendingOutput*>& pending) override {
        require(bwInit(1U << 17U) == 0);
        open();
        std::vector<Segment> run;  // segments of one contig
        bool any = false;
        each([&](const Segment& segment) {
            any = true;
            if (run.size() == pieces_per_call || (!run.empty() && run.front().contig != segment.contig))
                append(run);
            run.push_back(segment);
        });
        if (!run.empty()) append(run);
        if (!any) require(write_empty_index(*file_));
        require(finish_bigwig(*file_));
        file_.reset();
        bwCleanup();
        pending.push_back(&pending_);
    }

private:
    static constexpr std::size_t pieces_per_call = 1U << 14U;
    static constexpr std::int32_t zoom_levels = 10;

    void require(bool fine) const {
        if (!fine) throw WriteError(pending_.target().string() + ": writing failed: is the disk full?");
    }
    void open() {
        std::vector<const char*> names;
        std::vector<std::uint32_t> lengths;
        for (const genome::Contig& contig : contigs_) {
            names.push_back(contig.name.c_str());
            lengths.push_back(static_cast<std::uint32_t>(contig.length));
        }
        file_ = open_bigwig(pending_.path(), pending_.target());
        require(file_ != nullptr);
        require(bwCreateHdr(file_.get(), zoom_levels) == 0);
        file_->cl = bwCreateChromList(names.data(), lengths.data(), static_cast<std::int64_t>(names.size()));
        require(file_->cl != nullptr);
        require(bwWriteHdr(file_.get()) == 0);
    }
    void append(std::vector<Segment>& run) {
        std::vector<const char*> names(run.size(), contigs_[run.front().contig].name.c_str());
        std::vector<std::uint32_t> begins, ends;
        std::vector<float> values;
        for (const Segment& segment : run) {
            begins.push_back(segment.begin);
            ends.push_back(segment.end);
            values.push_back(segment.value);
        }
        require(bwAddIntervals(file_.get(), names.data(), begins.data(), ends.data(), values.data(),
                               static_cast<std::uint32_t>(run.size())) == 0);
        run.clear();
    }

    PendingOutput pending_;
    BigWigFile file_;
};

}  // namespace

std::unique_ptr<TrackFile> track_file(const fs::path& path, Overwrite overwrite, Kind kind,
                                      std::span<const genome::Contig> contigs) {
    if (kind == Kind::bedgraph) return std::make_unique<BedGraphFile>(path, overwrite, contigs);
    for (const genome::Contig& contig : contigs) {
        if (contig.length > std::numeric_limits<std::uint32_t>::max()) {
            throw ConfigError(path.string() + ": contig " + contig.name +
                              " is too long for bigWig; write .bedgraph instead");
        }
    }
    return std::make_unique<BigWigTrack>(path, overwrite, contigs);
}

}  // namespace bigbird::outputs
