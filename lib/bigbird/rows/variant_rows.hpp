// SPDX-License-Identifier: Apache-2.0
// Variants as pairs of windows: the reference's sequence, and the same with the alternative allele.
#pragma once

#include "bigbird/genome/reference/reference_genome.hpp"
#include "bigbird/genome/regions/assembly_fit.hpp"
#include "bigbird/genome/regions/variant_reader.hpp"
#include "bigbird/rows/row.hpp"
#include "bigbird/rows/window.hpp"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace bigbird::rows {

/// Finds the TSSs of a file (read_tss) by position, with the windows around them. Immutable; thread-safe.
class TssIndex {
public:
    struct Site {
        std::int64_t tss = 0;
        genome::Strand strand = genome::Strand::forward;
        std::string name;  ///< "contig:base" (1-based) if the file has no name
    };

    /// Leaves out TSSs outside the reference, with a warning. Throws InputError as read_tss and
    /// genome::require_assembly, and if no TSS is left.
    TssIndex(const std::filesystem::path& tss, const genome::ReferenceGenome& reference,
             const WindowBounds& bounds);

    const WindowBounds& bounds() const { return bounds_; }
    /// The TSS nearest to the middle of [begin, end) among those whose windows contain it; the first in the
    /// genome among equal ones.
    const Site* nearest(std::size_t contig, std::int64_t begin, std::int64_t end) const;

private:
    WindowBounds bounds_;
    std::vector<std::vector<Site>> by_contig_;  ///< ascending
};

/// One alternative allele of one record.
struct VariantRow {
    std::string contig, id, ref, alt;
    std::int64_t position = 0;          ///< 0-based
    std::int64_t record = 0, line = 0;  ///< see genome::Variant
    RowStatus status = RowStatus::ok;
    double n_fraction = 0;  ///< share of N in the reference's window; NaN without a window
    /// Normalized windows of `window` bases each. Without TSSs, the reference's window is centered on REF
    /// (genome::window_around). The other begins at the same base, with ALT instead of REF, and has the same
    /// length. With TSSs, both are windows of the nearest TSS whose window contains REF, on its strand. The
    /// TSS then has the same offset in both. POS, REF and ALT are normalized as in bcftools norm, so that
    /// windows do not depend on how a variant is written.
    std::string ref_sequence, alt_sequence;
    /// Only in `aligned` rows whose alleles differ in length: the alternative window, shifted so that the
    /// bases after ALT, not those before it, keep the reference's offsets.
    std::string right_sequence;
    std::int64_t window_begin = 0, contig_length = 0;
    std::int64_t offset = 0;                         ///< offset of the alleles in both windows, without TSSs
    bool substitution = false;                       ///< whether the variant replaces one base
    std::int64_t ref_bases = 0, alt_bases = 0;       ///< of REF and ALT, normalized
    std::string tss = ".";                           ///< name of the TSS
    std::int64_t segment = 0;                        ///< segment of a job in parts (core/parts)
    std::shared_ptr<const genome::Variant> whole{};  ///< complete record, after keep_records()
};

/// Reads rows one by one: one per alternative allele, and at least one per record. Only fill() is
/// thread-safe.
class VariantRows {
public:
    /// Returns the first base of the window for a variant at `position`.
    using BeginOf = std::function<std::int64_t(std::int64_t position)>;
    /// `tss` may be null, and must outlive this object; `window` is then the size of its windows. With
    /// `begin_of`, windows are on a grid of the contig instead of being centered on variants. `aligned`: rows
    /// get a right_sequence.
    VariantRows(const std::filesystem::path& variants, const genome::ReferenceGenome& reference,
                std::int64_t window, const TssIndex* tss = nullptr, BeginOf begin_of = {},
                bool aligned = false);

    /// See genome::VariantReader::keep_records().
    std::shared_ptr<genome::VariantHeader> keep_records(std::span<const std::string> lines) {
        return reader_.keep_records(lines);
    }
    /// Returns the next row, or nullopt at the end. The row has no sequences yet, and its status reflects
    /// only the record.
    std::optional<VariantRow> next();
    /// Checks REF, extracts the windows, and sets status and n_fraction. Thread-safe.
    void fill(VariantRow& row) const;
    /// Counts a row for report().
    void settle(const VariantRow& row);
    /// Logs warnings with the number of rows without scores, by reason. Throws InputError if no contig of any
    /// row is in the reference, or as genome::require_assembly(). With `part`, warns instead of throwing.
    void report(bool part = false, bool skip_invalid = false) const;

private:
    genome::VariantReader reader_;
    const genome::ReferenceGenome& reference_;
    std::int64_t window_;
    const TssIndex* tss_;
    BeginOf begin_of_;
    bool aligned_;
    std::shared_ptr<const genome::Variant> variant_;  ///< record whose alleles are being returned
    std::size_t next_alt_ = 0;
    std::int64_t rows_ = 0;
    std::map<RowStatus, std::int64_t> not_scored_;
    genome::AssemblyFit fit_;
};

/// Counts the rows by reading the file once.
std::int64_t count_variant_rows(const std::filesystem::path& variants);

}  // namespace bigbird::rows
