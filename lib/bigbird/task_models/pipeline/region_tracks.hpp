// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bigbird/examples/build/chromatin.hpp"
#include "bigbird/examples/examples.hpp"

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace bigbird::task_models {

/// A stretch of test, and the labels of which it has most positive bins, most first.
struct ShownRegion {
    genome::Interval where{};
    std::vector<std::size_t> labels{};
};

/// The stretches of `length` bases of contig coordinates with test bins of most labels, of these those with
/// most positives, at most `most`; a stretch ends with its contig's or test's. Scores play no part in it.
std::vector<ShownRegion> choose_regions(const examples::ExampleSet& set, std::int64_t length,
                                        std::size_t most);

/// A section of a page: three such regions, each label's scores by bin above its peaks. `peaks`: of which the
/// examples were made; `scores`: a score table of the rows of test.
std::string tracks_html(const examples::ChromatinOptions& peaks, const examples::ExampleSet& set,
                        const std::filesystem::path& scores);

}  // namespace bigbird::task_models
