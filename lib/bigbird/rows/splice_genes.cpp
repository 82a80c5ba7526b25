// SPDX-License-Identifier: Apache-2.0
#include "bigbird/rows/splice_genes.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/log.hpp"
#include "bigbird/core/parse_number.hpp"
#include "bigbird/core/words.hpp"
#include "bigbird/genome/regions/assembly_fit.hpp"
#include "bigbird/genome/regions/interval_set.hpp"
#include "bigbird/genome/text/text_input.hpp"
#include "bigbird/rows/annotation_row.hpp"
#include "bigbird/rows/text_fields.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

namespace bigbird::rows {

namespace {

using genome::Strand;
using Exon = SpliceGene::Exon;

// ---- SpliceAI's table

constexpr std::array<std::string_view, 7> table_columns{"NAME",   "CHROM",      "STRAND",  "TX_START",
                                                        "TX_END", "EXON_START", "EXON_END"};
struct InTable {
    enum : std::size_t { name, chrom, strand, tx_start, tx_end, exon_start, exon_end };
};

bool is_splice_table(const std::vector<std::string_view>& fields) {
    return fields.size() >= table_columns.size() && (fields.front() == "#NAME" || fields.front() == "NAME") &&
           std::equal(table_columns.begin() + 1, table_columns.end(), fields.begin() + 1);
}

std::int64_t position_of(std::string_view text, const genome::TextInput& input) {
    const auto value = parse_number<std::int64_t>(text);
    if (!value || *value < 0 || *value > genome::longest_contig)
        throw input.fault("'" + shortened(text) + "' is no position");
    return *value;
}

std::vector<std::int64_t> positions_of(std::string_view list, const genome::TextInput& input) {
    if (list.ends_with(',')) list.remove_suffix(1);
    std::vector<std::int64_t> positions;
    for (const std::string_view text : split_fields(list, ','))
        positions.push_back(position_of(text, input));
    return positions;
}

Strand strand_of(std::string_view text, const genome::TextInput& input) {
    if (text != "+" && text != "-") throw input.fault("a gene needs its strand, + or -");
    return static_cast<Strand>(text.front());
}

SpliceGene gene_of_row(const std::vector<std::string_view>& fields, const genome::TextInput& input) {
    if (fields.size() < table_columns.size())
        throw input.fault("a gene has seven columns, separated by tabs; this row has " +
                          std::to_string(fields.size()));
    SpliceGene gene{.name = std::string(fields[InTable::name]),
                    .contig = std::string(fields[InTable::chrom]),
                    .strand = strand_of(fields[InTable::strand], input),
                    .begin = position_of(fields[InTable::tx_start], input),
                    .end = position_of(fields[InTable::tx_end], input),
                    .exons = {}};
    const auto begins = positions_of(fields[InTable::exon_start], input),
               ends = positions_of(fields[InTable::exon_end], input);
    if (begins.size() != ends.size())
        throw input.fault("EXON_START and EXON_END are lists of different lengths");
    for (std::size_t i = 0; i < begins.size(); ++i)
        gene.exons.push_back({begins[i], ends[i]});
    std::ranges::sort(gene.exons);
    if (gene.begin >= gene.end ||
        std::ranges::any_of(gene.exons, [](const Exon& exon) { return exon.begin >= exon.end; }))
        throw input.fault("starts must lie before ends");
    return gene;
}

// ---- GTF and GFF3

struct Transcript {
    std::string gene, name, contig;
    Strand strand = Strand::forward;
    int tag = 0;  ///< the largest of a gene is taken
    std::vector<Exon> exons;

    std::int64_t bases() const {
        std::int64_t sum = 0;
        for (const Exon& exon : exons)
            sum += exon.end - exon.begin;
        return sum;
    }
};

/// The rank of a transcript among those of its gene, by its tags.
int tag_of(std::string_view attributes) {
    constexpr std::array<std::string_view, 5> tags{"RefSeq Select", "RefSeq_Select", "MANE Select",
                                                   "MANE_Select", "Ensembl_canonical"};
    int best = 0;
    for (const std::string_view list : attributes_of(attributes, "tag"))
        for (const std::string_view tag : split_fields(list, ','))
            if (const auto found = std::ranges::find(tags, tag); found != tags.end())
                best = std::max(best, static_cast<int>(found - tags.begin()) + 1);
    return best;
}

/// The first attribute that the row has; "" if none.
std::string first_of(const AnnotationRow& row, std::initializer_list<const char*> keys) {
    for (const char* key : keys)
        if (const auto value = attribute_of(row.attributes, key); !value.empty()) return std::string(value);
    return {};
}

/// The transcripts of GTF or GFF3. Rows of a gene, its transcripts and exons may have any order.
class Transcripts {
public:
    void add(const AnnotationRow& row, const genome::TextInput& input) {
        if (row.type == "exon") {
            const std::string ids = transcript_of_exon(row);
            for (const std::string_view id : split_fields(ids, ','))
                add_exon(std::string(id), row, input);
            return;
        }
        const std::string id = first_of(row, {"ID", "transcript_id"});
        if (row.type.ends_with("gene")) {
            const std::string gene = first_of(row, {"ID", "gene_id"});
            gene_names_[gene] = first_of(row, {"gene_name", "Name", "gene", "gene_id", "ID"});
        } else if (!id.empty() && (row.type == "transcript" || row.type.ends_with("RNA") ||
                                   row.type.ends_with("_transcript") || row.type.ends_with("segment"))) {
            describe(transcripts_[key_of(id, row)], row);
        }
    }

