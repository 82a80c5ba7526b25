// SPDX-License-Identifier: Apache-2.0
#include "bigbird/examples/examples.hpp"

#include "bigbird/core/check.hpp"
#include "bigbird/core/error.hpp"
#include "bigbird/core/formats/is_there.hpp"
#include "bigbird/core/parse_number.hpp"
#include "bigbird/examples/bit_matrix.hpp"
#include "bigbird/examples/example_format.hpp"
#include "bigbird/examples/two_bit.hpp"
#include "bigbird/genome/text/text_input.hpp"
#include "bigbird/rows/text_fields.hpp"

#include <algorithm>
#include <optional>
#include <unordered_map>

namespace bigbird::examples {

namespace fs = std::filesystem;

std::string_view to_string(Task task) {
    return word_of(task_choices, task);
}

std::string_view to_string(Split split) {
    return word_of(split_words, split);
}

Split parse_split(std::string_view text) {
    for (const Choice<Split>& split : split_words)
        if (text == split.word) return split.value;
    throw ConfigError("'" + std::string(text) + "' is no split; write train, validation or test");
}

namespace {

// The rows of an example folder as columns in memory.

/// A column that is empty does not exist for the task.
struct ExampleRows {
    std::vector<std::string> names;        ///< names of promoters and of records
    std::vector<std::string> places;       ///< contigs, or groups of records, each once
    std::vector<std::uint32_t> place;      ///< index into `places`
    std::vector<std::int64_t> begin, end;  ///< for records 0 and the length
    std::vector<Split> split;
    std::vector<genome::Strand> strand;  ///< strands of promoters
};

using Fields = std::vector<std::string_view>;

class RowsReader {
public:
    RowsReader(const fs::path& path, Task task) : input_(path), task_(task) {}

    ExampleRows read() {
        std::string line;
        if (task_ == Task::sequences && (!input_.next(line) || !line.starts_with("#id\t"))) {
            throw fault(
                "does not begin with '#id split length n_fraction group ...'; make the examples again");
        }
        while (input_.next(line)) {
            const Fields fields = rows::split_fields(line, '\t');
            task_ == Task::sequences ? add_record(fields) : add_region(fields);
        }
        return std::move(rows_);
    }

private:
    InputError fault(const std::string& what) const { return {what, input_.path(), input_.line_number()}; }

    std::uint32_t place_number(std::string_view name) {
        const auto next = static_cast<std::uint32_t>(rows_.places.size());
        const auto [found, is_new] = numbers_.emplace(std::string(name), next);
        if (is_new) rows_.places.emplace_back(name);
        return found->second;
    }

    void add(std::string_view place, std::int64_t begin, std::int64_t end, std::string_view split) {
        rows_.place.push_back(place_number(place));
        rows_.begin.push_back(begin);
        rows_.end.push_back(end);
        try {
            rows_.split.push_back(parse_split(split));
        } catch (const ConfigError& error) {
            throw fault(error.what());
        }
    }

    void add_region(const Fields& fields) {
        const std::size_t expected = task_ == Task::promoter ? promoter_columns : chromatin_columns;
        if (fields.size() != expected) {
            throw fault("has " + std::to_string(fields.size()) + " columns where " +
                        std::to_string(expected) + " are");
        }
        const auto begin = parse_number<std::int64_t>(fields[1]), end = parse_number<std::int64_t>(fields[2]);
        if (!begin || !end || *begin < 0 || *end < *begin || *end > genome::longest_contig)
            throw fault("has no usable coordinates");
        add(fields[0], *begin, *end, fields[3]);
        if (task_ == Task::promoter) {
            rows_.strand.push_back(fields[5] == "-" ? genome::Strand::reverse : genome::Strand::forward);
            rows_.names.emplace_back(fields[6]);
        }
    }

    void add_record(const Fields& fields) {
        if (fields.size() <= record_columns) {
            throw fault("has " + std::to_string(fields.size()) + " columns where more than " +
                        std::to_string(record_columns) + " are");
        }
        const auto length = parse_number<std::int64_t>(fields[2]);
        if (!length || *length <= 0 || *length > rows::longest_window) throw fault("has no usable length");
        add(fields[4], 0, *length, fields[1]);
        rows_.names.emplace_back(fields[0]);
    }

