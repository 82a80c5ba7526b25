// SPDX-License-Identifier: Apache-2.0
#include "bigbird/examples/build/promoters.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/interrupt.hpp"
#include "bigbird/core/log.hpp"
#include "bigbird/core/parallel.hpp"
#include "bigbird/examples/build/promoter_sites.hpp"
#include "bigbird/examples/example_format.hpp"
#include "bigbird/examples/example_writer.hpp"
#include "bigbird/examples/hold_outs.hpp"
#include "bigbird/examples/two_bit.hpp"
#include "bigbird/genome/reference/reference_genome.hpp"
#include "bigbird/genome/reference/sequence.hpp"
#include "bigbird/genome/regions/interval_set.hpp"

#include <array>
#include <limits>

namespace bigbird::examples {
namespace fs = std::filesystem;

namespace {

using genome::Interval;
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
