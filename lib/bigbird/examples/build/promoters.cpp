// SPDX-License-Identifier: Apache-2.0
#include "bigbird/examples/build/promoters.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/interrupt.hpp"
#include "bigbird/core/log.hpp"
#include "bigbird/core/parallel.hpp"
#include "bigbird/core/rng.hpp"
#include "bigbird/core/words.hpp"
#include "bigbird/examples/example_format.hpp"
#include "bigbird/examples/example_writer.hpp"
#include "bigbird/examples/hold_outs.hpp"
#include "bigbird/examples/two_bit.hpp"
#include "bigbird/genome/reference/contig_names.hpp"
#include "bigbird/genome/reference/reference_genome.hpp"
#include "bigbird/genome/reference/sequence.hpp"
#include "bigbird/genome/regions/assembly_fit.hpp"
#include "bigbird/genome/regions/bed.hpp"
#include "bigbird/genome/regions/chain.hpp"
#include "bigbird/genome/regions/interval_set.hpp"
#include "bigbird/genome/text/text_output.hpp"
#include "bigbird/rows/tss.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>
#include <set>
#include <span>
#include <string_view>

namespace bigbird::examples {

namespace fs = std::filesystem;

namespace {

using genome::BedRecord;
using genome::Interval;
using genome::IntervalSet;
using genome::Strand;

constexpr int negative_pieces = 20, negative_substituted = 12;
constexpr std::size_t least_sites = 50;  ///< of which some can be held out by rule

/// Makes a negative from `positive` by shuffling it, or by changing 12 of its 20 pieces. Permuted pieces are
/// joined and cut again to fill the 12 gaps.
std::string make_negative(std::string_view positive, NegativeKind kind, Rng rng) {
    if (kind == NegativeKind::shuffled) return genome::dinucleotide_shuffle(positive, rng);
    const auto start = [&](std::size_t piece) { return piece * positive.size() / negative_pieces; };
    std::vector<std::size_t> chosen(negative_pieces);
    std::iota(chosen.begin(), chosen.end(), std::size_t{0});
    shuffle(chosen, rng);
    chosen.resize(negative_substituted);
    std::string filling;
    for (const std::size_t piece : chosen)
        filling += positive.substr(start(piece), start(piece + 1) - start(piece));
    if (kind == NegativeKind::random_bases)
        for (char& letter : filling)
            letter = "ACGT"[rng.between(0, 3)];
    std::ranges::sort(chosen);
    std::string negative(positive);
    std::size_t taken = 0;
    for (const std::size_t piece : chosen) {
        const std::size_t size = start(piece + 1) - start(piece);
        negative.replace(start(piece), size, filling, taken, size);
        taken += size;
    }
    return negative;
}

std::string bed_line(const BedRecord& site) {
    return site.where.contig + '\t' + std::to_string(site.where.begin) + '\t' +
           std::to_string(site.where.end) + '\t' + site.name + '\t' + site.score + '\t' +
           static_cast<char>(site.strand) + '\n';
}

/// Warns if a contig has nearly, but not exactly, the length of the chain's contig: the chain is for another
/// assembly. Much shorter contigs are slices of a genome.
void check_assembly(const fs::path& chain, const genome::Lifted& lifted,
                    const genome::ReferenceGenome& reference) {
    const auto index = reference.find(lifted.where.contig);
    if (!index) return;
    const std::int64_t own = reference.contigs()[*index].length;
    if (own == lifted.contig_length || own < lifted.contig_length / 10 * 9) return;
    log_warning("{}: its contig {} has {} bases, the reference's {}; is it a chain to another assembly?",
                chain.string(), lifted.where.contig, lifted.contig_length, own);
}

/// Lifts the sites in place, but for those that do not lift.
void lift(std::vector<BedRecord>& sites, const fs::path& chain, const genome::ReferenceGenome& reference,
          const fs::path& folder) {
    const genome::ChainMap map(chain);
    std::set<std::string> checked;  // contigs
    genome::TextOutput lifted_bed(folder / "lifted.bed", Overwrite::refuse);
    genome::TextOutput unmapped_bed(folder / "unmapped.bed", Overwrite::refuse);
    std::vector<BedRecord> lifted;
    for (const BedRecord& site : sites) {
        const auto found = map.lift(site.where.contig, site.where.begin, site.strand);
        if (!found) {
            std::string line = bed_line(site);
            line.insert(line.size() - 1,
                        "\t" + std::string(map.why_unmapped(site.where.contig, site.where.begin)));
            unmapped_bed.write(line);
            continue;
        }
        if (checked.insert(found->where.contig).second) check_assembly(chain, *found, reference);
        lifted.push_back(site);
        lifted.back().where = found->where;
        lifted.back().strand = found->strand;
        lifted_bed.write(bed_line(lifted.back()));
    }
    lifted_bed.commit();
    unmapped_bed.commit();
    log_info("lifted {} of {}, {} unmapped", lifted.size(), sites.size(), sites.size() - lifted.size());
    sites = std::move(lifted);
}

struct Promoter {
    BedRecord site;  ///< the TSS
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
        std::vector<Interval> all_windows;
        std::vector<BedRecord> sites = read_sites();
        if (options_.chooses_hold_outs) choose_hold_outs(sites);
        for (BedRecord& site : sites) {
            Promoter promoter;
            promoter.window = window_of(site.where, site.strand);
            promoter.split = hold_outs_.split_of(site.where);
            promoter.site = std::move(site);
            all_windows.push_back(promoter.window);
            promoters_.push_back(std::move(promoter));
        }
        for_each_promoter(
            [&](Promoter& promoter) { promoter.sequence = fetch(promoter.window, promoter.site.strand); });
        stop_if_asked();
        leave_out_n();
        leave_out_shared();
        if (promoters_.empty()) throw InputError("no promoter is left; see what was left out", options_.tss);
        if (options_.negatives == NegativeKind::genomic) {
            draw_genomic(IntervalSet(all_windows));
        } else {
            for_each_promoter([&](Promoter& promoter) {
                promoter.negative = make_negative(promoter.sequence, options_.negatives, stream(promoter));
            });
        }
        write();
    }

private:
    /// TSSs of one base each, in the file's order, each once; contigs as the reference spells them, and no
    /// name is ".".
    std::vector<BedRecord> read_sites() const {
        std::vector<BedRecord> found = rows::read_tss(options_.tss), sites;
        const std::size_t read = found.size();
        if (options_.chain) lift(found, *options_.chain, *reference_, folder_);
        std::set<std::string> names, seen;
        for (const BedRecord& site : found)
            names.insert(site.where.contig);
        const bool other_genome = genome::numbered_differently(reference_->contigs(), names);
        genome::AssemblyFit fit;
        std::int64_t repeated = 0;
        for (BedRecord& site : found) {
            const genome::Fit here =
                other_genome ? genome::Fit::unknown_contig : genome::place(site.where, *reference_);
            fit.add(site.where, here, *reference_, site.line);
            if (here != genome::Fit::inside) continue;
            if (site.name == ".") {
                site.name = site.where.contig + ":" + std::to_string(site.where.begin) +
                            static_cast<char>(site.strand);
            }
            site.score = ".";
            if (seen.insert(bed_line(site)).second)
                sites.push_back(std::move(site));
            else
                ++repeated;
        }
        if (fit.off_reference() > 0)
            log_warning("left out {} of {} TSSs: {}", fit.off_reference(), found.size(), fit.misfits());
        if (repeated > 0)
            log_info("left out {} with another's place, strand and name", counted(repeated, "TSS"));
        if (read == 0) throw InputError("holds no TSSs", options_.tss);
        if (sites.empty()) {
            throw InputError(
                "none of its " + std::to_string(read) +
                    " TSSs is on the reference; give TSSs of the same assembly, or a --chain to it",
                options_.tss);
        }
        genome::require_assembly(fit, *reference_, options_.tss.string(), "TSSs", options_.skip_invalid);
        return sites;
    }

