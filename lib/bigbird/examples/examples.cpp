// SPDX-License-Identifier: Apache-2.0
#include "bigbird/examples/examples.hpp"

#include "bigbird/core/check.hpp"
#include "bigbird/core/error.hpp"
#include "bigbird/core/formats/is_there.hpp"
#include "bigbird/core/parse_number.hpp"
#include "bigbird/examples/bit_matrix.hpp"
#include "bigbird/examples/example_format.hpp"
#include "bigbird/examples/file_checksums.hpp"
#include "bigbird/examples/two_bit.hpp"
#include "bigbird/genome/reference/longest_contig.hpp"
#include "bigbird/genome/reference/sequence.hpp"
#include "bigbird/genome/regions/bed.hpp"
#include "bigbird/genome/text/text_input.hpp"
#include "bigbird/rows/text_fields.hpp"

#include <optional>
#include <unordered_map>

namespace bigbird::examples {
namespace fs = std::filesystem;

std::string_view to_string(Task task) {
    return task == Task::promoter ? "promoter" : "chromatin";
}

std::string_view to_string(Split split) {
    switch (split) {
        case Split::train:
            return "train";
        case Split::validation:
            return "validation";
        case Split::test:
            return "test";
    }
    return "test";
}

Split parse_split(std::string_view text) {
    for (const Split split : {Split::train, Split::validation, Split::test}) {
        if (text == to_string(split)) {
            return split;
        }
    }
    throw ConfigError("'" + std::string(text) + "' is no split; write train, validation or test");
}

namespace {

/// The rows of sequences.bed, a column each; contigs by number.
struct Rows {
    std::vector<std::string> contigs, names;  ///< names of promoters only
    std::vector<std::uint32_t> contig;
    std::vector<std::int64_t> begin, end;
    std::vector<Split> split;
    std::vector<genome::Strand> strand;
};

class RowsReader {
public:
    RowsReader(const fs::path& path, Task task) : input_(path), task_(task) {}

    Rows read() {
        std::string line;
        while (input_.next(line)) {
            add(rows::split_fields(line, '\t'));
        }
        return std::move(rows_);
    }

private:
    InputError fault(const std::string& what) const { return {what, input_.path(), input_.line_number()}; }

    std::uint32_t contig_number(std::string_view name) {
        const auto next = static_cast<std::uint32_t>(rows_.contigs.size());
        const auto [found, is_new] = numbers_.emplace(std::string(name), next);
        if (is_new) {
            rows_.contigs.emplace_back(name);
        }
        return found->second;
    }

    void add(const std::vector<std::string_view>& fields) {
        const std::size_t expected = task_ == Task::promoter ? promoter_columns : chromatin_columns;
        if (fields.size() != expected) {
            throw fault("has " + std::to_string(fields.size()) + " columns where " +
                        std::to_string(expected) + " are");
        }
        const auto begin = parse_number<std::int64_t>(fields[1]), end = parse_number<std::int64_t>(fields[2]);
        if (!begin || !end || *begin < 0 || *end < *begin || *end > genome::longest_contig) {
            throw fault("has no usable coordinates");
        }
        rows_.contig.push_back(contig_number(fields[0]));
        rows_.begin.push_back(*begin);
        rows_.end.push_back(*end);
        try {
            rows_.split.push_back(parse_split(fields[3]));
        } catch (const ConfigError& error) {
            throw fault(error.what());
        }
        if (task_ == Task::promoter) {
            rows_.strand.push_back(fields[5] == "-" ? genome::Strand::reverse : genome::Strand::forward);
            rows_.names.emplace_back(fields[6]);
        }
    }

