// SPDX-License-Identifier: Apache-2.0
// Writes scores of each letter at each base, for predict-mutagenesis and attribute.
#pragma once

#include "bigbird/outputs/letter_arrays.hpp"
#include "bigbird/outputs/outputs.hpp"
#include "bigbird/rows/label_table.hpp"
#include "bigbird/rows/region_rows.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace bigbird::task_models {

/// Letters in the order of scores.
inline constexpr std::string_view dna_letters = "ACGT";

/// A track's value of a base: the largest score of its letters, by magnitude, or its own letter's score.
enum class LetterTrack : std::uint8_t { largest, own };

/// Tables have one line per base and label, chrom start end name label ref A C G T; tracks one value per
/// base. .h5 and .npz are arrays (outputs/letter_arrays.hpp), one file per label, like tracks. Not
/// thread-safe.
class LetterOutputs {
public:
    /// Throws ConfigError before work starts, as outputs::prepare_outputs() does.
    static void prepare(const outputs::OutputSpec& spec);
    /// Reads a file of regions, before work starts, if arrays are written. Throws InputError if its rows
    /// (tiles) differ in length.
    static void require_one_length(const outputs::OutputSpec& spec, const std::filesystem::path& regions,
                                   const genome::ReferenceGenome& reference,
                                   const rows::RegionOptions& options);

    /// `chosen`: the labels that are written. Throws ConfigError.
    LetterOutputs(const outputs::OutputSpec& spec, const rows::LabelTable& labels,
                  std::span<const std::size_t> chosen, const rows::Provenance& provenance, LetterTrack track,
                  std::span<const genome::Contig> contigs, int threads);

    /// `row`: head.where are the bases of `dna`; scores: (chosen labels, bases, 4), NaN where there is none.
    /// A base that is N has no score in tracks.
    void write(const rows::Row& row, std::string_view dna, std::span<const float> scores);
    /// Renames all outputs to their final names. Throws WriteError.
    void commit();

private:
    float track_value(char letter, std::span<const float> scores) const;

    LetterTrack track_;
    std::vector<std::string> names_;  ///< names of the chosen labels
    outputs::Outputs tables_, tracks_;
    std::vector<std::vector<outputs::LetterArrays>> arrays_;  ///< for each of the labels
};

}  // namespace bigbird::task_models
