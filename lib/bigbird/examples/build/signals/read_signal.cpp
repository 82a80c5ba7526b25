// SPDX-License-Identifier: Apache-2.0
#include "bigbird/examples/build/signals/read_signal.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/log.hpp"
#include "bigbird/core/parse_number.hpp"
#include "bigbird/core/words.hpp"
#include "bigbird/genome/regions/assembly_fit.hpp"
#include "bigbird/genome/regions/bed.hpp"
#include "bigbird/genome/text/text_input.hpp"
#include "bigbird/rows/text_fields.hpp"

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace bigbird::examples {
namespace fs = std::filesystem;

namespace {

constexpr std::size_t pair_columns = 6;
constexpr int first_rows = 1000;  // by which fragments and pairs are distinguished

/// The fields of a line with tabs, else of one with blanks, as UCSC's bedGraph may have.
std::vector<std::string_view> fields_of(std::string_view line) {
    if (line.find('\t') != std::string_view::npos) return rows::split_fields(line, '\t');
    std::vector<std::string_view> fields = rows::split_fields(line, ' ');
    std::erase(fields, std::string_view());
    return fields;
}

bool ends_with_one_of(const fs::path& path, std::initializer_list<std::string_view> endings) {
    std::string name = lower_case(path.filename().string());
    for (const std::string_view packed : {".gz", ".bgz"})
        if (name.ends_with(packed)) name.resize(name.size() - packed.size());
    return std::ranges::any_of(endings, [&](std::string_view ending) { return name.ends_with(ending); });
}

/// The data rows of a text.
class TextRows {
public:
    TextRows(const fs::path& path, const genome::ReferenceGenome& reference)
        : reference_(reference), input_(path) {}

    bool next() {
        while (input_.next(line_)) {
            if (genome::is_no_row(line_)) continue;
            fields_ = fields_of(line_);
            return true;
        }
        return false;
    }
    const std::vector<std::string_view>& fields() const { return fields_; }
    const fs::path& path() const { return input_.path(); }
    /// Whether columns 4 to 6 are the place of the other read of a pair, as in BEDPE.
    bool is_pair() const {
        if (fields_.size() < pair_columns) return false;
        const auto begin = parse_number<std::int64_t>(fields_[4]),
                   end = parse_number<std::int64_t>(fields_[5]);
        if (!begin || !end) return false;
        if (fields_[3] == ".") return *begin < 0 && *end < 0;  // not mapped
        return *begin <= *end && (fields_[3] == fields_[0] || reference_.find(fields_[3]));
    }
    InputError fault(const std::string& what) const { return input_.fault(what); }
    std::int64_t coordinate(std::size_t field) const {
        const auto value = fields_.size() > field ? parse_number<std::int64_t>(fields_[field]) : std::nullopt;
        if (!value || *value < 0) {
            throw fault("has no coordinate in column " + std::to_string(field + 1) +
                        (fit_.rows == 0 ? "; a sheet of files begins with the columns name and path" : ""));
        }
        return *value;
    }
    /// The contig of an interval on the reference; nullopt for another, which is counted.
    std::optional<std::size_t> place(std::int64_t begin, std::int64_t end) {
        if (begin >= end) throw fault("has a start that is not before its end");
        const auto index = reference_.find(fields_[0]);
        const bool inside = index && end <= reference_.contigs()[*index].length;
        fit_.add({std::string(fields_[0]), begin, end},
                 inside  ? genome::Fit::inside
                 : index ? genome::Fit::past_end
                         : genome::Fit::unknown_contig,
                 reference_);
        return inside ? index : std::nullopt;
    }
    std::int64_t finish(bool skip_invalid, bool logs = true) const {
        const std::string name = path().string();
        genome::require_assembly(fit_, reference_, name, "rows", skip_invalid);
        if (logs && fit_.off_reference() > 0)
            log_warning("{}: {} of {} rows do not count: {}", name, fit_.off_reference(), fit_.rows,
                        fit_.misfits());
        return fit_.rows;
    }

private:
    const genome::ReferenceGenome& reference_;
    genome::TextInput input_;
    std::string line_;
    std::vector<std::string_view> fields_;
    genome::AssemblyFit fit_;
};

std::int64_t read_bedgraph(TextRows rows, const genome::ReferenceGenome& reference, bool skip_invalid,
                           const AddSignal& add) {
    std::vector<std::int64_t> ends(reference.contigs().size(), 0);
    while (rows.next()) {
        if (rows.fields().size() != 4) throw rows.fault("is no row of a bedGraph: contig, start, end, value");
        const std::int64_t begin = rows.coordinate(1), end = rows.coordinate(2);
        const auto value = rows::parse_real(rows.fields()[3]);
        if (!value)
            throw rows.fault("has the value '" + std::string(rows.fields()[3]) + "', no finite number");
        const auto contig = rows.place(begin, end);
        if (!contig) continue;
        if (begin < ends[*contig]) {
            throw rows.fault(
                "overlaps the row before it, or comes after a later one: sort the bedGraph and "
                "merge what overlaps");
        }
        ends[*contig] = end;
        add(*contig, begin, end, *value);
    }
    return rows.finish(skip_invalid);
}

/// Whether rows of six columns or more are pairs of reads (BEDPE): in a file called so, and in another where
/// most of its first are.
bool holds_pairs(const fs::path& path, const genome::ReferenceGenome& reference) {
    if (ends_with_one_of(path, {".bedpe"})) return true;
    TextRows rows(path, reference);
    int pairs = 0, others = 0;
    for (int read = 0; read < first_rows && rows.next(); ++read)
        if (rows.fields().size() >= pair_columns) ++(rows.is_pair() ? pairs : others);
    return pairs > others;
}

std::int64_t read_fragments(TextRows rows, bool holds_pairs, bool skip_invalid, bool logs,
                            const VisitSpan& visit) {
    std::int64_t apart = 0;
    bool values = false;           // whether all rows could be those of a bedGraph
    bool fragments = holds_pairs;  // whether one could not
    std::map<std::size_t, std::int64_t> ends;
    while (rows.next()) {
        const auto& fields = rows.fields();
        const bool is_pair = holds_pairs && fields.size() >= pair_columns;
        if (is_pair && (fields[3] != fields[0] || fields[3] == ".")) {
            ++apart;
            continue;
        }
        std::int64_t begin = rows.coordinate(1), end = rows.coordinate(2);
        if (is_pair) {
            begin = std::min(begin, rows.coordinate(4));
            end = std::max(end, rows.coordinate(5));
        }
        const auto contig = rows.place(begin, end);
        if (!contig) continue;
        if (!fragments) {
            values = fields.size() > 3 && begin >= ends[*contig] && rows::parse_real(fields[3]);
            fragments = !values;
            ends[*contig] = end;
        }
        if (!visit({*contig, begin, end})) return 0;
    }
    if (logs && apart > 0)
        log_warning("pairs on two contigs, or with an unmapped read, do not count: {}",
                    counted(apart, "row"));
    if (values)
        throw InputError(
            "has a number in column 4 of every row, and rows that never overlap, as bedGraph: if the numbers "
            "are coverage, call it .bedgraph (with columns 1 to 4); if rows are fragments, delete the column",
            rows.path());
    return rows.finish(skip_invalid, logs);
}

/// Reads of BED6.
std::int64_t read_tag_align(TextRows rows, bool whole_fragments, bool skip_invalid, bool logs,
                            const VisitSpan& visit) {
    constexpr std::size_t strand = 5;
    while (rows.next()) {
        const auto& fields = rows.fields();
        const std::string_view sign = fields.size() > strand ? fields[strand] : "";
        if (sign != "+" && sign != "-")
            throw rows.fault("has no strand, + or -, in column 6: a tagAlign holds reads");
        const std::int64_t begin = rows.coordinate(1), end = rows.coordinate(2);
        const auto contig = rows.place(begin, end);
        if (!contig) continue;
        if (!visit({*contig, begin, end, whole_fragments || sign == "+", whole_fragments || sign == "-"}))
            return 0;
    }
    return rows.finish(skip_invalid, logs);
}

/// `logs`: whether to warn of rows and reads that do not count, and log how many do.
SignalRead read_spans(const fs::path& path, const genome::ReferenceGenome& reference,
                      const SignalReading& how, bool logs, const VisitSpan& visit) {
    const bool whole = how.counts() == Counted::fragments;
    if (is_alignments(path)) {
        const ReadCounts counts =
            read_alignments(path, reference, {how.filter, whole, how.skip_invalid, how.threads, logs}, visit);
        return {.rows = counts.fragments(), .reads = counts};
    }
    if (ends_with_one_of(path, {".tagalign"}))
        return {read_tag_align(TextRows(path, reference), whole, how.skip_invalid, logs, visit)};
    return {read_fragments(TextRows(path, reference), holds_pairs(path, reference), how.skip_invalid, logs,
                           visit)};
}

/// Finds the shift of a file's ends; none is sought for other assays.
std::optional<ShiftFound> shift_of(const fs::path& path, const genome::ReferenceGenome& reference,
                                   const SignalReading& how) {
    if (how.assay != Assay::atac && how.assay != Assay::dnase) return std::nullopt;
    if (!fs::is_regular_file(path))
        throw ConfigError(path.string() + " is a pipe: --assay atac and dnase read it twice, give a file");
    CutSites sites;
    read_spans(path, reference, how, false, [&](const AlignedSpan& span) { return sites.add(span); });
    const EndShift given{how.begin_shift, how.end_shift};
    ShiftFound found = sites.find(how.assay, reference, how.has_shift ? &given : nullptr);
    const auto text = [](const EndShift& shift) { return fmt::format("{},{}", shift.begin, shift.end); };
    const std::string name = path.string(), motif = how.assay == Assay::atac ? "Tn5's motif" : "both strands";
    const std::string evidence = fmt::format("by {} at {} per strand, {:.2f} bits before the next", motif,
                                             counted(found.sites, "site"), found.margin);
    if (how.has_shift)
        log_info("{}: ends move by {} as --shift says", name, text(found.applied));
    else if (found.clear)
        log_info("{}: its ends have the shift {} ({}), and move by {}", name, text(found.in_file), evidence,
                 text(found.applied));
    else
        log_warning(
            "{}: the shift of its ends is unclear ({}): assumed {}, unshifted, so that ends move by {}; give "
            "--shift if they are shifted",
            name, evidence, text(found.in_file), text(found.applied));
    return found;
}

/// Adds what counts of a span.
void add_span(const AlignedSpan& span, const SignalReading& how, const EndShift& shift,
              const AddSignal& add) {
    if (how.counts() == Counted::fragments) return add(span.contig, span.begin, span.end, 1);
    const std::int64_t first = span.begin + shift.begin, last = span.end - 1 + shift.end;
    if (span.begin_is_5prime && how.strand != CountedStrand::reverse) add(span.contig, first, first + 1, 1);
    if (span.end_is_5prime && how.strand != CountedStrand::forward) add(span.contig, last, last + 1, 1);
}

}  // namespace

bool SignalReading::parse_shift(std::string_view text) {
    const auto parts = rows::split_fields(text, ',');
    const auto begin = parse_number<std::int64_t>(parts.front()),
               end = parse_number<std::int64_t>(parts.back());
    if (parts.size() != 2 || !begin || !end) return false;
    begin_shift = *begin;
    end_shift = *end;
    has_shift = true;
    return true;
}

bool is_binary_signal(const fs::path& path) {
    return is_alignments(path) || ends_with_one_of(path, {".bw", ".bigwig"});
}

bool holds_fragments(const fs::path& path) {
    if (is_alignments(path) || ends_with_one_of(path, {".bed", ".bedpe", ".tsv", ".tagalign"})) return true;
    if (is_binary_signal(path) || ends_with_one_of(path, {".bedgraph", ".bdg"})) return false;
    throw ConfigError("the name of " + path.string() +
                      " does not say what signal it holds: .bw and .bigwig are bigWig, .bedgraph and .bdg "
                      "bedGraph, .bed, .bedpe and .tsv fragments, .bam, .cram and .tagAlign reads");
}

SignalRead read_signal(const fs::path& path, const genome::ReferenceGenome& reference,
                       const SignalReading& how, const AddSignal& add) {
    if (!holds_fragments(path)) {
        if (is_binary_signal(path)) return {read_bigwig(path, reference.contigs(), add)};
        return {read_bedgraph(TextRows(path, reference), reference, how.skip_invalid, add)};
    }
    const std::optional<ShiftFound> found = shift_of(path, reference, how);
    const EndShift shift = found ? found->applied : EndShift{how.begin_shift, how.end_shift};
    SignalRead read = read_spans(path, reference, how, true, [&](const AlignedSpan& span) {
        add_span(span, how, shift, add);
        return true;
    });
    read.shift = found;
    return read;
}

}  // namespace bigbird::examples
