// SPDX-License-Identifier: Apache-2.0
#include "bigbird/examples/build/sequences.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/interrupt.hpp"
#include "bigbird/core/log.hpp"
#include "bigbird/core/parse_number.hpp"
#include "bigbird/core/words.hpp"
#include "bigbird/examples/build/sequence_splits.hpp"
#include "bigbird/examples/build/sheet.hpp"
#include "bigbird/examples/example_writer.hpp"
#include "bigbird/genome/reference/sequence.hpp"
#include "bigbird/rows/sequence_reader.hpp"
#include "bigbird/rows/text_fields.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <unordered_map>
#include <unordered_set>
#include <utility>

namespace bigbird::examples {
namespace fs = std::filesystem;

namespace {

constexpr std::size_t most_classes = 1000, classes_told = 10;

std::string percent(std::int64_t part, std::int64_t all) {
    return fmt::format("{:.1f} %",
                       all > 0 ? 100.0 * static_cast<double>(part) / static_cast<double>(all) : 0.0);
}

/// The names of the label columns; none for FASTA files that are classes.
std::vector<std::string> label_columns(const SequencesOptions& options) {
    if (!options.fasta.empty() && options.table.empty()) return {};
    if (options.labels.empty()) return {options.label_column};
    std::vector<std::string> names;
    for (const std::string_view name : rows::split_fields(options.labels, ','))
        names.emplace_back(name);
    return names;
}

/// Reads "train", "validation" or "test", or a common synonym.
std::optional<Split> split_word(std::string_view word) {
    if (word == "train" || word == "training") return Split::train;
    if (word == "validation" || word == "valid" || word == "val" || word == "dev") return Split::validation;
    if (word == "test" || word == "testing") return Split::test;
    return std::nullopt;
}

/// The files of build-sequences as records in memory, with uninterpreted labels.
class LabelledSequences {
public:
    struct Source {
        std::size_t file = 0;  ///< index into `files`
        std::int64_t line = 0;
    };
    std::vector<fs::path> files;
    std::vector<SequenceExample> records;  ///< without labels and numbers
    /// Label columns of each record, its group, and the split with --split-by column:NAME.
    std::vector<std::vector<std::string>> values;
    std::vector<Source> sources;  ///< source of each record's labels
    rows::LetterCounts letters;

    /// Records in the order of train's, validation's and test's tables, or of the FASTA files; their split is
    /// the file's. Throws InputError: errors of SequenceReader and normalise(), protein sequences, an id that
    /// occurs twice in a split, a record without labels in --table.
    LabelledSequences(const SequencesOptions& options, std::string split_column)
        : options_(options), split_column_(std::move(split_column)) {
        if (options_.fasta.empty()) {
            read_table(options_.table, Split::train);
            if (!options_.validation.empty()) read_table(options_.validation, Split::validation);
            if (!options_.test.empty()) read_table(options_.test, Split::test);
        } else if (options_.table.empty()) {
            const auto names = names_of_files(options_.fasta, "join them, if they are one class");
            for (std::size_t i = 0; i < names.size(); ++i)
                read_class(options_.fasta[i], names[i]);
        } else {
            read_targets();
        }
        refuse_repeated_ids();
        if (without_group_ > 0) {
            log_warning("{} of {} have no group, the first in {}: each is split by itself", without_group_,
                        counted(records.size(), "record"), place(first_without_group_));
        }
    }

    InputError fault(std::size_t record, const std::string& what) const {
        return {what, files[sources[record].file], sources[record].line};
    }
    /// "dev.csv:17"
    std::string place(std::size_t record) const {
        return files[sources[record].file].string() + ":" + std::to_string(sources[record].line);
    }

private:
    /// A line of a table without sequences.
    struct Row {
        std::vector<std::string> values;
        Source source;
        bool used = false;
    };

