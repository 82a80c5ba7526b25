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
#include <optional>
#include <span>
#include <unordered_map>
#include <utility>

namespace bigbird::evaluation {
namespace fs = std::filesystem;

namespace {

using Row = std::int64_t;

/// The columns that tell rows, whose texts with tabs between them are a row's key.
std::vector<std::string> key_columns(const examples::TaskTraits& task) {
    if (task.has_records) return {"id"};
    std::vector<std::string> names{"chrom", "start", "end"};
    if (task.about_tss) names.emplace_back("name");
    return names;
}

std::string key_of(const examples::ExampleSet& examples, Row index) {
    const examples::ExampleRow row = examples.row(index);
    if (examples.traits().has_records) return row.name;
    std::string key =
        row.where.contig + '\t' + std::to_string(row.where.begin) + '\t' + std::to_string(row.where.end);
    return examples.traits().about_tss ? key + '\t' + row.name : key;
}

std::string readable(std::string key) {
    std::ranges::replace(key, '\t', ' ');
    return "'" + key + "'";
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

template <typename Value>
void keep(std::vector<Value>& values, const std::vector<std::size_t>& kept) {
    for (std::size_t i = 0; i < kept.size(); ++i)
        values[i] = values[kept[i]];
    values.resize(kept.size());
}

class Joiner {
public:
    Joiner(const examples::ExampleSet& examples, const fs::path& path, examples::Split split)
        : examples_(examples),
          path_(path),
          split_(to_string(split)),
          records_(examples.traits().has_records),
          rows_(examples.rows(split)) {
        if (rows_.empty()) throw no_rows(split);
        for (std::size_t i = 0; i < rows_.size(); ++i) {
            positions_.emplace(key_of(examples, rows_[i]), i);
            const std::string& contig = examples.row(rows_[i]).where.contig;
            if (!records_ && (contigs_.empty() || contigs_.back().name != contig))
                contigs_.push_back({contig, 0});
        }
    }

    ScoredRows join(WantedRows wanted) {
        rows::ScoreLines lines(path_, outputs::score_lines(path_));
        joined_.provenance = lines.provenance();
        find_columns(lines);
        read(lines);
        joined_.lacking = std::ranges::count(seen_, false);
        if (wanted == WantedRows::all && joined_.lacking > 0) throw lacks_rows();
        std::vector<std::size_t> kept;
        for (std::size_t i = 0; i < rows_.size(); ++i)
            if (std::ranges::none_of(joined_.scores, [&](const auto& of) { return std::isnan(of[i]); }))
                kept.push_back(i);
        joined_.not_scored = std::ssize(rows_) - std::ssize(kept) - joined_.lacking;
        if (kept.empty()) throw InputError("no row of split " + split_ + " has scores", path_);
        for (std::vector<float>& scores : joined_.scores)
            keep(scores, kept);
        keep(rows_, kept);
        joined_.rows = std::move(rows_);
        return std::move(joined_);
    }

private:
    /// Whether the table may lack labels: those of places in a genome.
    bool is_partial() const { return !records_ && examples_.target() == examples::TargetKind::labels; }

    void find_columns(const rows::ScoreLines& lines) {
        const std::vector<std::string>& header = lines.header();
        const auto find = [&](const std::string& name, std::ptrdiff_t from, bool required) {
            const auto found = std::find(header.begin() + from, header.end(), name);
            if (found == header.end() && required)
                throw lines.fault("is no table of scores of these examples: it has no column '" + name +
                                  "' (predict --sequences or --examples writes one)");
            return found;
        };
        for (const std::string& name : key_columns(examples_.traits()))
            keys_.push_back(static_cast<std::size_t>(find(name, 0, true) - header.begin()));
        const auto first = static_cast<std::ptrdiff_t>(first_label(examples_, header));
        for (std::size_t label = 0; label < examples_.label_table().size(); ++label) {
            const std::string name = examples_.label_table().column_name(label);
            const auto found = find(name, first, !is_partial());
            if (found == header.end()) continue;
            if (std::find(found + 1, header.end(), name) != header.end())
                throw lines.fault("has two columns '" + name + "'");
            columns_.push_back(static_cast<std::size_t>(found - header.begin()));
            joined_.labels.push_back(label);
        }
        if (columns_.empty()) find(examples_.label_table().column_name(0), first, true);
        joined_.scores.assign(columns_.size(),
                              std::vector<float>(rows_.size(), std::numeric_limits<float>::quiet_NaN()));
    }

    void read(rows::ScoreLines& lines) {
        const genome::ContigNames names(contigs_);
        seen_.assign(rows_.size(), false);
        std::optional<InputError> repeated;
        bool in_order = records_;  // the lines so far are the examples' records
        std::vector<float> scores(columns_.size());
        Row line = 0;
        for (; lines.next(); ++line) {
            std::ranges::transform(
                columns_, scores.begin(), [&](std::size_t c) { return lines.score(c); });
            if (!is_partial() && std::ranges::any_of(scores, [](float score) { return std::isinf(score); }))
                throw lines.fault("has an infinite score: give a number, or NA where there is none");
            const std::string key = key_at(lines, lines.fields()[keys_[0]]);
            in_order = in_order && line < examples_.size() && key_of(examples_, line) == key;
            auto found = positions_.find(key);
            if (found == positions_.end() && !records_) {
                const auto contig = names.find(lines.fields()[keys_[0]]);
                if (contig) found = positions_.find(key_at(lines, contigs_[*contig].name));
            }
            if (found == positions_.end()) {
                ++joined_.other_rows;
                continue;
            }
            const auto& [row, position] = *found;
            const bool again = seen_[position];
            if (again && !repeated)
                repeated.emplace("row " + readable(row) + " is scored twice", path_, lines.line_number());
            if (again && !(in_order && rows_[position] == line)) continue;
            seen_[position] = true;
            for (std::size_t c = 0; c < scores.size(); ++c)
                joined_.scores[c][position] = scores[c];
        }
        const bool whole = in_order && line == examples_.size();
        if (repeated && !whole) throw *repeated;
        if (whole) joined_.other_rows = examples_.size() - std::ssize(rows_);
    }

    std::string key_at(const rows::ScoreLines& lines, std::string_view first) const {
        std::string key(first);
        for (const std::size_t column : std::span(keys_).subspan(1)) {
            const std::string_view field = lines.fields()[column];
            key.append("\t").append(field.empty() ? "." : field);
        }
        return key;
    }

    InputError no_rows(examples::Split split) const {
        const bool validates =
            split == examples::Split::test && !examples_.rows(examples::Split::validation).empty();
        return InputError("the examples have no row in split " + split_ + "; hold some out with --" + split_ +
                          (records_ ? " or --split-by" : "") + " when building them" +
                          (validates ? ", or evaluate those of --split validation" : ""));
    }

    InputError lacks_rows() const {
        const auto first = static_cast<std::size_t>(std::ranges::find(seen_, false) - seen_.begin());
        return {"lacks " + std::to_string(joined_.lacking) + " of the " + std::to_string(rows_.size()) +
                    " rows of split " + split_ + ", the first is " +
                    readable(key_of(examples_, rows_[first])) + "; score them with predict-" +
                    std::string(to_string(examples_.task())) +
                    " --examples, or evaluate those that are there with --rows scored",
                path_};
    }

    const examples::ExampleSet& examples_;
    const fs::path& path_;
    const std::string split_;
    const bool records_;
    std::vector<Row> rows_;
    std::unordered_map<std::string, std::size_t> positions_;
    std::vector<genome::Contig> contigs_;
    std::vector<std::size_t> keys_, columns_;  ///< of the table: those of keys, those of joined_.labels
    std::vector<bool> seen_;
    ScoredRows joined_;  ///< scores: of all rows of the split, until join() ends
};

/// What all have of something that is ascending in each.
template <typename Value>
std::vector<Value> common_of(const std::vector<ScoredRows>& joined, std::vector<Value> ScoredRows::*part) {
    std::vector<Value> common = joined.front().*part;
    for (const ScoredRows& one : joined)
        std::erase_if(common, [&](Value value) { return !std::ranges::binary_search(one.*part, value); });
    return common;
}

/// Where the values of `common` are among `all`.
template <typename Value>
std::vector<std::size_t> positions_of(const std::vector<Value>& common, const std::vector<Value>& all) {
    std::vector<std::size_t> positions;
    for (std::size_t i = 0; i < all.size(); ++i)
        if (std::ranges::binary_search(common, all[i])) positions.push_back(i);
    return positions;
}

}  // namespace

ScoredRows join_scores(const examples::ExampleSet& examples, const fs::path& table, examples::Split split,
                       WantedRows wanted) {
    return Joiner(examples, table, split).join(wanted);
}

void keep_common(std::vector<ScoredRows>& joined, const std::string& noun) {
    if (joined.size() < 2) return;
    const std::vector<Row> rows = common_of(joined, &ScoredRows::rows);
    const std::vector<std::size_t> labels = common_of(joined, &ScoredRows::labels);
    if (rows.empty() || labels.empty()) {
        throw InputError(rows.empty() ? "the files of --scores have no scored row in common"
                                      : "the files of --scores have no " + noun + " in common");
    }
    const bool all_have = std::ranges::all_of(joined, [&](const ScoredRows& one) {
        return one.rows.size() == rows.size() && one.labels.size() == labels.size();
    });
    if (all_have) return;
    log_warning("compared on the {} and {} that all have scores for", counted(rows.size(), "row"),
                counted(labels.size(), noun));
    for (ScoredRows& one : joined) {
        keep(one.scores, positions_of(labels, one.labels));
        const std::vector<std::size_t> kept = positions_of(rows, one.rows);
        for (std::vector<float>& scores : one.scores)
            keep(scores, kept);
        one.labels = labels;
        one.rows = rows;
    }
}

}  // namespace bigbird::evaluation
