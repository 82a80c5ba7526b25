// SPDX-License-Identifier: Apache-2.0
#include "bigbird/examples/build/promoters.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/interrupt.hpp"
#include "bigbird/core/log.hpp"
#include "bigbird/core/parallel.hpp"
#include "bigbird/examples/example_format.hpp"
#include "bigbird/examples/example_writer.hpp"
#include "bigbird/examples/hold_outs.hpp"
#include "bigbird/examples/two_bit.hpp"
#include "bigbird/genome/reference/contig_names.hpp"
#include "bigbird/genome/reference/sequence.hpp"
#include "bigbird/genome/regions/bed.hpp"
#include "bigbird/genome/regions/chain.hpp"
#include "bigbird/genome/text/text_output.hpp"

#include <array>
#include <limits>
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
                        "\t" + std::string(map.why_unmapped(site.where.contig, site.where.begin)));
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
        if (fit != genome::Fit::inside) continue;
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
    if (counts.fit.off_reference() > 0) {
        log_warning("left out {} of {} TSSs: {}", counts.fit.off_reference(), counts.fit.rows,
                    counts.fit.misfits());
    }
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

namespace {

using genome::IntervalSet;

struct Promoter {
    PromoterSite site;
    Interval window;
    Split split = Split::train;
    std::string sequence, negative;         ///< on the site's strand
    std::optional<Interval> negative_base;  ///< genomic negatives
};

class PromoterBuilder {
public:
    PromoterBuilder(const PromoterOptions& options, fs::path folder)
        : options_(options),
          folder_(std::move(folder)),
          reference_(genome::open_references(options.references)),
          hold_outs_(*reference_, options.validation, options.test) {}

    void build() {
        PromoterSites found = read_promoter_sites(options_.tss, options_.chain, *reference_, folder_);
        genome::require_assembly(found.counts.fit, *reference_, options_.tss.string(), "TSSs",
                                 options_.skip_invalid);
        for (PromoterSite& site : found.sites) {
            Promoter promoter;
            promoter.window = rows::window_about_tss(site.contig, site.tss, site.strand, options_.bounds);
            promoter.split = hold_outs_.split_of({site.contig, site.tss, site.tss + 1});
            promoter.site = std::move(site);
            promoters_.push_back(std::move(promoter));
        }
        fetch_windows();
        const IntervalSet all_windows = windows([](const Promoter&) { return true; });
        leave_out_n();
        leave_out_shared();
        if (promoters_.empty()) throw InputError("no promoter is left; see what was left out", options_.tss);
        if (options_.negatives == NegativeKind::genomic)
            draw_genomic(all_windows);
        else
            make_synthetic();
        write();
    }

private:
    template <typename Predicate>
    IntervalSet windows(const Predicate& wanted) const {
        std::vector<Interval> chosen;
        for (const Promoter& promoter : promoters_)
            if (wanted(promoter)) chosen.push_back(promoter.window);
        return IntervalSet(chosen);
    }

    void fetch_windows() {
        parallel_for(static_cast<std::int64_t>(promoters_.size()), options_.threads, [&](std::int64_t i) {
            Promoter& promoter = promoters_[static_cast<std::size_t>(i)];
            promoter.sequence = reference_->fetch(promoter.window);
            if (promoter.site.strand == genome::Strand::reverse)
                promoter.sequence = genome::reverse_complement(promoter.sequence);
        });
        stop_if_asked();
    }

    void leave_out_n() {
        const std::size_t left_out = std::erase_if(promoters_, [&](const Promoter& promoter) {
            const double n = genome::n_fraction(promoter.sequence);
            return n > options_.max_n_fraction || n == 1.0;
        });
        if (left_out > 0) {
            log_info("left out {} promoters whose window has more than {:g} of N", left_out,
                     options_.max_n_fraction);
        }
    }

    void leave_out_shared() {
        std::vector<SplitWindow> split_windows;
        for (const Promoter& promoter : promoters_)
            split_windows.push_back({promoter.window, promoter.split});
        const std::vector<bool> kept = without_shared_windows(split_windows);
        std::size_t index = 0;
        const std::size_t left_out =
            std::erase_if(promoters_, [&](const Promoter&) { return !kept[index++]; });
        if (left_out > 0)
            log_info("left out {} promoters whose window reaches into one that is held out", left_out);
    }

    Rng stream(const Promoter& promoter) const {
        return Rng(options_.seed)
            .split("negatives")
            .split(promoter.site.contig)
            .split(static_cast<std::uint64_t>(promoter.site.tss))
            .split(promoter.site.name);
    }

    void make_synthetic() {
        parallel_for(
            static_cast<std::int64_t>(promoters_.size()), options_.threads,
            [&](std::int64_t i) {
                Promoter& promoter = promoters_[static_cast<std::size_t>(i)];
                promoter.negative = make_negative(promoter.sequence, options_.negatives, stream(promoter));
            });
    }

