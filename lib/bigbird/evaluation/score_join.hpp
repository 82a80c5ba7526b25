// SPDX-License-Identifier: Apache-2.0
// Scores joined with the labels of their examples.
#pragma once

#include "bigbird/core/choice.hpp"
#include "bigbird/examples/examples.hpp"
#include "bigbird/rows/score_table.hpp"

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace bigbird::evaluation {

/// Numbers blocks of `size` bases, counted from a contig's start, in the order of their first rows.
class GenomeBlocks {
public:
    explicit GenomeBlocks(std::int64_t size) : size_(size) {}
    std::uint32_t of(const genome::Interval& where) {
        return numbers_.try_emplace({where.contig, where.begin / size_}, count()).first->second;
    }
    std::uint32_t count() const { return static_cast<std::uint32_t>(numbers_.size()); }

private:
    std::int64_t size_;
    std::map<std::pair<std::string, std::int64_t>, std::uint32_t> numbers_;
};

/// One label's scores and truths, in the same order of rows for every label.
struct LabelScores {
    std::size_t label = 0;  ///< index in the examples' label table
    std::vector<float> scores;
    std::vector<std::uint8_t> truths;
};

/// Which rows of a split a score table must contain: all, or any.
enum class WantedRows : std::uint8_t { all, scored };
inline constexpr Choices<WantedRows, 2> wanted_rows_choices{
    {{WantedRows::all, "all"}, {WantedRows::scored, "scored"}}};

struct JoinedScores {
    std::vector<std::int64_t> rows;  ///< scored rows of the split in the examples, ascending
    std::int64_t not_scored = 0;     ///< rows of the split that are NA in the scores (all N)
    std::int64_t lacking = 0;        ///< rows of the split that the scores do not have (WantedRows::scored)
    std::int64_t other_rows = 0;     ///< rows of the scores that are not in the split
    rows::Provenance provenance;     ///< the inputs of the scores
};

struct ScoredExamples : JoinedScores {
    std::vector<LabelScores> labels;    ///< ascending; labels with a column in the scores
    std::vector<std::uint32_t> blocks;  ///< each row's block of genome, numbered from 0
    std::uint32_t block_count = 0;
    std::int64_t missing_columns = 0;  ///< labels of the examples without a column
};

/// Joins a score table to the rows of `split` by contig (also by alias), start, end and name, and columns to
/// labels by LabelTable::column_name. `block_size` bases make a block, counted from a contig's start. Throws
/// InputError if a row of the split is missing (WantedRows::all) or occurs twice, if no column matches, the
/// split has no rows, or none is scored.
ScoredExamples join_scores(const examples::ExampleSet& examples, const std::filesystem::path& scores,
                           examples::Split split, std::int64_t block_size,
                           WantedRows wanted = WantedRows::all);

/// Restricts several joins of the same split to the rows and labels that all have, and reports what that
/// leaves out. Throws InputError if nothing is left.
void keep_common(const examples::ExampleSet& examples, std::vector<ScoredExamples>& joined,
                 std::int64_t block_size);

// Scores of sequences, and of bins with numbers.

struct ScoredSequences : JoinedScores {
    std::vector<float> scores;  ///< (rows, labels of the examples), row by row
};

/// Reads a table with a column `id` and one for each class, label or number of the examples, by
/// LabelTable::column_name; others are ignored. CSV, or tabs with `##` lines and a header that begins with #.
/// A row is identified by its id; a table that holds all rows of the examples in order may have ids that
/// repeat in another split. Throws InputError with file and line: no such table, a missing column, a row that
/// repeats or is missing (WantedRows::all), no scored row.
ScoredSequences join_sequence_scores(const examples::ExampleSet& examples, const std::filesystem::path& table,
                                     examples::Split split, WantedRows wanted = WantedRows::all);

/// Restricts several joins of the same split to the rows that all have scores for. Throws InputError if
/// none is left.
void keep_common(std::vector<ScoredSequences>& joined);

}  // namespace bigbird::evaluation
