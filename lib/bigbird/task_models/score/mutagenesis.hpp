// SPDX-License-Identifier: Apache-2.0
// What becomes of a score once letters are changed, by each kind of model that predict-mutagenesis takes.
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

/// A row whose letters are changed: a region of a contig, or a record, which is a contig of its own.
struct MutatedRow {
    rows::Row head;
    genome::Interval where;         ///< head.where as `sequence_of` names it
    std::string dna;                ///< of `where`, normalised
    const SequenceOf& sequence_of;  ///< of its contig
};

/// Not thread-safe.
class MutationEffects {
public:
    using PutStretch = std::function<void(const genome::Interval& stretch, std::vector<float> effects)>;

    virtual ~MutationEffects() = default;
    /// At least one; they agree in labels.
    virtual std::span<const ModelFolder> models() const = 0;
    /// The most bases of a row that has one score; 0: any number.
    virtual std::int64_t longest() const = 0;
    /// Effects of every substitution: (bases, 4, labels) float32, 0 at the row's own letter, NaN where that
    /// is N. A base that the model does not read has effects of 0.
    virtual std::vector<float> substitutions(const MutatedRow& row) = 0;
    /// Calls `put` with each stretch of the row, from every base on, and the effects by label of deleting or
    /// shuffling it: none where it is nothing but N. A row that is shorter than a stretch has none.
    virtual void stretches(const MutatedRow& row, const PutStretch& put) = 0;
};

/// Of bin models, on the contig's grid of windows; the spec must outlive it.
std::unique_ptr<MutationEffects> bin_effects(EditedWindows models, const MutagenesisSpec& spec);
/// Of models that read a window about a region's middle or TSS, or a record, by a pass for each change.
std::unique_ptr<MutationEffects> window_effects(Predictor models, const MutagenesisSpec& spec, int threads);

// What both have in common.

/// A base of a row, from its first, becomes another.
struct Change {
    std::int64_t base = 0;
    std::uint8_t code = 0;  ///< index into letters_of_changes
};
inline constexpr std::string_view letters_of_changes = "ACGT";
/// All of a row, none of N.
std::vector<Change> all_changes(std::string_view dna);

/// The effects of a row without changes: substitutions() of a score that depends on no base.
std::vector<float> no_effects(std::string_view dna, std::size_t labels);
/// One label's effect.
float effect_of(double ref, double alt, Quantity quantity, LinkFunction link);

/// The letters of `window` once the stretch of `spec` at `at` is deleted or shuffled. Sequence behind a
/// deletion moves to the left, as on an edited contig; `ends`: the window is a record, and gets shorter.
std::string with_stretch(const MutatedRow& row, const genome::Interval& window, std::int64_t at,
                         const MutagenesisSpec& spec, bool ends = false);

}  // namespace bigbird::task_models
