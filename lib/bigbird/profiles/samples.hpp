// SPDX-License-Identifier: Apache-2.0
// Training windows of profile models: which, in what order, and what is in them.
#pragma once

#include "bigbird/genome/reference/reference_genome.hpp"
#include "bigbird/profiles/cut_counts.hpp"
#include "bigbird/profiles/regions.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace bigbird::profiles {

/// A window as a network reads it.
struct Sample {
    Region region{};
    std::int64_t shift = 0;  ///< added to the region's centre
    bool reverse = false;    ///< read as the reverse complement
};

/// An endless order of samples, the same for the same seed. An epoch has each peak once, shifted at random,
/// and background drawn anew, unshifted unless there are no peaks, all in random order, half of them
/// reverse-complemented. Not thread-safe.
class SampleOrder {
public:
    SampleOrder(std::vector<Region> peaks, std::vector<Region> background, std::int64_t background_per_epoch,
                std::int64_t jitter, std::uint64_t seed);

    std::int64_t epoch_size() const { return std::ssize(peaks_) + drawn_; }
    Sample at(std::int64_t index);

private:
    void begin_epoch(std::int64_t epoch);

    std::vector<Region> peaks_, background_;
    std::int64_t drawn_, jitter_, epoch_ = -1;
    std::uint64_t seed_;
    std::vector<Sample> samples_;  ///< of `epoch_`
};

/// Sequence and read ends of windows: `input` bases, and those of the `output` bases in their middle.
/// Thread-safe; the genome and the sites must outlive it.
class WindowSource {
public:
    WindowSource(const genome::ReferenceGenome& reference, const CutCounts& sites, std::int64_t input,
                 std::int64_t output)
        : reference_(reference), sites_(sites), input_(input), output_(output) {}

    std::int64_t input() const { return input_; }
    std::int64_t output() const { return output_; }
    /// Normalized sequence of `input` letters.
    std::string dna(const Sample& sample) const;
    /// `counts` has `output` elements.
    void counts(const Sample& sample, std::span<float> counts) const;
    std::int64_t total(const Region& region) const;

private:
    std::int64_t begin_of(const Sample& sample, std::int64_t size) const {
        return sample.region.centre + sample.shift - input_ / 2 + (input_ - size) / 2;
    }

    const genome::ReferenceGenome& reference_;
    const CutCounts& sites_;
    std::int64_t input_, output_;
};

}  // namespace bigbird::profiles
