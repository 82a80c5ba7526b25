// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace bigbird {

/// A number and its noun: "1 hit", "2 hits". `ending`: of the plural.
inline std::string counted(std::int64_t count, std::string_view noun, std::string_view ending = "s") {
    return std::to_string(count) + ' ' + std::string(noun) + std::string(count == 1 ? "" : ending);
}

}  // namespace bigbird
