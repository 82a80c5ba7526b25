// SPDX-License-Identifier: Apache-2.0
#include "bigbird/baselines/names/architecture_names.hpp"

#include "bigbird/core/error.hpp"

#include <algorithm>
#include <string>

namespace bigbird::baselines {

bool is_baseline(std::string_view name) {
    return std::ranges::find(architectures, name, &Architecture::name) != architectures.end();
}

const Architecture& architecture_of(std::string_view name) {
    const auto* const found = std::ranges::find(architectures, name, &Architecture::name);
    if (found == architectures.end()) {
        std::string names = "bigbird, bigbird-bins";
        for (const Architecture& known : architectures)
            names.append(", ").append(known.name);
        throw ConfigError("--architecture '" + std::string(name) + "' is not known; there are " + names);
    }
    return *found;
}

bool published_window(std::string_view name, std::int64_t& begin, std::int64_t& end) {
    const Architecture& known = architecture_of(name);
    if (known.begin == known.end) return false;
    begin = known.begin;
    end = known.end;
    return true;
}

}  // namespace bigbird::baselines
