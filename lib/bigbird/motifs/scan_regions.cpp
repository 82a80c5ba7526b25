// SPDX-License-Identifier: Apache-2.0
#include "bigbird/core/error.hpp"
#include "bigbird/core/log.hpp"
#include "bigbird/core/parallel.hpp"
#include "bigbird/core/words.hpp"
#include "bigbird/genome/reference/reference_genome.hpp"
#include "bigbird/genome/regions/interval_set.hpp"
#include "bigbird/genome/text/text_output.hpp"
#include "bigbird/motifs/motif_commands.hpp"
#include "bigbird/motifs/scanner.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace bigbird::motifs {

namespace {

constexpr std::int64_t chunk_starts = std::int64_t{1} << 18;

/// Starts of sites, and the letters that the last of them may reach.
struct Chunk {
    genome::Interval where;
    std::size_t starts = 0;
};

struct Scanned {
    Chunk chunk;
    std::vector<Hit> hits;
    std::map<std::size_t, std::int64_t> sites;  ///< by width
};

/// Contigs, or the rows of --regions in the reference's order; rows that overlap are one, so that each site
/// is found once.
std::vector<genome::Interval> regions_of(const ScanSpec& spec, const genome::ReferenceGenome& reference) {
    std::vector<genome::Interval> regions;
    if (spec.regions.empty()) {
        for (const genome::Contig& contig : reference.contigs())
            regions.push_back({contig.name, 0, contig.length});
        return regions;
    }
    std::vector<std::pair<std::size_t, genome::Interval>> rows;  // with the contig's index
    for (const genome::BedRecord& row : genome::read_regions_on(reference, spec.regions))
        rows.emplace_back(*reference.find(row.where.contig), row.where);
    std::ranges::stable_sort(rows, {},
                             [](const auto& row) { return std::pair(row.first, row.second.begin); });
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const auto& [contig, where] = rows[i];
        if (i > 0 && rows[i - 1].first == contig && where.begin < regions.back().end)
            regions.back().end = std::max(regions.back().end, where.end);
        else
            regions.push_back(where);
    }
    if (regions.size() < rows.size())
        log_info("{}: {} that overlap others are searched together with them", spec.regions.string(),
                 counted(rows.size() - regions.size(), "row"));
    return regions;
}

std::vector<Chunk> chunks_of(const std::vector<genome::Interval>& regions, std::size_t most_width) {
    std::vector<Chunk> chunks;
    for (const genome::Interval& region : regions) {
        for (std::int64_t begin = region.begin; begin < region.end; begin += chunk_starts) {
            const std::int64_t end = std::min(region.end, begin + chunk_starts);
            const std::int64_t reach = std::min(region.end, end + static_cast<std::int64_t>(most_width) - 1);
            chunks.push_back({{region.contig, begin, reach}, static_cast<std::size_t>(end - begin)});
        }
    }
    return chunks;
}

std::vector<Scanned> scan_chunks(const std::vector<Chunk>& chunks, const Scanner& scanner,
                                 const genome::ReferenceGenome& reference, int threads) {
    std::vector<Scanned> all;
    const std::function scan = [&](std::int64_t index) {
        Scanned scanned{.chunk = chunks[static_cast<std::size_t>(index)], .hits = {}, .sites = {}};
        const std::string dna = reference.fetch(scanned.chunk.where);
        scanned.hits = scanner.scan(dna, scanned.chunk.starts);
        for (const ScoreMatrix& matrix : scanner.matrices())
            scanned.sites[matrix.width()] = 0;
        count_sites(dna, scanned.chunk.starts, scanned.sites);
        return scanned;
    };
    const std::function keep = [&](Scanned&& scanned) { all.push_back(std::move(scanned)); };
    ordered_pipeline<Scanned>(static_cast<std::int64_t>(chunks.size()), threads, scan, keep);
    return all;
}

