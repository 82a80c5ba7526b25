// SPDX-License-Identifier: Apache-2.0
#include "bigbird/rows/tss.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/log.hpp"
#include "bigbird/core/parse_number.hpp"
#include "bigbird/core/words.hpp"
#include "bigbird/genome/text/text_input.hpp"
#include "bigbird/rows/text_fields.hpp"
#include "bigbird/rows/window.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

namespace bigbird::rows {

namespace {

using genome::BedRecord;
using genome::Strand;

constexpr std::size_t annotation_columns = 9;
enum AnnotationColumn : std::size_t {
    sequence_id,
    source,
    type,
    first,
    last,
    score,
    strand,
    phase,
    attributes
};

/// Whether a row is of GTF or GFF3, in which columns 4 and 5 are positions, and not of BED (columns 2 and 3).
bool is_annotation(const std::vector<std::string_view>& fields) {
    return fields.size() == annotation_columns && !parse_number<std::int64_t>(fields[1]) &&
           parse_number<std::int64_t>(fields[first]) && parse_number<std::int64_t>(fields[last]);
}

/// The value of `key "value";` (GTF) or `key=value` (GFF3); empty if there is none.
std::string_view attribute_of(std::string_view text, std::string_view key) {
    for (std::string_view part : split_fields(text, ';')) {
        part.remove_prefix(std::min(part.find_first_not_of(' '), part.size()));
        if (!part.starts_with(key) || part.size() <= key.size() + 1) continue;
        if (part[key.size()] != ' ' && part[key.size()] != '=') continue;
        part.remove_prefix(key.size() + 1);
        const std::size_t begin = part.find_first_not_of(" \""), end = part.find_last_not_of(" \"");
        if (begin != std::string_view::npos) return part.substr(begin, end - begin + 1);
    }
    return {};
}

std::string gene_of(std::string_view text) {
    for (const char* key : {"gene_name", "gene", "gene_id", "Name", "ID"})
        if (const std::string_view value = attribute_of(text, key); !value.empty()) return std::string(value);
    return ".";
}

BedRecord annotated(const std::vector<std::string_view>& fields, const genome::TextInput& input) {
    const auto begin = parse_number<std::int64_t>(fields[first]),
               end = parse_number<std::int64_t>(fields[last]);
    if (!begin || !end || *begin < 1 || *end < *begin || *end > genome::longest_contig)
        throw input.fault("columns 4 and 5 must be positions from 1 on, the first not behind the last");
    if (fields[strand] != "+" && fields[strand] != "-")
        throw input.fault("a TSS needs its strand, + or -, in column 7");
    BedRecord record;
    record.where = {std::string(fields[sequence_id]), *begin - 1, *end};
    record.name = gene_of(fields[attributes]);
    record.strand = static_cast<Strand>(fields[strand].front());
    record.line = input.line_number();
    return record;
}

BedRecord base_of(BedRecord site) {
    site.where.begin = tss_of(site.where, site.strand);
    site.where.end = site.where.begin + 1;
    return site;
}

/// The sites of GTF or GFF3.
class Annotation {
public:
    void add(const std::vector<std::string_view>& fields, const genome::TextInput& input) {
        if (fields.size() != annotation_columns)
            throw input.fault("GTF and GFF3 have nine columns, separated by tabs; this row has " +
                              std::to_string(fields.size()));
        const std::string_view kind = fields[type];
        if (kind == "transcript" || kind.ends_with("RNA") || kind.ends_with("_transcript"))
            transcripts_.push_back(annotated(fields, input));
        else if (transcripts_.empty() && (kind.ends_with("gene")))
            genes_.push_back(annotated(fields, input));
    }

    std::vector<BedRecord> sites(const std::filesystem::path& path) {
        std::vector<BedRecord>& found = transcripts_.empty() ? genes_ : transcripts_;
        if (found.empty())
            throw InputError("holds neither transcripts nor genes; give a GTF or GFF3 that has them, or BED6",
                             path);
        std::set<std::tuple<std::string, std::int64_t, Strand>> seen;
        std::vector<BedRecord> sites;
        for (BedRecord& one : found) {
            BedRecord site = base_of(std::move(one));
            if (seen.emplace(site.where.contig, site.where.begin, site.strand).second)
                sites.push_back(std::move(site));
        }
        log_info("{}: {} of {}", path.string(), counted(sites.size(), "TSS"),
                 counted(found.size(), transcripts_.empty() ? "gene" : "transcript"));
        return sites;
    }

private:
    std::vector<BedRecord> transcripts_, genes_;
};

}  // namespace

std::vector<BedRecord> read_tss(const std::filesystem::path& path, bool needs_strand) {
    genome::TextInput input(path);
    std::vector<BedRecord> sites;
    std::optional<Annotation> annotation;
    bool any = false;
    for (std::string line; input.next(line);) {
        if (line.starts_with("##FASTA") || (annotation && line.starts_with('>'))) break;  // GFF3's sequences
        if (genome::is_no_row(line)) continue;
        const std::vector<std::string_view> fields = split_fields(line, '\t');
        if (!std::exchange(any, true) && is_annotation(fields)) annotation.emplace();
        if (annotation) {
            annotation->add(fields, input);
            continue;
        }
        BedRecord site = genome::parse_bed_row(line, path, input.line_number());
        if (needs_strand && site.strand == Strand::none)
            throw input.fault("a TSS needs its strand, + or -, in column 6");
        if (site.where.size() == 0)
            throw input.fault("a TSS needs at least one base: end must lie behind start");
        sites.push_back(base_of(std::move(site)));
    }
    return annotation ? annotation->sites(path) : sites;
}

}  // namespace bigbird::rows
