// SPDX-License-Identifier: Apache-2.0
#include "bigbird/core/formats/json_file.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/formats/mapped_file.hpp"

#include <algorithm>

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

Json read_json(const std::filesystem::path& path) {
    const std::string text = read_whole_file(path);
    if (nests_too_deeply(text)) {
        throw InputError(
            "nests lists and objects more deeply than " + std::to_string(deepest_json) + " levels", path);
    }
    try {
        return Json::parse(text);
    } catch (const nlohmann::json::parse_error& error) {
        const std::size_t end = std::min(error.byte, text.size());
        const auto line = 1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(end), '\n');
        throw InputError("is not valid JSON", path, line);
    } catch (const nlohmann::json::out_of_range&) {
        throw InputError("is not valid JSON: a number is too large", path);
    }
}

void write_json(const std::filesystem::path& path, const Json& value, Overwrite overwrite) {
    write_atomically(
        path, overwrite, [&](std::ostream& out) { out << value.dump(2) << '\n'; });
}

}  // namespace bigbird
