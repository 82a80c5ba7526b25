// SPDX-License-Identifier: Apache-2.0
#include "bigbird/evaluation/score_join.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/log.hpp"
#include "bigbird/core/words.hpp"
#include "bigbird/genome/reference/contig_names.hpp"
#include "bigbird/outputs/merge/merge_scores.hpp"
#include "bigbird/rows/row.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <span>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace bigbird::evaluation {
namespace fs = std::filesystem;

namespace {

using Row = std::int64_t;
constexpr float missing = std::numeric_limits<float>::quiet_NaN();

std::string key_of(const std::string& contig, const std::string& begin, const std::string& end,
                   const std::string& name) {
    return contig + '\t' + begin + '\t' + end + '\t' + name;
}

std::string key_of(const examples::ExampleRow& row) {
    return key_of(row.where.contig, std::to_string(row.where.begin), std::to_string(row.where.end), row.name);
}

std::string readable(std::string key) {
    for (char& letter : key)
        letter = letter == '\t' ? ' ' : letter;
    return "'" + key + "'";
}

template <typename Value>
void keep(std::vector<Value>& values, const std::vector<std::size_t>& kept) {
    for (std::size_t i = 0; i < kept.size(); ++i)
        values[i] = values[kept[i]];
    values.resize(kept.size());
}

class Joiner {
public:
    Joiner(const examples::ExampleSet& examples, fs::path path, examples::Split split, WantedRows wanted)
        : examples_(examples),
          path_(std::move(path)),
          split_(split),
          wanted_(wanted),
          rows_(examples.rows(split)),
          reader_(path_, outputs::hdf5_lines(path_)) {
        if (rows_.empty()) {
            throw InputError("the examples have no row in split " + std::string(to_string(split)) +
                             "; hold some out with --" + std::string(to_string(split)) +
                             " when building them");
        }
        for (std::size_t i = 0; i < rows_.size(); ++i) {
            const examples::ExampleRow row = examples.row(rows_[i]);
            positions_.emplace(key_of(row), i);
            if (contigs_.empty() || contigs_.back().name != row.where.contig)
                contigs_.push_back({row.where.contig, 0});
        }
        match_columns();
    }

    ScoredExamples join() {
        read();
        joined_.lacking = std::ranges::count(seen_, false);
        if (wanted_ == WantedRows::all && joined_.lacking > 0) throw lacks_rows();
        joined_.provenance = reader_.provenance();
        joined_.missing_columns = std::ssize(examples_.label_table()) - std::ssize(joined_.labels);
        std::vector<std::size_t> kept;
        for (std::size_t i = 0; i < rows_.size(); ++i) {
            if (std::ranges::any_of(joined_.labels,
                                    [&](const auto& one) { return std::isnan(one.scores[i]); }))
                continue;
            kept.push_back(i);
            joined_.rows.push_back(rows_[i]);
        }
        joined_.not_scored = std::ssize(rows_) - std::ssize(kept) - joined_.lacking;
        if (kept.empty())
            throw InputError("no row of split " + std::string(to_string(split_)) + " has scores", path_);
        for (LabelScores& one : joined_.labels) {
            keep(one.scores, kept);
            for (const Row row : joined_.rows)
                one.truths.push_back(examples_.label(row, one.label));
        }
        return std::move(joined_);
    }

private:
    void match_columns() {
        std::unordered_map<std::string, std::size_t> labels;
        const rows::LabelTable& table = examples_.label_table();
        for (std::size_t i = 0; i < table.size(); ++i)
            labels.emplace(table.column_name(i), i);
        std::map<std::size_t, std::size_t> by_label;
        for (std::size_t c = 0; c < reader_.columns().size(); ++c) {
            const auto found = labels.find(reader_.columns()[c]);
            if (found != labels.end() && !by_label.emplace(found->second, c).second)
                throw InputError("has two columns '" + found->first + "'", path_);
        }
        if (by_label.empty()) {
            throw InputError(
                "has no column named as a label of the examples, such as '" + table.column_name(0) + "'",
                path_);
        }
        for (const auto& [label, column] : by_label) {
            columns_.push_back(column);
            joined_.labels.push_back({label, std::vector<float>(rows_.size(), missing), {}});
        }
    }

