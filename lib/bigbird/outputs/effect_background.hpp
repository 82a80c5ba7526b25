// SPDX-License-Identifier: Apache-2.0
// What effects of variants are ranked among: by label, the effects of many variants as quantiles.
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

/// The shares at which quantiles are kept, ascending from 0 to 1: every hundredth, and ten a decade towards
/// both ends down to 1e-5.
std::vector<double> background_levels();

/// The quantiles of `effects` at `levels`, as numpy.quantile has them (linear). NaN are left out; where there
/// is nothing else all quantiles are NaN.
std::vector<float> quantiles_of(std::vector<float> effects, std::span<const double> levels);

/// Shares of a distribution that is known by its quantiles, linear between two of them: of what is smaller
/// than `value`, or with `at_most` not larger.
double share_below(std::span<const float> quantiles, std::span<const double> levels, double value,
                   bool at_most);

/// Signed effects of a VCF's variants, and of the same alleles at random positions.
struct EffectBackground {
    rows::Provenance run;             ///< model, strands, scorer …: what a run has in common with it
    std::vector<std::string> labels;  ///< column names
    std::int64_t variants = 0, shuffled = 0;  ///< how many alleles were scored
    std::uint64_t seed = 0;
    std::vector<double> levels;
    std::vector<float> of_variants, of_shuffled;  ///< (labels, levels)

    std::optional<std::size_t> find(std::string_view label) const;
    /// The share of the VCF's variants whose signed effect is smaller; of equal ones half counts, as scipy's
    /// percentileofscore(kind="mean") / 100 has it.
    double quantile(std::size_t label, double effect) const;
    /// The share of the n shuffled variants whose absolute effect is as large or larger, two-sided:
    /// (1 + n * share) / (1 + n), so that it is never 0.
    double p(std::size_t label, double effect) const;
};

/// Writes HDF5 (FORMAT.md, "Background of effects"). Throws ConfigError, WriteError.
void write_background(const std::filesystem::path& path, Overwrite overwrite,
                      const EffectBackground& background);
/// Reads it in a child process; call it where this process has one thread. Throws InputError.
EffectBackground read_background(const std::filesystem::path& path);

}  // namespace bigbird::outputs
