// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bigbird/attention/pattern/pattern.hpp"

#include <string>

namespace bigbird::attention {

/// svg_picture() as the bytes of a PNG file: cells of equal size, at least 2 pixels, a legend and `title`
/// (small letters, digits, '+', '-' and ',' are drawn, others left blank). Throws WriteError where libpng
/// fails.
std::string png_picture(const PatternSpec& spec, const BlockLayout& layout, const std::string& title);

}  // namespace bigbird::attention
