// SPDX-License-Identifier: Apache-2.0
#include "bigbird/baselines/window/architecture.hpp"

#include "bigbird/baselines/window/cnnprom.hpp"
#include "bigbird/baselines/window/deepromoter.hpp"
#include "bigbird/baselines/window/deepsea_cnn.hpp"
#include "bigbird/baselines/window/uniform_initialisation.hpp"
#include "bigbird/core/error.hpp"

#include <algorithm>

namespace bigbird::baselines {

namespace {

struct Entry {
    const char *name, *title;
    std::int64_t begin, end;  // its paper's window; both 0: any
    std::int64_t shortest;    // window that its layers can take
    BaseNetwork (*make)(std::int64_t length, std::int64_t labels);
};
constexpr Entry entries[] = {{"cnnprom", "CNNProm", -200, 51, 21, make_cnnprom},
                             {"deepromoter", "DeePromoter", -249, 51, 6, make_deepromoter},
                             {"deepsea", "DeepSEA", -500, 500, 163, make_deepsea},
                             {"gkm-svm", "GappedKmerSVM", 0, 0, 1, nullptr},
                             {"kmer-ridge", "KmerRidge", 0, 0, 1, nullptr}};

const Entry& entry_of(const std::string& name) {
    const auto* found = std::ranges::find_if(entries, [&](const Entry& entry) { return entry.name == name; });
    if (found == std::end(entries)) {
        std::string names = "bigbird";
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
    return entry_of(name).make != nullptr;
}

std::string title_of(const std::string& name) {
    return entry_of(name).title;
}

bool published_window(const std::string& name, std::int64_t& begin, std::int64_t& end) {
    const Entry& entry = entry_of(name);
    begin = entry.begin;
    end = entry.end;
    return begin < end;
}

BaseNetwork make_network(const std::string& name, std::int64_t length, std::int64_t labels,
                         std::uint64_t seed) {
    const Entry& entry = entry_of(name);
    if (length < entry.shortest) {
        throw ConfigError("--window has " + std::to_string(length) + " bases, --architecture " + name +
                          " needs at least " + std::to_string(entry.shortest));
    }
    BaseNetwork network = entry.make(length, labels);
    initialise_uniformly(*network, seed);
    return network;
}

}  // namespace bigbird::baselines
