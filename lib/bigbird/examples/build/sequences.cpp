// SPDX-License-Identifier: Apache-2.0
#include "bigbird/examples/build/sequences.hpp"

#include "bigbird/core/log.hpp"
#include "bigbird/core/parse_number.hpp"
#include "bigbird/examples/build/sequence_splits.hpp"
#include "bigbird/examples/build/sequence_tables.hpp"
#include "bigbird/examples/example_writer.hpp"
#include "bigbird/rows/text_fields.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <unordered_map>
#include <utility>

namespace bigbird::examples {
namespace fs = std::filesystem;

namespace {

constexpr std::size_t most_classes = 1000, classes_told = 10;

std::string percent(std::int64_t part, std::int64_t all) {
    return fmt::format("{:.1f} %",
                       all > 0 ? 100.0 * static_cast<double>(part) / static_cast<double>(all) : 0.0);
}

/// Sorts whole numbers by value, other names by bytes.
std::vector<std::string> in_order(const std::map<std::string, std::size_t>& names) {
    std::vector<std::string> sorted;
    sorted.reserve(names.size());
    for (const auto& [name, first] : names)
        sorted.push_back(name);
    const auto value = [](const std::string& name) { return parse_number<std::int64_t>(name); };
    if (std::ranges::all_of(sorted, [&](const std::string& name) { return value(name).has_value(); }))
        std::ranges::stable_sort(sorted, {}, [&](const std::string& name) { return *value(name); });
    return sorted;
}

class SequencesBuilder {
public:
    explicit SequencesBuilder(const SequencesOptions& options)
        : options_(options), target_(options.target_kind()), read_(read_sequences(options)) {}

    void build(const fs::path& folder) {
        set_targets();
        set_splits();
        if (target_ == TargetKind::classes) check_classes();
        tell();
        write_sequence_examples(
            folder, target_, rows::LabelTable(labels_), read_.records,
            {{"parameters", parameters()}, {"inputs", inputs()}, {"statistics", statistics_}});
    }

private:
    std::span<const SequenceExample> records() const { return read_.records; }

    void set_targets() {
        if (target_ == TargetKind::classes) {
            set_classes();
            return;
        }
        for (const std::string& name : label_columns(options_))
            labels_.push_back({".", name, -1});
        for (std::size_t i = 0; i < read_.records.size(); ++i)
            target_ == TargetKind::numbers ? set_numbers(i) : set_labels(i);
    }

    void set_classes() {
        std::map<std::string, std::size_t> first;  // record of each class
        std::map<std::string, std::int64_t> count;
        for (std::size_t i = 0; i < read_.records.size(); ++i) {
            const std::string& name = read_.values[i].front();
            if (name.empty() || name.find('\t') != std::string::npos)
                throw read_.fault(i, name.empty() ? "has no class" : "has a class with a tab");
            first.emplace(name, i);
            ++count[name];
            if (first.size() > most_classes) {
                throw read_.fault(i, "has class number " + std::to_string(most_classes + 1) + ", '" + name +
                                         "': at most " + std::to_string(most_classes) +
                                         " are learned; for numbers give --target number");
            }
        }
        for (const auto& [name, number] : count) {
            if (number == 1) {
                throw read_.fault(first[name], "has the only record of class '" + name +
                                                   "': a class needs two; for numbers give --target number");
            }
        }
        if (first.size() < 2)
            throw InputError("has one class only, '" + first.begin()->first + "'", read_.files.front());
        std::unordered_map<std::string, std::uint32_t> numbers;
        for (const std::string& name : in_order(first)) {
            numbers.emplace(name, static_cast<std::uint32_t>(labels_.size()));
            labels_.push_back({".", name, -1});
        }
        for (std::size_t i = 0; i < read_.records.size(); ++i)
            read_.records[i].labels = {numbers[read_.values[i].front()]};
    }

    void set_labels(std::size_t record) {
        for (std::size_t i = 0; i < labels_.size(); ++i) {
            const std::string& value = read_.values[record][i];
            if (value != "0" && value != "1") {
                throw read_.fault(record, "has '" + value + "' as label '" + labels_[i].name +
                                              "', which is neither 0 nor 1");
            }
            if (value == "1") read_.records[record].labels.push_back(static_cast<std::uint32_t>(i));
        }
    }

    void set_numbers(std::size_t record) {
        for (std::size_t i = 0; i < labels_.size(); ++i) {
            const std::string& text = read_.values[record][i];
            const auto number =
                static_cast<float>(rows::parse_real(text).value_or(std::numeric_limits<double>::quiet_NaN()));
            if (!std::isfinite(number)) {
                throw read_.fault(
                    record, "has '" + text + "' as '" + labels_[i].name + "', which is no finite number");
            }
            read_.records[record].numbers.push_back(number);
        }
    }

