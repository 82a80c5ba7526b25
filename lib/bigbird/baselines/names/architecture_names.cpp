// SPDX-License-Identifier: Apache-2.0
#include "bigbird/baselines/names/architecture_names.hpp"

#include "bigbird/core/error.hpp"

#include <algorithm>

namespace bigbird::baselines {

namespace {

struct Entry {
    const char *name, *title;
    std::int64_t begin, end;  // its paper's window; both 0: any
    std::int64_t shortest;    // window that its layers can take
    bool is_network;
};
constexpr Entry entries[] = {
    {"cnnprom", "CNNProm", -200, 51, 21, true},        {"deepromoter", "DeePromoter", -249, 51, 6, true},
    {"deepsea", "DeepSEA", -500, 500, 163, true},      {"gkm-svm", "GappedKmerSVM", 0, 0, 1, false},
    {"kmer-logistic", "KmerLogistic", 0, 0, 1, false}, {"kmer-ridge", "KmerRidge", 0, 0, 1, false}};

const Entry& entry_of(const std::string& name) {
    const auto* found = std::ranges::find_if(entries, [&](const Entry& entry) { return entry.name == name; });
    if (found == std::end(entries)) {
        std::string names = "bigbird, bigbird-bins";
        for (const Entry& entry : entries)
            names += std::string(", ") + entry.name;
        throw ConfigError("--architecture '" + name + "' is not known; there are " + names);
    }
    return *found;
}

}  // namespace

const std::vector<std::string>& architecture_names() {
    static const std::vector<std::string> names = [] {
        std::vector<std::string> all;
        for (const Entry& entry : entries)
            all.emplace_back(entry.name);
        return all;
    }();
    return names;
}

void require_architecture(const std::string& name) {
    entry_of(name);
}

bool is_network(const std::string& name) {
    return entry_of(name).is_network;
}

std::string title_of(const std::string& name) {
    return entry_of(name).title;
}

bool published_window(const std::string& name, std::int64_t& begin, std::int64_t& end) {
    const Entry& entry = entry_of(name);
    if (entry.begin == entry.end) return false;
    begin = entry.begin;
    end = entry.end;
    return true;
}

std::int64_t shortest_window(const std::string& name) {
    return entry_of(name).shortest;
}

}  // namespace bigbird::baselines