    /// The regions in which a split's negatives may be: its own; for training, everything that is not held
    /// out.
    IntervalSet zone_of(Split split) const {
        if (split != Split::train) return hold_outs_.regions(split);
        std::vector<Interval> contigs;
        for (const genome::Contig& contig : reference_->contigs())
            contigs.push_back({contig.name, 0, contig.length});
        return IntervalSet(contigs)
            .without(hold_outs_.regions(Split::validation))
            .without(hold_outs_.regions(Split::test));
    }

    void draw_genomic(const IntervalSet& all_windows) {
        IntervalSet avoided = all_windows;  // the negatives of held-out splits are added
        for (const Split split : {Split::test, Split::validation, Split::train}) {
            std::vector<Promoter*> members;
            for (Promoter& promoter : promoters_)
                if (promoter.split == split) members.push_back(&promoter);
            const GenomicNegatives negatives(*reference_, options_.bounds, options_.max_n_fraction,
                                             zone_of(split), avoided);
            parallel_for(static_cast<std::int64_t>(members.size()), options_.threads, [&](std::int64_t i) {
                Promoter& promoter = *members[static_cast<std::size_t>(i)];
                GenomicNegatives::Window drawn = negatives.draw(promoter.site.strand, stream(promoter));
                promoter.negative = std::move(drawn.sequence);
                promoter.negative_base = Interval{drawn.contig, drawn.base, drawn.base + 1};
            });
            std::vector<Interval> drawn;
            drawn.reserve(members.size());
            for (const Promoter* promoter : members) {
                drawn.push_back(rows::window_about_tss(promoter->negative_base->contig,
                                                       promoter->negative_base->begin, promoter->site.strand,
                                                       options_.bounds));
            }
            avoided = avoided.united(IntervalSet(drawn));
        }
    }

    void write() const {
        std::vector<std::string> names;
        for (std::size_t i = 0; i < 2 * promoters_.size(); ++i)
            names.push_back(std::to_string(i));
        const std::uint64_t bytes =
            static_cast<std::uint64_t>(names.size()) * static_cast<std::uint64_t>(options_.bounds.size()) / 4;
        TwoBitWriter store(folder_ / store_name, names,
                           bytes > std::numeric_limits<std::uint32_t>::max() / 2);
        ExampleWriter writer(folder_, Task::promoter, options_.bounds, 1);
        constexpr std::array<std::uint8_t, 1> yes{1}, no{0};
        for (const Promoter& promoter : promoters_) {
            ExampleRow row;
            row.where = {promoter.site.contig, promoter.site.tss, promoter.site.tss + 1};
            row.name = promoter.site.name;
            row.strand = promoter.site.strand;
            row.split = promoter.split;
            store.add(names[static_cast<std::size_t>(writer.rows())], promoter.sequence);
            writer.add(row, yes);
            row.where = promoter.negative_base.value_or(row.where);
            row.name += ".negative";
            store.add(names[static_cast<std::size_t>(writer.rows())], promoter.negative);
            writer.add(row, no, promoter.negative_base.has_value());
        }
        store.finish();
        writer.finish(rows::LabelTable({{"promoter", "promoter", -1}}), details());
        log_info(
            "{} promoters and as many negatives ({}): {} rows for training, {} for validation, {} for test",
            promoters_.size(), to_string(options_.negatives), writer.rows(Split::train),
            writer.rows(Split::validation), writer.rows(Split::test));
    }

    Json details() const {
        Json parameters{{"negatives", to_string(options_.negatives)},
                        {"max_n_fraction", options_.max_n_fraction},
                        {"seed", options_.seed},
                        {"held_out", hold_outs_.describe()}};
        Json inputs = Json::array({{{"role", "tss"}, {"sha256", checksum_of_input(options_.tss)}}});
        if (options_.chain)
            inputs.push_back({{"role", "chain"}, {"sha256", checksum_of_input(*options_.chain)}});
        for (const fs::path& reference : options_.references)
            inputs.push_back({{"role", "reference"}, {"sha256", checksum_of_input(reference)}});
        return {{"parameters", parameters}, {"inputs", inputs}, {"contigs", describe_contigs(*reference_)}};
    }

    const PromoterOptions& options_;
    fs::path folder_;
    std::unique_ptr<genome::ReferenceGenome> reference_;
    HoldOuts hold_outs_;
    std::vector<Promoter> promoters_;
};

}  // namespace

void PromoterOptions::validate() const {
    if (bounds.size() < negative_pieces && negatives != NegativeKind::genomic) {
        throw ConfigError("--window " + to_string(bounds) + " is too short: a negative is made of " +
                          std::to_string(negative_pieces) + " pieces");
    }
    if (max_n_fraction < 0 || max_n_fraction > 1)
        throw ConfigError("--max-n-fraction must lie between 0 and 1");
}

void build_promoters(const PromoterOptions& options, const fs::path& folder) {
    options.validate();
    PromoterBuilder(options, folder).build();
}

}  // namespace bigbird::examples
