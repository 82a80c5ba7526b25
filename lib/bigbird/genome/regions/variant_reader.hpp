// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

struct bcf1_t;
struct bcf_hdr_t;

namespace bigbird::genome {

/// The header of a file that is read while it is written anew. Reading a record adds contigs and fields that
/// the header lacks, so that whoever looks at it holds the lock.
struct VariantHeader {
    std::shared_ptr<bcf_hdr_t> header;
    std::mutex lock;
};

/// A record of a VCF, as it stands in the file.
struct Variant {
    std::string contig;
    std::int64_t position = 0;  ///< 0-based, of the first base of `ref`; -1 is POS 0, a telomere
    std::string id = ".", ref;
    std::vector<std::string> alts;  ///< may be symbolic ("<DEL>", "*", "N[1:5["); empty where ALT is "."
    std::int64_t record = 0;        ///< number in the file, from 1
    std::int64_t line = 0;          ///< of a VCF, from 1; 0 for BCF
    /// The record with all its fields, as htslib holds it, after keep_records().
    std::shared_ptr<bcf1_t> whole{};
};

/// Reads VCF (plain, gzip, bgzip) or BCF, told by content, or standard input ("-"), record by record. Throws
/// InputError: missing, no VCF, truncated, a malformed record. Not thread-safe.
class VariantReader {
public:
    explicit VariantReader(std::filesystem::path path);
    ~VariantReader();
    VariantReader(VariantReader&&) noexcept;

    std::optional<Variant> next();
    /// From now on variants hold their whole records, for VariantWriter. `lines` (##…) are added to the
    /// header, in place of INFO fields of the same names. Call it before next(). Throws InputError.
    std::shared_ptr<VariantHeader> keep_records(std::span<const std::string> lines);
    /// The same, of a part of a work whose first part has this header: it takes the header's place. Call it
    /// before a record of any part is read. Throws InputError where this file has another one.
    void share_header(const std::shared_ptr<VariantHeader>& header);
    const std::filesystem::path& path() const;

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace bigbird::genome