    /// See PromoterOptions::chooses_hold_outs.
    void choose_hold_outs(const std::vector<BedRecord>& sites) {
        if (sites.size() < least_sites) {
            throw InputError("holds " + counted(sites.size(), "TSS") +
                                 " on the reference, too few to hold some "
                                 "out: give " +
                                 std::to_string(least_sites) + " or more",
                             options_.tss);
        }
        using Place = std::pair<std::size_t, std::int64_t>;  // contig and base
        std::vector<Place> places;
        for (const BedRecord& site : sites)
            if (hold_outs_.split_of(site.where) == Split::train)
                places.emplace_back(*reference_->find(site.where.contig), site.where.begin);
        std::ranges::sort(places);
        const std::size_t tenth = sites.size() / 10;
        Place end{reference_->contigs().size(), 0};
        std::vector<std::string> validation = options_.validation, test = options_.test;
        for (const auto& [split, chosen] :
             {std::pair(Split::test, &test), std::pair(Split::validation, &validation)}) {
            if (!chosen->empty() || places.size() <= tenth) continue;
            const Place begin = places[places.size() - tenth];
            for (const Interval& part : free_between(begin, end).intervals())
                chosen->push_back(part.contig + ":" + std::to_string(part.begin + 1) + "-" +
                                  std::to_string(part.end));
            log_info("held out by rule for {}: {}", to_string(split), listed(*chosen, ""));
            std::erase_if(places, [&](const Place& place) { return place >= begin; });
            end = begin;
        }
        hold_outs_ = HoldOuts(*reference_, validation, test);
    }

