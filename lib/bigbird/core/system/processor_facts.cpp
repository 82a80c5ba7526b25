// SPDX-License-Identifier: Apache-2.0
#include "bigbird/core/system/processor_facts.hpp"

#include <array>
#include <fstream>
#include <sstream>

namespace bigbird {

namespace {

constexpr std::array told{"avx2",     "fma",         "f16c",        "avx512f",  "avx512bw", "avx512dq",
                          "avx512vl", "avx512_vnni", "avx512_bf16", "amx_tile", "amx_bf16", "amx_int8"};

std::string of_interest(const std::string& flags) {
    std::string features;
    std::istringstream words(flags);
    for (std::string word; words >> word;) {
        for (const char* feature : told)
            if (word == feature) features += (features.empty() ? "" : " ") + word;
    }
    return features;
}

}  // namespace

std::string processor_features(const std::filesystem::path& cpuinfo) {
    std::ifstream in(cpuinfo);
    for (std::string line; std::getline(in, line);) {
        const std::size_t colon = line.find(": ");
        if (line.starts_with("flags") && colon != std::string::npos)
            return of_interest(line.substr(colon + 2));
    }
    return {};
}

}  // namespace bigbird
