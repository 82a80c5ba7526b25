// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace bigbird {

/// Whether a name read from a file names a file beside it: neither empty, nor "." or "..", nor with a slash
/// or a zero byte. Any other name may point anywhere.
constexpr bool is_file_name(std::string_view name) {
    return !name.empty() && name != "." && name != ".." && name.find('/') == std::string_view::npos &&
           name.find('\0') == std::string_view::npos;
}

/// Like is_file_name(), also for names in nested folders such as "training_state/state.json".
constexpr bool is_name_within(std::string_view name) {
    for (;;) {
        const std::size_t slash = name.find('/');
        if (!is_file_name(name.substr(0, slash))) return false;
        if (slash == std::string_view::npos) return true;
        name.remove_prefix(slash + 1);
    }
}

}  // namespace bigbird
