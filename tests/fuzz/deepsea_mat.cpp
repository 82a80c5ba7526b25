// SPDX-License-Identifier: Apache-2.0
// A .mat file of DeepSEA's form, MATLAB 5, through matio. Those of 7.3 are HDF5, whose library reads behind
// what it freed where such a file is damaged (SECURITY.md).
#include "bigbird/examples/build/mat/deepsea_mat.hpp"

#include "fuzz/fuzz_target.hpp"

using namespace bigbird;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (fuzz::text_of(data, size).find("\x89HDF\r\n") != std::string_view::npos) return 0;
    const auto file = fuzz::scratch().write("x.mat", fuzz::text_of(data, size));
    return fuzz::expect_answer([&] { examples::send_rows(file, 8, [](std::string_view) {}); });
}