    void read() {
        const genome::ContigNames names(contigs_);
        seen_.assign(rows_.size(), false);
        rows::ScoreRow row;
        std::vector<float> values;
        while (reader_.next(row, values)) {
            auto found = positions_.find(key_of(row.contig, row.begin, row.end, row.name));
            if (found == positions_.end()) {
                const auto contig = names.find(row.contig);
                found = contig ? positions_.find(key_of(contigs_[*contig].name, row.begin, row.end, row.name))
                               : found;
            }
            if (found == positions_.end()) {
                ++joined_.other_rows;
                continue;
            }
            if (seen_[found->second]) {
                throw InputError("row " + readable(found->first) + " is scored twice", path_,
                                 reader_.line_number());
            }
            seen_[found->second] = true;
            for (std::size_t c = 0; c < columns_.size(); ++c)
                joined_.labels[c].scores[found->second] = values[columns_[c]];
        }
    }

    InputError lacks_rows() const {
        const auto first = static_cast<std::size_t>(std::ranges::find(seen_, false) - seen_.begin());
        return {"lacks " + std::to_string(joined_.lacking) + " of the " + std::to_string(rows_.size()) +
                    " rows of split " + std::string(to_string(split_)) + ", the first is " +
                    readable(key_of(examples_.row(rows_[first]))) + "; score them with predict-" +
                    std::string(to_string(examples_.task())) +
                    " --examples, or evaluate those that are there with --rows scored",
                path_};
    }

    const examples::ExampleSet& examples_;
    fs::path path_;
    examples::Split split_;
    WantedRows wanted_;
    std::vector<Row> rows_;
    rows::ScoreReader reader_;
    std::unordered_map<std::string, std::size_t> positions_;
    std::vector<genome::Contig> contigs_;
    std::vector<std::size_t> columns_;  ///< of the table, by label that has one
    std::vector<bool> seen_;
    ScoredExamples joined_;  ///< scores: of all rows of the split, until join() ends
};

void assign_blocks(const examples::ExampleSet& examples, ScoredExamples& joined, std::int64_t block_size) {
    GenomeBlocks blocks(block_size);
    joined.blocks.clear();
    for (const Row index : joined.rows)
        joined.blocks.push_back(blocks.of(examples.row(index).where));
    joined.block_count = blocks.count();
}

/// The rows that all joins have.
template <typename Joined>
std::vector<Row> common_rows(const std::vector<Joined>& joined) {
    std::vector<Row> rows = joined.front().rows;
    for (const Joined& one : joined)
        std::erase_if(rows, [&](Row row) { return !std::ranges::binary_search(one.rows, row); });
    return rows;
}

/// Which of a join's rows are among `rows`, both ascending.
std::vector<std::size_t> positions_of(const std::vector<Row>& rows, const std::vector<Row>& of_join) {
    std::vector<std::size_t> positions;
    for (std::size_t i = 0; i < of_join.size(); ++i)
        if (std::ranges::binary_search(rows, of_join[i])) positions.push_back(i);
    return positions;
}

}  // namespace

ScoredExamples join_scores(const examples::ExampleSet& examples, const fs::path& scores,
                           examples::Split split, std::int64_t block_size, WantedRows wanted) {
    ScoredExamples joined = Joiner(examples, scores, split, wanted).join();
    assign_blocks(examples, joined, block_size);
    return joined;
}

