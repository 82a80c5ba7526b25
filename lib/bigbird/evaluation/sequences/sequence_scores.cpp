// SPDX-License-Identifier: Apache-2.0
#include "bigbird/evaluation/sequences/sequence_scores.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/log.hpp"
#include "bigbird/genome/text/text_input.hpp"
#include "bigbird/rows/text_fields.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace bigbird::evaluation {
namespace fs = std::filesystem;

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
    std::vector<std::int64_t> common = joined.front().rows;
    for (const ScoredSequences& one : joined) {
        std::vector<std::int64_t> both;
        std::ranges::set_intersection(common, one.rows, std::back_inserter(both));
        common = std::move(both);
    }
    if (common.empty()) throw InputError("no row has scores in all files");
    for (ScoredSequences& one : joined) {
        if (one.rows.size() == common.size()) continue;
        log_warning("{} rows are left out, which not all files have scores for",
                    one.rows.size() - common.size());
        const std::size_t width = one.scores.size() / one.rows.size();
        std::vector<float> scores;
        for (std::size_t i = 0; i < one.rows.size(); ++i)
            if (std::ranges::binary_search(common, one.rows[i]))
                scores.insert(scores.end(), one.scores.begin() + static_cast<std::ptrdiff_t>(i * width),
                              one.scores.begin() + static_cast<std::ptrdiff_t>((i + 1) * width));
        one.scores = std::move(scores);
        one.rows = common;
    }
}

}  // namespace bigbird::evaluation
