// SPDX-License-Identifier: Apache-2.0
#include "bigbird/core/formats/json_depth.hpp"

namespace bigbird {

bool nests_too_deeply(std::string_view text) {
    int depth = 0;
    bool in_string = false, escaped = false;
    for (const char letter : text) {
        if (in_string) {
            in_string = escaped || letter != '"';
            escaped = !escaped && letter == '\\';
        } else if (letter == '"') {
            in_string = true;
        } else if (letter == '[' || letter == '{') {
            if (++depth > deepest_json) return true;
        } else if (letter == ']' || letter == '}') {
            --depth;
        }
    }
    return false;
}

}  // namespace bigbird
