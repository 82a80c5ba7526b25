// SPDX-License-Identifier: Apache-2.0
// Sections of train's report page.
#pragma once

#include "bigbird/examples/build/chromatin.hpp"
#include "bigbird/examples/examples.hpp"

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace bigbird::tasks {

/// A stretch of the test split, and the labels with the most positive bins in it, most first.
struct ShownRegion {
    genome::Interval where{};
    std::vector<std::size_t> labels{};
};

/// Chooses at most `most` stretches of `length` bases: those whose test bins have the most labels and, among
/// equal ones, the most positives. A stretch ends at the end of its contig or of the test split. The choice
/// does not depend on scores.
std::vector<ShownRegion> choose_regions(const examples::ExampleSet& set, std::int64_t length,
                                        std::size_t most);

/// A page section with three such regions: each label's scores by bin, above its peaks. `peaks`: the peaks of
/// the examples; `scores`: a score table of the test rows.
std::string tracks_html(const examples::ChromatinOptions& peaks, const examples::ExampleSet& set,
                        const std::filesystem::path& scores);

}  // namespace bigbird::tasks