    /// What is not held out from one contig and base to before another, in the reference's order.
    IntervalSet free_between(const std::pair<std::size_t, std::int64_t>& begin,
                             const std::pair<std::size_t, std::int64_t>& end) const {
        std::vector<Interval> parts;
        const std::span<const genome::Contig> contigs = reference_->contigs();
        for (std::size_t i = begin.first; i < contigs.size() && i <= end.first; ++i)
            parts.push_back({contigs[i].name, i == begin.first ? begin.second : 0,
                             i == end.first ? end.second : contigs[i].length});
        return IntervalSet(parts)
            .without(hold_outs_.regions(Split::validation))
            .without(hold_outs_.regions(Split::test));
    }

    /// The window of a TSS base.
    Interval window_of(const Interval& tss, Strand strand) const {
        return rows::window_about_tss(tss.contig, tss.begin, strand, options_.bounds);
    }

    std::string fetch(const Interval& window, Strand strand) const {
        const std::string dna = reference_->fetch(window);
        return strand == Strand::reverse ? genome::reverse_complement(dna) : dna;
    }
    bool has_much_n(std::string_view dna) const { return genome::n_fraction(dna) > most_n; }

    template <typename Use>
    void for_each_promoter(const Use& use) {
        parallel_for(
            static_cast<std::int64_t>(promoters_.size()), options_.threads,
            [&](std::int64_t i) { use(promoters_[static_cast<std::size_t>(i)]); });
    }

