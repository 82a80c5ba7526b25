// SPDX-License-Identifier: Apache-2.0
// Finds the bins of a contig that peaks cover, and counts N.
#pragma once

#include "bigbird/genome/regions/interval_set.hpp"

#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

namespace bigbird::examples {

/// Calls mark(i), ascending, for each bin [i * size, (i + 1) * size) with i < count of which more than half
/// is covered. `covered` are sorted spans that neither overlap nor touch. Takes time proportional to the
/// number of overlapped bins.
void mark_covered_bins(std::span<const genome::Span> covered, std::int64_t size, std::int64_t count,
                       const std::function<void(std::int64_t)>& mark);

/// Counts N in windows of one sequence. Const calls are thread-safe.
class NCounter {
public:
    explicit NCounter(std::string_view dna);
    /// N in [begin, end); positions beyond the sequence count as N.
    std::int64_t count(std::int64_t begin, std::int64_t end) const;

private:
    std::int64_t before(std::int64_t position) const;

    std::int64_t length_;
    std::vector<genome::Span> runs_;
    std::vector<std::int64_t> sums_;  ///< N in the runs before each
};

}  // namespace bigbird::examples
