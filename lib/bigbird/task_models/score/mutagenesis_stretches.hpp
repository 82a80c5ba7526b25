// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bigbird/genome/reference/reference_genome.hpp"
#include "bigbird/rows/region_rows.hpp"
#include "bigbird/task_models/score/edited_windows.hpp"
#include "bigbird/task_models/specs/score_specs.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace bigbird::task_models {

/// What becomes of a region's score, or of its own bin's, once a stretch of bases is deleted or shuffled.
/// Sequence behind a deletion moves to the left, as on an edited contig. Not thread-safe.
class StretchEffects {
public:
    /// All must outlive it; the spec deletes or shuffles.
    StretchEffects(const EditedWindows& models, const genome::ReferenceGenome& reference,
                   const MutagenesisSpec& spec);

    /// Calls `put` with each stretch of the row, from every base on, and its effects by label: none where it
    /// is nothing but N. A row that is shorter than a stretch has none.
    void of(const rows::RegionRow& row,
            const std::function<void(const genome::Interval&, std::vector<float>)>& put) const;

private:
    struct Opened;
    /// The window at `begin` once [at, at + stretch) is deleted or shuffled.
    std::string edited(const genome::Interval& window, std::int64_t at) const;
    std::string shuffled(const std::string& contig, std::int64_t at) const;
    std::vector<float> effects(const at::Tensor& ref, const at::Tensor& alt) const;

    const EditedWindows& models_;
    const genome::ReferenceGenome& reference_;
    const MutagenesisSpec& spec_;
    bins::Grid grid_;
    std::int64_t size_;
};

}  // namespace bigbird::task_models
