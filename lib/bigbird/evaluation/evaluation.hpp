// SPDX-License-Identifier: Apache-2.0
// Evaluates scores of labeled places in a genome and of labeled sequences, with confidence intervals.
// Neighboring bins share most of their windows, and a negative is made from its promoter. So blocks of the
// genome are resampled, not rows; intervals from rows would be far too narrow. Records are resampled one by
// one, or by the groups that the examples give them.
#pragma once

#include "bigbird/core/error.hpp"
#include "bigbird/core/formats/json_file.hpp"
#include "bigbird/core/rng.hpp"
#include "bigbird/evaluation/curves/curve.hpp"
#include "bigbird/evaluation/measures.hpp"
#include "bigbird/evaluation/score_join.hpp"
#include "bigbird/rows/deepsea_labels.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace bigbird::evaluation {

struct EvaluationOptions {
    std::int64_t min_positives =
        1;  ///< labels with fewer positives among the rows are left out of the means and medians
    int resamples = 1000;  ///< bootstrap resamples; 0: no intervals
    std::int64_t block_size = 100'000;
    std::uint64_t seed = 0;
    int threads = 1;

    /// Throws ConfigError.
    void validate() const;
};

/// Fewer blocks of a genome are not resampled: they say too little of how figures vary.
inline constexpr std::int64_t fewest_blocks = 5;
/// The units for resample(): blocks of a genome, or 1, which has no intervals, if they are too few.
inline std::size_t units_of_blocks(std::int64_t blocks) {
    return blocks < fewest_blocks ? 1 : static_cast<std::size_t>(blocks);
}

/// A figure and its 95 % interval: bias-corrected percentiles (Efron 1981) of the resamples in which it is
/// defined. There is no interval if these are fewer than half, or if there is only one unit to resample.
struct Figure {
    std::optional<double> value, low, high;
};

/// The figures of a Measure: of all columns together, and of each column.
struct Figures {
    std::vector<Figure> all;
    std::vector<std::vector<Figure>> each;
};

/// What columns gave, one after the other, then the figures of all: of all rows, and of each resample.
struct ResampledFigures {
    std::size_t columns = 0, width = 0;  ///< width: values per column
    FigureValues whole{};
    std::vector<FigureValues> resampled{};
};
/// Resamples `units` units if there are several. A fixed function of its inputs and the seed, for any number
/// of threads; `stream` names its random numbers.
ResampledFigures resample(const Measure& measure, std::size_t units, const EvaluationOptions& options,
                          const char* stream = "bootstrap");
/// Each value with the interval from its resamples.
Figures with_intervals(const ResampledFigures& figures);
/// `of` minus `from` for each figure. Both must have the same rows, units and seed. Then their resamples are
/// the same draws, and the intervals are those of paired differences.
Figures differences(const ResampledFigures& of, const ResampledFigures& from);

// The evaluation of a promoter scan on real sequence, where nearly everything is negative. Balanced examples
// cannot show how many false calls there are.

struct ScanOptions {
    std::filesystem::path scores;  ///< scores by predict-promoter --tile
    std::filesystem::path tss;     ///< BED of known TSSs on the same reference
    std::int64_t distance =
        500;  ///< maximum distance between a TSS and a correct call, and between rows that are joined
};

/// Rows at or above the threshold within `distance` of each other are one call, on either strand. A call is
/// right where a TSS is within `distance` of it.
struct ScanFigures {
    double threshold = 0;
    std::int64_t scanned_bases = 0;  ///< bases of scored rows, each once
    std::int64_t calls = 0, right_calls = 0;
    std::int64_t tss = 0, found_tss = 0;  ///< TSSs in the scanned bases, and those within distance of a call
    /// Undefined if no base was scanned, nothing was called, or there are no TSSs, respectively.
    std::optional<double> false_calls_a_megabase, precision, recall;
};

/// Throws InputError: no score table, no TSS on its contigs.
ScanFigures evaluate_scan(const ScanOptions& options, double threshold);
Json to_json(const ScanFigures& figures);

