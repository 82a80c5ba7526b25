// SPDX-License-Identifier: Apache-2.0
#include "bigbird/examples/build/signals/bigwig.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/interrupt.hpp"
#include "bigbird/core/log.hpp"
#include "bigbird/core/system/child_process.hpp"
#include "bigbird/examples/build/signals/contig_lengths.hpp"
#include "bigbird/genome/reference/contig_names.hpp"

#include <bigWig.h>
#include <zlib.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fstream>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace bigbird::examples {
namespace fs = std::filesystem;

namespace {

constexpr std::uint32_t elsewhere = std::numeric_limits<std::uint32_t>::max();
constexpr std::size_t segments_at_once = std::size_t{1} << 16U;

struct Segment {
    std::uint32_t contig = 0, begin = 0, end = 0;
    float value = 0;
};

/// A block of data: its bytes, and the numbers of the first and the last contig in it.
struct Block {
    std::uint64_t offset = 0, size = 0;
    std::uint32_t first = 0, last = 0;
};

template <typename Number>
Number number_at(std::string_view bytes, std::size_t offset) {
    Number number{};
    std::memcpy(&number, bytes.substr(offset, sizeof(Number)).data(), sizeof(Number));
    return number;
}

/// A bigWig's contigs and data. libBigWig opens it. Its search is not used: it leaves out contigs whose data
/// are not in the order of their numbers.
class BigWig {
public:
    explicit BigWig(const fs::path& path) : path_(path) {
        std::string name = path.string(), mode = "r";
        bwInit(1U << 17U);
        file_.reset(bwOpen(name.c_str(), nullptr, mode.c_str()));
        if (!file_) throw InputError("is no bigWig", path);
        size_ = fs::file_size(path);
        stream_.open(path, std::ios::binary);
    }

    std::vector<genome::Contig> contigs() const {
        std::vector<genome::Contig> contigs;
        for (std::int64_t i = 0; i < file_->cl->nKeys; ++i)
            contigs.push_back({file_->cl->chrom[i], file_->cl->len[i]});
        return contigs;
    }

    /// All blocks that the index lists, in the order of the file.
    std::vector<Block> blocks() {
        constexpr std::uint64_t index_header = 48, node_header = 4, leaf_item = 32, node_item = 24;
        const std::uint64_t most_nodes = size_ / node_header;  // more are a circle
        std::vector<std::uint64_t> nodes;
        if (file_->hdr->indexOffset > 0) nodes.push_back(file_->hdr->indexOffset + index_header);
        std::vector<Block> blocks;
        for (std::size_t node = 0; node < nodes.size(); ++node) {
            const std::string head = bytes_at(nodes[node], node_header);
            const bool is_leaf = head.front() != 0;
            const std::uint64_t size = is_leaf ? leaf_item : node_item;
            const std::string items =
                bytes_at(nodes[node] + node_header, number_at<std::uint16_t>(head, 2) * size);
            for (std::size_t item = 0; item < items.size(); item += size) {
                const auto offset = number_at<std::uint64_t>(items, item + 16);
                if (is_leaf)
                    blocks.push_back({offset, number_at<std::uint64_t>(items, item + 24),
                                      number_at<std::uint32_t>(items, item),
                                      number_at<std::uint32_t>(items, item + 8)});
                else
                    nodes.push_back(offset);
            }
            if (nodes.size() > most_nodes) throw damaged();
        }
        std::ranges::sort(blocks, {}, &Block::offset);
        return blocks;
    }

    /// The intervals of a block, which is on one contig; their contig is its number in the file.
    std::vector<Segment> segments(const Block& block) {
        constexpr std::size_t header = 24, bed_graph = 1, variable_step = 2, fixed_step = 3;
        const std::string bytes = inflated(bytes_at(block.offset, block.size));
        if (bytes.size() < header) throw damaged();
        const auto number = [&](std::size_t offset) { return number_at<std::uint32_t>(bytes, offset); };
        const std::uint32_t contig = number(0), start = number(4), step = number(12), span = number(16);
        const auto kind = static_cast<std::size_t>(bytes[20]);
        const std::size_t count = number_at<std::uint16_t>(bytes, 22);
        const std::size_t size = kind == bed_graph ? 12 : kind == variable_step ? 8 : 4;
        if (kind < bed_graph || kind > fixed_step || bytes.size() < header + count * size) throw damaged();
        std::vector<Segment> segments;
        for (std::size_t i = 0; i < count; ++i) {
            const std::size_t item = header + i * size;
            const std::uint32_t begin =
                kind == fixed_step ? start + static_cast<std::uint32_t>(i) * step : number(item);
            const std::uint32_t end = kind == bed_graph ? number(item + 4) : begin + span;
            if (begin >= end) throw damaged();
            segments.push_back({contig, begin, end, number_at<float>(bytes, item + size - sizeof(float))});
        }
        return segments;
    }

