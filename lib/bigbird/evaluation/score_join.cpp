// SPDX-License-Identifier: Apache-2.0
#include "bigbird/evaluation/score_join.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/log.hpp"
#include "bigbird/genome/reference/contig_names.hpp"
#include "bigbird/genome/text/text_input.hpp"
#include "bigbird/rows/text_fields.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
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
          reader_(path_) {
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
        log_warning("compared on the {} rows and {} labels that all have scores for", rows.size(),
                    labels.size());
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
    std::vector<float> scores;
};

/// The identifier of a row in a table: a record's id, or a bin's position.
std::string id_of(const examples::ExampleSet& examples, std::int64_t row) {
    const examples::ExampleRow example = examples.row(row);
    if (examples.task() == examples::Task::sequences) return example.name;
    return example.where.contig + '\t' + std::to_string(example.where.begin) + '\t' +
           std::to_string(example.where.end);
}

/// The ids and the scores of the examples' labels.
class TableReader {
public:
    TableReader(const examples::ExampleSet& examples, const fs::path& path) : input_(path) {
        const rows::LabelTable& labels = examples.label_table();
        while (input_.next(line_) && line_.starts_with("##")) {
            const std::size_t equals = line_.find('=');
            if (equals != std::string::npos)
                provenance.emplace_back(line_.substr(2, equals - 2), line_.substr(equals + 1));
        }
        csv_ = !line_.starts_with('#');
        if (!csv_) line_.erase(0, 1);
        if (!split()) throw fault("has a quote that does not end on the line");
        count_ = fields_.size();
        const bool records = examples.task() == examples::Task::sequences;
        for (const char* name : records ? std::vector{"id"} : std::vector{"chrom", "start", "end"})
            id_at_.push_back(column(name));
        for (std::size_t i = 0; i < labels.size(); ++i)
            scores_at_.push_back(column(labels.column_name(i)));
    }

    bool next(Line& line) {
        do {
            if (!input_.next(line_)) return false;
        } while (line_.empty());
        if (!split()) throw fault("has a quote that does not end on the line");
        if (fields_.size() != count_) {
            throw fault("has " + std::to_string(fields_.size()) + " columns where the header has " +
                        std::to_string(count_));
        }
        line.id = fields_[id_at_.front()];
        for (std::size_t i = 1; i < id_at_.size(); ++i)
            line.id.append("\t").append(fields_[id_at_[i]]);
        line.number = input_.line_number();
        line.scores.clear();
        for (const std::size_t at : scores_at_)
            line.scores.push_back(score(fields_[at]));
        return true;
    }

    rows::Provenance provenance;

private:
    InputError fault(const std::string& what) const { return {what, input_.path(), input_.line_number()}; }

    bool split() {
        auto cut = csv_ ? rows::split_csv(line_) : rows::split_fields(line_, '\t');
        if (cut) fields_ = std::move(*cut);
        return cut.has_value();
    }
    std::size_t column(const std::string& name) const {
        const auto found = std::ranges::find(fields_, name);
        if (found == fields_.end()) {
            throw fault("is no table of scores of these examples: it has no column '" + name +
                        "' (predict --sequences or --examples writes one)");
        }
        return static_cast<std::size_t>(found - fields_.begin());
    }
    float score(std::string_view text) const {
        if (text.empty() || text == "NA") return std::numeric_limits<float>::quiet_NaN();
        const auto value = rows::parse_real(text);
        if (!value) throw fault("score '" + std::string(text) + "' is neither a number nor NA");
        return static_cast<float>(*value);
    }

    genome::TextInput input_;
    std::string line_;
    std::vector<std::string_view> fields_;
    bool csv_ = false;
    std::size_t count_ = 0;
    std::vector<std::size_t> id_at_, scores_at_;
};

/// Whether the table's rows are all rows of the examples, in order.
bool is_whole(const examples::ExampleSet& examples, const std::vector<Line>& lines) {
    if (std::ssize(lines) != examples.size()) return false;
    for (std::size_t i = 0; i < lines.size(); ++i)
        if (lines[i].id != id_of(examples, static_cast<std::int64_t>(i))) return false;
    return true;
}

/// The example of each line; -1 if it is not in the split.
std::vector<std::int64_t> rows_of(const examples::ExampleSet& examples, const std::vector<Line>& lines,
                                  examples::Split split) {
    std::vector<std::int64_t> rows(lines.size(), -1);
    if (is_whole(examples, lines)) {
        for (std::size_t i = 0; i < lines.size(); ++i)
            if (examples.split(static_cast<std::int64_t>(i)) == split) rows[i] = static_cast<std::int64_t>(i);
        return rows;
    }
    std::unordered_map<std::string, std::int64_t> by_id;
    for (const std::int64_t row : examples.rows(split))
        by_id.emplace(id_of(examples, row), row);
    for (std::size_t i = 0; i < lines.size(); ++i) {
        const auto found = by_id.find(lines[i].id);
        if (found != by_id.end()) rows[i] = found->second;
    }
    return rows;
}

}  // namespace

ScoredSequences join_sequence_scores(const examples::ExampleSet& examples, const fs::path& table,
                                     examples::Split split, WantedRows wanted) {
    const std::vector<std::int64_t> of_split = examples.rows(split);
    if (of_split.empty()) {
        const bool validates =
            split == examples::Split::test && !examples.rows(examples::Split::validation).empty();
        throw InputError("no row of the examples is of split " + std::string(to_string(split)) +
                         "; build them with --" + std::string(to_string(split)) + " or --split-by" +
                         (validates ? ", or evaluate those of --split validation" : ""));
    }
    TableReader reader(examples, table);
    std::vector<Line> lines;
    for (Line line; reader.next(line);)
        lines.push_back(line);
    const std::vector<std::int64_t> rows = rows_of(examples, lines, split);
    std::unordered_map<std::int64_t, const Line*> line_of;
    ScoredSequences joined{.rows = {}, .scores = {}, .provenance = reader.provenance};
    for (std::size_t i = 0; i < lines.size(); ++i) {
        joined.other_rows += rows[i] < 0 ? 1 : 0;
        if (rows[i] >= 0 && !line_of.emplace(rows[i], &lines[i]).second)
            throw InputError("has the id '" + lines[i].id + "' twice", table, lines[i].number);
    }
    for (const std::int64_t row : of_split) {
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
        log_warning("{} rows are left out, which not all files have scores for",
                    one.rows.size() - common.size());
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