    genome::TextInput input_;
    Task task_;
    Rows rows_;
    std::unordered_map<std::string, std::uint32_t> numbers_;
};

Json read_manifest(const fs::path& directory) {
    const fs::path path = directory / manifest_name;
    std::error_code ignored;
    if (!fs::exists(path, ignored)) {
        throw InputError(
            "is no folder of examples: it holds no manifest.json; build-promoters and build-chromatin make "
            "one",
            directory);
    }
    Json manifest = read_json(path);
    if (!manifest.is_object() || manifest.value("format", Json()) != format_name) {
        throw InputError("does not describe examples of bigbird-dna", path);
    }
    if (manifest.value("format_version", Json()) != format_version) {
        throw InputError("is of another version of the format; make the examples again", path);
    }
    return manifest;
}

}  // namespace

struct ExampleSet::State {
    Json manifest;
    Task task;
    rows::WindowBounds bounds;
    rows::LabelTable labels;
    Rows rows;
    BitMatrix matrix;
    TwoBitReader sequences;
    std::vector<std::int64_t>
        records;  ///< of the store, by contig; empty for promoters, which have a record a row
};

namespace {

rows::WindowBounds bounds_of(const std::string& text, const fs::path& manifest) {
    try {
        return rows::parse_window_bounds(text);
    } catch (const ConfigError& error) {
        throw InputError(error.what(), manifest);
    }
}

std::vector<std::int64_t> records_of(const fs::path& path, const TwoBitReader& store, const Rows& rows,
                                     Task task) {
    std::vector<std::int64_t> records;
    if (task == Task::promoter) {
        if (store.size() != static_cast<std::int64_t>(rows.begin.size())) {
            throw InputError(
                "holds another number of windows than sequences.bed has rows; make the examples again", path);
        }
        return records;
    }
    for (const std::string& contig : rows.contigs) {
        const auto record = store.find(contig);
        if (!record) {
            throw InputError("lacks contig '" + contig + "' of sequences.bed; make the examples again", path);
        }
        records.push_back(*record);
    }
    return records;
}

}  // namespace

namespace {

/// Files of two folders of examples, mixed, would be read as one.
void check_count(const Json& manifest, const char* key, std::size_t count, const fs::path& directory,
                 const char* file) {
    const Json said = manifest.value(key, Json());
    if (said.is_number_integer() && said.get<std::int64_t>() != static_cast<std::int64_t>(count)) {
        throw InputError(std::string("names ") + std::to_string(said.get<std::int64_t>()) + " " + key +
                             " where " + file + " has " + std::to_string(count) + "; make the examples again",
                         directory / manifest_name);
    }
}

}  // namespace

ExampleSet ExampleSet::load(const fs::path& directory) {
    Json manifest = read_manifest(directory);
    const auto field = [&](const char* key) {
        if (!manifest.contains(key) || !manifest[key].is_string()) {
            throw InputError(std::string("lacks '") + key + "'", directory / manifest_name);
        }
        return manifest[key].get<std::string>();
    };
    const std::string task_name = field("task");
    if (task_name != to_string(Task::promoter) && task_name != to_string(Task::chromatin)) {
        throw InputError("names no task that is known: '" + task_name + "'", directory / manifest_name);
    }
    const Task task = task_name == to_string(Task::promoter) ? Task::promoter : Task::chromatin;
    const rows::WindowBounds bounds = bounds_of(field("window"), directory / manifest_name);
    for (const char* name : {labels_name, rows_name})
        refuse_named_pipe(directory / name);
    rows::LabelTable labels = rows::LabelTable::read(directory / labels_name);
    Rows rows = RowsReader(directory / rows_name, task).read();
    BitMatrix matrix(directory / matrix_name, static_cast<std::int64_t>(rows.begin.size()), labels.size());
    check_count(manifest, "labels", labels.size(), directory, labels_name);
    check_count(manifest, "rows", rows.begin.size(), directory, rows_name);
    TwoBitReader sequences(directory / store_name);
    std::vector<std::int64_t> records = records_of(directory / store_name, sequences, rows, task);
    require_files_of(manifest, directory, {rows_name, labels_name, matrix_name, store_name});
    return ExampleSet(
        std::make_unique<State>(State{std::move(manifest), task, bounds, std::move(labels), std::move(rows),
                                      std::move(matrix), std::move(sequences), std::move(records)}));
}

ExampleSet::ExampleSet(std::unique_ptr<State> state) : state_(std::move(state)) {}
ExampleSet::~ExampleSet() = default;
ExampleSet::ExampleSet(ExampleSet&&) noexcept = default;
ExampleSet& ExampleSet::operator=(ExampleSet&&) noexcept = default;

Task ExampleSet::task() const {
    return state_->task;
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
    const Rows& rows = state_->rows;
    const auto i = static_cast<std::size_t>(row);
    BIGBIRD_EXPECTS(row >= 0 && row < size(), "there is no such row");
    ExampleRow example{
        {rows.contigs[rows.contig[i]], rows.begin[i], rows.end[i]}, ".", genome::Strand::none, rows.split[i]};
    if (state_->task == Task::promoter) {
        example.name = rows.names[i];
        example.strand = rows.strand[i];
    }
    return example;
}

Split ExampleSet::split(std::int64_t row) const {
    return state_->rows.split[static_cast<std::size_t>(row)];
}

std::vector<std::int64_t> ExampleSet::rows(Split split) const {
    std::vector<std::int64_t> found;
    for (std::int64_t i = 0; i < size(); ++i) {
        if (this->split(i) == split) {
            found.push_back(i);
        }
    }
    return found;
}

std::uint8_t ExampleSet::label(std::int64_t row, std::size_t label) const {
    return state_->matrix.get(row, label) ? 1 : 0;
}

std::vector<std::uint8_t> ExampleSet::labels(std::int64_t row) const {
    std::vector<std::uint8_t> values(state_->labels.size());
    copy_labels(row, values);
    return values;
}

void ExampleSet::copy_labels(std::int64_t row, std::span<std::uint8_t> out) const {
    BIGBIRD_EXPECTS(out.size() == state_->labels.size(), "one place for each label is needed");
    for (std::size_t i = 0; i < out.size(); ++i) {
        out[i] = label(row, i);
    }
}

std::int64_t ExampleSet::positives(std::size_t label, Split split) const {
    std::int64_t count = 0;
    for (std::int64_t i = 0; i < size(); ++i) {
        count += this->split(i) == split ? this->label(i, label) : 0;
    }
    return count;
}

std::string ExampleSet::sequence(std::int64_t row) const {
    const Rows& rows = state_->rows;
    const auto i = static_cast<std::size_t>(row);
    if (state_->task == Task::promoter) {
        return state_->sequences.fetch(row, 0, state_->bounds.size());
    }
    const genome::Interval bin{{}, rows.begin[i], rows.end[i]};
    const genome::Interval window = genome::window_around(bin, state_->bounds.size());
    return state_->sequences.fetch(state_->records[rows.contig[i]], window.begin, window.end);
}

}  // namespace bigbird::examples
