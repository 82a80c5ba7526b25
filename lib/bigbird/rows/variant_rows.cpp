// SPDX-License-Identifier: Apache-2.0
#include "bigbird/rows/variant_rows.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/log.hpp"
#include "bigbird/core/words.hpp"
#include "bigbird/genome/reference/interval.hpp"
#include "bigbird/genome/reference/sequence.hpp"
#include "bigbird/genome/regions/assembly_fit.hpp"
#include "bigbird/genome/regions/interval_set.hpp"
#include "bigbird/rows/tss.hpp"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <utility>

namespace bigbird::rows {

TssIndex::TssIndex(const std::filesystem::path& tss, const genome::ReferenceGenome& reference,
                   const WindowBounds& bounds)
    : bounds_(bounds), by_contig_(reference.contigs().size()) {
    genome::AssemblyFit fit;
    for (const genome::BedRecord& record : read_tss(tss)) {
        genome::Interval where = record.where;
        const genome::Fit here = genome::place(where, reference);
        fit.add(record.where, here, reference, record.line);
        if (here != genome::Fit::inside) continue;
        const std::string place = record.where.contig + ":" + std::to_string(where.end);
        by_contig_[*reference.find(where.contig)].push_back(
            {where.begin, record.strand, record.name == "." ? place : record.name});
    }
    if (fit.off_reference() == fit.rows) throw InputError("no TSS is on the reference", tss);
    if (fit.off_reference() > 0)
        log_warning("{}: left out {} of {} TSSs: {}", tss.string(), fit.off_reference(), fit.rows,
                    fit.misfits());
    genome::require_assembly(fit, reference, tss.string(), "TSSs", false, false);
    for (std::vector<Site>& sites : by_contig_)
        std::ranges::stable_sort(sites, {}, &Site::tss);
}

const TssIndex::Site* TssIndex::nearest(std::size_t contig, std::int64_t begin, std::int64_t end) const {
    const std::vector<Site>& sites = by_contig_[contig];
    const std::int64_t reach = std::max(std::abs(bounds_.begin), std::abs(bounds_.end));
    const Site* best = nullptr;
    std::int64_t best_distance = 0;
    for (auto site = std::ranges::lower_bound(sites, begin - reach, {}, &Site::tss);
         site != sites.end() && site->tss <= end + reach; ++site) {
        const genome::Interval window = window_about_tss({}, site->tss, site->strand, bounds_);
        if (begin < window.begin || end > window.end) continue;
        const std::int64_t distance = std::abs(begin + end - 1 - 2 * site->tss);
        if (best == nullptr || distance < best_distance) {
            best = &*site;
            best_distance = distance;
        }
    }
    return best;
}

namespace {

/// Whether an allele has only A C G T U N and IUPAC's ambiguity codes.
bool spells_bases(const std::string& allele) {
    return !allele.empty() &&
           allele.find_first_not_of("ACGTUNRYSWKMBDHVacgtunryswkmbdhv") == std::string::npos;
}

/// Replaces `ref` at `position` by `alt`.
struct Edit {
    std::int64_t position;
    std::string ref, alt;
};

/// Trims and left-aligns the edit (Tan et al. 2015, as bcftools norm), keeping at least one base of each
/// allele. Requires ref != alt.
void normalise_edit(Edit& edit, const genome::ReferenceGenome& reference, const std::string& contig) {
    constexpr std::int64_t step = 100;
    std::string left;  // bases before the edit
    while (edit.ref.back() == edit.alt.back()) {
        if (edit.ref.size() > 1 && edit.alt.size() > 1) {
            edit.ref.pop_back();
            edit.alt.pop_back();
            continue;
        }
        if (edit.position == 0) break;
        if (left.empty())
            left = reference.fetch({contig, std::max<std::int64_t>(0, edit.position - step), edit.position});
        const char before = left.back();
        left.pop_back();
        --edit.position;
        for (std::string* allele : {&edit.ref, &edit.alt}) {
            allele->insert(allele->begin(), before);
            allele->pop_back();
        }
    }
    std::size_t same = 0;
    while (same + 1 < std::min(edit.ref.size(), edit.alt.size()) && edit.ref[same] == edit.alt[same])
        ++same;
    edit.position += static_cast<std::int64_t>(same);
    edit.ref.erase(0, same);
    edit.alt.erase(0, same);
}

}  // namespace

VariantRows::VariantRows(const std::filesystem::path& variants, const genome::ReferenceGenome& reference,
                         std::int64_t window, const TssIndex* tss, BeginOf begin_of, bool aligned)
    : reader_(variants),
      reference_(reference),
      window_(window),
      tss_(tss),
      begin_of_(std::move(begin_of)),
      aligned_(aligned) {}

std::optional<VariantRow> VariantRows::next() {
    if (!variant_) {
        auto variant = reader_.next();
        if (!variant) return std::nullopt;
        variant_ = std::make_shared<const genome::Variant>(std::move(*variant));
        next_alt_ = 0;
    }
    const genome::Variant& variant = *variant_;
    VariantRow row;
    row.contig = variant.contig;
    row.id = variant.id;
    row.ref = variant.ref;
    row.position = variant.position;
    row.record = variant.record;
    row.line = variant.line;
    if (variant.whole) row.whole = variant_;
    row.n_fraction = std::numeric_limits<double>::quiet_NaN();
    if (variant.alts.empty()) {
        row.alt = ".";
        row.status = RowStatus::no_alt;
    } else {
        row.alt = variant.alts[next_alt_];
        if (!spells_bases(row.alt) || !spells_bases(row.ref)) row.status = RowStatus::symbolic;
    }
    if (++next_alt_ >= variant.alts.size()) variant_.reset();
    return row;
}

void VariantRows::fill(VariantRow& row) const {
    const auto index = reference_.find(row.contig);
    if (!index) {
        row.status = RowStatus::no_contig;
        return;
    }
    const genome::Contig& contig = reference_.contigs()[*index];
    const std::int64_t end_of_ref = row.position + std::ssize(row.ref);
    if (row.position < 0 || end_of_ref > contig.length) {
        row.status = RowStatus::past_end;
        return;
    }
    if (!is_scored(row.status)) return;
    Edit edit{row.position, row.ref, row.alt};
    genome::normalise(edit.ref);
    genome::normalise(edit.alt);
    // N in the reference matches any base. N in REF, which includes IUPAC's ambiguity codes, matches only N.
    const bool fits = std::ranges::equal(reference_.fetch({contig.name, row.position, end_of_ref}), edit.ref,
                                         [](char known, char base) { return known == base || known == 'N'; });
    if (fits && edit.ref != edit.alt) normalise_edit(edit, reference_, contig.name);
    const auto& [position, ref, alt] = edit;
    const std::int64_t growth = std::ssize(alt) - std::ssize(ref), end = position + std::ssize(ref);
    row.substitution = ref.size() == 1 && alt.size() == 1;
    row.ref_bases = std::ssize(ref);
    row.alt_bases = std::ssize(alt);
    genome::Interval window = genome::window_around({contig.name, position, end}, window_);
    if (begin_of_) {
        window.begin = begin_of_(position);
        window.end = window.begin + window_;
    }
    const TssIndex::Site* site = nullptr;
    if (tss_ != nullptr) {
        site = tss_->nearest(*index, position, end);
        if (site == nullptr) {
            row.status = RowStatus::no_tss;
            return;
        }
        row.tss = site->name;
        window = window_about_tss(contig.name, site->tss, site->strand, tss_->bounds());
    }
    // A deletion needs extra bases on one side: the left if that keeps the TSS in its place, else the right.
    const bool from_left = site != nullptr && end <= site->tss;
    const std::int64_t more = std::max<std::int64_t>(-growth, 0), more_left = from_left ? more : 0;
    const std::string dna =
        reference_.fetch({contig.name, window.begin - more_left, window.end + (from_left ? 0 : more)});
    row.offset = position - window.begin;
    const auto length = static_cast<std::size_t>(window_);
    const auto at = static_cast<std::size_t>(row.offset + more_left);  // offset of REF in dna
    if (row.offset < 0 || static_cast<std::size_t>(row.offset) + std::max(ref.size(), alt.size()) > length) {
        row.status = RowStatus::too_long;
        return;
    }
    if (!fits) {
        row.status = RowStatus::ref_mismatch;
        return;
    }
    row.ref_sequence = dna.substr(static_cast<std::size_t>(more_left), length);
    row.ref_sequence.replace(static_cast<std::size_t>(row.offset), ref.size(), ref);
    row.alt_sequence = dna.substr(0, at) + alt + dna.substr(at + ref.size());
    if (from_left)
        row.alt_sequence.erase(0, row.alt_sequence.size() - length);
    else
        row.alt_sequence.resize(length, 'N');
    if (aligned_ && growth != 0) {
        row.right_sequence = reference_.fetch({contig.name, window.begin - more, position}) + alt +
                             reference_.fetch({contig.name, end, window.end});
        row.right_sequence.erase(0, row.right_sequence.size() - length);
    }
    row.window_begin = window.begin;
    row.contig_length = contig.length;
    if (site != nullptr && site->strand == genome::Strand::reverse) {
        row.ref_sequence = genome::reverse_complement(row.ref_sequence);
        row.alt_sequence = genome::reverse_complement(row.alt_sequence);
    }
    row.n_fraction = genome::n_fraction(row.ref_sequence);
    const bool padded = window.begin < 0 || window.end > contig.length;
    row.status = status_of(row.ref_sequence, padded, row.alt_sequence);
}

void VariantRows::settle(const VariantRow& row) {
    using genome::Fit;
    ++rows_;
    const Fit fit = row.status == RowStatus::no_contig  ? Fit::unknown_contig
                    : row.status == RowStatus::past_end ? Fit::past_end
                                                        : Fit::inside;
    fit_.add({row.contig, row.position, row.position + std::ssize(row.ref)}, fit, reference_);
    if (row.status == RowStatus::ref_mismatch && ++fit_.ref_mismatch == 1) {
        const std::string dna = reference_.fetch({reference_.contigs()[*reference_.find(row.contig)].name,
                                                  row.position, row.position + std::ssize(row.ref)});
        fit_.mismatched += "; the first: " + row.contig + ":" + std::to_string(row.position + 1) + " " +
                           shortened(row.ref) + ", where the reference has " + shortened(dna);
    }
    if (!is_scored(row.status)) ++not_scored_[row.status];
}

void VariantRows::report(bool part, bool skip_invalid) const {
    const std::string path = reader_.path().string();
    const auto missing = not_scored_.find(RowStatus::no_contig);
    if (!part && rows_ > 0 && missing != not_scored_.end() && missing->second == rows_) {
        throw InputError("none of its contigs is in the reference; give a reference of the same assembly",
                         reader_.path());
    }
    for (const auto& [status, count] : not_scored_) {
        const bool other = status == RowStatus::ref_mismatch && count == rows_;
        log_warning("{}: {} of {} rows are {} and have no scores{}{}", path, count, rows_, to_string(status),
                    status == RowStatus::ref_mismatch ? " (" + fit_.mismatched + ")" : "",
                    other ? "; is it of another assembly than the FASTA?" : "");
    }
    if (!part) genome::require_assembly(fit_, reference_, path, "variants", skip_invalid);
    if (rows_ == 0) log_warning("{}: holds no variants; the output holds none either", path);
}

std::int64_t count_variant_rows(const std::filesystem::path& variants) {
    genome::VariantReader reader(variants);
    std::int64_t rows = 0;
    while (const std::optional<genome::Variant> variant = reader.next())
        rows += std::max<std::int64_t>(1, std::ssize(variant->alts));
    return rows;
}

}  // namespace bigbird::rows
