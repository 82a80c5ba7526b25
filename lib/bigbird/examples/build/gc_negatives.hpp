// SPDX-License-Identifier: Apache-2.0
// Windows without a peak whose share of G and C is that of windows with one, so that a model cannot tell them
// apart by it.
#pragma once

#include "bigbird/core/formats/json_file.hpp"
#include "bigbird/examples/hold_outs.hpp"
#include "bigbird/genome/reference/reference_genome.hpp"
#include "bigbird/genome/regions/assembly_fit.hpp"
#include "bigbird/genome/regions/interval_set.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace bigbird::examples {

/// How many windows without a peak are drawn per window with one, and whether by their GC.
struct Negatives {
    double ratio = 0;
    bool by_gc = false;
    bool operator==(const Negatives&) const = default;
};
/// Reads "2" or "gc:2". Throws ConfigError naming --negatives for any other text, and for a number below 0.
Negatives parse_negatives(const std::string& text);
/// For a manifest: the ratio, or "gc:2".
Json to_json(const Negatives& negatives);

/// Counts G and C in windows that ascend. The text must outlive this.
class GcCounter {
public:
    explicit GcCounter(std::string_view dna) : dna_(dna) {}
    /// The share of G and C of all letters of [begin, end), N and bases outside the text among them. Takes
    /// time proportional to the bases in which the window differs from the last one.
    double share(std::int64_t begin, std::int64_t end);

private:
    std::int64_t count(std::int64_t begin, std::int64_t end) const;

    std::string_view dna_;
    std::int64_t begin_ = 0, end_ = 0, gc_ = 0;
};

/// Draws candidates by the GC of peaks, for each split by itself. Ends after a fixed number of steps. Not
/// thread-safe.
class GcMatcher {
public:
    /// A window, by the index of its contig and its first base.
    struct Window {
        std::size_t contig = 0;
        std::int64_t begin = 0;
        Split split = Split::train;
        auto operator<=>(const Window&) const = default;
    };

    explicit GcMatcher(std::uint64_t seed) : seed_(seed) {}
    void add_peak(Split split, double gc);
    void add_candidate(const Window& window, double gc);

    /// Returns `ratio` candidates per peak, or fewer, without repeats, in order. Shares of GC are rounded to
    /// 0.01. Of a peak's share a candidate is drawn at random; where there is none left, of the nearest
    /// shares up to 0.05 away, after all peaks had their own. Logs how many are drawn for each split, and
    /// warns where the genome has too few.
    std::vector<Window> draw(double ratio) const;

private:
    static constexpr std::size_t shares = 101;
    struct OfSplit {
        std::array<std::int64_t, shares> peaks{};
        std::array<std::vector<Window>, shares> candidates{};
    };
    std::vector<Window> draw(const OfSplit& of, double ratio) const;

    std::uint64_t seed_;
    std::array<OfSplit, 3> splits_{};
};

/// `size` bases around the summits of peaks (narrowPeak's column 10), or their middles: the summit is at
/// index size / 2. Leaves out windows past a contig's end, those that overlap `excluded`, and those that
/// share bases with one of another split (without_shared_windows); logs their number. `paths`: BED or
/// narrowPeak files. Throws InputError: a malformed line, peaks of another assembly unless `skip_invalid`, no
/// window left.
std::vector<SplitWindow> peak_windows(const genome::ReferenceGenome& reference,
                                      std::span<const std::filesystem::path> paths, std::int64_t size,
                                      const genome::IntervalSet& excluded,
                                      const std::function<Split(const genome::Interval&)>& split_of,
                                      bool skip_invalid = false);

/// Windows without a peak, `ratio` per window of `peaks`, matched by GC (GcMatcher::draw), as long as these,
/// in the order of the reference. Candidates begin at multiples of half a window, are on contigs with peaks,
/// have at most a tenth of N, are in one split, and overlap neither a window of `peaks` nor `excluded`.
/// `split_of`: the split of a candidate.
std::vector<SplitWindow> gc_negatives(const genome::ReferenceGenome& reference,
                                      std::span<const SplitWindow> peaks, const genome::IntervalSet& excluded,
                                      const std::function<Split(const genome::Interval&)>& split_of,
                                      double ratio, std::uint64_t seed);

}  // namespace bigbird::examples
