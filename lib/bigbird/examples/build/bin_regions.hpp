// SPDX-License-Identifier: Apache-2.0
// Which bins of a genome become examples, and of which split: what build-chromatin and build-tracks share.
#pragma once

#include "bigbird/core/formats/json_file.hpp"
#include "bigbird/examples/hold_outs.hpp"
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

struct BinRegionOptions {
    std::vector<std::filesystem::path> references{};
    std::int64_t bin = 200;
    std::vector<std::string> include{};  ///< genome::read_region_set: bins must be fully inside, unless empty
    std::vector<std::string> exclude{};  ///< likewise: bins must not touch it
    std::vector<std::string> validation{}, test{};  ///< HoldOuts; by bin
    /// Chooses validation and test by choose_hold_outs where they are not given.
    bool chooses_hold_outs = false;
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
    /// By --include and --exclude.
    bool admits(const genome::Interval& where) const;
    Split split_of(const genome::Interval& where) const { return hold_outs_.split_of(where); }
    bool holds_out(Split split) const { return !hold_outs_.regions(split).empty(); }
    /// The hold-outs that are not given, by rule, among the bins that are less than half N of contigs that
    /// `has_data`. Says which.
    void choose_missing_hold_outs(const std::function<bool(const std::string& contig)>& has_data);

    /// For the manifest.
    Json held_out() const { return hold_outs_.describe(); }
    Json inputs() const;

private:
    std::vector<std::int64_t> usable_bins(const genome::Contig& contig) const;
    std::string region_text(const std::string& contig, std::int64_t count,
                            std::span<const std::int64_t> usable) const;

    const BinRegionOptions& options_;
    std::unique_ptr<genome::ReferenceGenome> reference_;
    HoldOuts hold_outs_;
    std::optional<genome::IntervalSet> include_, exclude_;
};

/// A contig's sequence where something is kept of it, else N.
class KeptSequence {
public:
    /// `dna` must outlive this.
    explicit KeptSequence(const std::string& dna) : dna_(dna), kept_(dna.size(), 'N') {}
    /// Intervals that ascend, so that what they share is copied once; restart() before others come.
    void keep(std::int64_t begin, std::int64_t end);
    void restart() { copied_ = 0; }
    const std::string& text() const { return kept_; }

private:
    const std::string& dna_;
    std::string kept_;
    std::size_t copied_ = 0;
};

/// Whether the .2bit of a genome needs offsets of 64 bits.
bool needs_long_offsets(const genome::ReferenceGenome& reference);

}  // namespace bigbird::examples