void keep_common(const examples::ExampleSet& examples, std::vector<ScoredExamples>& joined,
                 std::int64_t block_size) {
    if (joined.size() < 2) return;
    const std::vector<Row> rows = common_rows(joined);
    std::set<std::size_t> labels;
    std::size_t most_rows = 0, most_labels = 0;
    for (const LabelScores& one : joined.front().labels)
        labels.insert(one.label);
    for (const ScoredExamples& some : joined) {
        std::erase_if(labels, [&](std::size_t label) {
            return std::ranges::find(some.labels, label, &LabelScores::label) == some.labels.end();
        });
        most_rows = std::max(most_rows, some.rows.size());
        most_labels = std::max(most_labels, some.labels.size());
    }
    if (rows.empty() || labels.empty()) {
        throw InputError(rows.empty() ? "the files of --scores have no scored row in common"
                                      : "the files of --scores have no label in common");
    }
    if (rows.size() < most_rows || labels.size() < most_labels) {
        log_warning("compared on the {} and {} that all have scores for", counted(rows.size(), "row"),
                    counted(labels.size(), "label"));
    }
    for (ScoredExamples& some : joined) {
        std::erase_if(some.labels, [&](const LabelScores& one) { return !labels.contains(one.label); });
        const std::vector<std::size_t> kept = positions_of(rows, some.rows);
        for (LabelScores& one : some.labels) {
            keep(one.scores, kept);
            keep(one.truths, kept);
        }
        some.rows = rows;
        assign_blocks(examples, some, block_size);
    }
}

namespace {

struct Line {
    std::string id;
    std::int64_t number = 0;
    std::vector<float> scores{};
    Row row = -1;  ///< in the examples; -1 if it is not in the split
};

/// The identifier of a row in a table: a record's id, or a bin's position.
std::string id_of(const examples::ExampleSet& examples, Row row) {
    const examples::ExampleRow example = examples.row(row);
    if (examples.task() == examples::Task::sequences) return example.name;
    return example.where.contig + '\t' + std::to_string(example.where.begin) + '\t' +
           std::to_string(example.where.end);
}

/// The names of the columns that make id_of(), then those of the labels' scores.
std::vector<std::string> columns_of(const examples::ExampleSet& examples) {
    const bool records = examples.task() == examples::Task::sequences;
    std::vector<std::string> names =
        records ? std::vector<std::string>{"id"} : std::vector<std::string>{"chrom", "start", "end"};
    for (std::size_t i = 0; i < examples.label_table().size(); ++i)
        names.push_back(examples.label_table().column_name(i));
    return names;
}

/// How many fields of a header come before the labels', where the program wrote it; else 0.
std::size_t first_label(const examples::ExampleSet& examples, const std::vector<std::string>& header) {
    const auto begins = [&](const auto& head) {
        return header.size() >= head.size() && std::ranges::equal(std::span(header).first(head.size()), head);
    };
    if (begins(rows::region_columns)) return rows::region_columns.size();
    const std::size_t head = rows::record_columns.size();
    if (!begins(rows::record_columns)) return 0;
    const bool classes = examples.target() == examples::TargetKind::classes;
    return head + (classes && header.size() > head && header[head] == "class" ? 1 : 0);
}

/// Reads the ids and the scores of the examples' labels.
std::vector<Line> read_lines(const examples::ExampleSet& examples, const fs::path& path,
                             rows::Provenance& provenance) {
    rows::ScoreLines input(path, outputs::hdf5_lines(path));
    provenance = input.provenance();
    const std::vector<std::string>& header = input.header();
    const std::vector<std::string> names = columns_of(examples);
    const std::size_t ids = names.size() - examples.label_table().size();
    const auto labels = static_cast<std::ptrdiff_t>(first_label(examples, header));
    std::vector<std::size_t> columns;
    for (const std::string& name : names) {  // a label may be called as a column before the labels
        const auto found =
            std::find(header.begin() + (columns.size() < ids ? 0 : labels), header.end(), name);
        if (found == header.end()) {
            throw input.fault("is no table of scores of these examples: it has no column '" + name +
                              "' (predict --sequences or --examples writes one)");
        }
        if (columns.size() >= ids && std::find(found + 1, header.end(), name) != header.end())
            throw input.fault("has two columns '" + name + "'");
        columns.push_back(static_cast<std::size_t>(found - header.begin()));
    }
    std::vector<Line> lines;
    while (input.next()) {
        const std::vector<std::string_view>& fields = input.fields();
        Line& line = lines.emplace_back(Line{std::string(fields[columns[0]]), input.line_number()});
        for (std::size_t i = 1; i < ids; ++i)
            line.id.append("\t").append(fields[columns[i]]);
        for (const std::size_t at : std::span(columns).subspan(ids))
            line.scores.push_back(input.score(at));
        if (std::ranges::any_of(line.scores, [](float score) { return std::isinf(score); }))
            throw input.fault("has an infinite score: give a number, or NA where there is none");
    }
    return lines;
}

/// Sets the row of each line: by its place, if the lines are all rows of the examples in order, else by id.
void find_rows(const examples::ExampleSet& examples, examples::Split split, std::vector<Line>& lines) {
    bool whole = std::ssize(lines) == examples.size();
    for (Row row = 0; whole && row < examples.size(); ++row)
        whole = lines[static_cast<std::size_t>(row)].id == id_of(examples, row);
    std::unordered_map<std::string, Row> by_id;
    for (const Row row : examples.rows(split))
        if (whole)
            lines[static_cast<std::size_t>(row)].row = row;
        else
            by_id.emplace(id_of(examples, row), row);
    for (Line& line : lines)
        if (const auto found = by_id.find(line.id); found != by_id.end()) line.row = found->second;
}

}  // namespace

