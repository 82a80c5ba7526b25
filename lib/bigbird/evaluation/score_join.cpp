// SPDX-License-Identifier: Apache-2.0
#include "bigbird/evaluation/score_join.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/log.hpp"
#include "bigbird/genome/reference/contig_names.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <unordered_map>

namespace bigbird::evaluation {

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

class Joiner {
public:
    Joiner(const examples::ExampleSet& examples, std::filesystem::path path, examples::Split split,
           WantedRows wanted)
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
        ScoredExamples result;
        result.lacking = std::ranges::count(seen_, false);
        if (wanted_ == WantedRows::all) require_complete();
        result.other_rows = other_rows_;
        result.provenance = reader_.provenance();
        result.missing_columns = static_cast<std::int64_t>(examples_.label_table().size() - columns_.size());
        std::vector<std::size_t> kept;
        for (std::size_t i = 0; i < rows_.size(); ++i) {
            bool scored = true;
            for (const auto& column : values_)
                scored = scored && !std::isnan(column[i]);
            if (scored) {
                kept.push_back(i);
                result.rows.push_back(rows_[i]);
            }
        }
        result.not_scored = static_cast<std::int64_t>(rows_.size() - kept.size()) - result.lacking;
        if (kept.empty())
            throw InputError("no row of split " + std::string(to_string(split_)) + " has scores", path_);
        for (std::size_t c = 0; c < columns_.size(); ++c) {
            LabelScores label;
            label.label = columns_[c].label;
            for (const std::size_t i : kept) {
                label.scores.push_back(values_[c][i]);
                label.truths.push_back(examples_.label(rows_[i], label.label));
            }
            std::vector<float>().swap(values_[c]);
            result.labels.push_back(std::move(label));
        }
        return result;
    }

private:
    struct Column {
        std::size_t column, label;
    };

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
            columns_.push_back({column, label});
            values_.emplace_back(rows_.size(), missing);
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
                ++other_rows_;
                continue;
            }
            if (seen_[found->second]) {
                throw InputError("row " + readable(found->first) + " is scored twice", path_,
                                 reader_.line_number());
            }
            seen_[found->second] = true;
            for (std::size_t c = 0; c < columns_.size(); ++c)
                values_[c][found->second] = values[columns_[c].column];
        }
    }

    void require_complete() const {
        std::size_t count = 0, first = 0;
        for (std::size_t i = rows_.size(); i-- > 0;) {
            count += seen_[i] ? 0U : 1U;
            first = seen_[i] ? first : i;
        }
        if (count > 0) {
            const std::string task(to_string(examples_.task()));
            throw InputError("lacks " + std::to_string(count) + " of the " + std::to_string(rows_.size()) +
                                 " rows of split " + std::string(to_string(split_)) + ", the first is " +
                                 readable(key_of(examples_.row(rows_[first]))) +
                                 "; score them with predict-" + task +
                                 " --examples, or evaluate those that are there with --rows scored",
                             path_);
        }
    }

    const examples::ExampleSet& examples_;
    std::filesystem::path path_;
    examples::Split split_;
    WantedRows wanted_;
    std::vector<Row> rows_;
    rows::ScoreReader reader_;
    std::unordered_map<std::string, std::size_t> positions_;
    std::vector<genome::Contig> contigs_;
    std::vector<Column> columns_;
    std::vector<std::vector<float>> values_;  ///< by column, then row of the split
    std::vector<bool> seen_;
    std::int64_t other_rows_ = 0;
};

/// Numbers the rows' blocks of genome.
void assign_blocks(const examples::ExampleSet& examples, ScoredExamples& joined, std::int64_t block_size) {
    std::map<std::pair<std::string, std::int64_t>, std::uint32_t> blocks;
    joined.blocks.clear();
    for (const Row index : joined.rows) {
        const examples::ExampleRow row = examples.row(index);
        const auto next = static_cast<std::uint32_t>(blocks.size());
        joined.blocks.push_back(
            blocks.emplace(std::pair(row.where.contig, row.where.begin / block_size), next).first->second);
    }
    joined.block_count = static_cast<std::uint32_t>(blocks.size());
}

/// Keeps only `rows` and `labels`, both ascending.
void restrict_to(ScoredExamples& joined, const std::vector<Row>& rows, const std::set<std::size_t>& labels) {
    std::erase_if(joined.labels, [&](const LabelScores& one) { return !labels.contains(one.label); });
    std::vector<std::size_t> kept;
    for (std::size_t i = 0; i < joined.rows.size(); ++i)
        if (std::binary_search(rows.begin(), rows.end(), joined.rows[i])) kept.push_back(i);
    for (LabelScores& one : joined.labels) {
        for (std::size_t i = 0; i < kept.size(); ++i) {
            one.scores[i] = one.scores[kept[i]];
            one.truths[i] = one.truths[kept[i]];
        }
        one.scores.resize(kept.size());
        one.truths.resize(kept.size());
    }
    joined.rows = rows;
}

}  // namespace

ScoredExamples join_scores(const examples::ExampleSet& examples, const std::filesystem::path& scores,
                           examples::Split split, std::int64_t block_size, WantedRows wanted) {
    ScoredExamples joined = Joiner(examples, scores, split, wanted).join();
    assign_blocks(examples, joined, block_size);
    return joined;
}

void keep_common(const examples::ExampleSet& examples, std::vector<ScoredExamples>& joined,
                 std::int64_t block_size) {
    if (joined.size() < 2) return;
    std::vector<Row> rows = joined.front().rows;
    std::set<std::size_t> labels;
    std::size_t most_rows = 0, most_labels = 0;
    for (const LabelScores& one : joined.front().labels)
        labels.insert(one.label);
    for (const ScoredExamples& some : joined) {
        std::vector<Row> both;
        std::set_intersection(rows.begin(), rows.end(), some.rows.begin(), some.rows.end(),
                              std::back_inserter(both));
        rows = std::move(both);
        std::set<std::size_t> theirs;
        for (const LabelScores& one : some.labels)
            theirs.insert(one.label);
        std::erase_if(labels, [&](std::size_t label) { return !theirs.contains(label); });
        most_rows = std::max(most_rows, some.rows.size());
        most_labels = std::max(most_labels, theirs.size());
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
        restrict_to(some, rows, labels);
        assign_blocks(examples, some, block_size);
    }
}

}  // namespace bigbird::evaluation
