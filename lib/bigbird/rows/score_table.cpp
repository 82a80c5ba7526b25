// SPDX-License-Identifier: Apache-2.0
#include "bigbird/rows/score_table.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/log.hpp"
#include "bigbird/core/parse_number.hpp"
#include "bigbird/core/words.hpp"
#include "bigbird/genome/text/byte_stream.hpp"
#include "bigbird/rows/row.hpp"
#include "bigbird/rows/text_fields.hpp"

#include <algorithm>
#include <fstream>
#include <limits>
#include <memory>
#include <span>
#include <system_error>
#include <utility>

namespace bigbird::rows {
namespace fs = std::filesystem;

namespace {

constexpr std::size_t head_columns = region_columns.size();

/// Other formats of scores by their endings, which would else fail as text.
fs::path require_table(const fs::path& path) {
    constexpr std::string_view others[] = {".h5",     ".hdf5",     ".npy", ".bw",
                                           ".bigwig", ".bedgraph", ".bdg", ".bcf"};
    const auto is_of = [name = path.string()](std::string_view ending) { return name.ends_with(ending); };
    if (std::ranges::none_of(others, is_of)) return path;
    throw InputError(
        "is not read here: give scores as .tsv, .csv (each also .gz), .h5 or .npy, which predict writes, too",
        path);
}

bool is_none(std::string_view text) {
    return text == "." || is_missing(text);
}

/// Whether a plain file's last line has a line break, without which the end may be missing. Compressed files
/// know their ends, and pipes cannot be asked.
bool has_end(const fs::path& path) {
    std::error_code error;
    if (!fs::is_regular_file(path, error) ||
        genome::detail::compression_of(path) != genome::detail::Compression::none)
        return true;
    std::ifstream file(path, std::ios::binary);
    return !file.seekg(-1, std::ios::end) || file.get() == '\n';
}

LineSource text_lines(const fs::path& path) {
    return [input = std::make_shared<genome::TextInput>(require_table(path))](std::string& line) {
        if (input->next(line)) return true;
        if (has_end(input->path())) return false;
        throw input->fault(
            "has no line break at its end: the file is cut off, so write it again (or, if an editor left the "
            "break out, add one)");
    };
}

}  // namespace

std::string without_breaks(std::string text) {
    for (char& letter : text)
        letter = letter == '\t' || letter == '\n' || letter == '\r' ? ' ' : letter;
    return text;
}

std::string provenance_lines(const Provenance& provenance) {
    std::string text;
    for (const auto& [key, value] : provenance)
        text += "##" + without_breaks(key) + "=" + without_breaks(value) + "\n";
    return text;
}

std::string value_of(const Provenance& provenance, std::string_view key) {
    for (const auto& [name, value] : provenance)
        if (name == key) return value;
    return {};
}

bool names_csv(const fs::path& path) {
    const std::string name = path.string();
    return name.ends_with(".csv") || name.ends_with(".csv.gz") || name.ends_with(".csv.bgz");
}

std::string csv_of(std::string_view table, const fs::path& path) {
    constexpr std::string_view texts[] = {"index", "group", "name", "label", "figure", "of"};
    std::string csv, comments;
    std::size_t first_number = std::string_view::npos;  // known once the header is read
    while (!table.empty()) {
        std::string_view line = table.substr(0, table.find('\n'));
        table.remove_prefix(std::min(table.size(), line.size() + 1));
        if (csv.empty() && line.starts_with("##")) {
            comments += (comments.empty() ? "" : "; ") + std::string(line.substr(2));
            continue;
        }
        if (csv.empty() && line.starts_with('#')) line.remove_prefix(1);
        const auto fields = split_fields(line, '\t');
        for (std::size_t i = 0; i < fields.size(); ++i) {
            if (i > 0) csv += ',';
            append_csv_field(csv, i >= first_number && fields[i] == "NA" ? "" : fields[i]);
        }
        csv += '\n';
        if (first_number != std::string_view::npos) continue;
        const auto is_number = [&](std::string_view name) { return std::ranges::count(texts, name) == 0; };
        first_number = static_cast<std::size_t>(std::ranges::find_if(fields, is_number) - fields.begin());
    }
    if (!comments.empty()) log_info("{}: {}", path.string(), comments);
    return csv;
}

ScoreLines::ScoreLines(const fs::path& path, LineSource source)
    : path_(path), is_text_(!source), source_(source ? std::move(source) : text_lines(path)) {
    while (read() && line_.starts_with("##")) {
        const std::size_t equals = line_.find('=');
        if (equals != std::string::npos)
            provenance_.emplace_back(line_.substr(2, equals - 2), line_.substr(equals + 1));
    }
    if (!value_of(provenance_, "min_score").empty())
        throw fault("is a long table, which lacks scores: give one with a column per label, .tsv or .csv");
    if (line_.find('\t') == std::string::npos) separator_ = ',';
    quoted_ = separator_ == ',' || line_.starts_with('"');
    split();
    header_.assign(fields_.begin(), fields_.end());
    if (header_[0].starts_with('#')) header_[0].erase(0, 1);
    if (header_.size() > 1 && (header_[0].empty() || header_[0] == "Unnamed: 0")) {
        throw fault(
            "begins with a column of row numbers: write the table without it (index=False in pandas, "
            "row.names=FALSE in R)");
    }
}

bool ScoreLines::read() {
    const bool is_there = source_(line_);
    number_ += is_there && is_text_ ? 1 : 0;
    return is_there;
}

void ScoreLines::split() {
    auto cut = quoted_ ? split_quoted(line_, separator_) : split_fields(line_, separator_);
    if (!cut) throw fault("has a quote that does not end on the line");
    fields_ = std::move(*cut);
}

bool ScoreLines::next() {
    do
        if (!read()) return false;
    while (line_.empty());
    split();
    if (fields_.size() == header_.size()) return true;
    throw fault("has " + counted(fields_.size(), "column") + " where the header has " +
                std::to_string(header_.size()));
}

float ScoreLines::score(std::size_t column) const {
    const std::string_view text = fields_[column];
    if (const auto value = parse_number<float>(text)) return *value;
    if (is_none(text)) return std::numeric_limits<float>::quiet_NaN();
    throw fault("score '" + shortened(text) + "' in column " + header_[column] +
                " is neither a number nor NA");
}

ScoreReader::ScoreReader(const fs::path& path, LineSource source) : lines_(path, std::move(source)) {
    const std::vector<std::string>& header = lines_.header();
    if (header.size() < head_columns ||
        !std::ranges::equal(std::span(header).first(head_columns), region_columns)) {
        throw lines_.fault(
            "is no score table: a header '#chrom start end name score strand status n_fraction ...', "
            "tab-separated, is needed, or the same as CSV");
    }
    columns_.assign(header.begin() + head_columns, header.end());
}

bool ScoreReader::next(ScoreRow& row, std::vector<float>& values) {
    if (!lines_.next()) return false;
    const auto& fields = lines_.fields();
    const auto text = [&](std::size_t i) { return std::string(fields[i].empty() ? "." : fields[i]); };
    row = {text(0), text(1), text(2), text(3), text(4), text(5), text(6), 0};
    const auto n_fraction = parse_real(fields[7]);
    if (!n_fraction && !is_none(fields[7]))
        throw lines_.fault("n_fraction '" + shortened(fields[7]) + "' is neither a number nor NA");
    row.n_fraction = n_fraction.value_or(std::numeric_limits<double>::quiet_NaN());
    values.resize(columns_.size());
    for (std::size_t i = 0; i < values.size(); ++i)
        values[i] = lines_.score(head_columns + i);
    return true;
}

}  // namespace bigbird::rows