ScoredSequences join_sequence_scores(const examples::ExampleSet& examples, const fs::path& table,
                                     examples::Split split, WantedRows wanted) {
    const std::vector<Row> of_split = examples.rows(split);
    if (of_split.empty()) {
        const bool validates =
            split == examples::Split::test && !examples.rows(examples::Split::validation).empty();
        throw InputError("no row of the examples is of split " + std::string(to_string(split)) +
                         "; build them with --" + std::string(to_string(split)) + " or --split-by" +
                         (validates ? ", or evaluate those of --split validation" : ""));
    }
    ScoredSequences joined;
    std::vector<Line> lines = read_lines(examples, table, joined.provenance);
    find_rows(examples, split, lines);
    std::unordered_map<Row, const Line*> line_of;
    for (const Line& line : lines) {
        joined.other_rows += line.row < 0 ? 1 : 0;
        if (line.row >= 0 && !line_of.emplace(line.row, &line).second)
            throw InputError("has the id '" + line.id + "' twice", table, line.number);
    }
    for (const Row row : of_split) {
        const auto found = line_of.find(row);
        if (found == line_of.end()) {
            if (wanted == WantedRows::all) {
                throw InputError("has no row with the id '" + id_of(examples, row) + "' of split " +
                                     std::string(to_string(split)) +
                                     " (--rows scored takes those that are there)",
                                 table);
            }
            ++joined.lacking;
            continue;
        }
        const std::vector<float>& scores = found->second->scores;
        if (std::ranges::any_of(scores, [](float score) { return std::isnan(score); })) {
            ++joined.not_scored;
            continue;
        }
        joined.rows.push_back(row);
        joined.scores.insert(joined.scores.end(), scores.begin(), scores.end());
    }
    if (joined.rows.empty())
        throw InputError("holds no score of split " + std::string(to_string(split)), table);
    return joined;
}

void keep_common(std::vector<ScoredSequences>& joined) {
    const std::vector<Row> common = common_rows(joined);
    if (common.empty()) throw InputError("no row has scores in all files");
    for (ScoredSequences& one : joined) {
        if (one.rows.size() == common.size()) continue;
        log_warning("left out {}, which not all files have scores for",
                    counted(one.rows.size() - common.size(), "row"));
        const std::size_t width = one.scores.size() / one.rows.size();
        std::vector<float> scores;
        for (const std::size_t i : positions_of(common, one.rows))
            scores.insert(scores.end(), one.scores.begin() + static_cast<std::ptrdiff_t>(i * width),
                          one.scores.begin() + static_cast<std::ptrdiff_t>((i + 1) * width));
        one.scores = std::move(scores);
        one.rows = common;
    }
}

}  // namespace bigbird::evaluation
