// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bigbird/core/files.hpp"
#include "bigbird/genome/regions/variant_reader.hpp"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

namespace bigbird::genome {

/// The file formats of variants, by a name's ending: .vcf, .vcf.gz (or .vcf.bgz), .bcf. VCF for "-".
enum class VariantFormat : std::uint8_t { vcf, bgzipped_vcf, bcf };
std::optional<VariantFormat> variant_format_of(const std::filesystem::path& path);

/// A value of INFO: a text or, where `numbers` is not empty, numbers, NaN for a missing one. Neither: no
/// value.
struct VariantField {
    std::string name, text;
    std::vector<float> numbers{};
};

/// Removes fields, which the header must define, from a record's INFO, and adds fields that have a value.
/// Needs VariantReader::keep_records(). Throws InputError for a record that htslib cannot change.
void set_info(const Variant& variant, VariantHeader& header, std::span<const VariantField> fields);

/// Writes records of a VariantReader, atomically, or to standard output ("-") as they come. A compressed file
/// gets an index beside it: .tbi, or .csi for BCF and for positions past 2^29; none if records are not
/// sorted. Not thread-safe.
class VariantWriter {
public:
    /// Checks the name and writes the header, with `threads` to compress. Throws ConfigError, WriteError.
    VariantWriter(const std::filesystem::path& path, Overwrite overwrite,
                  std::shared_ptr<VariantHeader> header, int threads);

    /// Throws WriteError; Stopped if standard output was closed; InputError for BCF where the header lacks a
    /// contig or field of the record.
    void write(const Variant& variant);
    /// Ends the files and adds them to `pending` for commit_together(). Warns of records that are not sorted.
    /// Throws WriteError.
    void finish(std::vector<PendingOutput*>& pending);

private:
    void require(bool fine) const;
    void note_order(const Variant& variant);
    void write_index();

    std::filesystem::path name_;
    Overwrite overwrite_;
    VariantFormat format_;
    std::shared_ptr<VariantHeader> header_;
    std::optional<PendingOutput> file_;  ///< none of standard output
    VariantHandle out_;
    std::optional<PendingOutput> index_;
    std::set<std::string> contigs_;  ///< of the records so far
    std::string contig_;             ///< of the last record
    std::int64_t last_ = -1, end_ = 0;
    bool sorted_ = true;  ///< whether an index can be made
};

/// Throws ConfigError if the file or an index of it exists and may not be replaced, or cannot be made. "-"
/// passes.
void prepare_variant_output(const std::filesystem::path& path, Overwrite overwrite);

}  // namespace bigbird::genome
