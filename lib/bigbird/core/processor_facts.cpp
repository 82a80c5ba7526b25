// SPDX-License-Identifier: Apache-2.0
#include "bigbird/core/processor_facts.hpp"

#include <array>
#include <fstream>
#include <sstream>
#include <string_view>

namespace bigbird {

namespace {

constexpr std::array told{"avx2",     "fma",         "f16c",        "avx512f",  "avx512bw", "avx512dq",
                          "avx512vl", "avx512_vnni", "avx512_bf16", "amx_tile", "amx_bf16", "amx_int8"};

std::string of_interest(const std::string& flags) {
    std::string features;
    std::istringstream words(flags);
    for (std::string word; words >> word;) {
        for (const char* feature : told) {
            if (word == feature) {
                features += (features.empty() ? "" : " ") + word;
            }
        }
    }
    return features;
}

}  // namespace

ProcessorFacts processor_facts(const std::filesystem::path& cpuinfo) {
    ProcessorFacts facts;
    std::ifstream in(cpuinfo);
    for (std::string line; std::getline(in, line) && (facts.name.empty() || facts.features.empty());) {
        const std::size_t colon = line.find(": ");
        const std::string value = colon == std::string::npos ? std::string() : line.substr(colon + 2);
        if (facts.name.empty() && line.starts_with("model name")) {
            facts.name = value;
        } else if (facts.features.empty() && line.starts_with("flags")) {
            facts.features = of_interest(value);
        }
    }
    return facts;
}

}  // namespace bigbird
