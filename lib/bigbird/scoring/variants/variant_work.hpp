// SPDX-License-Identifier: Apache-2.0
// What a run over variants opens: genome, models, variants and TSSs, and the background of effects.
#pragma once

#include "bigbird/genome/reference/reference_genome.hpp"
#include "bigbird/outputs/effect_background.hpp"
#include "bigbird/rows/variant_rows.hpp"
#include "bigbird/scoring/variants/variant_scorers.hpp"
#include "bigbird/scoring/variants/variants.hpp"

#include <cstddef>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace bigbird::tasks {

struct VariantWork {
    /// Opens the models, the reference and the variants of `spec`. `warns`: of another build. Throws
    /// ConfigError if models, options and --tss do not match. Throws InputError, DeviceError.
    explicit VariantWork(const EffectSpec& spec, bool warns = true);
    VariantWork(const VariantWork&) = delete;
    VariantWork& operator=(const VariantWork&) = delete;

    int threads;
    std::unique_ptr<genome::ReferenceGenome> reference;
    std::unique_ptr<VariantScorer> scorer;
    std::optional<rows::TssIndex> tss;
    rows::VariantRows rows;
};

/// Ranks effects in the background of a run: `given`, or background.h5 in the folder of its only model.
class EffectRanks {
public:
    /// Reads the background, if there is one. Call it while this process has one thread. Throws InputError.
    EffectRanks(const std::filesystem::path& given, std::span<const std::filesystem::path> models);

    /// Checks the background against the run (VariantScorer::run) and its labels. Throws InputError if the
    /// background is of another model, was built with other options, or lacks a label. If the model folder's
    /// own background was built with other options, it is ignored with a warning. Says why top() has no
    /// p-value, unless labels are chosen.
    void require(const rows::Provenance& run, std::span<const std::string> labels);
    /// Whether there is a background.
    bool known() const { return background_.has_value(); }
    /// VariantScorer::peaks; none without a background that has them.
    std::vector<std::vector<float>> peaks() const;
    /// VariantScorer::rank; empty without a background of models that give profiles. Must not outlive this.
    RankFigures rank() const;
    /// Sets quantiles and, but of models that give profiles, p-values. Thread-safe.
    void fill(std::span<AlleleEffects> effects) const;
    /// The largest effect of an allele, with its p-value: NaN without a background, where the run has not all
    /// of its labels, or where an earlier version wrote it. Thread-safe.
    TopEffect top(const AlleleEffects& effects) const;

private:
    std::filesystem::path path_;
    bool is_own_ = false;  ///< read from the model folder
    std::optional<outputs::EffectBackground> background_;
    std::vector<std::size_t> labels_;  ///< indices of the run's labels in the background
    bool ranks_largest_ = false;       ///< whether the largest of all labels' effects can be ranked
};

/// predict_variants() with what it reads opened and its outputs checked.
VariantReport predict_variants(const VariantSpec& spec, VariantWork& work, const EffectRanks& ranks);

}  // namespace bigbird::tasks
