// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "options/option_groups.hpp"

#include <filesystem>
#include <string>

namespace bigbird::cli {

struct ForwardOptions {
    std::filesystem::path model, input;
    OutputOptions output;
    std::string type = "fp32", attention = "automatic", device = "auto";
    int threads = 0;
};

}  // namespace bigbird::cli
