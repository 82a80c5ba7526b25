// SPDX-License-Identifier: Apache-2.0
#include "bigbird/rows/tss.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/log.hpp"
#include "bigbird/core/words.hpp"
#include "bigbird/genome/text/text_input.hpp"
#include "bigbird/rows/annotation_row.hpp"
#include "bigbird/rows/text_fields.hpp"
#include "bigbird/rows/window.hpp"

#include <algorithm>
#include <iterator>
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

BedRecord annotated(const AnnotationRow& row, const genome::TextInput& input) {
    if (row.strand != "+" && row.strand != "-")
        throw input.fault("a TSS needs its strand, + or -, in column 7");
    BedRecord record;
    record.where = {std::string(row.contig), row.begin, row.end};
    record.name = gene_of(row.attributes);
    record.strand = static_cast<Strand>(row.strand.front());
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
    void add(const AnnotationRow& row, const genome::TextInput& input) {
        if (row.type == "transcript" || row.type.ends_with("RNA") || row.type.ends_with("_transcript"))
            transcripts_.push_back(annotated(row, input));
        else if (row.type.ends_with("gene") && row.type != "pseudogene" &&
                 (transcripts_.empty() || row.strand == "+" || row.strand == "-"))
            genes_.push_back(annotated(row, input));
    }

    std::vector<BedRecord> sites(const std::filesystem::path& path) {
        if (transcripts_.empty() && genes_.empty())
            throw InputError("holds neither transcripts nor genes; give a GTF or GFF3 that has them, or BED6",
                             path);
        std::set<std::tuple<std::string, std::int64_t, Strand>> begun, seen;
        for (const BedRecord& one : transcripts_)
            begun.emplace(one.where.contig, tss_of(one.where, one.strand), one.strand);
        // Genes of bacteria have none; neither have immunoglobulin's in some files.
        std::erase_if(genes_, [&](const BedRecord& gene) {
            const auto& [contig, begin, end] = gene.where;
            return std::any_of(begun.lower_bound({contig, begin, Strand{}}),
                               begun.lower_bound({contig, end, Strand{}}),
                               [&](const auto& start) { return std::get<Strand>(start) == gene.strand; });
        });
        const std::string genes = counted(genes_.size(), "gene");
        const std::string of =
            transcripts_.empty() ? genes
            : genes_.empty()     ? counted(transcripts_.size(), "transcript")
                             : counted(transcripts_.size(), "transcript") + " and " + genes + " without one";
        std::ranges::move(genes_, std::back_inserter(transcripts_));
        std::ranges::sort(transcripts_, {}, &BedRecord::line);
        std::vector<BedRecord> sites;
        for (BedRecord& one : transcripts_) {
            BedRecord site = base_of(std::move(one));
            if (seen.emplace(site.where.contig, site.where.begin, site.strand).second)
                sites.push_back(std::move(site));
        }
        log_info("{}: {} of {}", path.string(), counted(sites.size(), "TSS"), of);
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
            annotation->add(parse_annotation_row(fields, input), input);
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
