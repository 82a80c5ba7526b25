// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bigbird/motifs/find_motifs.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace bigbird::outputs {

/// Contributions of all regions' bases to one label.
struct LabelContributions {
    std::string label;  ///< the file's attribute "label", else the file's name
    std::vector<motifs::Contributions> regions{};
};

/// Reads HDF5 in TF-MoDISco's form, as predict-mutagenesis and attribute write it: raw/seq, one-hot sequence,
/// and shap/seq, scores of A C G T, both (regions, 4, length). A base's contribution is the score of its
/// letter minus the mean of the four, so that effects of substitutions and hypothetical contributions are
/// treated alike. Call it where this process has one thread: the library reads in a child, since it can crash
/// on a damaged file. Throws InputError.
LabelContributions read_attributions(const std::filesystem::path& path);

}  // namespace bigbird::outputs
