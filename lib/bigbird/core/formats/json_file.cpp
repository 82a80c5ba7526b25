// SPDX-License-Identifier: Apache-2.0
#include "bigbird/core/formats/json_file.hpp"

#include "bigbird/core/error.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>

namespace bigbird {

Json read_json(const std::filesystem::path& path) {
    require_readable(path);
    std::ifstream in(path, std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
    try {
        return Json::parse(text);
    } catch (const nlohmann::json::parse_error& error) {
        const std::size_t end = std::min(error.byte, text.size());
        const auto line = 1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(end), '\n');
        throw InputError("is not valid JSON", path, line);
    }
}

void write_json(const std::filesystem::path& path, const Json& value, Overwrite overwrite) {
    write_atomically(path, overwrite, [&](std::ostream& out) { out << value.dump(2) << '\n'; });
}

}  // namespace bigbird
