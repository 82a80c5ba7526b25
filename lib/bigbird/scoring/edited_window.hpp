// SPDX-License-Identifier: Apache-2.0
// Scores of a window after edits of its sequence, for predict-variants, predict-mutagenesis and
// motifs-marginalize, which therefore agree to the last bit.
#pragma once

#include "bigbird/bins/substitutions.hpp"
#include "bigbird/tasks/model_folder.hpp"
#include "bigbird/tasks/specs/score_specs.hpp"

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace bigbird::tasks {

/// A window after edits, as each model and strand reads it: the mean of their probabilities, or numbers, in
/// double precision on the CPU. Thread-safe if the models' networks share passes (BinNetwork::shares_passes).
/// The models must outlive it.
class EditedWindow {
public:
    /// `models`: of equal segments (Placement::require_one_grid). `dna`: the window's normalized sequence.
    EditedWindow(std::span<const ModelFolder> models, Strands strands, std::string_view dna,
                 const Job& job = {});

    /// Scores of the unchanged window, (segments, labels).
    at::Tensor reference() const;
    /// (substitutions, chosen, labels): scores with each substitution applied separately, at its chosen
    /// segments, (substitutions, chosen) int64. A row does not depend on the others.
    at::Tensor substituted(std::span<const bins::Substitution> each, const at::Tensor& segments) const;
    /// (texts, segments, labels): scores of the window with other edits. Texts have its length, unless models
    /// read records.
    at::Tensor edited(std::span<const std::string> texts) const;

private:
    struct Reading {
        const ModelFolder* model;
        bool reverse;
        std::unique_ptr<NetworkWindow> window;
    };
    /// The mean over all readings of the results of `logits`: (…, labels).
    template <typename Logits>
    at::Tensor mean_of(const Logits& logits) const;

    std::vector<Reading> readings_;
};

/// The scale on which effects are additive: log odds, ln(p / (1 - p)), for probabilities, ln for coverage and
/// counts, no change for other numbers.
double additive(double value, LinkFunction link);
/// What a difference of additive() is: "log_odds", "log_ratio" or "difference".
std::string_view additive_effect(LinkFunction link);

}  // namespace bigbird::tasks
