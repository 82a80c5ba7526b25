// SPDX-License-Identifier: Apache-2.0
// Promoter examples: the window around each TSS, and a negative for it.
#pragma once

#include "bigbird/examples/build/negatives.hpp"
#include "bigbird/rows/window.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace bigbird::examples {

struct PromoterOptions {
    std::filesystem::path tss;
    std::optional<std::filesystem::path> chain;
    std::vector<std::filesystem::path> references;
    rows::WindowBounds bounds;
    NegativeKind negatives = NegativeKind::random_bases;
    std::vector<std::string> validation, test;  ///< HoldOuts; by TSS base
    double max_n_fraction = 0.5;  ///< largest share of N in a window; all-N windows are always left out
    std::uint64_t seed = 0;
    bool skip_invalid = false;  ///< build however many TSSs do not fit the reference
    int threads = 1;

    /// Throws ConfigError.
    void validate() const;
};

/// Writes an example folder (FORMAT.md) into the empty `folder`. A promoter and its negative are adjacent and
/// share the split; a promoter whose window shares sequence with a window of another split is left out of one
/// of them (without_shared_windows). A promoter's negative depends only on the seed and the promoter; genomic
/// negatives also depend on the hold-outs and the other promoters. Logs what it did. Throws InputError and
/// ConfigError, also where nothing is left.
void build_promoters(const PromoterOptions& options, const std::filesystem::path& folder);

}  // namespace bigbird::examples
