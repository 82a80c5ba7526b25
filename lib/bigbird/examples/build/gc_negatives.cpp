// SPDX-License-Identifier: Apache-2.0
#include "bigbird/examples/build/gc_negatives.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/interrupt.hpp"
#include "bigbird/core/log.hpp"
#include "bigbird/core/rng.hpp"
#include "bigbird/core/words.hpp"
#include "bigbird/rows/text_fields.hpp"

#include <algorithm>
#include <cmath>
#include <map>

namespace bigbird::examples {

using genome::Interval;

namespace {

constexpr std::size_t most_apart = 5;  // of the shares, in 0.01

bool is_gc(char letter) {
    return letter == 'G' || letter == 'C';
}

std::size_t rounded(double gc) {
    constexpr double steps = 100;
    return static_cast<std::size_t>(std::lround(std::clamp(gc, 0.0, 1.0) * steps));
}

}  // namespace

Negatives parse_negatives(const std::string& text) {
    constexpr std::string_view by_gc = "gc:";
    const bool has_prefix = text.starts_with(by_gc);
    const auto ratio = rows::parse_real(std::string_view(text).substr(has_prefix ? by_gc.size() : 0));
    if (!ratio || *ratio < 0)
        throw ConfigError("--negatives takes a ratio of 0 or more, such as 1 or gc:1, not '" + text + "'");
    return {*ratio, has_prefix};
}

Json to_json(const Negatives& negatives) {
    return negatives.by_gc ? Json(fmt::format("gc:{:g}", negatives.ratio)) : Json(negatives.ratio);
}

std::int64_t GcCounter::count(std::int64_t begin, std::int64_t end) const {
    begin = std::clamp<std::int64_t>(begin, 0, std::ssize(dna_));
    end = std::clamp<std::int64_t>(end, begin, std::ssize(dna_));
    return std::count_if(dna_.begin() + begin, dna_.begin() + end, is_gc);
}

double GcCounter::share(std::int64_t begin, std::int64_t end) {
    if (begin >= begin_ && begin < end_ && end >= end_)
        gc_ += count(end_, end) - count(begin_, begin);
    else
        gc_ = count(begin, end);
    begin_ = begin;
    end_ = end;
    return static_cast<double>(gc_) / static_cast<double>(end - begin);
}

void GcMatcher::add_peak(Split split, double gc) {
    ++splits_[static_cast<std::size_t>(split)].peaks[rounded(gc)];
}

void GcMatcher::add_candidate(const Window& window, double gc) {
    splits_[static_cast<std::size_t>(window.split)].candidates[rounded(gc)].push_back(window);
}

std::vector<GcMatcher::Window> GcMatcher::draw(const OfSplit& of, double ratio) const {
    std::array<std::int64_t, shares> wanted{};
    std::array<std::vector<Window>, shares> left = of.candidates;
    std::int64_t peaks = 0, asked = 0;
    for (std::size_t share = 0; share < shares; ++share) {
        peaks += of.peaks[share];
        wanted[share] = std::llround(ratio * static_cast<double>(peaks)) - asked;
        asked += wanted[share];
        const Rng stream = Rng(seed_).split("gc negatives");
        std::ranges::sort(left[share], {}, [&](const Window& window) {
            return stream.split(window.contig).split(static_cast<std::uint64_t>(window.begin)).key();
        });
    }
    std::vector<Window> drawn;
    const auto take = [&](std::size_t share, std::size_t from) {
        while (from < shares && wanted[share] > 0 && !left[from].empty()) {
            drawn.push_back(left[from].back());
            left[from].pop_back();
            --wanted[share];
        }
    };
    for (std::size_t apart = 0; apart <= most_apart; ++apart) {
        for (std::size_t share = 0; share < shares; ++share) {
            take(share, share - apart);  // below 0 is above all
            take(share, share + apart);
        }
    }
    return drawn;
}

std::vector<GcMatcher::Window> GcMatcher::draw(double ratio) const {
    std::vector<Window> all;
    for (const Split split : {Split::train, Split::validation, Split::test}) {
        const OfSplit& of = splits_[static_cast<std::size_t>(split)];
        std::int64_t peaks = 0, candidates = 0;
        for (std::size_t share = 0; share < shares; ++share) {
            peaks += of.peaks[share];
            candidates += std::ssize(of.candidates[share]);
        }
        const std::int64_t wanted = std::llround(ratio * static_cast<double>(peaks));
        const std::vector<Window> drawn = draw(of, ratio);
        if (std::ssize(drawn) < wanted)
            log_warning(
                "{}: {} matched by GC to {}, not the {} asked for: the genome has {} outside peaks and "
                "--exclude, and no more within 0.05 of a peak's GC",
                to_string(split), counted(drawn.size(), "negative"), counted(peaks, "peak"), wanted,
                counted(candidates, "window"));
        else if (wanted > 0)
            log_info("{}: {} matched by GC to {}", to_string(split), counted(drawn.size(), "negative"),
                     counted(peaks, "peak"));
        all.insert(all.end(), drawn.begin(), drawn.end());
    }
    std::ranges::sort(all);
    return all;
}

std::vector<SplitWindow> peak_windows(const genome::ReferenceGenome& reference,
                                      std::span<const std::filesystem::path> paths, std::int64_t size,
                                      const genome::IntervalSet& excluded,
                                      const std::function<Split(const Interval&)>& split_of,
                                      bool skip_invalid) {
    std::vector<SplitWindow> windows;
    genome::AssemblyFit fit;
    std::int64_t past_end = 0, left_out = 0;
    for (const std::filesystem::path& path : paths) {
        const genome::PlacedBed bed = genome::read_bed_on(reference, path);
        fit += bed.fit;
        for (const genome::BedRecord& record : bed.records) {
            Interval where = record.where;
            if (record.summit)
                where = {where.contig, where.begin + *record.summit, where.begin + *record.summit + 1};
            where = genome::window_around(where, size);
            const std::int64_t length = reference.contigs()[*reference.find(where.contig)].length;
            const bool inside = where.begin >= 0 && where.end <= length;
            past_end += inside ? 0 : 1;
            left_out += inside && excluded.overlaps(where) ? 1 : 0;
            if (inside && !excluded.overlaps(where)) windows.push_back({where, split_of(where)});
        }
    }
    genome::require_assembly(fit, reference, "--peaks", "peaks", skip_invalid);
    const std::vector<bool> kept = without_shared_windows(windows);
    std::size_t i = 0;
    std::erase_if(windows, [&](const SplitWindow&) { return !kept[i++]; });
    log_info(
        "{} of {}, around {} of {}; left out: {} off the reference, {} past a contig's end, {} in --exclude, "
        "{} beside another split",
        counted(windows.size(), "window"), counted(size, "base"), windows.size(), counted(fit.rows, "peak"),
        fit.off_reference(), past_end, left_out, std::ranges::count(kept, false));
    if (windows.empty()) throw InputError("no peak of --peaks has a window to learn from");
    return windows;
}

std::vector<SplitWindow> gc_negatives(const genome::ReferenceGenome& reference,
                                      std::span<const SplitWindow> peaks, const genome::IntervalSet& excluded,
                                      const std::function<Split(const Interval&)>& split_of, double ratio,
                                      std::uint64_t seed) {
    if (peaks.empty()) return {};
    const std::int64_t size = peaks.front().window.size(), step = std::max<std::int64_t>(size / 2, 1);
    std::vector<Interval> occupied;
    std::map<std::string, std::vector<const SplitWindow*>> by_contig;
    for (const SplitWindow& peak : peaks) {
        occupied.push_back(peak.window);
        by_contig[peak.window.contig].push_back(&peak);
    }
    const genome::IntervalSet taken = genome::IntervalSet(occupied).united(excluded);
    GcMatcher matcher(seed);
    for (const auto& [name, of_contig] : by_contig) {
        stop_if_asked();
        const std::size_t index = *reference.find(name);
        const std::int64_t length = reference.contigs()[index].length;
        const std::string dna = reference.fetch({name, 0, length});
        for (const SplitWindow* peak : of_contig)
            matcher.add_peak(peak->split, GcCounter(dna).share(peak->window.begin, peak->window.end));
        GcCounter counter(dna);
        for (std::int64_t begin = 0; begin + size <= length; begin += step) {
            const Interval where{name, begin, begin + size};
            const auto first = dna.begin() + begin;
            if (taken.overlaps(where) || 10 * std::count(first, first + size, 'N') > size) continue;
            const Split split = split_of(where);
            if (split_of({name, begin, begin + 1}) == split &&
                split_of({name, where.end - 1, where.end}) == split)
                matcher.add_candidate({index, begin, split}, counter.share(begin, where.end));
        }
    }
    std::vector<SplitWindow> windows;
    for (const GcMatcher::Window& window : matcher.draw(ratio))
        windows.push_back(
            {{reference.contigs()[window.contig].name, window.begin, window.begin + size}, window.split});
    return windows;
}

}  // namespace bigbird::examples
