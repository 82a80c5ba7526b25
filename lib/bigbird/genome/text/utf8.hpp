// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace bigbird::genome {

/// Whether a text is UTF-8. Names of contigs, rows and labels that are not are refused where they are read,
/// since JSON and HDF5 files hold UTF-8 only.
bool is_utf8(std::string_view text);

/// Ends a sentence about text that is not UTF-8.
inline constexpr const char* not_utf8 = "not UTF-8: convert the file, as 'iconv -f latin1 -t utf-8' does";

}  // namespace bigbird::genome