    std::vector<SpliceGene> genes(const std::filesystem::path& path) const {
        std::map<std::pair<std::string, std::string>, std::size_t> seen;  // contig and gene
        std::vector<std::pair<const Transcript*, std::string>> chosen;    // and its gene
        for (const auto& key : order_) {
            const Transcript& one = transcripts_.at(key);
            const std::string& gene = one.gene.empty() ? key.second : one.gene;
            const auto [at, is_new] = seen.emplace(std::pair(one.contig, gene), chosen.size());
            if (is_new)
                chosen.emplace_back(&one, gene);
            else if (stands_before(one, *chosen[at->second].first))
                chosen[at->second].first = &one;
        }
        std::vector<SpliceGene> genes;
        std::int64_t tagged = 0;
        for (const auto& [one, gene] : chosen) {
            tagged += one->tag > 0 ? 1 : 0;
            genes.push_back(gene_of_transcript(*one, gene));
        }
        if (genes.empty())
            throw InputError("holds no exons; give a GTF or GFF3 of genes with exons, or SpliceAI's table",
                             path);
        log_info(
            "{}: {} of {}, one a gene: {} by the tag Ensembl_canonical or MANE_Select, {} with the most "
            "bases in exons",
            path.string(), counted(genes.size(), "transcript"), order_.size(), tagged,
            std::ssize(genes) - tagged);
        return genes;
    }

private:
    using Key = std::pair<std::string, std::string>;  ///< contig and transcript: PAR genes are on X and Y

    static std::string transcript_of_exon(const AnnotationRow& row) {
        return first_of(row, {"Parent", "transcript_id", "gene_id"});
    }
    static Key key_of(const std::string& id, const AnnotationRow& row) {
        return {std::string(row.contig), id};
    }
    static void describe(Transcript& one, const AnnotationRow& row) {
        one.tag = std::max(one.tag, tag_of(row.attributes));
        if (one.gene.empty()) one.gene = first_of(row, {"Parent", "gene_id"});
        if (one.name.empty()) one.name = first_of(row, {"gene_name", "gene"});
    }
    void add_exon(const std::string& id, const AnnotationRow& row, const genome::TextInput& input) {
        const Key key = key_of(id, row);
        Transcript& one = transcripts_[key];
        if (one.exons.empty()) {
            order_.push_back(key);
            one.contig = row.contig;
            one.strand = strand_of(row.strand, input);
        }
        one.exons.push_back({row.begin, row.end});
        if (attribute_of(row.attributes, "Parent").empty()) describe(one, row);  // GTF may have only exons
    }
    static bool stands_before(const Transcript& one, const Transcript& other) {
        return std::pair(one.tag, one.bases()) > std::pair(other.tag, other.bases());
    }
    SpliceGene gene_of_transcript(const Transcript& one, const std::string& id) const {
        SpliceGene gene{.name = one.name, .contig = one.contig, .strand = one.strand, .exons = one.exons};
        std::ranges::sort(gene.exons);
        gene.begin = gene.exons.front().begin;
        gene.end = gene.exons.back().end;
        const auto named = gene_names_.find(id);
        if (gene.name.empty()) gene.name = named == gene_names_.end() ? id : named->second;
        return gene;
    }

