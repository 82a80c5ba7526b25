// SPDX-License-Identifier: Apache-2.0
// Rows of GTF and GFF3.
#pragma once

#include "bigbird/genome/text/text_input.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace bigbird::rows {

/// The fields of a row, as views into its line.
struct AnnotationRow {
    std::string_view contig, type, strand, attributes;
    std::int64_t begin = 0, end = 0;  ///< 0-based, half-open
};

/// Whether a row is of GTF or GFF3, in which columns 4 and 5 are positions, and not of BED (columns 2 and 3).
bool is_annotation(const std::vector<std::string_view>& fields);
/// Throws InputError with the line that `input` read: not nine columns, no positions.
AnnotationRow parse_annotation_row(const std::vector<std::string_view>& fields,
                                   const genome::TextInput& input);

/// The values of `key "value";` (GTF) or `key=value` (GFF3), in their order.
std::vector<std::string_view> attributes_of(std::string_view text, std::string_view key);
/// The first of them; empty if there is none.
std::string_view attribute_of(std::string_view text, std::string_view key);
/// The gene's name, else its id, else the row's; "." if there is none.
std::string gene_of(std::string_view attributes);

}  // namespace bigbird::rows
