// SPDX-License-Identifier: Apache-2.0
#include "bigbird/examples/labelled_bins.hpp"

#include "bigbird/core/check.hpp"
#include "bigbird/core/error.hpp"
#include "bigbird/core/formats/is_there.hpp"
#include "bigbird/core/parse_number.hpp"
#include "bigbird/core/words.hpp"
#include "bigbird/examples/example_format.hpp"
#include "bigbird/genome/text/text_input.hpp"
#include "bigbird/rows/text_fields.hpp"

#include <algorithm>
#include <fstream>

namespace bigbird::examples {
namespace fs = std::filesystem;

namespace {

constexpr std::size_t stretch_columns = 4;  // contig, start, end, split

BinStretch stretch_of(const std::vector<std::string_view>& fields, std::int64_t bin) {
    if (fields.size() != stretch_columns)
        throw ConfigError("has " + counted(fields.size(), "column") + " where 4 are");
    const auto begin = parse_number<std::int64_t>(fields[1]), end = parse_number<std::int64_t>(fields[2]);
    if (!begin || !end || *begin < 0 || *begin % bin != 0 || *end <= *begin || *end % bin != 0 ||
        *end > genome::longest_contig)
        throw ConfigError("has coordinates that are no whole bins of " + std::to_string(bin) + " bases");
    return {.contig = std::string(fields[0]),
            .split = parse_split(fields[3]),
            .first = *begin / bin,
            .count = (*end - *begin) / bin};
}

std::int64_t bin_size_in(const Json& manifest, const fs::path& where) {
    const Json parameters = manifest.is_object() ? manifest.value("parameters", Json()) : Json();
    const Json bin = parameters.is_object() ? parameters.value("bin", Json()) : Json();
    if (!bin.is_number_integer() || bin.get<std::int64_t>() <= 0)
        throw InputError("does not say how many bases a bin has", where);
    return bin.get<std::int64_t>();
}

}  // namespace

void add_bin(std::vector<BinStretch>& stretches, const std::string& contig, std::int64_t bin, Split split) {
    const BinStretch* const last = stretches.empty() ? nullptr : &stretches.back();
    if (last == nullptr || last->contig != contig || last->split != split || last->first + last->count != bin)
        stretches.push_back({.contig = contig, .split = split, .first = bin});
    ++stretches.back().count;
}

void write_stretches(const fs::path& folder, std::span<const BinStretch> stretches, std::int64_t bin) {
    const fs::path path = folder / stretches_name;
    std::ofstream out(path, std::ios::binary);
    for (const BinStretch& one : stretches)
        out << one.contig << '\t' << one.first * bin << '\t' << (one.first + one.count) * bin << '\t'
            << to_string(one.split) << '\n';
    out.close();
    require_written(out, path);
}

LabelledBins::LabelledBins(const fs::path& directory) {
    const fs::path path = directory / stretches_name;
    std::error_code ignored;
    if (!fs::exists(path, ignored)) {
        throw InputError(
            "holds no labels of whole stretches of bins (bins.bed): build-chromatin --peaks makes them",
            directory);
    }
    const Json manifest = read_json(directory / manifest_name);
    bin_ = bin_size_in(manifest, directory / manifest_name);
    for (const char* name : {labels_name, stretches_name})
        refuse_named_pipe(directory / name);
    labels_ = rows::LabelTable::read(directory / labels_name);
    const std::int64_t rows = read_stretches(path);
    store_.emplace(directory / store_name);
    const bool numbers = manifest.value("target", Json()) == word_of(target_choices, TargetKind::numbers);
    const char* const matrix_file = numbers ? numbers_name : bins_matrix_name;
    matrix_.emplace(directory / matrix_file, numbers ? Cells::numbers : Cells::bits, rows, labels_.size());
    if (numbers) high_ = high_numbers();
    for (const BinStretch& stretch : stretches_) {
        if (!store_->find(stretch.contig)) {
            throw InputError("lacks contig '" + stretch.contig + "' of bins.bed; make the examples again",
                             directory / store_name);
        }
    }
    require_files_of(manifest, directory, {stretches_name, matrix_file});
}

/// Returns the number of bins.
std::int64_t LabelledBins::read_stretches(const fs::path& path) {
    genome::TextInput input(path);
    std::string line;
    std::int64_t row = 0;
    while (input.next(line)) {
        try {
            stretches_.push_back(stretch_of(rows::split_fields(line, '\t'), bin_));
        } catch (const ConfigError& error) {
            throw input.fault(error.what());
        }
        stretches_.back().row = row;
        row += stretches_.back().count;
    }
    return row;
}

std::vector<float> LabelledBins::high_numbers() const {
    constexpr std::int64_t most = 1 << 16, high_share = 20;
    std::vector<std::int64_t> rows;
    for (const BinStretch& stretch : stretches_)
        for (std::int64_t i = 0; stretch.split == Split::train && i < stretch.count; ++i)
            rows.push_back(stretch.row + i);
    const std::int64_t every = std::max<std::int64_t>(1, std::ssize(rows) / most);
    std::vector<float> high(labels_.size(), 0), values;
    for (std::size_t track = 0; track < high.size() && !rows.empty(); ++track) {
        values.clear();
        for (std::int64_t i = 0; i < std::ssize(rows); i += every)
            values.push_back(numbers(rows[static_cast<std::size_t>(i)])[track]);
        const auto place = values.end() - 1 - std::ssize(values) / high_share;
        std::ranges::nth_element(values, place);
        high[track] = *place;
    }
    return high;
}

void LabelledBins::copy_labels(std::int64_t row, std::span<std::uint8_t> out) const {
    BIGBIRD_EXPECTS(out.size() == labels_.size(), "one place for each label is needed");
    std::ranges::fill(out, std::uint8_t{0});
    for_each_label(row, [&](std::size_t label) { out[label] = 1; });
}

std::string LabelledBins::sequence(const std::string& contig, std::int64_t begin, std::int64_t end) const {
    const auto record = store_->find(contig);
    if (!record) return std::string(static_cast<std::size_t>(end - begin), 'N');
    return store_->fetch(*record, begin, end);
}

}  // namespace bigbird::examples
