// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace bigbird {

/// The levels of lists and objects that a JSON text may have. Copying, comparing and writing JSON recurse
/// once per level, so a hostile text of a hundred kilobytes could crash the program.
inline constexpr int deepest_json = 128;

/// Whether a text has more levels than that. Brackets within strings do not count; the text need not be JSON.
bool nests_too_deeply(std::string_view text);

}  // namespace bigbird
