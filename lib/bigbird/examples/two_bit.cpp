// SPDX-License-Identifier: Apache-2.0
#include "bigbird/examples/two_bit.hpp"

#include "bigbird/core/check.hpp"
#include "bigbird/core/error.hpp"
#include "bigbird/examples/example_format.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>

namespace bigbird::examples {

namespace {

constexpr std::uint32_t signature = 0x1A412743U;
constexpr std::uint64_t header_bytes = 16;
constexpr std::string_view letters = "TCAG";

constexpr std::array<std::uint8_t, 256> make_codes() {
    std::array<std::uint8_t, 256> codes{};  // N is packed as T
    codes[static_cast<unsigned char>('C')] = 1;
    codes[static_cast<unsigned char>('A')] = 2;
    codes[static_cast<unsigned char>('G')] = 3;
    return codes;
}
constexpr std::array<std::uint8_t, 256> codes = make_codes();

constexpr std::array<std::array<char, 4>, 256> make_quads() {
    std::array<std::array<char, 4>, 256> quads{};
    for (std::size_t byte = 0; byte < 256; ++byte)
        for (std::size_t i = 0; i < 4; ++i)
            quads[byte][i] = letters[(byte >> (6 - 2 * i)) & 3U];
    return quads;
}
constexpr std::array<std::array<char, 4>, 256> quads = make_quads();

}  // namespace

std::vector<genome::Span> runs_of_n(std::string_view dna) {
    std::vector<genome::Span> runs;
    std::size_t begin = dna.find('N');
    while (begin != std::string_view::npos) {
        const std::size_t end = std::min(dna.find_first_not_of('N', begin), dna.size());
        runs.push_back({static_cast<std::int64_t>(begin), static_cast<std::int64_t>(end)});
        begin = dna.find('N', end);
    }
    return runs;
}

TwoBitWriter::TwoBitWriter(const std::filesystem::path& path, const std::vector<std::string>& names,
                           bool long_offsets)
    : path_(path), out_(path, std::ios::binary), long_offsets_(long_offsets) {
    for (const std::string& name : names)
        index_bytes_ += 1 + name.size() + (long_offsets_ ? 8 : 4);
    packed_.assign(header_bytes + index_bytes_, 0);
    out_.write(packed_.data(), static_cast<std::streamsize>(packed_.size()));
    require_written(out_, path_);
}

void TwoBitWriter::put(std::uint32_t value) {
    out_.write(reinterpret_cast<const char*>(&value), sizeof value);
}

void TwoBitWriter::add(const std::string& name, std::string_view dna) {
    BIGBIRD_EXPECTS(!name.empty() && name.size() < 256, "a .2bit name has 1 to 255 bytes");
    BIGBIRD_EXPECTS(dna.size() < std::numeric_limits<std::uint32_t>::max(), "too long for .2bit");
    const std::streamoff offset = out_.tellp();
    if (offset < 0) out_.setstate(std::ios::badbit);
    require_written(out_, path_);
    index_.push_back({name, static_cast<std::uint64_t>(offset)});
    const std::vector<genome::Span> runs = runs_of_n(dna);
    put(static_cast<std::uint32_t>(dna.size()));
    put(static_cast<std::uint32_t>(runs.size()));
    for (const genome::Span& run : runs)
        put(static_cast<std::uint32_t>(run.begin));
    for (const genome::Span& run : runs)
        put(static_cast<std::uint32_t>(run.end - run.begin));
    put(0);  // no masked blocks
    put(0);  // reserved
    packed_.assign((dna.size() + 3) / 4, 0);
    for (std::size_t i = 0; i < dna.size(); ++i) {
        const unsigned code = codes[static_cast<unsigned char>(dna[i])];
        const auto byte = static_cast<unsigned char>(packed_[i / 4]);
        packed_[i / 4] = static_cast<char>(byte | (code << (6 - 2 * (i % 4))));
    }
    out_.write(packed_.data(), static_cast<std::streamsize>(packed_.size()));
    require_written(out_, path_);
}

void TwoBitWriter::finish() {
    if (!long_offsets_ && !index_.empty() && index_.back().offset > std::numeric_limits<std::uint32_t>::max())
        throw WriteError(path_.filename().string() + ": is too large for short offsets");
    out_.seekp(0);
    put(signature);
    put(long_offsets_ ? 1 : 0);
    put(static_cast<std::uint32_t>(index_.size()));
    put(0);
    for (const Entry& entry : index_) {
        out_.put(static_cast<char>(entry.name.size()));
        out_.write(entry.name.data(), static_cast<std::streamsize>(entry.name.size()));
        out_.write(reinterpret_cast<const char*>(&entry.offset), long_offsets_ ? 8 : 4);  // little-endian
    }
    require_written(out_, path_);
    BIGBIRD_EXPECTS(static_cast<std::uint64_t>(out_.tellp()) <= header_bytes + index_bytes_,
                    "more names than room was kept for");
    out_.close();
    require_written(out_, path_);
}

TwoBitReader::TwoBitReader(const std::filesystem::path& path) : file_(path) {
    if (number(0, 4) != signature) throw InputError("is no .2bit file of this machine's byte order", path);
    const std::uint64_t version = number(4, 4);
    if (version > 1) throw InputError("is a .2bit file of unknown version " + std::to_string(version), path);
    const std::uint64_t count = number(8, 4);
    const std::size_t offset_bytes = version == 1 ? 8 : 4;
    std::uint64_t at = header_bytes;
    for (std::uint64_t i = 0; i < count; ++i) {
        const std::uint64_t length = number(at, 1);
        const std::uint64_t offset = number(at + 1 + length, offset_bytes);
        std::string name(reinterpret_cast<const char*>(file_.bytes().data()) + at + 1, length);
        by_name_.emplace(std::move(name), static_cast<std::int64_t>(i));
        records_.push_back(record_at(offset));
        at += 1 + length + offset_bytes;
    }
}

std::uint64_t TwoBitReader::number(std::uint64_t offset, std::size_t bytes) const {
    if (offset > file_.bytes().size() || file_.bytes().size() - offset < bytes)
        throw InputError("is cut short; make it again", file_.path());
    std::uint64_t value = 0;
    std::memcpy(&value, file_.bytes().data() + offset, bytes);  // little-endian
    return value;
}

TwoBitReader::Record TwoBitReader::record_at(std::uint64_t offset) const {
    const std::uint64_t length = number(offset, 4), blocks = number(offset + 4, 4);
    const std::uint64_t starts = offset + 8, sizes = starts + 4 * blocks, masks = sizes + 4 * blocks;
    Record record{.length = static_cast<std::int64_t>(length)};
    for (std::uint64_t block = 0; block < blocks; ++block) {
        const auto begin = static_cast<std::int64_t>(number(starts + 4 * block, 4));
        record.unknown.push_back({begin, begin + static_cast<std::int64_t>(number(sizes + 4 * block, 4))});
    }
    record.packed = masks + 8 + 8 * number(masks, 4);
    if (length > 0) static_cast<void>(number(record.packed + (length + 3) / 4 - 1, 1));
    return record;
}

std::optional<std::int64_t> TwoBitReader::find(const std::string& name) const {
    const auto found = by_name_.find(name);
    return found == by_name_.end() ? std::nullopt : std::optional(found->second);
}

std::string TwoBitReader::fetch(std::int64_t index, std::int64_t begin, std::int64_t end) const {
    BIGBIRD_EXPECTS(begin <= end, "fetch() needs begin <= end");
    const Record& record = records_[static_cast<std::size_t>(index)];
    std::string dna(static_cast<std::size_t>(end - begin), 'N');
    const std::int64_t first = std::max<std::int64_t>(begin, 0), last = std::min(end, record.length);
    const std::byte* packed = file_.bytes().data() + record.packed;
    for (std::int64_t i = first; i < last;) {
        const auto& quad = quads[static_cast<std::size_t>(packed[i / 4])];
        const std::int64_t stop = std::min(last, (i / 4 + 1) * 4);
        for (; i < stop; ++i)
            dna[static_cast<std::size_t>(i - begin)] = quad[static_cast<std::size_t>(i % 4)];
    }
    auto run = std::ranges::upper_bound(record.unknown, first, {}, &genome::Span::end);
    for (; run != record.unknown.end() && run->begin < last; ++run)
        for (std::int64_t i = std::max(run->begin, first); i < std::min(run->end, last); ++i)
            dna[static_cast<std::size_t>(i - begin)] = 'N';
    return dna;
}

}  // namespace bigbird::examples