    void set_splits() {
        if (options_.split_by.empty()) return;
        const SplitRule rule = parse_split_rule(options_.split_by);
        if (rule.column.empty()) {
            draw_splits(read_.records, together(rule.similarity), rule.shares, options_.seed);
            return;
        }
        for (std::size_t i = 0; i < read_.records.size(); ++i) {
            const auto split = split_word(read_.split_words[i]);
            if (!split) {
                throw read_.fault(i, "has '" + read_.split_words[i] + "' in column '" + rule.column +
                                         "'; it takes train, validation or test");
            }
            read_.records[i].split = *split;
        }
    }

    /// A number per record; records with the same number get the same split.
    std::vector<std::size_t> together(bool similarity) const {
        JoinedSets sets(read_.records.size());
        std::unordered_map<std::string, std::size_t> groups;
        for (std::size_t i = 0; i < read_.records.size() && !options_.group_column.empty(); ++i)
            if (records()[i].group != ".") sets.join(i, groups.emplace(records()[i].group, i).first->second);
        if (similarity) {
            const std::vector<std::size_t> similar = similar_records(records());
            for (std::size_t i = 0; i < similar.size(); ++i)
                sets.join(i, similar[i]);
        }
        std::vector<std::size_t> numbers(read_.records.size());
        std::map<std::size_t, std::size_t> sizes;
        std::size_t largest = 0;
        for (std::size_t i = 0; i < numbers.size(); ++i)
            largest = std::max(largest, ++sizes[numbers[i] = sets.find(i)]);
        if (largest > 1) {
            log_info("{} records in {} sets that stay together, the largest of {}", numbers.size(),
                     sizes.size(), largest);
        }
        return numbers;
    }

    void check_classes() const {
        std::vector<bool> learned(labels_.size());
        for (const SequenceExample& record : records())
            if (record.split == Split::train) learned[record.labels.front()] = true;
        for (std::size_t i = 0; i < read_.records.size(); ++i) {
            if (learned[records()[i].labels.front()]) continue;
            throw read_.fault(i, "has class '" + labels_[records()[i].labels.front()].name + "' in " +
                                     std::string(to_string(records()[i].split)) + ", which train lacks");
        }
    }

    // ---- what is logged, and kept in manifest.json

    void tell() {
        std::array<std::int64_t, 3> rows{};
        for (const SequenceExample& record : records())
            ++rows[static_cast<std::size_t>(record.split)];
        log_info("{} records: {} for training, {} for validation, {} for test", records().size(), rows[0],
                 rows[1], rows[2]);
        if (rows[0] == 0) throw InputError("leaves no record for training", read_.files.front());
        tell_lengths();
        tell_letters();
        for (const Split split : all_splits)
            if (rows[static_cast<std::size_t>(split)] > 0)
                tell_balance(split, rows[static_cast<std::size_t>(split)]);
        tell_contradictions();
        for (const Split split : {Split::validation, Split::test})
            if (rows[static_cast<std::size_t>(split)] > 0) tell_overlap(split);
    }

    void tell_lengths() {
        std::vector<std::int64_t> lengths;
        for (const SequenceExample& record : records())
            lengths.push_back(std::ssize(record.sequence));
        std::ranges::sort(lengths);
        const std::int64_t median = lengths[lengths.size() / 2];
        log_info("lengths: {} to {} bases, median {}", lengths.front(), lengths.back(), median);
        statistics_["lengths"] = {
            {"shortest", lengths.front()}, {"median", median}, {"longest", lengths.back()}};
    }

    void tell_letters() {
        const rows::LetterCounts& letters = read_.letters;
        const std::pair<const char*, std::int64_t> counts[] = {
            {"A", letters.bases[0]},  {"C", letters.bases[1]}, {"G", letters.bases[2]},
            {"T", letters.bases[3]},  {"N", letters.n},        {"ambiguous", letters.ambiguous},
            {"other", letters.others}};
        std::string line;
        for (const auto& [name, count] : counts) {
            if (count > 0)
                line += (line.empty() ? "" : ", ") + (name + (" " + percent(count, letters.total())));
            statistics_["letters"][name] = count;
        }
        log_info("letters: {}", line);
    }