    genome::TextInput input_;
    Task task_;
    ExampleRows rows_;
    std::unordered_map<std::string, std::uint32_t> numbers_;
};

/// Reads sequences.bed, for Task::sequences records.tsv. Throws InputError with file and line.
ExampleRows read_example_rows(const fs::path& directory, Task task) {
    return RowsReader(directory / (task == Task::sequences ? records_name : rows_name), task).read();
}

Json read_manifest(const fs::path& directory) {
    const fs::path path = directory / manifest_name;
    std::error_code ignored;
    if (!fs::exists(path, ignored)) {
        throw InputError(
            "is no folder of examples: it holds no manifest.json; build-promoters, build-chromatin, "
            "build-tracks and build-sequences make one",
            directory);
    }
    Json manifest = read_json(path);
    if (!manifest.is_object() || manifest.value("format", Json()) != format_name)
        throw InputError("does not describe examples of bigbird-dna", path);
    if (manifest.value("format_version", Json()) != format_version)
        throw InputError("is of another version of the format; make the examples again", path);
    return manifest;
}

}  // namespace

struct ExampleSet::State {
    Json manifest;
    Task task;
    TargetKind target;
    rows::WindowBounds bounds;
    rows::LabelTable labels;
    ExampleRows rows;
    std::optional<BitMatrix> matrix;  ///< classes and labels
    std::optional<NumberMatrix> numbers;
    TwoBitReader sequences;
    /// Records of the store, by contig; empty if each row has its own record.
    std::vector<std::int64_t> records;
};

namespace {

rows::WindowBounds bounds_of(const std::string& text, const fs::path& manifest) {
    try {
        return rows::parse_window_bounds(text);
    } catch (const ConfigError& error) {
        throw InputError(error.what(), manifest);
    }
}

/// The value of `key`, which must be one of the words.
template <typename Enum, std::size_t N>
Enum word_in(const Json& manifest, const char* key, const Choices<Enum, N>& choices, const fs::path& path) {
    if (!manifest.contains(key) || !manifest[key].is_string())
        throw InputError(std::string("lacks '") + key + "'", path);
    const auto word = manifest[key].get<std::string>();
    for (const Choice<Enum>& choice : choices)
        if (choice.word == word) return choice.value;
    throw InputError(std::string("names no ") + key + " that is known: '" + word + "'", path);
}

const char* rows_file(Task task) {
    return task == Task::sequences ? records_name : rows_name;
}

const char* matrix_file(TargetKind target) {
    return target == TargetKind::numbers ? numbers_name : matrix_name;
}

std::vector<std::int64_t> records_of(const fs::path& path, const TwoBitReader& store, const ExampleRows& rows,
                                     Task task) {
    std::vector<std::int64_t> records;
    if (task != Task::chromatin) {
        if (store.size() != static_cast<std::int64_t>(rows.begin.size())) {
            throw InputError(std::string("holds another number of ") +
                                 (task == Task::promoter ? "windows" : "sequences") + " than " +
                                 rows_file(task) + " has rows; make the examples again",
                             path);
        }
        return records;
    }
    for (const std::string& contig : rows.places) {
        const auto record = store.find(contig);
        if (!record)
            throw InputError("lacks contig '" + contig + "' of sequences.bed; make the examples again", path);
        records.push_back(*record);
    }
    return records;
}

/// Detects files of different example folders that were mixed.
void check_count(const Json& manifest, const char* key, std::size_t count, const fs::path& directory,
                 const char* file) {
    const Json said = manifest.value(key, Json());
    if (said.is_number_integer() && said.get<std::int64_t>() != static_cast<std::int64_t>(count)) {
        throw InputError(std::string("names ") + std::to_string(said.get<std::int64_t>()) + " " + key +
                             " where " + file + " has " + std::to_string(count) + "; make the examples again",
                         directory / manifest_name);
    }
}

/// Checks that every row has exactly one class.
void check_classes(const BitMatrix& matrix, std::int64_t rows, const fs::path& path) {
    for (std::int64_t row = 0; row < rows; ++row) {
        int ones = 0;
        matrix.for_each_one(row, [&](std::size_t) { ++ones; });
        if (ones != 1) throw InputError("gives row " + std::to_string(row) + " not one class", path);
    }
}

/// Checks that the records have records.tsv's lengths.
void check_lengths(const TwoBitReader& store, const ExampleRows& rows, const fs::path& path) {
    for (std::size_t i = 0; i < rows.end.size(); ++i) {
        if (store.length(static_cast<std::int64_t>(i)) != rows.end[i]) {
            throw InputError("has a record of another length than records.tsv says; make the examples again",
                             path);
        }
    }
}

}  // namespace

ExampleSet ExampleSet::load(const fs::path& directory) {
    Json manifest = read_manifest(directory);
    const fs::path manifest_path = directory / manifest_name;
    const Task task = word_in(manifest, "task", task_choices, manifest_path);
    const TargetKind target = task == Task::sequences || manifest.contains("target")
                                  ? word_in(manifest, "target", target_choices, manifest_path)
                                  : TargetKind::labels;
    if (!manifest.contains("window") || !manifest["window"].is_string())
        throw InputError("lacks 'window'", manifest_path);
    const rows::WindowBounds bounds = bounds_of(manifest["window"].get<std::string>(), manifest_path);
    for (const char* name : {labels_name, rows_file(task)})
        refuse_named_pipe(directory / name);
    rows::LabelTable labels = rows::LabelTable::read(directory / labels_name);
    ExampleRows rows = read_example_rows(directory, task);
    const auto size = static_cast<std::int64_t>(rows.begin.size());
    std::optional<BitMatrix> matrix;
    std::optional<NumberMatrix> numbers;
    if (target == TargetKind::numbers)
        numbers.emplace(directory / numbers_name, size, labels.size());
    else
        matrix.emplace(directory / matrix_name, size, labels.size());
    check_count(manifest, "labels", labels.size(), directory, labels_name);
    check_count(manifest, "rows", rows.begin.size(), directory, rows_file(task));
    TwoBitReader sequences(directory / store_name);
    std::vector<std::int64_t> records = records_of(directory / store_name, sequences, rows, task);
    if (target == TargetKind::classes) check_classes(*matrix, size, directory / matrix_name);
    if (task == Task::sequences) check_lengths(sequences, rows, directory / store_name);
    require_files_of(manifest, directory, {rows_file(task), labels_name, matrix_file(target), store_name});
    return ExampleSet(std::make_unique<State>(
        State{std::move(manifest), task, target, bounds, std::move(labels), std::move(rows),
              std::move(matrix), std::move(numbers), std::move(sequences), std::move(records)}));
}

ExampleSet::ExampleSet(std::unique_ptr<State> state) : state_(std::move(state)) {}
ExampleSet::~ExampleSet() = default;
ExampleSet::ExampleSet(ExampleSet&&) noexcept = default;
ExampleSet& ExampleSet::operator=(ExampleSet&&) noexcept = default;

Task ExampleSet::task() const {
    return state_->task;
}

TargetKind ExampleSet::target() const {
    return state_->target;
}

std::int64_t ExampleSet::size() const {
    return static_cast<std::int64_t>(state_->rows.begin.size());
}

const rows::WindowBounds& ExampleSet::bounds() const {
    return state_->bounds;
}

const rows::LabelTable& ExampleSet::label_table() const {
    return state_->labels;
}

const Json& ExampleSet::manifest() const {
    return state_->manifest;
}

ExampleRow ExampleSet::row(std::int64_t row) const {
    const ExampleRows& rows = state_->rows;
    const auto i = static_cast<std::size_t>(row);
    BIGBIRD_EXPECTS(row >= 0 && row < size(), "there is no such row");
    const std::string& contig = task() == Task::sequences ? rows.names[i] : rows.places[rows.place[i]];
    ExampleRow example{{contig, rows.begin[i], rows.end[i]}, ".", genome::Strand::none, rows.split[i]};
    if (!rows.names.empty()) example.name = rows.names[i];
    if (!rows.strand.empty()) example.strand = rows.strand[i];
    return example;
}

Split ExampleSet::split(std::int64_t row) const {
    return state_->rows.split[static_cast<std::size_t>(row)];
}

std::vector<std::int64_t> ExampleSet::rows(Split split) const {
    std::vector<std::int64_t> found;
    for (std::int64_t i = 0; i < size(); ++i)
        if (this->split(i) == split) found.push_back(i);
    return found;
}

const std::string& ExampleSet::group(std::int64_t row) const {
    static const std::string none = ".";
    const ExampleRows& rows = state_->rows;
    return task() == Task::sequences ? rows.places[rows.place[static_cast<std::size_t>(row)]] : none;
}

std::uint8_t ExampleSet::label(std::int64_t row, std::size_t label) const {
    BIGBIRD_EXPECTS(state_->matrix, "numbers are no labels");
    return state_->matrix->get(row, label) ? 1 : 0;
}

std::vector<std::uint8_t> ExampleSet::labels(std::int64_t row) const {
    std::vector<std::uint8_t> values(state_->labels.size());
    copy_labels(row, values);
    return values;
}

void ExampleSet::copy_labels(std::int64_t row, std::span<std::uint8_t> out) const {
    BIGBIRD_EXPECTS(out.size() == state_->labels.size(), "one place for each label is needed");
    for (std::size_t i = 0; i < out.size(); ++i)
        out[i] = label(row, i);
}

std::int64_t ExampleSet::positives(std::size_t label, Split split) const {
    std::int64_t count = 0;
    for (std::int64_t i = 0; i < size(); ++i)
        count += this->split(i) == split ? this->label(i, label) : 0;
    return count;
}

std::size_t ExampleSet::class_of(std::int64_t row) const {
    BIGBIRD_EXPECTS(target() == TargetKind::classes, "there are no classes");
    std::size_t found = 0;
    state_->matrix->for_each_one(row, [&](std::size_t label) { found = label; });
    return found;
}

std::span<const float> ExampleSet::numbers(std::int64_t row) const {
    BIGBIRD_EXPECTS(target() == TargetKind::numbers, "there are no numbers");
    return state_->numbers->row(row);
}

std::int64_t ExampleSet::length(std::int64_t row) const {
    return task() == Task::sequences ? state_->sequences.length(row) : state_->bounds.size();
}

std::string ExampleSet::sequence(std::int64_t row) const {
    return centred(row, length(row));
}

std::string ExampleSet::centred(std::int64_t row, std::int64_t bases) const {
    const ExampleRows& rows = state_->rows;
    const auto i = static_cast<std::size_t>(row);
    const bool own = state_->task != Task::chromatin;  // record
    const genome::Interval middle =
        own ? genome::Interval{{}, 0, length(row)} : genome::Interval{{}, rows.begin[i], rows.end[i]};
    const genome::Interval window = genome::window_around(middle, bases);
    return state_->sequences.fetch(own ? row : state_->records[rows.place[i]], window.begin, window.end);
}

}  // namespace bigbird::examples
