// SPDX-License-Identifier: Apache-2.0
// The YAML or JSON file of --options.
#include "support/options_file.hpp"

#include "fuzz/fuzz_target.hpp"

using namespace bigbird;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto file = fuzz::scratch().write("options.yaml", fuzz::text_of(data, size));
    return fuzz::expect_answer([&] {
        static_cast<void>(cli::expand_options_file({"pretrain", "--seed", "1", "--options", file.string()}));
    });
}
