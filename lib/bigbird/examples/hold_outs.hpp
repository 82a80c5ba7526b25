// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bigbird/core/formats/json_file.hpp"
#include "bigbird/examples/examples.hpp"
#include "bigbird/genome/reference/reference_genome.hpp"
#include "bigbird/genome/regions/interval_set.hpp"

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace bigbird::examples {

/// The bases that `texts` name: each is a contig, a region ("22:21,000,001-22,000,000", 1-based and closed as
/// in samtools), a BED file, or FILE:FOLD, the rows of a BED file whose name is FOLD. Throws ConfigError
/// naming `option` where a text is none of these or is outside the reference.
genome::IntervalSet read_held_out(const genome::ReferenceGenome& reference,
                                  std::span<const std::string> texts, const std::string& option);

/// Which parts of the genome are held out of training. Const calls are thread-safe.
class HoldOuts {
public:
    /// Takes texts of read_held_out. Throws as it does, and if validation and test overlap.
    HoldOuts(const genome::ReferenceGenome& reference, std::span<const std::string> validation,
             std::span<const std::string> test);

    /// Returns test if `where` overlaps its regions, else validation if it overlaps those, else train.
    Split split_of(const genome::Interval& where) const;
    const genome::IntervalSet& regions(Split held_out) const;

    /// For the manifest: `validation` and `test` as lists of "contig:begin-end" (0-based, half-open); a
    /// checksum instead of a long list.
    Json describe() const;

private:
    genome::IntervalSet validation_, test_;
};

/// A window and the split of its row.
struct SplitWindow {
    genome::Interval window;
    Split split = Split::train;
};

/// The windows to keep, so that no split contains sequence of another: all of test; those of validation that
/// share no base with test; those of train that share no base with either.
std::vector<bool> without_shared_windows(std::span<const SplitWindow> windows);

}  // namespace bigbird::examples