    std::map<Key, Transcript> transcripts_;
    std::vector<Key> order_;  ///< of the first exons
    std::map<std::string, std::string> gene_names_;
};

// ---- whether genes are of a reference

/// Whether an intron begins with GT and ends with AG on the gene's strand; nullopt where the reference has N.
std::optional<bool> is_usual_intron(const SpliceGene& gene, const genome::Interval& intron,
                                    const genome::ReferenceGenome& reference) {
    const std::string ends = reference.fetch({intron.contig, intron.begin, intron.begin + 2}) +
                             reference.fetch({intron.contig, intron.end - 2, intron.end});
    if (ends.find('N') != std::string::npos) return std::nullopt;
    return ends == (gene.reverse() ? "CTAC" : "GTAG");
}

/// The introns of genes on the reference, with their genes.
std::vector<std::pair<const SpliceGene*, genome::Interval>> introns_of(
    const std::vector<SpliceGene>& genes, const genome::ReferenceGenome& reference) {
    constexpr std::int64_t shortest = 4;
    std::vector<std::pair<const SpliceGene*, genome::Interval>> introns;
    for (const SpliceGene& gene : genes)
        for (std::size_t i = 1; i < gene.exons.size() && reference.find(gene.contig); ++i)
            if (gene.exons[i].begin >= gene.exons[i - 1].end + shortest)
                introns.push_back({&gene, {gene.contig, gene.exons[i - 1].end, gene.exons[i].begin}});
    return introns;
}

/// Throws InputError if too many introns do not fit; warns instead with `skip_invalid`.
void require_introns(const std::vector<SpliceGene>& genes, const std::filesystem::path& path,
                     const genome::ReferenceGenome& reference, bool skip_invalid) {
    constexpr std::int64_t most_introns = 2000;  // that are looked at, evenly spread over the file
    auto introns = introns_of(genes, reference);
    const std::int64_t step = std::max<std::int64_t>(1, std::ssize(introns) / most_introns);
    genome::AssemblyFit fit;
    fit.mismatched = "that do not begin with GT and end with AG";
    for (std::int64_t i = 0; i < std::ssize(introns); i += step) {
        auto& [gene, intron] = introns[static_cast<std::size_t>(i)];
        const genome::Fit here = genome::place(intron, reference);
        const auto usual =
            here == genome::Fit::inside ? is_usual_intron(*gene, intron, reference) : std::optional(true);
        if (!usual) continue;
        fit.add(intron, here, reference);
        fit.ref_mismatch += *usual ? 0 : 1;
    }
    genome::require_assembly(fit, reference, path.string(), "introns that were looked at", skip_invalid);
}

}  // namespace

std::vector<std::int64_t> SpliceGene::boundaries() const {
    std::set<std::int64_t> bases;
    for (const Exon& exon : exons)
        bases.insert({exon.begin, exon.end - 1});
    return {bases.begin(), bases.end()};
}

std::vector<std::int64_t> SpliceGene::sites(bool last_bases) const {
    std::set<std::int64_t> bases;
    for (std::size_t i = 0; i < exons.size(); ++i) {
        if (last_bases && i + 1 < exons.size()) bases.insert(exons[i].end - 1);
        if (!last_bases && i > 0) bases.insert(exons[i].begin);
    }
    return {bases.begin(), bases.end()};
}

std::vector<SpliceGene> read_splice_genes(const std::filesystem::path& path) {
    genome::TextInput input(path);
    std::vector<SpliceGene> genes;
    std::optional<Transcripts> transcripts;
    bool table = false;
    for (std::string line; input.next(line);) {
        if (line.starts_with("##FASTA") || (transcripts && line.starts_with('>'))) break;  // GFF3's sequences
        const std::vector<std::string_view> fields = split_fields(line, '\t');
        if (!table && !transcripts && is_splice_table(fields)) {
            table = true;
            continue;
        }
        if (line.empty() || line.starts_with('#')) continue;
        if (!table && !transcripts) {
            if (!is_annotation(fields))
                throw input.fault(
                    "is no row of GTF or GFF3, nor the header of SpliceAI's table (#NAME CHROM STRAND "
                    "TX_START "
                    "TX_END EXON_START EXON_END, separated by tabs)");
            transcripts.emplace();
        }
        if (table)
            genes.push_back(gene_of_row(fields, input));
        else
            transcripts->add(parse_annotation_row(fields, input), input);
    }
    if (transcripts) return transcripts->genes(path);
    if (genes.empty()) throw InputError("holds no genes", path);
    return genes;
}

SpliceGenes::SpliceGenes(const std::filesystem::path& path, const genome::ReferenceGenome& reference,
                         bool skip_invalid)
    : genes_(read_splice_genes(path)), by_contig_(reference.contigs().size()) {
    std::int64_t foreign = 0;
    for (std::size_t i = 0; i < genes_.size(); ++i) {
        const auto contig = reference.find(genes_[i].contig);
        if (!contig) {
            ++foreign;
            continue;
        }
        OnContig& there = by_contig_[*contig];
        there.genes.push_back(i);
        there.longest = std::max(there.longest, genes_[i].end - genes_[i].begin);
    }
    if (foreign == std::ssize(genes_))
        throw InputError(
            "none of its genes is on a contig of the reference; give a reference of the same "
            "assembly",
            path);
    log_info("{}: {}, {} of them on contigs of the reference", path.string(), counted(genes_.size(), "gene"),
             std::ssize(genes_) - foreign);
    require_introns(genes_, path, reference, skip_invalid);
    for (OnContig& there : by_contig_)
        std::ranges::stable_sort(there.genes, {}, [this](std::size_t i) { return genes_[i].begin; });
}

std::vector<std::size_t> SpliceGenes::at(std::size_t contig, std::int64_t position) const {
    const OnContig& there = by_contig_[contig];
    const auto begin_of = [this](std::size_t i) { return genes_[i].begin; };
    std::vector<std::size_t> found;
    const auto first = std::ranges::lower_bound(there.genes, position - there.longest, {}, begin_of);
    for (auto gene = first; gene != there.genes.end() && begin_of(*gene) <= position; ++gene)
        if (position < genes_[*gene].end) found.push_back(*gene);
    std::ranges::sort(found);
    return found;
}

}  // namespace bigbird::rows
