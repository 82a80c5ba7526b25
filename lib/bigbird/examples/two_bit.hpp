// SPDX-License-Identifier: Apache-2.0
// UCSC's .2bit: sequences of A C G T N at two bits per base, N as intervals, random access. Version 0, and
// version 1 (64-bit offsets) for files beyond 4 GiB. Format: genome.ucsc.edu/FAQ/FAQformat.html#format7.
// Soft-masking is neither written nor read.
#pragma once

#include "bigbird/core/formats/mapped_file.hpp"
#include "bigbird/genome/regions/interval_set.hpp"

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace bigbird::examples {

/// The stretches of N in a normalized sequence, ascending.
std::vector<genome::Span> runs_of_n(std::string_view dna);

/// Writes sequences one by one. Not thread-safe.
class TwoBitWriter {
public:
    /// Writes directly to `path`: give a path inside a PendingOutput. `names` are the possible names, 1 to
    /// 255 bytes each; space is reserved for their index. `long_offsets` makes version 1. Throws WriteError.
    TwoBitWriter(const std::filesystem::path& path, const std::vector<std::string>& names, bool long_offsets);

    /// A normalized sequence of less than 2^32 bases, each name once. Throws WriteError.
    void add(const std::string& name, std::string_view dna);
    /// Fills in the index. Throws WriteError.
    void finish();

private:
    void put(std::uint32_t value);

    struct Entry {
        std::string name;
        std::uint64_t offset;
    };
    std::filesystem::path path_;
    std::ofstream out_;
    std::vector<Entry> index_;
    std::vector<char> packed_;
    std::uint64_t index_bytes_ = 0;
    bool long_offsets_;
};

/// Reads from mapped memory. Const calls are thread-safe.
class TwoBitReader {
public:
    /// Throws InputError: missing, no .2bit, of the other byte order, cut short.
    explicit TwoBitReader(const std::filesystem::path& path);

    std::int64_t size() const { return static_cast<std::int64_t>(records_.size()); }
    std::int64_t length(std::int64_t record) const {
        return records_[static_cast<std::size_t>(record)].length;
    }
    std::optional<std::int64_t> find(const std::string& name) const;

    /// Exactly end - begin letters, N outside the sequence.
    std::string fetch(std::int64_t record, std::int64_t begin, std::int64_t end) const;

private:
    struct Record {
        std::int64_t length = 0;
        std::vector<genome::Span> unknown{};  ///< N
        std::uint64_t packed = 0;             ///< byte offset
    };
    std::uint64_t number(std::uint64_t offset, std::size_t bytes) const;
    Record record_at(std::uint64_t offset) const;

    MappedFile file_;
    std::vector<Record> records_;
    std::unordered_map<std::string, std::int64_t> by_name_;
};

}  // namespace bigbird::examples
