// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bigbird/attention/pattern/pattern.hpp"

#include <string>

namespace bigbird::attention {

/// A layout as text, one row of letters per query block: '#' attended because global (its row or its column),
/// 'o' the window, '*' random, '.' not attended. A digit is a block that counts that many times (9: nine or
/// more).
std::string picture(const PatternSpec& spec, const BlockLayout& layout);

/// The same as an SVG drawing with a legend under `title`; one cell per block, colored by kind, paler where
/// an element mask leaves out tokens.
std::string svg_picture(const PatternSpec& spec, const BlockLayout& layout, const std::string& title);

/// svg_picture() as the bytes of a PNG file: cells of equal size, at least 2 pixels, a legend and `title`
/// (small letters, digits, '+', '-' and ',' are drawn, others left blank). Throws WriteError if libpng
/// fails.
std::string png_picture(const PatternSpec& spec, const BlockLayout& layout, const std::string& title);

/// The work of a layout: block pairs, average keys per query, and their share of full attention.
struct LayoutCost {
    std::int64_t blocks = 0, pairs = 0;
    double keys_per_query = 0, share_of_full = 0;
    /// Multiplications and additions of one head's scores and contexts, and what full attention takes.
    double flops(std::int64_t block_size, std::int64_t head_dim) const {
        return 4.0 * static_cast<double>(pairs * block_size * block_size * head_dim);
    }
};
LayoutCost cost_of(const PatternSpec& spec, const BlockLayout& layout);

}  // namespace bigbird::attention