    rows::SequenceColumns columns() const {
        rows::SequenceColumns columns{.sequence = options_.sequence_column,
                                      .id = options_.id_column,
                                      .values = label_columns(options_),
                                      .header = options_.header};
        if (!options_.group_column.empty()) columns.values.push_back(options_.group_column);
        if (!split_column_.empty()) columns.values.push_back(split_column_);
        return columns;
    }

    /// Adds the last record's labels, group and split, in the order of columns().
    void add_row(std::vector<std::string> fields, Source source) {
        if (!options_.group_column.empty()) {
            const std::string& group = fields[fields.size() - (split_column_.empty() ? 1 : 2)];
            if (group.find_first_of("\t\r\n") != std::string::npos)
                throw InputError("has a group with a tab", files[source.file], source.line);
            if (!rows::is_missing(group))
                records.back().group = group;
            else if (++without_group_ == 1)
                first_without_group_ = records.size() - 1;
        }
        values.push_back(std::move(fields));
        sources.push_back(source);
    }

    /// Calls `add` with the id and the line of each record that was added to records.
    template <typename Add>
    void read_records(rows::SequenceReader& reader, Split split, const Add& add) {
        rows::LetterCounts counts;
        const std::size_t before = records.size();
        while (auto record = reader.next()) {
            if (records.size() % 4096 == 0) stop_if_asked();
            if (std::ssize(record->sequence) > rows::longest_window) {
                throw InputError("has a sequence of " + counted(record->sequence.size(), "letter") +
                                     "; at most " + std::to_string(rows::longest_window) + " are read",
                                 reader.path(), record->line);
            }
            rows::normalise(*record, counts, reader.path());
            records.push_back({.id = record->id, .split = split, .sequence = std::move(record->sequence)});
            add(*record);
        }
        if (records.size() == before) throw InputError("holds no sequences", reader.path());
        if (counts.is_protein()) throw InputError(counts.complaint(), reader.path());
        if (counts.others() > 0) log_warning("{}: {}", reader.path().string(), counts.complaint());
        letters.add(counts);
    }

    void read_table(const fs::path& path, Split split) {
        files.push_back(path);
        rows::SequenceReader reader(path, columns());
        if (reader.is_fasta()) throw InputError("is FASTA: give it as --fasta", path);
        reader.tell_header();
        read_records(reader, split, [&](rows::SequenceRecord& record) {
            add_row(std::move(record.values), {files.size() - 1, record.line});
        });
    }

    /// Reads FASTA, or a sequence per line, whose records become CLASS.1, CLASS.2 ... So do FASTA records
    /// with another record's id: published sets repeat ids.
    void read_class(const fs::path& path, const std::string& name) {
        files.push_back(path);
        rows::SequenceReader reader(path, {});
        std::int64_t number = 0, repeated = 0;
        read_records(reader, Split::train, [&](const rows::SequenceRecord& record) {
            ++number;
            const bool repeats = reader.is_fasta() && !ids_.insert(record.id).second;
            if (repeats || !reader.is_fasta()) records.back().id = name + "." + std::to_string(number);
            repeated += repeats ? 1 : 0;
            add_row({name}, {files.size() - 1, record.line});
        });
        if (repeated > 0)
            log_warning("{}: {} of {} records have an id that was there before; they are called {}.NUMBER",
                        path.string(), repeated, number, name);
    }

    void read_targets() {
        files.push_back(options_.table);
        rows::SequenceColumns wanted = columns();
        wanted.sequence.clear();
        rows::SequenceReader reader(options_.table, wanted);
        reader.tell_header();
        std::unordered_map<std::string, Row> rows;
        while (auto record = reader.next()) {
            const auto [at, is_new] =
                rows.emplace(record->id, Row{std::move(record->values), {0, record->line}});
            if (!is_new) {
                throw InputError("has the id '" + record->id + "' of line " +
                                     std::to_string(at->second.source.line) + " again",
                                 options_.table, record->line);
            }
        }
        std::size_t used = 0;
        for (const fs::path& path : options_.fasta) {
            files.push_back(path);
            rows::SequenceReader fasta(path, {});
            if (!fasta.is_fasta())
                throw InputError("is no FASTA: its first line does not begin with '>'", path);
            read_records(fasta, Split::train, [&](const rows::SequenceRecord& record) {
                const auto at = rows.find(record.id);
                const std::string id = "has the id '" + record.id + "'";
                if (at == rows.end())
                    throw InputError(id + ", which is not in " + options_.table.string(), path, record.line);
                if (std::exchange(at->second.used, true))
                    throw InputError(id + " again; ids must differ", path, record.line);
                ++used;
                add_row(at->second.values, at->second.source);
            });
        }
        if (used < rows.size()) {
            log_warning("{}: {} of {} ids are not in --fasta", options_.table.string(), rows.size() - used,
                        rows.size());
        }
    }

