// SPDX-License-Identifier: Apache-2.0
#include "bigbird/examples/build/bin_regions.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/interrupt.hpp"
#include "bigbird/core/log.hpp"
#include "bigbird/core/words.hpp"
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

/// In the form of --validation.
std::vector<std::string> texts_of(std::span<const genome::Interval> intervals) {
    std::vector<std::string> texts;
    for (const genome::Interval& part : intervals)
        texts.push_back(fmt::format("{}:{}-{}", part.contig, part.begin + 1, part.end));
    return texts;
}

/// "5 separate peaks are too few".
std::string too_few(const PeakBlocks& blocks) {
    return fmt::format("{} {} too few", counted(blocks.peaks(), "separate peak"),
                       blocks.peaks() == 1 ? "is" : "are");
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

void BinRegions::keep(const genome::IntervalSet& regions) {
    include_ = include_ ? include_->intersected(regions) : regions;
}

bool BinRegions::admits(const genome::Interval& where) const {
    return (!include_ || include_->contains(where)) && !(exclude_ && exclude_->overlaps(where)) &&
           !left_out_.overlaps(where);
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

void BinRegions::choose_missing_hold_outs(
    const std::function<bool(const std::string& contig)>& has_data,
    const std::function<std::vector<std::int64_t>(const genome::Contig& contig)>& labelled) {
    std::vector<Split> missing;
    if (options_.test.empty()) missing.push_back(Split::test);
    if (options_.validation.empty()) missing.push_back(Split::validation);
    if (missing.empty()) return;
    std::vector<UsableBins> usable;
    for (const genome::Contig& contig : reference_->contigs()) {
        stop_if_asked();
        if (!has_data(contig.name)) continue;
        usable.push_back({contig.name, usable_bins(contig)});
        if (options_.gap) usable.back().labelled = labelled(contig);
    }
    const std::vector<Intervals> chosen = choose(usable, missing);
    std::vector<std::string> validation = options_.validation, test = options_.test;
    for (std::size_t i = 0; i < missing.size(); ++i) {
        const std::vector<std::string> regions = texts_of(not_held_out(chosen[i]));
        log_info("held out by rule for {}: {}", to_string(missing[i]), fmt::join(regions, " "));
        (missing[i] == Split::test ? test : validation) = regions;
    }
    hold_outs_ = HoldOuts(*reference_, validation, test);
    left_out_ =
        left_out_.without(hold_outs_.regions(Split::validation)).without(hold_outs_.regions(Split::test));
}

std::vector<BinRegions::Intervals> BinRegions::choose(std::span<const UsableBins> usable,
                                                      std::span<const Split> missing) {
    std::vector<Intervals> chosen = by_contig(usable, missing.size());
    if (!options_.gap) return chosen;
    const PeakBlocks blocks(usable, options_.bin, *options_.gap);
    if (blocks.peaks() == 0)
        throw InputError(
            fmt::format("no bin of {} bp has a label: a peak must cover more than half of one that "
                        "--include and --exclude admit; make summits wider",
                        options_.bin));
    if (options_.folds > 0) {
        const std::int64_t needed =
            std::max(least_peaks_to_hold_out, 2 * static_cast<std::int64_t>(options_.folds));
        if (blocks.peaks() < needed)
            throw InputError(fmt::format("{} for {} folds, which take {}: give more peaks, or fewer folds",
                                         too_few(blocks), options_.folds, needed));
        const auto folds = blocks.folds(options_.folds);
        chosen = {folds[options_.fold], folds[(options_.fold + 1) % folds.size()]};
    } else {
        const bool are_enough = std::ranges::all_of(chosen, [&](const Intervals& set) {
            return blocks.are_enough(genome::IntervalSet(not_held_out(set)));
        });
        if (blocks.peaks() >= least_peaks_to_hold_out && are_enough) return chosen;
        const bool fit = blocks.peaks() > std::ssize(missing);
        if (fit) chosen = blocks.choose(missing.size());
        if (blocks.peaks() < least_peaks_to_hold_out) {
            std::string remedy = fit ? ", or hold out" : "";
            for (std::size_t i = 0; fit && i < missing.size(); ++i) {
                const Intervals set = not_held_out(chosen[i]);
                remedy += fmt::format(" --{} {} ({})", to_string(missing[i]), fmt::join(texts_of(set), " "),
                                      counted(blocks.peaks_in(genome::IntervalSet(set)), "peak"));
            }
            throw InputError(fmt::format("{} to hold some out by rule, which takes {}: give more peaks{}",
                                         too_few(blocks), least_peaks_to_hold_out, remedy));
        }
    }
    Intervals held_out;
    for (const Intervals& set : chosen)
        held_out.insert(held_out.end(), set.begin(), set.end());
    left_out_ = blocks.around(held_out);
    return chosen;
}

/// By choose_hold_outs().
std::vector<BinRegions::Intervals> BinRegions::by_contig(std::span<const UsableBins> usable,
                                                         std::size_t sets) const {
    std::vector<ContigBins> counts;
    for (const UsableBins& of : usable)
        counts.push_back({of.contig, std::ssize(of.bins)});
    std::vector<Intervals> chosen;
    std::int64_t taken = 0;  // bins at the end of the largest contig
    for (const HeldOut& one : choose_hold_outs(counts, sets)) {
        Intervals& set = chosen.emplace_back();
        for (const std::string& name : one.contigs)
            set.push_back({name, 0, reference_->contigs()[*reference_->find(name)].length});
        if (one.bins == 0) continue;
        const auto largest = std::ranges::find(usable, one.contigs.front(), &UsableBins::contig);
        const auto bin_from_end = [&](std::int64_t i) { return *(largest->bins.end() - i); };
        set.front() = {set.front().contig, bin_from_end(taken + one.bins) * options_.bin,
                       (bin_from_end(taken + 1) + 1) * options_.bin};
        taken += one.bins;
    }
    return chosen;
}

/// The parts of intervals that are not held out yet and have room for a bin.
BinRegions::Intervals BinRegions::not_held_out(const Intervals& chosen) const {
    Intervals parts = genome::IntervalSet(chosen)
                          .without(hold_outs_.regions(Split::validation))
                          .without(hold_outs_.regions(Split::test))
                          .intervals();
    std::erase_if(parts, [&](const genome::Interval& part) { return part.size() < options_.bin; });
    return parts;
}

Json BinRegions::held_out() const {
    Json json = hold_outs_.describe();
    if (left_out_.empty()) return json;
    for (const genome::Interval& part : left_out_.intervals())
        json["left_out"].push_back(genome::to_string(part));
    return json;
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
