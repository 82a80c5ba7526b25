// SPDX-License-Identifier: Apache-2.0
#include "bigbird/rows/annotation_row.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/parse_number.hpp"
#include "bigbird/genome/reference/interval.hpp"
#include "bigbird/rows/text_fields.hpp"

#include <algorithm>

namespace bigbird::rows {

namespace {

constexpr std::size_t annotation_columns = 9;
enum AnnotationColumn : std::size_t {
    sequence_id,
    source,
    type,
    first,
    last,
    score,
    strand,
    phase,
    attributes
};

}  // namespace

bool is_annotation(const std::vector<std::string_view>& fields) {
    return fields.size() == annotation_columns && !parse_number<std::int64_t>(fields[1]) &&
           parse_number<std::int64_t>(fields[first]) && parse_number<std::int64_t>(fields[last]);
}

AnnotationRow parse_annotation_row(const std::vector<std::string_view>& fields,
                                   const genome::TextInput& input) {
    if (fields.size() != annotation_columns)
        throw input.fault("GTF and GFF3 have nine columns, separated by tabs; this row has " +
                          std::to_string(fields.size()));
    const auto begin = parse_number<std::int64_t>(fields[first]),
               end = parse_number<std::int64_t>(fields[last]);
    if (!begin || !end || *begin < 1 || *end < *begin || *end > genome::longest_contig)
        throw input.fault("columns 4 and 5 must be positions from 1 on, the first not behind the last");
    return {fields[sequence_id], fields[type], fields[strand], fields[attributes], *begin - 1, *end};
}

std::vector<std::string_view> attributes_of(std::string_view text, std::string_view key) {
    std::vector<std::string_view> values;
    for (std::string_view part : split_fields(text, ';')) {
        part.remove_prefix(std::min(part.find_first_not_of(' '), part.size()));
        if (!part.starts_with(key) || part.size() <= key.size() + 1) continue;
        if (part[key.size()] != ' ' && part[key.size()] != '=') continue;
        part.remove_prefix(key.size() + 1);
        const std::size_t begin = part.find_first_not_of(" \""), end = part.find_last_not_of(" \"");
        if (begin != std::string_view::npos) values.push_back(part.substr(begin, end - begin + 1));
    }
    return values;
}

std::string_view attribute_of(std::string_view text, std::string_view key) {
    const std::vector<std::string_view> values = attributes_of(text, key);
    return values.empty() ? std::string_view() : values.front();
}

std::string gene_of(std::string_view attributes) {
    for (const char* key : {"gene_name", "gene", "gene_id", "Name", "ID"})
        if (const std::string_view value = attribute_of(attributes, key); !value.empty())
            return std::string(value);
    return ".";
}

}  // namespace bigbird::rows
