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
struct htsFile;

namespace bigbird::genome {

/// The header of a file that is read while it is rewritten. Hold the lock for every access: reading a record
/// adds the contigs and fields that the header lacks.
struct VariantHeader {
    std::shared_ptr<bcf_hdr_t> header;
    std::mutex lock;
};

/// A record of a VCF, unchanged.
struct Variant {
    std::string contig;
    std::int64_t position = 0;  ///< 0-based, first base of `ref`; -1 means POS 0, a telomere
    std::string id = ".", ref;
    std::vector<std::string> alts;  ///< may be symbolic ("<DEL>", "*", "N[1:5["); empty if ALT is "."
    std::int64_t record = 0;        ///< number of the record in the file, from 1
    std::int64_t line = 0;          ///< line in a VCF, from 1; 0 for BCF
    /// All fields of the record, as htslib holds them. Set after keep_records().
    std::shared_ptr<bcf1_t> whole{};
};

struct CloseVariants {
    void operator()(htsFile* file) const noexcept;
};
using VariantHandle = std::unique_ptr<htsFile, CloseVariants>;

/// Reads VCF (plain, gzip, bgzip) or BCF record by record, from a file or standard input ("-"). The content
/// decides the format. Throws InputError: missing file, not VCF, truncated, malformed record. Not
/// thread-safe.
class VariantReader {
public:
    explicit VariantReader(std::filesystem::path path);

    std::optional<Variant> next();
    /// Makes all later variants keep their complete records, for VariantWriter. Adds `lines` (##…) to the
    /// header, where they replace INFO fields with the same names, and ##KEY= the lines of KEY and KEY_….
    /// Call it before next(). Throws InputError.
    std::shared_ptr<VariantHeader> keep_records(std::span<const std::string> lines);
    /// Like keep_records(), for a part of a job whose first part has this header. The given header replaces
    /// this file's. Call it before any part's records are read. Throws InputError if this file has a
    /// different header.
    void share_header(const std::shared_ptr<VariantHeader>& header);
    const std::filesystem::path& path() const { return path_; }

private:
    void new_record();

    std::filesystem::path path_;
    VariantHandle file_;
    std::shared_ptr<VariantHeader> header_ = std::make_shared<VariantHeader>();
    std::shared_ptr<bcf1_t> record_;
    bool keeps_records_ = false;
    std::int64_t records_ = 0;
};

}  // namespace bigbird::genome
