// SPDX-License-Identifier: Apache-2.0
// Drawings of motifs, for pages.
#pragma once

#include "bigbird/motifs/motif_files.hpp"

#include <span>
#include <string>

namespace bigbird::tasks {

/// A figure (HTML) of letters: each as high as its share times the information of its position (Schneider and
/// Stephens, Nucleic Acids Res. 18:6097, 1990), where `most_bits` fill the height.
std::string logo_html(std::span<const motifs::Shares> shares, const std::string& caption,
                      double most_bits = 2);
/// The information of a position against equal shares, in bits from 0 to 2.
double information_of(const motifs::Shares& place);

/// "; most similar: ID NAME (p …)" of the known motifs; empty if there are none.
std::string nearest_motif(const motifs::Motif& motif, std::span<const motifs::Motif> known);

}  // namespace bigbird::tasks