/// A score table and its name in reports.
struct ScoreFile {
    std::string name;
    std::filesystem::path path;
};
/// Parses "NAME=FILE", or a file, whose name is then the file name without folder and ending. Throws
/// ConfigError if two have the same name.
std::vector<ScoreFile> parse_score_files(const std::vector<std::string>& texts);

struct EvaluationRequest {
    std::vector<ScoreFile> scores;  ///< the others are compared with the first
    std::filesystem::path examples;
    examples::Task task = examples::Task::chromatin;
    examples::Split split = examples::Split::test;
    WantedRows rows = WantedRows::all;
    EvaluationOptions options{};
    /// Promoters: f1 and mcc need scores of the rows of validation. Two classes, and labels of sequences: may
    /// be given. Else not used.
    ThresholdRule threshold{};
    bool published = false;             ///< chromatin: also show DeepSEA's published figures
    std::optional<ScanOptions> scan{};  ///< promoters
};

/// What is evaluated: how figures are summarized, and which report there is.
enum class Kind : std::uint8_t { promoters, peaks, coverage, sequences };

/// A column of the scores: a label, class or number.
struct EvaluatedColumn {
    std::size_t label = 0;  ///< index in the label table
    // Labels of places:
    std::int64_t positives = 0;
    double base_rate = 0;     ///< share of positive rows: the average precision of random scores
    bool summarised = false;  ///< has enough positives, and a negative: counts in its group's figures
};

/// Labels of peaks whose figures are summarized.
struct Group {
    std::string name;  ///< "all" for all labels
    std::int64_t labels = 0;
    std::vector<std::size_t> members{};  ///< the columns that are summarised
    std::optional<double> mean_base_rate{};
};

/// One file's figures.
struct FileEvaluation {
    std::string name;
    Figures figures{};
    std::optional<Figures> difference{};  ///< from the first file; none for the first
    double threshold = 0.5;               ///< promoters, labels of sequences
    std::string threshold_rule{};         ///< how the threshold was chosen; promoters
    /// Rows of a class or label (outer) by what they are called (inner): promoters, and classes.
    std::vector<std::vector<std::int64_t>> confusion{};
    std::vector<std::vector<CurvePoint>> curves{};  ///< by column; empty if not summarised, or of numbers
    std::vector<std::vector<std::pair<float, float>>>
        points{};                              ///< some rows of each number: predicted, true
    std::optional<Reliability> reliability{};  ///< labels of places: over all rows of summarised labels
};

/// Evaluations, and everything that their figures depend on, for output.
struct EvaluationReport {
    Kind kind = Kind::peaks;
    examples::TargetKind target = examples::TargetKind::labels;
    std::string noun{};  ///< what a column is: label, class, number or track
    /// Of Figures. `all` has these names for each group, one after the other.
    std::vector<std::string> names{}, names_of_each{};
    std::vector<FileEvaluation> files{};
    rows::LabelTable labels{};
    std::vector<EvaluatedColumn> columns{};
    std::vector<Group> groups{};  ///< peaks; "all" first where there is more than one group
    /// By label of the table; empty: not requested.
    std::vector<std::optional<rows::PublishedFigures>> published{};
    std::optional<ScanFigures> scan{};
    std::int64_t rows = 0, units = 0;  ///< units are resampled: blocks of genome, rows, or groups
    Json about{};                      ///< task, split, parameters, checksums
    std::string regions{};             ///< coverage_regions()
};

/// Joins scores with labels, evaluates them and records the inputs. Several files are evaluated on the rows
/// and labels that all of them score. Throws as join_scores, and ConfigError if a threshold cannot be found
/// or does not fit.
EvaluationReport evaluate(const EvaluationRequest& request);

/// A table's `##` lines. The values of a key that occurs several times (the models of an ensemble) are joined
/// by commas.
Json provenance_json(const rows::Provenance& provenance);

/// A page section: measured above predicted coverage of at most three regions of the rows, which all files
/// have. Chosen are the stretches of 512 bins with the most signal, and in each the four tracks with the
/// most, without looking at predictions. Empty if there is no signal.
std::string coverage_regions(const examples::ExampleSet& examples, const std::vector<ScoreFile>& files,
                             const std::vector<ScoredRows>& scored);

}  // namespace bigbird::evaluation
