// SPDX-License-Identifier: Apache-2.0
// The motifs that a model learned, for train's report page.
#pragma once

#include "bigbird/examples/examples.hpp"
#include "bigbird/motifs/motif_files.hpp"

#include <array>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace bigbird::tasks {

inline constexpr const char* learned_file = "learned.meme";

/// A label, and the rows in whose sequence its motifs are searched.
struct MotifRows {
    std::size_t label = 0;
    std::vector<std::int64_t> rows{};
    std::array<std::int64_t, 3> of_split{};  ///< their numbers, by Split
};

/// Chooses the four labels with the most positive test rows, in the table's order, and at most `most` rows of
/// each: rows with the label, or the tenth of a split with the largest numbers, evenly spaced, of test first,
/// then of validation, then of train.
std::vector<MotifRows> choose_motif_rows(const examples::ExampleSet& set, std::int64_t most);

struct LearnedMotifs {
    MotifRows from;
    std::vector<motifs::Motif> motifs{};  ///< most sites first; ids are unique, names are the label's
};

/// Motifs in the contributions of bases (input x gradient) to the scores of each label, in the model of bins
/// or of sequences in `model`: motifs::find_motifs(). Rows of bins are widened to 200 bases; those that then
/// overlap are left out, and `from` has the others. `references`: of bins; empty: rows are records. Throws as
/// attribute().
std::vector<LearnedMotifs> learned_motifs(const examples::ExampleSet& set, std::vector<MotifRows> chosen,
                                          const std::filesystem::path& model,
                                          const std::vector<std::filesystem::path>& references,
                                          const std::string& device, int threads);

/// A page section with the sequence logo of each motif and the most similar `known` one. A letter's height is
/// its share times the information of its position, 2 bits at most (Schneider and Stephens, Nucleic Acids
/// Res. 18:6097, 1990).
std::string motifs_html(const std::vector<LearnedMotifs>& learned, const examples::ExampleSet& set,
                        const std::vector<motifs::Motif>& known);

}  // namespace bigbird::tasks
