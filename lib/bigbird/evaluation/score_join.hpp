// SPDX-License-Identifier: Apache-2.0
// Scores joined with the rows of their examples.
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

/// Which rows of a split a score table must contain: all, or any.
enum class WantedRows : std::uint8_t { all, scored };
inline constexpr Choices<WantedRows, 2> wanted_rows_choices{
    {{WantedRows::all, "all"}, {WantedRows::scored, "scored"}}};

struct ScoredRows {
    std::vector<std::int64_t> rows;          ///< the split's scored rows in the examples, ascending
    std::vector<std::size_t> labels;         ///< those of the label table that have a column, ascending
    std::vector<std::vector<float>> scores;  ///< by label, of each row
    std::int64_t not_scored = 0;             ///< rows of the split that are NA in the table (all N)
    std::int64_t lacking = 0;                ///< rows of the split that the table lacks (WantedRows::scored)
    std::int64_t other_rows = 0;             ///< rows of the table that are not in the split
    rows::Provenance provenance;             ///< the inputs of the scores
};

/// Joins a score table with the rows of `split`: promoters by contig (also by alias), start, end and name,
/// bins by contig, start and end, records by id; a table that holds all records of the examples in order may
/// have ids that repeat in another split. Columns are found by LabelTable::column_name, others are ignored.
/// Only labels of places in a genome may lack one. Throws InputError, with file and line where there is one:
/// the split has no rows, no such table, a missing column, a row that repeats or is missing
/// (WantedRows::all), no scored row.
ScoredRows join_scores(const examples::ExampleSet& examples, const std::filesystem::path& table,
                       examples::Split split, WantedRows wanted = WantedRows::all);

/// Restricts several joins of the same split to the rows and labels that all have, and warns of what that
/// leaves out; `noun`: what labels are called. Throws InputError if nothing is left.
void keep_common(std::vector<ScoredRows>& joined, const std::string& noun);

}  // namespace bigbird::evaluation
