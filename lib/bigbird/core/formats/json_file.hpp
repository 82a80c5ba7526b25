// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bigbird/core/files.hpp"

#include <nlohmann/json.hpp>

#include <concepts>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>

namespace bigbird {

/// Key order is kept, so that files read as they were written.
using Json = nlohmann::ordered_json;

/// The levels of lists and objects that a JSON text may have. Copying, comparing and writing JSON recurse
/// once per level, so a hostile text of a hundred kilobytes could crash the program.
inline constexpr int deepest_json = 128;

/// Whether a text has more levels than that. Brackets within strings do not count; the text need not be JSON.
bool nests_too_deeply(std::string_view text);

/// Throws InputError with file and line where the file is missing or not JSON.
Json read_json(const std::filesystem::path& path);

/// Writes JSON indented by two, with a final newline, atomically.
void write_json(const std::filesystem::path& path, const Json& value, Overwrite overwrite);

/// Whether `json` is an integer in Integer's range. The library's own get() turns 1.5 into 1, true into 1,
/// and 2^32 + 8 into an int of 8.
template <std::integral Integer>
bool is_whole_number(const Json& json) {
    return json.is_number_unsigned()
               ? std::in_range<Integer>(json.get<std::uint64_t>())
               : json.is_number_integer() && std::in_range<Integer>(json.get<std::int64_t>());
}

/// The whole number under `key`. Throws Json::exception if the key is missing, or if its value is not an
/// integer in Integer's range.
template <std::integral Integer = std::int64_t>
Integer whole_number(const Json& object, const char* key) {
    const Json& value = object.at(key);
    if (!is_whole_number<Integer>(value)) {
        throw Json::type_error::create(
            302, std::string("'") + key + "' must be a whole number, not " + value.dump(), &value);
    }
    return value.get<Integer>();
}

}  // namespace bigbird
