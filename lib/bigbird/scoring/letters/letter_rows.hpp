// SPDX-License-Identifier: Apache-2.0
// Reads rows and writes scores of each letter at each of their bases, for predict-mutagenesis and attribute;
// the differentiable functions of letters that attribute takes gradients of.
#pragma once

#include "bigbird/bins/attributions.hpp"
#include "bigbird/outputs/letter_arrays.hpp"
#include "bigbird/outputs/outputs.hpp"
#include "bigbird/rows/label_table.hpp"
#include "bigbird/rows/region_rows.hpp"
#include "bigbird/scoring/placement.hpp"
#include "bigbird/tasks/model_folder.hpp"
#include "bigbird/tasks/specs/score_specs.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace bigbird::tasks {

/// Letters in the order of scores.
inline constexpr std::string_view dna_letters = "ACGT";

/// A row whose letters are scored: a region of a contig, or a record, which is treated as a contig.
struct LetterRow {
    rows::Row head;
    genome::Interval where;         ///< head.where in the coordinates of `sequence_of`
    std::string dna;                ///< normalized sequence of `where`
    const SequenceOf& sequence_of;  ///< sequence of its contig
};

/// The regions or sequences of a run, cut into tiles where they are longer than a model scores at once.
class LetterRows {
public:
    /// Opens the input and the reference. Warns if the reference is another build than the model's. Throws
    /// InputError.
    LetterRows(const LetterSpec& spec, const ModelFolder& model, const Placement& placement,
               const rows::RegionOptions& options);

    /// The contigs of the reference; none if rows are records.
    std::span<const genome::Contig> contigs() const;
    /// Reads a file of regions, before work starts, if arrays are written. Throws InputError if its rows
    /// (tiles) differ in length.
    void require_one_length(const outputs::OutputSpec& outputs) const;
    /// The next row with bases, which is valid until the next call. Throws InputError, also for a record
    /// shorter than a bin of the model.
    std::optional<LetterRow> next();
    /// Logs warnings after all rows are read.
    void report() const { source_->report(); }
    std::int64_t tiled() const { return tiled_; }  ///< number of cuts

private:
    const LetterSpec& spec_;
    std::int64_t tile_;
    rows::RegionOptions options_;
    std::int64_t tiled_ = 0;
    SequenceOf sequence_of_;
    std::unique_ptr<genome::ReferenceGenome> reference_;  ///< null if rows are records
    std::unique_ptr<rows::RowSource> source_;
    genome::Interval rest_;  ///< of the record
};

/// A track's value of a base: the largest score of its letters, by magnitude, or its own letter's score.
enum class LetterTrack : std::uint8_t { largest, own };

/// Tables have one line per base and label, chrom start end name label ref A C G T; tracks one value per
/// base. .h5 and .npz are arrays (outputs/letter_arrays.hpp), one file per label, like tracks. Not
/// thread-safe.
class LetterOutputs {
public:
    /// Throws ConfigError before work starts, as outputs::prepare_outputs() does.
    static void prepare(const outputs::OutputSpec& spec);
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

/// A score function, and the number of sequences that it can take at once.
struct RowScore {
    bins::LetterScores scores;
    std::int64_t at_once = 1;
};

/// The score of a region as a function of the letters of `where`, at most a window's core, by bin models. It
/// is the mean over models and strands of the logits of the bins that `where` overlaps, weighted by the
/// number of overlapping bases. All other letters come from `sequence_of`.
RowScore region_score(std::span<const ModelFolder> models, Strands strands, const genome::Interval& where,
                      const SequenceOf& sequence_of);

/// The scores of a row by models that give profiles (profile_networks()), of each model and strand by itself:
/// their mean is the row's, and memory holds one. They are functions of the letters of `where`; the window is
/// around its middle, and letters outside the window have no effect. A group's score is its log counts; or
/// the sum over its profile of p (l - mean l), l its logits and p the softmax of the logits of the row's own
/// letters, a constant (DeepLIFT's adjustment for softmax, Shrikumar et al. 2017).
std::vector<RowScore> profile_scores(std::span<const ModelFolder> models, Strands strands,
                                     AttributionTarget target, const genome::Interval& where,
                                     const SequenceOf& sequence_of);

/// The mean over models of a record's logits, without the k-mer part. In a record that is longer than the
/// models read, it is the score of the middle.
RowScore record_score(std::span<const ModelFolder> models, std::int64_t length);

}  // namespace bigbird::tasks
