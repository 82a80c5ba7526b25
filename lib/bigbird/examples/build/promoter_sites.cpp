// SPDX-License-Identifier: Apache-2.0
#include "bigbird/examples/build/promoter_sites.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/log.hpp"
#include "bigbird/genome/reference/contig_names.hpp"
#include "bigbird/genome/regions/bed.hpp"
#include "bigbird/genome/regions/chain.hpp"
#include "bigbird/genome/text/text_output.hpp"
#include "bigbird/rows/window.hpp"

#include <set>

namespace bigbird::examples {
namespace fs = std::filesystem;

namespace {

using genome::Interval;
using genome::Strand;

/// A TSS base of the file.
struct Tss {
    Interval where;
    std::string name, score;
    Strand strand;
};

std::vector<Tss> read_tss(const fs::path& path) {
    std::vector<Tss> sites;
    genome::BedReader reader(path);
    while (const auto record = reader.next()) {
        if (record->strand == Strand::none)
            throw InputError("a TSS needs its strand, + or -, in column 6", path, record->line);
        if (record->where.size() == 0)
            throw InputError("a TSS needs at least one base: end must lie behind start", path, record->line);
        const std::int64_t base = rows::tss_of(record->where, record->strand);
        sites.push_back(
            {{record->where.contig, base, base + 1}, record->name, record->score, record->strand});
    }
    return sites;
}

std::string bed_line(const Tss& site) {
    return site.where.contig + '\t' + std::to_string(site.where.begin) + '\t' +
           std::to_string(site.where.end) + '\t' + site.name + '\t' + site.score + '\t' +
           static_cast<char>(site.strand) + '\n';
}

/// Warns if a contig has nearly, but not exactly, the length of the chain's contig: the chain is for another
/// assembly. Much shorter contigs are slices of a genome.
class AssemblyCheck {
public:
    AssemblyCheck(const fs::path& chain, const genome::ReferenceGenome& reference)
        : chain_(chain), reference_(reference) {}

    void operator()(const std::string& contig, std::int64_t length) {
        if (!checked_.insert(contig).second) return;
        const auto index = reference_.find(contig);
        if (!index) return;
        const std::int64_t own = reference_.contigs()[*index].length;
        if (own == length || own < length / 10 * 9) return;
        log_warning("{}: its contig {} has {} bases, the reference's {}; is it a chain to another assembly?",
                    chain_.string(), contig, length, own);
    }

private:
    const fs::path& chain_;
    const genome::ReferenceGenome& reference_;
    std::set<std::string> checked_;
};

/// Lifts the sites in place; returns how many do not lift.
std::int64_t lift(std::vector<Tss>& sites, const fs::path& chain, const genome::ReferenceGenome& reference,
                  const fs::path& folder) {
    const genome::ChainMap map(chain);
    AssemblyCheck check_assembly(chain, reference);
    genome::TextOutput lifted_bed(folder / "lifted.bed", Overwrite::refuse);
    genome::TextOutput unmapped_bed(folder / "unmapped.bed", Overwrite::refuse);
    std::vector<Tss> lifted;
    for (const Tss& site : sites) {
        const auto found = map.lift(site.where.contig, site.where.begin, site.strand);
        if (!found) {
            std::string line = bed_line(site);
            line.insert(line.size() - 1,
                        "\t" + std::string(to_string(map.why_unmapped(site.where.contig, site.where.begin))));
            unmapped_bed.write(line);
            continue;
        }
        check_assembly(found->where.contig, found->contig_length);
        lifted.push_back({found->where, site.name, site.score, found->strand});
        lifted_bed.write(bed_line(lifted.back()));
    }
    lifted_bed.commit();
    unmapped_bed.commit();
    const auto unmapped = static_cast<std::int64_t>(sites.size() - lifted.size());
    log_info("lifted {} of {}, {} unmapped", lifted.size(), sites.size(), unmapped);
    sites = std::move(lifted);
    return unmapped;
}

}  // namespace

PromoterSites read_promoter_sites(const fs::path& path, const std::optional<fs::path>& chain,
                                  const genome::ReferenceGenome& reference, const fs::path& folder) {
    std::vector<Tss> found = read_tss(path);
    PromoterSites result;
    SiteCounts& counts = result.counts;
    counts.read = static_cast<std::int64_t>(found.size());
    if (chain) counts.unmapped = lift(found, *chain, reference, folder);
    std::set<std::string> names, seen;
    for (const Tss& site : found)
        names.insert(site.where.contig);
    const bool other_genome = genome::numbered_differently(reference.contigs(), names);
    for (Tss& site : found) {
        const genome::Fit fit =
            other_genome ? genome::Fit::unknown_contig : genome::place(site.where, reference);
        counts.fit.add(site.where, fit, reference);
        if (fit != genome::Fit::inside) {
            ++(fit == genome::Fit::unknown_contig ? counts.left_out.unknown_contig
                                                  : counts.left_out.past_end);
            continue;
        }
        if (site.name == ".") {
            site.name =
                site.where.contig + ":" + std::to_string(site.where.begin) + static_cast<char>(site.strand);
        }
        site.score = ".";
        if (!seen.insert(bed_line(site)).second) {
            ++counts.repeated;
            continue;
        }
        result.sites.push_back({site.where.contig, site.name, site.where.begin, site.strand});
    }
    const auto total = static_cast<std::int64_t>(found.size());
    if (counts.left_out.total() > 0)
        log_warning("left out {} of {} TSSs: {}", counts.left_out.total(), total, counts.left_out.describe());
    if (counts.repeated > 0)
        log_info("left out {} TSSs that repeat another's place, strand and name", counts.repeated);
    if (counts.read == 0) throw InputError("holds no TSSs", path);
    if (result.sites.empty()) {
        throw InputError(
            "none of its " + std::to_string(counts.read) +
                " TSSs lies on the reference; give TSSs of the same assembly, or a --chain to it",
            path);
    }
    return result;
}

}  // namespace bigbird::examples
