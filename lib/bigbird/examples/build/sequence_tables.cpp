// SPDX-License-Identifier: Apache-2.0
#include "bigbird/examples/build/sequence_tables.hpp"

#include "bigbird/core/interrupt.hpp"
#include "bigbird/core/log.hpp"
#include "bigbird/examples/build/sequence_splits.hpp"
#include "bigbird/rows/text_fields.hpp"
#include "bigbird/rows/window.hpp"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

namespace bigbird::examples {
namespace fs = std::filesystem;

namespace {

/// The file's name without its folder and endings: "pos" of data/pos.fa.gz.
std::string class_of_file(const fs::path& path) {
    const std::string name = path.filename().string();
    return name.substr(0, std::max<std::size_t>(1, name.find('.')));
}

class TablesReader {
public:
    explicit TablesReader(const SequencesOptions& options) : options_(options) {}

    LabelledSequences read() {
        if (options_.fasta.empty()) {
            read_table(options_.table, Split::train);
            if (!options_.validation.empty()) read_table(options_.validation, Split::validation);
            if (!options_.test.empty()) read_table(options_.test, Split::test);
        } else if (options_.table.empty()) {
            for (const fs::path& path : options_.fasta)
                read_class(path);
        } else {
            read_targets();
        }
        refuse_repeated_ids();
        return std::move(found_);
    }

private:
    /// A line of a table without sequences.
    struct Row {
        std::vector<std::string> values;
        LabelledSequences::Source source;
        bool used = false;
    };

    rows::SequenceColumns columns() const {
        rows::SequenceColumns columns{.sequence = options_.sequence_column, .id = options_.id_column};
        columns.values = label_columns(options_);
        if (!options_.group_column.empty()) columns.values.push_back(options_.group_column);
        if (!split_column().empty()) columns.values.push_back(split_column());
        return columns;
    }
    std::string split_column() const {
        return options_.split_by.empty() ? std::string() : parse_split_rule(options_.split_by).column;
    }

    /// Adds the last record's labels, group and split, in the order of columns().
    void add_row(std::vector<std::string> values, LabelledSequences::Source source) {
        if (!split_column().empty()) {
            found_.split_words.push_back(std::move(values.back()));
            values.pop_back();
        }
        if (!options_.group_column.empty()) {
            std::string group = std::move(values.back());
            values.pop_back();
            if (group.find_first_of("\t\r\n") != std::string::npos)
                throw InputError("has a group with a tab", found_.files[source.file], source.line);
            if (!group.empty()) found_.records.back().group = std::move(group);
        }
        found_.values.push_back(std::move(values));
        found_.sources.push_back(source);
    }

    /// Calls `add` with the id and the line of each record that was added to found_.records.
    template <typename Add>
    void read_records(rows::SequenceReader& reader, Split split, const Add& add) {
        rows::LetterCounts letters;
        const std::size_t before = found_.records.size();
        while (auto record = reader.next()) {
            if (found_.records.size() % 4096 == 0) stop_if_asked();
            const auto refuse = [&](const std::string& what) {
                throw InputError(what, reader.path(), record->line);
            };
            if (std::ssize(record->sequence) > rows::longest_window) {
                refuse("has a sequence of " + std::to_string(record->sequence.size()) + " letters; at most " +
                       std::to_string(rows::longest_window) + " are read");
            }
            rows::normalise(*record, letters, reader.path());
            SequenceExample& example = found_.records.emplace_back();
            example.id = record->id;
            example.split = split;
            example.sequence = std::move(record->sequence);
            add(*record);
        }
        if (found_.records.size() == before) throw InputError("holds no sequences", reader.path());
        if (letters.is_protein()) throw InputError(letters.complaint(), reader.path());
        if (letters.others > 0) log_warning("{}: {}", reader.path().string(), letters.complaint());
        found_.letters.add(letters);
    }

    void read_table(const fs::path& path, Split split) {
        found_.files.push_back(path);
        rows::SequenceReader reader(path, columns());
        if (reader.is_fasta()) throw InputError("is FASTA: give it as --fasta", path);
        read_records(reader, split, [&](rows::SequenceRecord& record) {
            add_row(std::move(record.values), {found_.files.size() - 1, record.line});
        });
    }

    /// Reads FASTA, or a sequence per line, whose records become CLASS.1, CLASS.2 ... So do FASTA records
    /// with another record's id: published sets repeat ids.
    void read_class(const fs::path& path) {
        found_.files.push_back(path);
        rows::SequenceReader reader(path, {});
        const std::string name = class_of_file(path);
        std::int64_t number = 0, repeated = 0;
        read_records(reader, Split::train, [&](const rows::SequenceRecord& record) {
            ++number;
            const bool repeats = reader.is_fasta() && !ids_.insert(record.id).second;
            if (repeats || !reader.is_fasta()) found_.records.back().id = name + "." + std::to_string(number);
            repeated += repeats ? 1 : 0;
            add_row({name}, {found_.files.size() - 1, record.line});
        });
        if (repeated > 0)
            log_warning("{}: {} of {} records have an id that was there before; they are called {}.NUMBER",
                        path.string(), repeated, number, name);
    }

    template <typename Add>
    void read_fasta(const fs::path& path, const Add& add) {
        found_.files.push_back(path);
        rows::SequenceReader reader(path, {});
        if (!reader.is_fasta()) throw InputError("is no FASTA: its first line does not begin with '>'", path);
        read_records(reader, Split::train, add);
    }

    void read_targets() {
        found_.files.push_back(options_.table);
        rows::SequenceColumns wanted = columns();
        wanted.sequence = std::exchange(wanted.id, std::string());  // only the id is required in a line
        rows::SequenceReader reader(options_.table, wanted);
        std::unordered_map<std::string, Row> rows;
        while (auto record = reader.next()) {
            const auto [at, is_new] =
                rows.emplace(record->sequence, Row{std::move(record->values), {0, record->line}});
            if (!is_new) {
                throw InputError("has the id '" + record->sequence + "' of line " +
                                     std::to_string(at->second.source.line) + " again",
                                 options_.table, record->line);
            }
        }
        std::size_t used = 0;
        for (const fs::path& path : options_.fasta) {
            read_fasta(
                path,
                [&](const rows::SequenceRecord& record) {
                    const auto at = rows.find(record.id);
                    const std::string id = "has the id '" + record.id + "'";
                    if (at == rows.end())
                        throw InputError(id + ", which is not in " + options_.table.string(), path,
                                         record.line);
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
        for (std::size_t i = 0; i < found_.records.size(); ++i) {
            const SequenceExample& record = found_.records[i];
            const auto [at, is_new] =
                seen.emplace(std::string(to_string(record.split)) + '\t' + record.id, i);
            if (!is_new) {
                throw found_.fault(i, "has the id '" + record.id + "' of " + found_.place(at->second) +
                                          " again; ids must differ");
            }
        }
    }

    const SequencesOptions& options_;
    LabelledSequences found_;
    std::unordered_set<std::string> ids_;  // ids in classes' FASTA
};

}  // namespace

std::string LabelledSequences::place(std::size_t record) const {
    return files[sources[record].file].string() + ":" + std::to_string(sources[record].line);
}

std::vector<std::string> label_columns(const SequencesOptions& options) {
    if (!options.fasta.empty() && options.table.empty()) return {};
    if (options.labels.empty()) return {options.label_column};
    std::vector<std::string> names;
    for (const std::string_view name : rows::split_fields(options.labels, ','))
        names.emplace_back(name);
    return names;
}

LabelledSequences read_sequences(const SequencesOptions& options) {
    return TablesReader(options).read();
}

}  // namespace bigbird::examples