    void tell_balance(Split split, std::int64_t rows) {
        std::string line;
        Json& kept = statistics_["balance"][std::string(to_string(split))];
        kept = Json::array();
        for (std::size_t label = 0; label < labels_.size(); ++label) {
            std::string text;
            if (target_ == TargetKind::numbers) {
                double sum = 0, least = INFINITY, most = -INFINITY;
                for (const SequenceExample& record : records()) {
                    if (record.split != split) continue;
                    const double number = record.numbers[label];
                    sum += number;
                    least = std::min(least, number);
                    most = std::max(most, number);
                }
                const double mean = sum / static_cast<double>(rows);
                text = fmt::format("mean {:.4g}, {:.4g} to {:.4g}", mean, least, most);
                kept.push_back(
                    {{"name", labels_[label].name}, {"mean", mean}, {"least", least}, {"most", most}});
            } else {
                const std::int64_t count =
                    std::ranges::count_if(records(), [&](const SequenceExample& record) {
                        return record.split == split &&
                               std::ranges::count(record.labels, static_cast<std::uint32_t>(label)) > 0;
                    });
                text = std::to_string(count) + " (" + percent(count, rows) + ")";
                kept.push_back({{"name", labels_[label].name}, {"rows", count}});
            }
            if (label < classes_told) line += (label > 0 ? "; '" : "'") + labels_[label].name + "' " + text;
        }
        if (labels_.size() > classes_told)
            line += "; and " + std::to_string(labels_.size() - classes_told) + " more";
        log_info("{}: {}", to_string(split), line);
    }

    void tell_contradictions() {
        const Contradictions found = contradictions_in(records());
        statistics_["sequences_with_different_labels"] = found.sequences;
        if (found.sequences == 0) return;
        log_warning("{} sequences ({} records) occur with different labels, the first in {} and {}",
                    found.sequences, found.records, read_.place(found.first), read_.place(found.other));
    }

    void tell_overlap(Split split) {
        const Overlap found = overlap_with_train(records(), split);
        const std::string name(to_string(split));
        statistics_["overlap_with_train"][name] = {
            {"rows", found.rows}, {"in_train", found.in_train}, {"share_31mer", found.share_31mer}};
        const std::string line =
            fmt::format("{}: {} of {} rows occur in train, {} share a 31-mer with it, on either strand", name,
                        found.in_train, found.rows, found.share_31mer);
        found.share_31mer > 0 || found.in_train > 0 ? log_warning("{}", line) : log_info("{}", line);
    }

    Json parameters() const {
        Json parameters{{"sequence_column", options_.sequence_column},
                        {"label_columns", label_columns(options_)},
                        {"group_column", options_.group_column},
                        {"split_by", options_.split_by}};
        if (!options_.split_by.empty()) parameters["seed"] = options_.seed;
        return parameters;
    }

    Json inputs() const {
        Json inputs = Json::array();
        const auto add = [&](const char* role, const fs::path& path) {
            if (!path.empty()) inputs.push_back({{"role", role}, {"sha256", checksum_of_input(path)}});
        };
        add(options_.fasta.empty() ? "table" : "targets", options_.table);
        add("validation", options_.validation);
        add("test", options_.test);
        for (const fs::path& path : options_.fasta)
            add("fasta", path);
        return inputs;
    }

    const SequencesOptions& options_;
    TargetKind target_;
    LabelledSequences read_;
    std::vector<rows::Label> labels_;
    Json statistics_ = Json::object();
};

}  // namespace

TargetKind SequencesOptions::target_kind() const {
    return target.value_or(labels.empty() ? TargetKind::classes : TargetKind::labels);
}

void SequencesOptions::validate() const {
    if (table.empty() && fasta.size() < 2) {
        throw ConfigError(fasta.empty() ? "--table or --fasta is needed"
                                        : "--fasta takes a file per class, or --table of ids and labels");
    }
    const bool classes_of_files = table.empty();
    if (classes_of_files && (target_kind() != TargetKind::classes || !group_column.empty())) {
        throw ConfigError(
            "--fasta with a file per class has no columns: leave out --label-column, --target and "
            "--group-column, or give --table");
    }
    if (!fasta.empty() && !(validation.empty() && test.empty()))
        throw ConfigError("--validation and --test go with --table; give --split-by with --fasta");
    if (target_kind() == TargetKind::classes && !labels.empty())
        throw ConfigError("--target classes takes one --label-column");
    if (split_by.empty()) return;
    const SplitRule rule = parse_split_rule(split_by);
    if (!validation.empty() || !test.empty())
        throw ConfigError("--split-by is for one table: leave out --validation and --test");
    if (classes_of_files && !rule.column.empty())
        throw ConfigError("--split-by column:" + rule.column + " needs --table");
}

void build_sequences(const SequencesOptions& options, const fs::path& folder) {
    options.validate();
    SequencesBuilder(options).build(folder);
}

}  // namespace bigbird::examples