    InputError damaged() const { return {"is damaged, or cannot be read", path_}; }

private:
    std::string bytes_at(std::uint64_t offset, std::uint64_t size) {
        if (size > size_) throw damaged();
        std::string bytes(size, '\0');
        stream_.seekg(static_cast<std::streamoff>(offset));
        stream_.read(bytes.data(), static_cast<std::streamsize>(size));
        if (!stream_) throw damaged();
        return bytes;
    }

    std::string inflated(std::string bytes) const {
        if (file_->hdr->bufSize == 0) return bytes;  // blocks are not compressed
        uLongf size = file_->hdr->bufSize;
        std::string whole(size, '\0');
        if (uncompress(reinterpret_cast<Bytef*>(whole.data()), &size,
                       reinterpret_cast<const Bytef*>(bytes.data()),
                       static_cast<uLong>(bytes.size())) != Z_OK)
            throw damaged();
        whole.resize(size);
        return whole;
    }

    fs::path path_;
    std::uint64_t size_ = 0;
    std::ifstream stream_;
    std::unique_ptr<bigWigFile_t, void (*)(bigWigFile_t*)> file_{nullptr, bwClose};
};

/// Contigs for the child process: name, length, name, length.
ChildReader::Words words_of(std::span<const genome::Contig> contigs) {
    ChildReader::Words words;
    for (const genome::Contig& contig : contigs)
        words.insert(words.end(), {contig.name, std::to_string(contig.length)});
    return words;
}

/// Runs in the child process. Sends the length of each contig in the file (0: it lacks the contig), then
/// segments. The last message has none.
void send_bigwig(const fs::path& path, const ChildReader::Words& words, const ChildReader::Send& send) {
    std::vector<genome::Contig> contigs;
    for (std::size_t i = 0; i + 1 < words.size(); i += 2)
        contigs.push_back({words[i], std::stoll(words[i + 1])});
    BigWig file(path);
    const std::vector<genome::Contig> own = file.contigs();
    const genome::ContigNames names(own, false);
    std::vector<std::int64_t> lengths(contigs.size(), 0);
    std::vector<std::uint32_t> indices(own.size(), elsewhere);  // of the file's contigs in `contigs`
    for (std::size_t i = 0; i < contigs.size(); ++i) {
        const auto found = names.find(contigs[i].name);
        if (!found) continue;
        lengths[i] = own[*found].length;
        indices[*found] = static_cast<std::uint32_t>(i);
    }
    send(ChildReader::bytes_of(lengths));
    std::vector<Segment> some;
    const auto send_some = [&] {
        if (!some.empty()) send(ChildReader::bytes_of(some));
        some.clear();
    };
    for (const Block& block : file.blocks()) {
        if (block.first > block.last || block.last >= own.size()) throw file.damaged();
        const auto wanted = [](std::uint32_t index) { return index != elsewhere; };
        if (std::none_of(indices.begin() + block.first, indices.begin() + block.last + 1, wanted)) continue;
        for (Segment segment : file.segments(block)) {
            if (segment.contig >= own.size()) throw file.damaged();
            segment.contig = indices[segment.contig];
            if (segment.contig == elsewhere || std::isnan(segment.value)) continue;
            const std::int64_t length = contigs[segment.contig].length;
            segment.end = static_cast<std::uint32_t>(std::min<std::int64_t>(segment.end, length));
            if (segment.begin < segment.end) some.push_back(segment);
        }
        if (some.size() >= segments_at_once) send_some();
    }
    send_some();
    send({});
}

}  // namespace

std::int64_t read_bigwig(const fs::path& path, std::span<const genome::Contig> contigs,
                         const AddSignal& add) {
    ChildReader reader(path, send_bigwig, words_of(contigs));
    const auto lengths = reader.next_numbers<std::int64_t>();
    if (lengths.size() != contigs.size()) reader.throw_unfit();
    if (const std::string warning = require_lengths(path, contigs, lengths); !warning.empty())
        log_warning("{}", warning);
    for (std::int64_t read = 0;;) {
        stop_if_asked();
        const auto segments = reader.next_numbers<Segment>();
        if (segments.empty()) return read;
        for (const Segment& segment : segments) {
            if (segment.contig >= contigs.size() || segment.begin >= segment.end) reader.throw_unfit();
            if (std::isinf(segment.value)) {
                throw InputError("holds an infinite value at " + contigs[segment.contig].name + ":" +
                                     std::to_string(segment.begin + 1),
                                 path);
            }
            add(segment.contig, segment.begin, segment.end, static_cast<double>(segment.value));
            ++read;
        }
    }
}

}  // namespace bigbird::examples
