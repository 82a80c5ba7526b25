// SPDX-License-Identifier: Apache-2.0
// A safetensors file: its header, its description, and all its numbers.
#include "fuzz/fuzz_target.hpp"

#include "bigbird/model/files/describe.hpp"

using namespace bigbird;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto file = fuzz::scratch().write("x.safetensors", fuzz::text_of(data, size));
    fuzz::expect_answer([&] { static_cast<void>(model::description_text(model::describe(file))); });
    return fuzz::expect_answer([&] { static_cast<void>(model::check_weights(file)); });
}