    void leave_out_n() {
        const std::size_t left_out = std::erase_if(
            promoters_, [&](const Promoter& promoter) { return has_much_n(promoter.sequence); });
        if (left_out > 0) {
            log_info("left out {} whose window has more than {:g} of N", counted(left_out, "promoter"),
                     most_n);
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
            log_info("left out {} whose window reaches into one that is held out",
                     counted(left_out, "promoter"));
    }

    Rng stream(const Promoter& promoter) const {
        return Rng(options_.seed)
            .split("negatives")
            .split(promoter.site.where.contig)
            .split(static_cast<std::uint64_t>(promoter.site.where.begin))
            .split(promoter.site.name);
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

    /// Draws uniformly from the bases of `zone`, whose sizes sum up to `ends`. The window must be inside its
    /// contig, not overlap `avoided`, and not exceed the maximum share of N.
    void draw_negative(Promoter& promoter, std::span<const Interval> zone, std::span<const std::int64_t> ends,
                       const IntervalSet& avoided) const {
        constexpr int most_draws = 10'000;
        Rng rng = stream(promoter);
        for (int i = 0; i < most_draws && !zone.empty(); ++i) {
            const std::int64_t drawn = rng.between(0, ends.back() - 1);
            const auto at = static_cast<std::size_t>(std::ranges::upper_bound(ends, drawn) - ends.begin());
            const std::int64_t base = zone[at].end - (ends[at] - drawn);
            const Interval where{zone[at].contig, base, base + 1};
            Interval window = window_of(where, promoter.site.strand);
            if (window.begin < 0 || genome::place(window, *reference_) != genome::Fit::inside ||
                avoided.overlaps(window))
                continue;
            promoter.negative = fetch(window, promoter.site.strand);
            promoter.negative_base = where;
            if (!has_much_n(promoter.negative)) return;
        }
        throw ConfigError(
            "--negatives genomic: no window without a TSS was found among the training or held-out regions; "
            "hold out larger regions, or use shuffled");
    }

    /// `avoided`: the promoters' windows, to which the negatives of held-out splits are added.
    void draw_genomic(IntervalSet avoided) {
        for (const Split split : {Split::test, Split::validation, Split::train}) {
            const std::vector<Interval> zone = zone_of(split).intervals();
            std::vector<std::int64_t> ends;  // running sums of the zone's sizes
            for (const Interval& interval : zone)
                ends.push_back((ends.empty() ? 0 : ends.back()) + interval.size());
            for_each_promoter([&](Promoter& promoter) {
                if (promoter.split == split) draw_negative(promoter, zone, ends, avoided);
            });
            std::vector<Interval> drawn;
            for (const Promoter& promoter : promoters_)
                if (promoter.split == split)
                    drawn.push_back(window_of(*promoter.negative_base, promoter.site.strand));
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
            ExampleRow row{promoter.site.where, promoter.site.name, promoter.site.strand, promoter.split};
            store.add(names[static_cast<std::size_t>(writer.rows())], promoter.sequence);
            writer.add(row, yes);
            row.where = promoter.negative_base.value_or(row.where);
            row.name += ".negative";
            store.add(names[static_cast<std::size_t>(writer.rows())], promoter.negative);
            writer.add(row, no, promoter.negative_base.has_value());
        }
        store.finish();
        writer.finish(rows::LabelTable({{"promoter", "promoter", -1}}), details());
        log_info("{} and as many negatives ({}): {} for training, {} for validation, {} for test",
                 counted(promoters_.size(), "promoter"), word_of(negative_choices, options_.negatives),
                 counted(writer.rows(Split::train), "row"), writer.rows(Split::validation),
                 writer.rows(Split::test));
    }

    Json details() const {
        Json parameters{{"negatives", word_of(negative_choices, options_.negatives)},
                        {"max_n_fraction", most_n},
                        {"seed", options_.seed},
                        {"held_out", hold_outs_.describe()}};
        Json inputs = Json::array({{{"role", "tss"}, {"sha256", checksum_of_input(options_.tss)}}});
        if (options_.chain)
            inputs.push_back({{"role", "chain"}, {"sha256", checksum_of_input(*options_.chain)}});
        for (const fs::path& reference : options_.references)
            inputs.push_back({{"role", "reference"}, {"sha256", checksum_of_input(reference)}});
        return {
            {"parameters", parameters}, {"inputs", inputs}, {"contigs", contigs_json(reference_->contigs())}};
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
}

void build_promoters(const PromoterOptions& options, const fs::path& folder) {
    options.validate();
    PromoterBuilder(options, folder).build();
}

}  // namespace bigbird::examples
