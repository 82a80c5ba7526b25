// SPDX-License-Identifier: Apache-2.0
// Evaluates score tables, and writes reports of figures.
#pragma once

#include "bigbird/core/error.hpp"
#include "bigbird/core/files.hpp"
#include "bigbird/core/formats/json_file.hpp"
#include "bigbird/evaluation/evaluation.hpp"
#include "bigbird/genome/text/text_output.hpp"
#include "bigbird/rows/deepsea_labels.hpp"
#include "bigbird/rows/score_table.hpp"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace bigbird::evaluation {

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

/// One file's figures.
struct FileEvaluation {
    std::string name;
    Evaluation evaluation;
    std::optional<Evaluation> difference;  ///< from the first file; none for the first
    std::string threshold_rule;            ///< how the threshold was chosen; empty for chromatin
};

/// Evaluations, and everything that their figures depend on, for output.
struct EvaluationReport {
    std::vector<FileEvaluation> files;
    rows::LabelTable labels;
    std::vector<std::optional<rows::PublishedFigures>>
        published;  ///< by label of the table; empty: not requested
    std::optional<ScanFigures> scan;
    Json about;  ///< task, split, parameters, checksums
};

/// A score table and its name in reports.
struct ScoreFile {
    std::string name;
    std::filesystem::path path;
};
/// Parses "NAME=FILE", or a file, whose name is then the file name without folder and ending. Throws
/// ConfigError if two have the same name.
std::vector<ScoreFile> parse_score_files(const std::vector<std::string>& texts);

/// A table's `##` lines. The values of a key that occurs several times (the models of an ensemble) are joined
/// by commas.
Json provenance_json(const rows::Provenance& provenance);

struct EvaluationRequest {
    std::vector<ScoreFile> scores;  ///< the others are compared with the first
    std::filesystem::path examples;
    examples::Task task = examples::Task::chromatin;
    examples::Split split = examples::Split::test;
    WantedRows rows = WantedRows::all;
    EvaluationOptions options;        ///< its threshold is replaced by that of `threshold`
    ThresholdRule threshold;          ///< promoters; f1 and mcc need scores of the rows of validation
    bool published = false;           ///< chromatin: also show DeepSEA's published figures
    std::optional<ScanOptions> scan;  ///< promoters
};

// For the evaluations of all tasks.

/// The error for examples of a task that another command evaluates.
InputError other_task(const EvaluationRequest& request, const examples::ExampleSet& examples);
/// The first fields of EvaluationReport::about, and its SHA-256 sums of scores and examples.
Json about_task(const examples::ExampleSet& examples);
Json checksums_of(const EvaluationRequest& request);
/// Logs how many rows are evaluated, and how many are not. Returns what a message about the file begins with.
std::string tell_rows(const EvaluationRequest& request, const JoinedScores& scored, const ScoreFile& file);

/// Joins scores with labels, evaluates them and records the inputs. Several files are evaluated on the rows
/// and labels that all of them score. Throws as join_scores and evaluate, and ConfigError if a threshold
/// cannot be found.
EvaluationReport evaluate_scores(const EvaluationRequest& request);

// Figures in reports.

using NamedFigures = std::vector<std::pair<std::string, const Figure*>>;
/// auroc_mean, auroc_median, auprc_mean, auprc_median.
NamedFigures figures_of(const GroupFigures& group);
/// auroc, auprc, f1, precision, recall, mcc, accuracy; of promoters.
NamedFigures figures_of(const Evaluation& evaluation);
/// "0.912 [0.880, 0.934]"; NA where undefined.
std::string brief(const Figure& figure);
/// null where undefined.
Json number(const std::optional<double>& value);
/// Sets KEY, and KEY_interval to [low, high].
void put(Json& object, const std::string& key, const Figure& figure);
/// A cell of a table, NA where undefined; and value, low and high, with `separator` between them.
std::string cell(const std::optional<double>& value);
std::string cells(const Figure& figure, char separator = '\t');

/// A label's published figures, none where it has none. Only where they were requested.
rows::PublishedFigures published_of(const EvaluationReport& report, std::size_t label);

// Pieces of the reports of all tasks.

/// `##key=value` lines of `about`.
std::string about_lines(const Json& about);
/// The same as a list at the end of a page.
std::string about_html(const Json& about);
/// The begin of a page's first paragraph: how many rows, and from how many units intervals come.
std::string opening_html(const Json& about, std::int64_t rows, std::int64_t units,
                         const std::string& resampled);
/// The names of a table's columns for another file's figure and its difference from the first file's.
std::string difference_columns(const std::string& file);

/// Everything. Undefined figures are null; an interval is [low, high].
Json to_json(const EvaluationReport& report);
/// `##key=value` lines (about, and `##group` lines for chromatin), then a table: one line per label for
/// chromatin, one per figure for promoters; NA where undefined.
std::string to_tsv(const EvaluationReport& report);
/// A few lines for people.
std::vector<std::string> to_lines(const EvaluationReport& report);

/// Additional HTML of a page: `lead` follows the title, `sections` follow the groups of chromatin.
struct PageAdditions {
    std::string title{};  ///< as text; empty: "Evaluation: TASK"
    std::string lead{}, sections{};
};
/// A self-contained HTML page: figures with intervals, plots (SVG), and for chromatin a sortable table of all
/// labels. Equal reports give equal bytes.
std::string to_html(const EvaluationReport& report, const PageAdditions& additions = {});

/// Writes a report of any task: TSV where the name ends in .tsv, CSV where it ends in .csv (each also .gz), a
/// page for browsers where it ends in .html and the task has pages, else JSON; "-" is JSON on standard
/// output. Does not commit the file. Throws ConfigError, WriteError.
template <typename Report>
std::unique_ptr<genome::TextOutput> write_report(const Report& report, const std::filesystem::path& output,
                                                 Overwrite overwrite) {
    const std::string name = output.string();
    auto out = std::make_unique<genome::TextOutput>(output, overwrite);
    const auto text = [&]() -> std::string {
        if (name.ends_with(".tsv") || name.ends_with(".tsv.gz")) return to_tsv(report);
        if (rows::names_csv(output)) return rows::csv_of(to_tsv(report), output);
        if constexpr (requires { to_html(report); })
            if (name.ends_with(".html")) return to_html(report);
        return to_json(report).dump(2) + "\n";
    };
    out->write(text());
    return out;
}

}  // namespace bigbird::evaluation
