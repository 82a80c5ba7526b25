// SPDX-License-Identifier: Apache-2.0
#include "bigbird/examples/build/bin_regions.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/interrupt.hpp"
#include "bigbird/core/log.hpp"
#include "bigbird/examples/example_format.hpp"
#include "bigbird/examples/example_writer.hpp"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <utility>

namespace bigbird::examples {

namespace {

constexpr std::int64_t held_out_one_in = 10, too_little = 3, too_much = 2;

/// Takes contigs from `left` until they have two thirds of `aim`, as long as each brings the sum nearer to
/// `aim`.
HeldOut nearest_contigs(std::vector<ContigBins>& left, std::int64_t aim) {
    HeldOut chosen;
    std::int64_t sum = 0;
    while (!left.empty() && 3 * sum < 2 * aim) {
        const auto distance = [&](const ContigBins& contig) { return std::abs(sum + contig.bins - aim); };
        const auto best = std::ranges::min_element(left, {}, distance);
        if (distance(*best) >= std::abs(sum - aim)) break;
        sum += best->bins;
        chosen.contigs.push_back(best->name);
        left.erase(best);
    }
    if (sum * too_little < aim || sum > too_much * aim) return {};
    return chosen;
}

}  // namespace

std::vector<HeldOut> choose_hold_outs(std::span<const ContigBins> contigs, std::size_t sets) {
    std::int64_t all = 0;
    for (const ContigBins& contig : contigs)
        all += contig.bins;
    if (all < least_bins_to_hold_out) {
        throw InputError("the reference has " + std::to_string(all) +
                         " bins with sequence on contigs with peaks, too few to hold some out (" +
                         std::to_string(least_bins_to_hold_out) +
                         " are needed); give more sequence, or --validation and --test");
    }
    const ContigBins& largest = *std::ranges::max_element(contigs, {}, &ContigBins::bins);
    std::vector<ContigBins> left;
    for (const ContigBins& contig : contigs)
        if (&contig != &largest && contig.bins > 0) left.push_back(contig);
    std::vector<HeldOut> chosen;
    while (chosen.size() < sets) {
        std::vector<ContigBins> rest = left;
        HeldOut one = nearest_contigs(rest, all / held_out_one_in);
        if (one.contigs.empty())
            one = {{largest.name}, all / held_out_one_in};
        else
            left = std::move(rest);
        chosen.push_back(std::move(one));
    }
    return chosen;
}

namespace fs = std::filesystem;

namespace {

std::optional<genome::IntervalSet> read_set(const genome::ReferenceGenome& reference,
                                            const std::vector<std::string>& regions, const char* option) {
    if (regions.empty()) return std::nullopt;
    return genome::read_region_set(reference, regions, option);
}

void add_regions(Json& inputs, const char* role, const std::vector<std::string>& regions) {
    for (const std::string& text : regions) {
        std::error_code ignored;
        Json input{{"role", role}};
        if (fs::exists(text, ignored))
            input["sha256"] = checksum_of_input(text);
        else
            input["region"] = text;
        inputs.push_back(input);
    }
}

}  // namespace

BinRegions::BinRegions(const BinRegionOptions& options)
    : options_(options),
      reference_(genome::open_references(options.references)),
      hold_outs_(*reference_, options.validation, options.test),
      include_(read_set(*reference_, options.include, "--include")),
      exclude_(read_set(*reference_, options.exclude, "--exclude")) {}

bool BinRegions::admits(const genome::Interval& where) const {
    return (!include_ || include_->contains(where)) && !(exclude_ && exclude_->overlaps(where));
}

/// Bins of a contig that --include and --exclude allow, that are not held out already, and that are less than
/// half N.
std::vector<std::int64_t> BinRegions::usable_bins(const genome::Contig& contig) const {
    std::vector<std::int64_t> usable;
    const ContigSequence sequence(*reference_, contig);
    for (std::int64_t bin = 0; bin < contig.length / options_.bin; ++bin) {
        const genome::Interval where = place_of(contig.name, bin);
        if (admits(where) && split_of(where) == Split::train &&
            2 * sequence.count_n(where.begin, where.end) < options_.bin)
            usable.push_back(bin);
    }
    return usable;
}

void BinRegions::choose_missing_hold_outs(const std::function<bool(const std::string& contig)>& has_data) {
    std::vector<std::string> validation = options_.validation, test = options_.test;
    std::vector<std::pair<Split, std::vector<std::string>*>> missing;
    if (test.empty()) missing.emplace_back(Split::test, &test);
    if (validation.empty()) missing.emplace_back(Split::validation, &validation);
    if (missing.empty()) return;
    std::vector<ContigBins> counts;
    std::vector<std::int64_t> most;  // the bins of the contig with the most bins
    for (const genome::Contig& contig : reference_->contigs()) {
        stop_if_asked();
        std::vector<std::int64_t> usable;
        if (has_data(contig.name)) usable = usable_bins(contig);
        counts.push_back({contig.name, std::ssize(usable)});
        if (usable.size() > most.size()) most = std::move(usable);
    }
    const std::vector<HeldOut> chosen = choose_hold_outs(counts, missing.size());
    for (std::size_t i = 0; i < missing.size(); ++i) {
        for (const std::string& contig : chosen[i].contigs) {
            std::string names;
            for (const std::string& region : free_regions(contig, chosen[i].bins, most)) {
                missing[i].second->push_back(region);
                names += " " + region;
            }
            log_info("held out by rule for {}:{}", to_string(missing[i].first), names);
        }
        most.resize(most.size() - static_cast<std::size_t>(chosen[i].bins));
    }
    hold_outs_ = HoldOuts(*reference_, validation, test);
}

/// A contig, or its last `count` of the bins `usable`, in the form of --validation and without what is held
/// out already.
std::vector<std::string> BinRegions::free_regions(const std::string& contig, std::int64_t count,
                                                  std::span<const std::int64_t> usable) const {
    genome::Interval chosen{contig, 0, reference_->contigs()[*reference_->find(contig)].length};
    if (count > 0) {
        chosen.begin = usable[usable.size() - static_cast<std::size_t>(count)] * options_.bin;
        chosen.end = (usable.back() + 1) * options_.bin;
    }
    std::vector<std::string> texts;
    for (const genome::Interval& part : genome::IntervalSet(std::span(&chosen, 1))
                                            .without(hold_outs_.regions(Split::validation))
                                            .without(hold_outs_.regions(Split::test))
                                            .intervals())
        if (part.size() >= options_.bin)
            texts.push_back(contig + ":" + std::to_string(part.begin + 1) + "-" + std::to_string(part.end));
    return texts;
}

Json BinRegions::inputs() const {
    Json inputs = Json::array();
    for (const fs::path& reference : options_.references)
        inputs.push_back({{"role", "reference"}, {"sha256", checksum_of_input(reference)}});
    add_regions(inputs, "include", options_.include);
    add_regions(inputs, "exclude", options_.exclude);
    return inputs;
}

void mark_covered_bins(std::span<const genome::Span> covered, std::int64_t size, std::int64_t count,
                       const std::function<void(std::int64_t)>& mark) {
    std::int64_t bin = -1, bases = 0;
    const auto close = [&] {
        if (bin >= 0 && bin < count && 2 * bases > size) mark(bin);
    };
    for (const genome::Span& span : covered) {
        for (std::int64_t next = span.begin / size; next * size < span.end; ++next) {
            if (next != bin) {
                close();
                bin = next;
                bases = 0;
            }
            bases += std::min(span.end, (next + 1) * size) - std::max(span.begin, next * size);
        }
    }
    close();
}

ContigSequence::ContigSequence(const genome::ReferenceGenome& reference, const genome::Contig& contig)
    : dna_(reference.fetch({contig.name, 0, contig.length})),
      kept_(dna_.size(), 'N'),
      length_(contig.length),
      runs_(runs_of_n(dna_)) {
    std::int64_t sum = 0;
    for (const genome::Span& run : runs_) {
        sums_.push_back(sum);
        sum += run.end - run.begin;
    }
}

std::int64_t ContigSequence::n_before(std::int64_t position) const {
    const auto after = std::ranges::upper_bound(runs_, position, {}, &genome::Span::begin);
    if (after == runs_.begin()) return 0;
    const auto last = static_cast<std::size_t>(after - runs_.begin()) - 1;
    return sums_[last] + std::min(position, runs_[last].end) - runs_[last].begin;
}

std::int64_t ContigSequence::count_n(std::int64_t begin, std::int64_t end) const {
    const std::int64_t first = std::clamp<std::int64_t>(begin, 0, length_),
                       last = std::clamp<std::int64_t>(end, 0, length_);
    return n_before(last) - n_before(first) + (end - begin) - (last - first);
}

void ContigSequence::keep(const genome::Interval& where) {
    const std::int64_t begin = std::max<std::int64_t>(where.begin, 0), end = std::min(where.end, length_);
    const bool goes_on = begin >= copied_begin_ && begin <= copied_end_;
    const std::int64_t from = goes_on ? copied_end_ : begin;
    if (from >= end) return;
    const auto at = static_cast<std::size_t>(from), size = static_cast<std::size_t>(end - from);
    kept_.replace(at, size, dna_, at, size);
    if (!goes_on) copied_begin_ = begin;
    copied_end_ = end;
}

TwoBitWriter store_of_contigs(const fs::path& folder, const genome::ReferenceGenome& reference) {
    std::vector<std::string> names;
    std::int64_t bases = 0;
    for (const genome::Contig& contig : reference.contigs()) {
        names.push_back(contig.name);
        bases += contig.length;
    }
    const bool long_offsets = bases / 4 > std::int64_t{std::numeric_limits<std::uint32_t>::max() / 2};
    return {folder / store_name, names, long_offsets};
}

}  // namespace bigbird::examples
