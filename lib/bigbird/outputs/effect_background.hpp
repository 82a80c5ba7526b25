// SPDX-License-Identifier: Apache-2.0
// Background distributions of variant effects: for each label, the effects of many variants as quantiles.
#pragma once

#include "bigbird/core/files.hpp"
#include "bigbird/rows/score_table.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace bigbird::outputs {

/// The levels of the stored quantiles, ascending from 0 to 1: every hundredth and, near both ends, ten per
/// decade down to 1e-5.
std::vector<double> background_levels();

/// The quantiles of `effects` at `levels`, as numpy.quantile with linear interpolation. NaN are ignored. If
/// all effects are NaN, so are the quantiles.
std::vector<float> quantiles_of(std::vector<float> effects, std::span<const double> levels);

/// The share of a distribution that is smaller than `value`; with `at_most`, smaller or equal. The
/// distribution is given by its quantiles, with linear interpolation between them.
double share_below(std::span<const float> quantiles, std::span<const double> levels, double value,
                   bool at_most);

/// Signed effects of a VCF's variants, and of the same alleles at random positions.
struct EffectBackground {
    rows::Provenance run;             ///< settings that a run must share with it: model, strands, scorer …
    std::vector<std::string> labels;  ///< column names
    std::int64_t variants = 0, shuffled = 0;  ///< number of scored alleles
    std::uint64_t seed = 0;
    std::vector<double> levels;
    std::vector<float> of_variants, of_shuffled;  ///< (labels, levels)
    std::int64_t peaks = 0;                       ///< number of scored peaks
    std::vector<float> of_peaks;                  ///< (models, labels, peaks) reads, ascending
    /// (2, models, labels, levels) of shuffled variants, in size; only of models that give profiles.
    std::vector<float> of_models;
    enum class Figure : std::uint8_t { log2_fold_change, jsd };
    /// (levels) of each shuffled variant's largest absolute effect over all labels; empty: an earlier version
    /// wrote the file.
    std::vector<float> of_largest;

    std::optional<std::size_t> find(std::string_view label) const;
    /// Number of models that the run names.
    std::int64_t models() const;
    /// Reads of the peaks, ascending; none without peaks.
    std::span<const float> peaks_of(std::int64_t model, std::size_t label) const;
    bool has_models() const { return !of_models.empty(); }
    /// p() by one model's figures, of its own effect.
    double p_of_model(Figure figure, std::size_t model, std::size_t label, double effect) const;
    /// The share of the VCF's variants with a smaller signed effect. Equal effects count half, as in scipy's
    /// percentileofscore(kind="mean") / 100.
    double quantile(std::size_t label, double effect) const;
    /// Two-sided p-value: (1 + n * share) / (1 + n), which is never 0. The share counts those of the n
    /// shuffled variants whose absolute effect is at least as large.
    double p(std::size_t label, double effect) const;
    /// The p-value of a variant by its largest effect over all labels, against the shuffled variants'
    /// largest. NaN without of_largest.
    double p_of_largest(double effect) const;
};

/// Writes HDF5 (FORMAT.md, "Background of effects"). Throws ConfigError, WriteError.
void write_background(const std::filesystem::path& path, Overwrite overwrite,
                      const EffectBackground& background);
/// Reads the file in a child process. Call it while this process has one thread. Throws InputError.
EffectBackground read_background(const std::filesystem::path& path);

}  // namespace bigbird::outputs
