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
/// samtools has it), a BED file, or FILE:FOLD, the rows of a BED file whose name is FOLD. Throws ConfigError
/// naming `option` where a text is none of these or is outside the reference.
genome::IntervalSet read_held_out(const genome::ReferenceGenome& reference,
                                  std::span<const std::string> texts, const std::string& option);

/// Which parts of the genome are held out of training. Const calls are thread-safe.
class HoldOuts {
public:
    /// Texts as read_held_out takes them. Throws as it does, and where validation and test overlap.
    HoldOuts(const genome::ReferenceGenome& reference, std::span<const std::string> validation,
             std::span<const std::string> test);

    /// test where `where` overlaps its regions, else validation where it overlaps those, else train.
    Split split_of(const genome::Interval& where) const;
    const genome::IntervalSet& regions(Split held_out) const;

    /// For the manifest: `validation` and `test` as lists of "contig:begin-end" (0-based, half-open), a
    /// checksum instead of long ones.
    Json describe() const;

private:
    genome::IntervalSet validation_, test_;
};

/// A window and the split of its row.
struct SplitWindow {
    genome::Interval window;
    Split split = Split::train;
};

/// Which windows may stay so that no split sees another's sequence: all of test; validation's that share no
/// base with test's; train's that share none with either's.
std::vector<bool> without_shared_windows(std::span<const SplitWindow> windows);

}  // namespace bigbird::examples
