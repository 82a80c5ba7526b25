// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace bigbird::genome {

/// Whether a text is UTF-8. Readers refuse names of contigs, rows and labels that are not UTF-8, since JSON
/// and HDF5 files can hold only UTF-8.
bool is_utf8(std::string_view text);

/// The end of an error message about text that is not UTF-8.
inline constexpr const char* not_utf8 = "not UTF-8: convert the file, as 'iconv -f latin1 -t utf-8' does";

}  // namespace bigbird::genome
