// SPDX-License-Identifier: Apache-2.0
// Variants as pairs of windows: the reference's sequence and the same with the other allele.
#pragma once

#include "bigbird/genome/reference/reference_genome.hpp"
#include "bigbird/genome/regions/variant_reader.hpp"
#include "bigbird/rows/row.hpp"
#include "bigbird/rows/tss_index.hpp"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>

namespace bigbird::rows {

/// One alternative allele of one record.
struct VariantRow {
    std::string contig, id, ref, alt;
    std::int64_t position = 0;          ///< 0-based
    std::int64_t record = 0, line = 0;  ///< as genome::Variant has them
    RowStatus status = RowStatus::ok;
    double n_fraction = 0;  ///< of the reference's window; NaN where there is none
    /// `window` bases each, normalised. The reference's window is centred on REF (genome::window_around); the
    /// other begins at the same base, holds ALT in REF's place and reaches as far as its length allows. With
    /// TSSs it is that of the nearest TSS whose window holds REF, on its strand, and the TSS keeps its place
    /// in both. POS, REF and ALT are here those that bcftools norm writes for this allele, so that windows do
    /// not depend on how a variant is written.
    std::string ref_sequence, alt_sequence;
    /// With `aligned` rows, where lengths differ: the other allele's window so that the bases behind ALT, not
    /// those before it, are where the reference has them.
    std::string right_sequence;
    std::int64_t window_begin = 0, contig_length = 0;
    std::int64_t offset = 0;                         ///< of the alleles in both, without TSSs
    bool substitution = false;                       ///< whether one base is another one
    std::string tss = ".";                           ///< the TSS's name
    std::int64_t segment = 0;                        ///< of a work in parts (core/parts)
    std::shared_ptr<const genome::Variant> whole{};  ///< the record, after keep_records()
};

/// Reads rows one by one: as many for a record as it has alternative alleles, at least one. With `strict` a
/// row that cannot be scored is an InputError that names record and place. Not thread-safe, but for fill().
class VariantRows {
public:
    /// Where the window of a variant at a base begins.
    using BeginOf = std::function<std::int64_t(std::int64_t position)>;
    /// `tss`, if any, must outlive this; `window` is then the size of its windows. With `begin_of` windows
    /// lie on a contig's grid, not about the variants. `aligned`: rows have a right_sequence.
    VariantRows(const std::filesystem::path& variants, const genome::ReferenceGenome& reference,
                std::int64_t window, bool strict, const TssIndex* tss = nullptr, BeginOf begin_of = {},
                bool aligned = false);
    ~VariantRows();

    /// genome::VariantReader::keep_records().
    std::shared_ptr<genome::VariantHeader> keep_records(std::span<const std::string> lines);
    /// The next row without sequences and with a status that needs none, or nothing at the end.
    std::optional<VariantRow> next();
    /// Compares REF, cuts the windows, sets status and n_fraction. Thread-safe.
    void fill(VariantRow& row) const;
    /// Counts a row for report(); throws InputError where it has no scores and `strict` was asked for.
    void settle(const VariantRow& row);
    /// Warns of the rows without scores, by reason. Throws InputError where no contig of any row is in the
    /// reference, or genome::require_assembly() does; for a part of the rows it only warns.
    void report(bool part = false, bool skip_invalid = false) const;

private:
    void count_fit(const VariantRow& row);

    struct State;
    std::unique_ptr<State> state_;
};

/// How many rows there are. Reads the file once.
std::int64_t count_variant_rows(const std::filesystem::path& variants);

}  // namespace bigbird::rows