/// q-values by motif, then by score from the motif's threshold on.
std::vector<std::vector<double>> all_q_values(const std::vector<Scanned>& all, const Scanner& scanner) {
    std::vector<std::vector<std::int64_t>> counts(scanner.matrices().size());
    for (std::size_t i = 0; i < counts.size(); ++i)
        counts[i].resize(static_cast<std::size_t>(scanner.matrices()[i].most() + 1 - scanner.threshold(i)));
    std::map<std::size_t, std::int64_t> sites;
    for (const Scanned& scanned : all) {
        for (const auto& [width, count] : scanned.sites)
            sites[width] += count;
        for (const Hit& hit : scanned.hits) {
            const auto motif = static_cast<std::size_t>(hit.motif);
            ++counts[motif][static_cast<std::size_t>(hit.score - scanner.threshold(motif))];
        }
    }
    std::vector<std::vector<double>> q;
    for (std::size_t i = 0; i < counts.size(); ++i) {
        const ScoreMatrix& matrix = scanner.matrices()[i];
        q.push_back(q_values(matrix, scanner.threshold(i), counts[i], 2 * sites[matrix.width()]));
    }
    return q;
}

void write_chunk(const Scanned& scanned, const MotifSet& set, const Scanner& scanner,
                 const std::vector<std::vector<double>>& q, const genome::ReferenceGenome& reference,
                 const ScanSpec::Weight& weight, genome::TextOutput& output) {
    std::string text;
    const std::size_t contig = reference.find(scanned.chunk.where.contig).value();
    for (const Hit& hit : scanned.hits) {
        const auto motif = static_cast<std::size_t>(hit.motif);
        const ScoreMatrix& matrix = scanner.matrices()[motif];
        const std::int64_t begin = scanned.chunk.where.begin + hit.begin,
                           end = begin + static_cast<std::int64_t>(matrix.width());
        const std::string& name = set.motifs[motif].name;
        text += fmt::format("{}\t{}\t{}\t{}\t{:.2f}\t{}\t{:.4g}\t{:.4g}\t{}", scanned.chunk.where.contig,
                            begin, end, set.motifs[motif].id, hit.score * score_unit, hit.reverse ? '-' : '+',
                            matrix.p_value(hit.score),
                            q[motif][static_cast<std::size_t>(hit.score - scanner.threshold(motif))],
                            name.empty() ? "." : name);
        if (weight) {
            const std::optional<double> mean = weight(contig, begin, end);
            text += mean ? fmt::format("\t{:.6g}", *mean) : "\tNA";
        }
        text += '\n';
    }
    output.write(text);
}

/// Warns how many motifs are too short to reach the p-value.
void warn_of_short_motifs(const MotifSet& set, const Scanner& scanner, double p_value) {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < set.motifs.size(); ++i)
        if (scanner.threshold(i) > scanner.matrices()[i].most()) names.push_back(set.motifs[i].id);
    if (names.empty()) return;
    log_warning("{} of {} can have no hits, among them '{}': their best sites have p-values above {:.2g}",
                names.size(), counted(std::ssize(set.motifs), "motif"), names.front(), p_value);
}

}  // namespace

std::int64_t scan_regions(const ScanSpec& spec) {
    const MotifSet set = read_motifs(spec.motifs);
    const auto reference = genome::open_references(spec.references);
    const auto regions = regions_of(spec, *reference);
    const ScanSpec::Weight weight = spec.weights ? spec.weights(reference->contigs()) : ScanSpec::Weight();
    genome::TextOutput output(spec.output, spec.overwrite, spec.threads);
    const Scanner scanner(set, spec.p_value, spec.threads);
    warn_of_short_motifs(set, scanner, spec.p_value);
    const auto all = scan_chunks(chunks_of(regions, scanner.most_width()), scanner, *reference, spec.threads);
    const auto q = all_q_values(all, scanner);
    output.write("#chrom\tstart\tend\tname\tscore\tstrand\tp\tq\tmotif");
    output.write(weight ? "\tweight\n" : "\n");
    std::int64_t hits = 0;
    for (const Scanned& scanned : all) {
        write_chunk(scanned, set, scanner, q, *reference, weight, output);
        hits += static_cast<std::int64_t>(scanned.hits.size());
    }
    output.commit();
    return hits;
}

}  // namespace bigbird::motifs
