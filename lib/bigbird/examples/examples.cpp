// SPDX-License-Identifier: Apache-2.0
#include "bigbird/examples/examples.hpp"

#include "bigbird/core/check.hpp"
#include "bigbird/core/error.hpp"
#include "bigbird/core/formats/is_there.hpp"
#include "bigbird/core/parse_number.hpp"
#include "bigbird/core/words.hpp"
#include "bigbird/examples/example_format.hpp"
#include "bigbird/examples/two_bit.hpp"
#include "bigbird/genome/reference/interval.hpp"
#include "bigbird/genome/text/text_input.hpp"
#include "bigbird/rows/text_fields.hpp"

#include <unordered_map>

namespace bigbird::examples {

namespace fs = std::filesystem;

Split parse_split(std::string_view text) {
    for (const Choice<Split>& split : split_words)
        if (text == split.word) return split.value;
    throw ConfigError("'" + std::string(text) + "' is no split; write train, validation or test");
}

namespace {

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
void check_classes(const LabelMatrix& matrix, std::int64_t rows, const fs::path& path) {
    for (std::int64_t row = 0; row < rows; ++row) {
        int ones = 0;
        matrix.for_each_one(row, [&](std::size_t) { ++ones; });
        if (ones != 1) throw InputError("gives row " + std::to_string(row) + " not one class", path);
    }
}

}  // namespace

ExampleSet::ExampleSet(const fs::path& directory) : manifest_(read_manifest(directory)) {
    const fs::path manifest_path = directory / manifest_name;
    task_ = word_in(manifest_, "task", task_choices, manifest_path);
    if (traits().labels_bases)
        throw InputError("is for the task 'tokens', which has no folders of examples", manifest_path);
    if (traits().has_records || manifest_.contains("target"))
        target_ = word_in(manifest_, "target", target_choices, manifest_path);
    if (!manifest_.contains("window") || !manifest_["window"].is_string())
        throw InputError("lacks 'window'", manifest_path);
    try {
        bounds_ = rows::parse_window_bounds(manifest_["window"].get<std::string>());
    } catch (const ConfigError& error) {
        throw InputError(error.what(), manifest_path);
    }
    const char* const rows_file = traits().has_records ? records_name : rows_name;
    const char* const matrix_file = target_ == TargetKind::numbers ? numbers_name : matrix_name;
    for (const char* name : {labels_name, rows_file})
        refuse_named_pipe(directory / name);
    labels_ = rows::LabelTable::read(directory / labels_name);
    read_rows(directory / rows_file);
    matrix_.emplace(directory / matrix_file, target_ == TargetKind::numbers ? Cells::numbers : Cells::bits,
                    size(), labels_.size());
    check_count(manifest_, "labels", labels_.size(), directory, labels_name);
    check_count(manifest_, "rows", begin_.size(), directory, rows_file);
    store_.emplace(directory / store_name);
    find_records(directory / store_name);
    if (target_ == TargetKind::classes) check_classes(*matrix_, size(), directory / matrix_file);
    require_files_of(manifest_, directory, {rows_file, labels_name, matrix_file, store_name});
}

/// Reads sequences.bed, or records.tsv if there are records. Throws InputError with file and line.
void ExampleSet::read_rows(const fs::path& path) {
    genome::TextInput input(path);
    std::string line;
    if (traits().has_records && (!input.next(line) || !line.starts_with("#id\t")))
        throw input.fault(
            "does not begin with '#id split length n_fraction group ...'; make the examples again");
    std::unordered_map<std::string, std::uint32_t> numbers;  // of places_
    while (input.next(line)) {
        const std::vector<std::string_view> fields = rows::split_fields(line, '\t');
        try {
            const std::string_view place = add_row(fields);
            const auto next = static_cast<std::uint32_t>(places_.size());
            const auto [found, is_new] = numbers.emplace(std::string(place), next);
            if (is_new) places_.emplace_back(place);
            place_.push_back(found->second);
        } catch (const ConfigError& error) {
            throw input.fault(error.what());
        }
    }
}

/// Adds a row, but for its place, the contig or group, which it returns. Throws ConfigError.
std::string_view ExampleSet::add_row(std::span<const std::string_view> fields) {
    const bool record = traits().has_records;
    const std::size_t expected = traits().about_tss ? promoter_columns : chromatin_columns;
    if (record ? fields.size() <= record_columns : fields.size() != expected) {
        throw ConfigError(
            "has " + counted(fields.size(), "column") + " where " +
            (record ? "more than " + std::to_string(record_columns) : std::to_string(expected)) + " are");
    }
    const auto begin = record ? std::optional<std::int64_t>(0) : parse_number<std::int64_t>(fields[1]),
               end = parse_number<std::int64_t>(fields[2]);
    if (record && (!end || *end <= 0 || *end > rows::longest_window))
        throw ConfigError("has no usable length");
    if (!begin || !end || *begin < 0 || *end < *begin || *end > genome::longest_contig)
        throw ConfigError("has no usable coordinates");
    begin_.push_back(*begin);
    end_.push_back(*end);
    split_.push_back(parse_split(fields[record ? 1 : 3]));
    if (record) names_.emplace_back(fields[0]);
    if (traits().about_tss) {
        strand_.push_back(fields[5] == "-" ? genome::Strand::reverse : genome::Strand::forward);
        names_.emplace_back(fields[6]);
    }
    return fields[record ? 4 : 0];
}

/// Finds the rows' sequences in the store. Throws InputError if they are another folder's.
void ExampleSet::find_records(const fs::path& path) {
    if (traits().has_bins) {
        for (const std::string& contig : places_) {
            const auto record = store_->find(contig);
            if (!record)
                throw InputError("lacks contig '" + contig + "' of sequences.bed; make the examples again",
                                 path);
            records_.push_back(*record);
        }
        return;
    }
    const bool promoters = traits().about_tss;
    if (store_->size() != size()) {
        throw InputError(std::string("holds another number of ") +
                             (promoters ? "windows than sequences.bed" : "sequences than records.tsv") +
                             " has rows; make the examples again",
                         path);
    }
    for (std::int64_t i = 0; !promoters && i < size(); ++i)
        if (store_->length(i) != end_[static_cast<std::size_t>(i)])
            throw InputError("has a record of another length than records.tsv says; make the examples again",
                             path);
}

ExampleRow ExampleSet::row(std::int64_t row) const {
    const auto i = static_cast<std::size_t>(row);
    BIGBIRD_EXPECTS(row >= 0 && row < size(), "there is no such row");
    const std::string& contig = traits().has_records ? names_[i] : places_[place_[i]];
    ExampleRow example{{contig, begin_[i], end_[i]}, ".", genome::Strand::none, split_[i]};
    if (!names_.empty()) example.name = names_[i];
    if (!strand_.empty()) example.strand = strand_[i];
    return example;
}

std::vector<std::int64_t> ExampleSet::rows(Split split) const {
    std::vector<std::int64_t> found;
    for (std::int64_t i = 0; i < size(); ++i)
        if (this->split(i) == split) found.push_back(i);
    return found;
}

const std::string& ExampleSet::group(std::int64_t row) const {
    static const std::string none = ".";
    return traits().has_records ? places_[place_[static_cast<std::size_t>(row)]] : none;
}

std::uint8_t ExampleSet::label(std::int64_t row, std::size_t label) const {
    BIGBIRD_EXPECTS(!matrix_->holds_numbers(), "numbers are no labels");
    return matrix_->get(row, label) ? 1 : 0;
}

std::vector<std::uint8_t> ExampleSet::labels(std::int64_t row) const {
    std::vector<std::uint8_t> values(labels_.size());
    copy_labels(row, values);
    return values;
}

void ExampleSet::copy_labels(std::int64_t row, std::span<std::uint8_t> out) const {
    BIGBIRD_EXPECTS(out.size() == labels_.size(), "one place for each label is needed");
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
    BIGBIRD_EXPECTS(target_ == TargetKind::classes, "there are no classes");
    std::size_t found = 0;
    matrix_->for_each_one(row, [&](std::size_t label) { found = label; });
    return found;
}

std::span<const float> ExampleSet::numbers(std::int64_t row) const {
    BIGBIRD_EXPECTS(matrix_->holds_numbers(), "there are no numbers");
    return matrix_->numbers(row);
}

std::int64_t ExampleSet::length(std::int64_t row) const {
    return traits().has_records ? store_->length(row) : bounds_.size();
}

std::string ExampleSet::centred(std::int64_t row, std::int64_t bases) const {
    const auto i = static_cast<std::size_t>(row);
    const bool own = !traits().has_bins;  // record
    const genome::Interval middle =
        own ? genome::Interval{{}, 0, length(row)} : genome::Interval{{}, begin_[i], end_[i]};
    const genome::Interval window = genome::window_around(middle, bases);
    return store_->fetch(own ? row : records_[place_[i]], window.begin, window.end);
}

}  // namespace bigbird::examples
