// SPDX-License-Identifier: Apache-2.0
#include "bigbird/rows/score_table.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/parse_number.hpp"
#include "bigbird/genome/text/text_input.hpp"
#include "bigbird/rows/text_fields.hpp"

#include <cmath>
#include <limits>

namespace bigbird::rows {

namespace {

constexpr std::string_view head = "#chrom\tstart\tend\tname\tscore\tstrand\tstatus\tn_fraction";
constexpr std::size_t head_columns = 8;

std::optional<float> parse_score(std::string_view text) {
    if (text == "NA" || text == "nan") {
        return std::numeric_limits<float>::quiet_NaN();
    }
    const std::optional<float> value = parse_number<float>(text);
    return value && !std::isnan(*value) ? value : std::nullopt;
}

}  // namespace

std::string without_breaks(std::string text) {
    for (char& letter : text) {
        letter = letter == '\t' || letter == '\n' || letter == '\r' ? ' ' : letter;
    }
    return text;
}

std::string provenance_lines(const Provenance& provenance) {
    std::string text;
    for (const auto& [key, value] : provenance) {
        text += "##" + without_breaks(key) + "=" + without_breaks(value) + "\n";
    }
    return text;
}

std::string value_of(const Provenance& provenance, std::string_view key) {
    for (const auto& [name, value] : provenance) {
        if (name == key) return value;
    }
    return {};
}

struct ScoreReader::State {
    genome::TextInput input;
    std::vector<std::string> columns;
    Provenance provenance;
    std::string line;
};

ScoreReader::ScoreReader(const std::filesystem::path& path)
    : state_(new State{genome::TextInput(path), {}, {}, {}}) {
    std::string& line = state_->line;
    while (state_->input.next(line)) {
        if (line.starts_with("##")) {
            const std::size_t equals = line.find('=');
            if (equals != std::string::npos) {
                state_->provenance.emplace_back(line.substr(2, equals - 2), line.substr(equals + 1));
            }
            continue;
        }
        const bool table =
            line.starts_with(head) && (line.size() == head.size() || line[head.size()] == '\t');
        if (!table) {
            break;
        }
        const std::vector<std::string_view> fields = split_fields(line, '\t');
        state_->columns.assign(fields.begin() + head_columns, fields.end());
        return;
    }
    throw InputError(
        "is no score table: a header '#chrom start end name score strand status n_fraction ...', "
        "tab-separated, is needed",
        path, state_->input.line_number());
}

ScoreReader::~ScoreReader() = default;

const std::vector<std::string>& ScoreReader::columns() const {
    return state_->columns;
}

const Provenance& ScoreReader::provenance() const {
    return state_->provenance;
}

std::int64_t ScoreReader::line_number() const {
    return state_->input.line_number();
}

bool ScoreReader::next(ScoreRow& row, std::vector<float>& values) {
    do {
        if (!state_->input.next(state_->line)) {
            return false;
        }
    } while (state_->line.empty());
    const auto fault = [&](const std::string& what) {
        return InputError(what, state_->input.path(), state_->input.line_number());
    };
    const std::vector<std::string_view> fields = split_fields(state_->line, '\t');
    const std::size_t expected = head_columns + state_->columns.size();
    if (fields.size() != expected) {
        throw fault("has " + std::to_string(fields.size()) + " columns where the header has " +
                    std::to_string(expected));
    }
    row = {std::string(fields[0]), std::string(fields[1]), std::string(fields[2]), std::string(fields[3]),
           std::string(fields[4]), std::string(fields[5]), std::string(fields[6]), 0};
    const auto n_fraction = parse_real(fields[7]);
    if (!n_fraction && fields[7] != "NA") {
        throw fault("n_fraction '" + std::string(fields[7]) + "' is neither a number nor NA");
    }
    row.n_fraction = n_fraction.value_or(std::numeric_limits<double>::quiet_NaN());
    values.resize(state_->columns.size());
    for (std::size_t i = 0; i < values.size(); ++i) {
        const auto value = parse_score(fields[head_columns + i]);
        if (!value) {
            throw fault("score '" + std::string(fields[head_columns + i]) + "' in column " +
                        state_->columns[i] + " is neither a number nor NA");
        }
        values[i] = *value;
    }
    return true;
}

}  // namespace bigbird::rows