    void refuse_repeated_ids() const {
        std::unordered_map<std::string, std::size_t> seen;
        for (std::size_t i = 0; i < records.size(); ++i) {
            const SequenceExample& record = records[i];
            const auto [at, is_new] =
                seen.emplace(std::string(to_string(record.split)) + '\t' + record.id, i);
            if (!is_new) {
                throw fault(
                    i, "has the id '" + record.id + "' of " + place(at->second) + " again; ids must differ");
            }
        }
    }

    const SequencesOptions& options_;
    std::string split_column_;
    std::unordered_set<std::string> ids_;  // ids in classes' FASTA
    std::size_t without_group_ = 0, first_without_group_ = 0;
};

class SequencesBuilder {
public:
    explicit SequencesBuilder(const SequencesOptions& options)
        : options_(options),
          target_(options.target_kind()),
          rule_(options.split_by.empty() ? SplitRule() : parse_split_rule(options.split_by)),
          read_(options, rule_.column) {}

    void build(const fs::path& folder) {
        set_targets();
        set_splits();
        warn_of_torn_groups();
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
            labels_.push_back({".", name});
        for (std::size_t i = 0; i < read_.records.size(); ++i)
            set_values(i);
    }

    /// Throws for a class that differs from one before by outer blanks only, or is the same number. `spelled`
    /// holds the first record of each, without blanks, or with its number.
    void refuse_other_spelling(std::size_t record,
                               std::unordered_map<std::string, std::size_t>& spelled) const {
        const std::string& name = read_.values[record].front();
        std::string key(genome::without_outer_blanks(name));
        if (const auto number = rows::parse_real(key)) {
            key.clear();
            rows::append_number(key, *number + 0.0);  // not -0
        }
        const std::size_t first = spelled.try_emplace(key, record).first->second;
        const std::string& other = read_.values[first].front();
        if (other == name) return;
        throw read_.fault(record, "has class '" + shortened(name) + "', and " + read_.place(first) + " '" +
                                      shortened(other) + "': write one class in one way");
    }

    /// Classes are in numeric order if all are whole numbers, else in byte order.
    void set_classes() {
        std::map<std::string, std::vector<std::size_t>> classes;  // records of each
        std::unordered_map<std::string, std::size_t> spelled;
        for (std::size_t i = 0; i < read_.records.size(); ++i) {
            const std::string& name = read_.values[i].front();
            if (name.find('\t') != std::string::npos) throw read_.fault(i, "has a class with a tab");
            if (!options_.table.empty() && rows::is_missing(name)) {
                throw read_.fault(i, "has '" + name +
                                         "' as its class, a missing value of R or pandas: delete "
                                         "such rows, or give the class another name");
            }
            std::vector<std::size_t>& members = classes[name];
            if (members.empty() && !options_.table.empty()) refuse_other_spelling(i, spelled);
            members.push_back(i);
            if (classes.size() > most_classes) {
                throw read_.fault(i, "has class number " + std::to_string(most_classes + 1) + ", '" +
                                         shortened(name) + "': at most " + std::to_string(most_classes) +
                                         " are learned; for numbers give --target number");
            }
        }
        for (const auto& [name, members] : classes) {
            if (members.size() == 1) {
                throw read_.fault(members.front(),
                                  "has the only record of class '" + shortened(name) +
                                      "': a class needs two; for numbers give --target number");
            }
        }
        if (classes.size() < 2)
            throw InputError("has one class only, '" + classes.begin()->first + "'", read_.files.front());
        std::vector<std::string> names;
        names.reserve(classes.size());
        for (const auto& [name, members] : classes)
            names.push_back(name);
        const auto value = [](const std::string& name) { return parse_number<std::int64_t>(name); };
        if (std::ranges::all_of(names, [&](const std::string& name) { return value(name).has_value(); }))
            std::ranges::stable_sort(names, {}, [&](const std::string& name) { return *value(name); });
        for (const std::string& name : names) {
            for (const std::size_t i : classes[name])
                read_.records[i].labels = {static_cast<std::uint32_t>(labels_.size())};
            labels_.push_back({".", name});
        }
    }

