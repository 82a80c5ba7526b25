// SPDX-License-Identifier: Apache-2.0
#include "bigbird/examples/example_rows.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/parse_number.hpp"
#include "bigbird/examples/example_format.hpp"
#include "bigbird/genome/reference/longest_contig.hpp"
#include "bigbird/genome/text/text_input.hpp"
#include "bigbird/rows/text_fields.hpp"

#include <string_view>
#include <unordered_map>

namespace bigbird::examples {
namespace fs = std::filesystem;

namespace {

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

}  // namespace

ExampleRows read_example_rows(const fs::path& directory, Task task) {
    return RowsReader(directory / (task == Task::sequences ? records_name : rows_name), task).read();
}

}  // namespace bigbird::examples
