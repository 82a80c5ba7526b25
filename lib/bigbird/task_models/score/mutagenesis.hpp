// SPDX-License-Identifier: Apache-2.0
// Effects of changed letters on scores, for each kind of model that predict-mutagenesis supports.
#pragma once

#include "bigbird/rows/row.hpp"
#include "bigbird/task_models/score/edited_windows.hpp"
#include "bigbird/task_models/score/grid_rows.hpp"
#include "bigbird/task_models/score/scorers.hpp"
#include "bigbird/task_models/specs/score_specs.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace bigbird::task_models {

/// A row whose letters are changed: a region of a contig, or a record, which is treated as a contig.
struct MutatedRow {
    rows::Row head;
    genome::Interval where;         ///< head.where in the coordinates of `sequence_of`
    std::string dna;                ///< normalized sequence of `where`
    const SequenceOf& sequence_of;  ///< sequence of its contig
};

/// Computes the effects of changes in a row. Not thread-safe.
class MutationEffects {
public:
    using PutStretch = std::function<void(const genome::Interval& stretch, std::vector<float> effects)>;

    virtual ~MutationEffects() = default;
    /// At least one model; all have the same labels.
    virtual std::span<const ModelFolder> models() const = 0;
    /// Maximum length in bases of a row with one score; 0 means unlimited.
    virtual std::int64_t longest() const = 0;
    /// Effects of every substitution: (bases, 4, labels) float32. They are 0 for the row's own letter, NaN
    /// where that is N, and 0 where the model does not read the base.
    virtual std::vector<float> substitutions(const MutatedRow& row) = 0;
    /// Calls `put` with the stretch that begins at each base, and with the effects by label of deleting or
    /// shuffling it. The effects are empty for a stretch of only N. A row shorter than a stretch has no
    /// calls.
    virtual void stretches(const MutatedRow& row, const PutStretch& put) = 0;
};

/// Computes effects with bin models, on the contig's grid of windows. `spec` must outlive the result.
std::unique_ptr<MutationEffects> bin_effects(EditedWindows models, const MutagenesisSpec& spec);
/// Computes effects with models that read a record, or a window around a region's middle or TSS. Each change
/// needs a forward pass.
std::unique_ptr<MutationEffects> window_effects(Predictor models, const MutagenesisSpec& spec, int threads);

// Helpers of both implementations.

/// The substitution of one base; `base` counts from the row's first.
struct Change {
    std::int64_t base = 0;
    std::uint8_t code = 0;  ///< index into letters_of_changes
};
inline constexpr std::string_view letters_of_changes = "ACGT";
/// All substitutions of a row, except where it has N.
std::vector<Change> all_changes(std::string_view dna);

/// The result of substitutions() for a score that depends on no base.
std::vector<float> no_effects(std::string_view dna, std::size_t labels);
/// The effect on one label.
float effect_of(double ref, double alt, Quantity quantity, LinkFunction link);

/// The letters of `window` after the stretch of `spec` at `at` is deleted or shuffled. After a deletion, the
/// following sequence moves to the left, as on an edited contig. `ends`: the window is a record, which gets
/// shorter instead of being filled up.
std::string with_stretch(const MutatedRow& row, const genome::Interval& window, std::int64_t at,
                         const MutagenesisSpec& spec, bool ends = false);

}  // namespace bigbird::task_models