    /// Sets the numbers of a record, or its labels that are 1.
    void set_values(std::size_t record) {
        SequenceExample& example = read_.records[record];
        for (std::size_t i = 0; i < labels_.size(); ++i) {
            const std::string& text = read_.values[record][i];
            const auto fault = [&](const std::string& what, const std::string& is) {
                return read_.fault(record, "has '" + shortened(text) + "' as " + what + "'" +
                                               labels_[i].name + "', which is " + is);
            };
            if (target_ == TargetKind::numbers) {
                const auto number = static_cast<float>(rows::parse_real(text).value_or(NAN));
                if (!std::isfinite(number)) throw fault("", "no finite number: delete such rows");
                example.numbers.push_back(number);
            } else {
                if (text != "0" && text != "1") throw fault("label ", "neither 0 nor 1");
                if (text == "1") example.labels.push_back(static_cast<std::uint32_t>(i));
            }
        }
    }

    void set_splits() {
        if (options_.split_by.empty()) return;
        if (rule_.column.empty()) {
            draw_splits(read_.records, rule_, options_.seed);
            return;
        }
        for (std::size_t i = 0; i < read_.records.size(); ++i) {
            const std::string& word = read_.values[i].back();
            const auto split = split_word(word);
            if (!split) {
                throw read_.fault(i, "has '" + shortened(word) + "' in column '" + rule_.column +
                                         "'; it takes train, validation or test");
            }
            read_.records[i].split = *split;
        }
    }

    /// Splits that are given, not drawn, may tear groups apart.
    void warn_of_torn_groups() const {
        std::map<std::string, std::vector<Split>> groups;
        for (const SequenceExample& record : records())
            if (record.group != ".") groups[record.group].push_back(record.split);
        std::size_t rows = 0;
        std::erase_if(groups, [&](const auto& group) {
            const auto& [name, splits] = group;
            const bool torn = std::ranges::count(splits, splits.front()) < std::ssize(splits);
            rows += torn ? splits.size() : 0;
            return !torn;
        });
        if (groups.empty()) return;
        log_warning(
            "in several splits: {} with {}, such as '{}'; figures of held-out records may be too good: "
            "--split-by fraction or similarity keeps a group in one split",
            counted(groups.size(), "group"), counted(rows, "record"), shortened(groups.begin()->first));
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
        log_info("{}: {} for training, {} for validation, {} for test", counted(records().size(), "record"),
                 rows[0], rows[1], rows[2]);
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
        std::string line;
        for (std::size_t i = 0; i < rows::LetterCounts::names.size(); ++i) {
            const std::string name = rows::LetterCounts::names[i];
            const std::int64_t count = read_.letters.counts[i];
            if (count > 0)
                line += (line.empty() ? "" : ", ") + name + " " + percent(count, read_.letters.total());
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
        log_warning("{} ({} records) with different labels, the first in {} and {}",
                    counted(found.sequences, "sequence"), found.records, read_.place(found.first),
                    read_.place(found.other));
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
        if (options_.header) parameters["header"] = *options_.header;
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
    SplitRule rule_;
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
