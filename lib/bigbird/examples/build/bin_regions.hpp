// SPDX-License-Identifier: Apache-2.0
// Decides which bins of a genome become examples, and in which split. Shared by build-chromatin and
// build-tracks.
#pragma once

#include "bigbird/core/formats/json_file.hpp"
#include "bigbird/examples/build/held_out_blocks.hpp"
#include "bigbird/examples/hold_outs.hpp"
#include "bigbird/examples/two_bit.hpp"
#include "bigbird/genome/reference/reference_genome.hpp"
#include "bigbird/genome/regions/interval_set.hpp"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace bigbird::examples {

// Chooses the held-out part of a genome by a fixed rule, so that the same genome gives the same choice.

/// A contig and how many of its bins can be used.
struct ContigBins {
    std::string name;
    std::int64_t bins = 0;
};

/// Contigs; or, with bins > 0, that many usable bins at the end of a single contig.
struct HeldOut {
    std::vector<std::string> contigs{};
    std::int64_t bins = 0;
    bool operator==(const HeldOut&) const = default;
};

/// Makes `sets` disjoint choices. Each is the contig (never the largest) whose number of bins is nearest to a
/// tenth of all bins. If it has less than two thirds of a tenth, further contigs are added as long as they
/// bring the sum nearer to a tenth. If the sum is less than a third of the target or more than twice the
/// target, the choice is instead a stretch of a tenth of all bins at the end of the largest contig. Of equal
/// contigs, the earlier one is preferred. Throws InputError if there are fewer bins than
/// least_bins_to_hold_out.
std::vector<HeldOut> choose_hold_outs(std::span<const ContigBins> contigs, std::size_t sets);
inline constexpr std::int64_t least_bins_to_hold_out = 200;

struct BinRegionOptions {
    std::vector<std::filesystem::path> references{};
    std::int64_t bin = 200;
    std::vector<std::string> include{};  ///< genome::read_region_set: bins must be fully inside, unless empty
    std::vector<std::string> exclude{};  ///< like include: bins must not overlap it
    std::vector<std::string> validation{}, test{};  ///< HoldOuts; by bin
    /// Whether to choose validation and test by choose_hold_outs if they are not given.
    bool chooses_hold_outs = false;
    /// With that, of labels: the gap of the PeakBlocks that are chosen instead, where choose_hold_outs'
    /// choice does not have enough peaks. Bins in the gap are in no split. Not set: peaks are not looked at.
    std::optional<std::int64_t> gap{};
    /// With a gap: the number of folds of a cross-validation; 0: none. Their blocks cover all usable bins.
    /// Test is fold `fold`, from 0, and validation the one after it.
    std::size_t folds = 0, fold = 0;
};

/// Const calls are thread-safe.
class BinRegions {
public:
    /// `options` must outlive this. Throws InputError, ConfigError.
    explicit BinRegions(const BinRegionOptions& options);

    const genome::ReferenceGenome& reference() const { return *reference_; }
    genome::Interval place_of(const std::string& contig, std::int64_t bin) const {
        return {contig, bin * options_.bin, (bin + 1) * options_.bin};
    }
    /// Keeps only bins that are fully in these, too.
    void keep(const genome::IntervalSet& regions);
    /// The bases of --exclude.
    genome::IntervalSet excluded() const { return exclude_.value_or(genome::IntervalSet()); }
    /// Whether --include and --exclude allow the bin.
    bool admits(const genome::Interval& where) const;
    Split split_of(const genome::Interval& where) const { return hold_outs_.split_of(where); }
    /// Chooses the hold-outs that are not given (BinRegionOptions), and logs them. Counts bins that are less
    /// than half N, on contigs for which `has_data` is true. `labelled` gives a contig's bins with a label,
    /// ascending. Throws InputError, with regions to give, if there are fewer than least_peaks_to_hold_out.
    void choose_missing_hold_outs(
        const std::function<bool(const std::string& contig)>& has_data,
        const std::function<std::vector<std::int64_t>(const genome::Contig& contig)>& labelled = {});

    /// For the manifest.
    Json held_out() const;
    Json inputs() const;

private:
    using Intervals = std::vector<genome::Interval>;

    std::vector<std::int64_t> usable_bins(const genome::Contig& contig) const;
    std::vector<Intervals> choose(std::span<const UsableBins> usable, std::span<const Split> missing);
    std::vector<Intervals> by_contig(std::span<const UsableBins> usable, std::size_t sets) const;
    Intervals not_held_out(const Intervals& chosen) const;

    const BinRegionOptions& options_;
    std::unique_ptr<genome::ReferenceGenome> reference_;
    HoldOuts hold_outs_;
    std::optional<genome::IntervalSet> include_, exclude_;
    genome::IntervalSet left_out_;  ///< beside blocks
};

/// Calls mark(i), ascending, for each bin [i * size, (i + 1) * size) with i < count of which more than half
/// is covered. `covered` are sorted spans that neither overlap nor touch. Takes time proportional to the
/// number of overlapped bins.
void mark_covered_bins(std::span<const genome::Span> covered, std::int64_t size, std::int64_t count,
                       const std::function<void(std::int64_t)>& mark);

/// A contig's sequence: counts N in windows, and keeps some of them.
class ContigSequence {
public:
    ContigSequence(const genome::ReferenceGenome& reference, const genome::Contig& contig);
    /// N in [begin, end); positions beyond the contig count as N.
    std::int64_t count_n(std::int64_t begin, std::int64_t end) const;
    /// Keeps an interval. Bases that ascending intervals share are copied once.
    void keep(const genome::Interval& where);
    /// The sequence in the kept intervals, N elsewhere.
    const std::string& kept() const { return kept_; }

private:
    std::int64_t n_before(std::int64_t position) const;

    std::string dna_, kept_;
    std::int64_t length_, copied_begin_ = 0, copied_end_ = 0;
    std::vector<genome::Span> runs_;
    std::vector<std::int64_t> sums_;  ///< N in the runs before each
};

/// The folder's store for sequences of the reference's contigs; empty yet.
TwoBitWriter store_of_contigs(const std::filesystem::path& folder, const genome::ReferenceGenome& reference);

}  // namespace bigbird::examples
