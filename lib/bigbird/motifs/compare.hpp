// SPDX-License-Identifier: Apache-2.0
// Compares motifs by Tomtom's method (Gupta et al., Genome Biology 2007, 8:R24) with complete scores (Tanaka
// et al., Bioinformatics 2011, 27:1603).
#pragma once

#include "bigbird/motifs/motif_files.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace bigbird::motifs {

/// The best alignment of a query to a target.
struct Similarity {
    std::size_t target = 0;  ///< index
    double p_value = 1;  ///< chance that random columns of all targets are at least as similar, at any offset
    std::int64_t offset = 0;   ///< from the target's first column to the query's, on the target's strand
    std::int64_t overlap = 0;  ///< columns
    bool reverse = false;      ///< the target's reverse complement
};

/// The similarity of `query` to each target, the lowest p-value first. The score of two columns is their
/// Euclidean distance relative to its median over all targets' columns, so that columns without a partner
/// count 0. The targets' columns are the background; fewer than about 50 targets give only rough p-values.
std::vector<Similarity> compare(const Motif& query, std::span<const Motif> targets);

}  // namespace bigbird::motifs
