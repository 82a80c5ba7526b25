// SPDX-License-Identifier: Apache-2.0
// A file of torch.save(): a zip archive, or a pickle that is put into one beside a storage of zeros.
#include "fuzz/fuzz_target.hpp"
#include "unit/networks/files/small_zip.hpp"

#include "bigbird/networks/files/torch_models.hpp"

using namespace bigbird;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    constexpr std::size_t storage_bytes = 4096;
    std::string input(fuzz::text_of(data, size));
    if (!input.starts_with("PK"))
        input = testing::small_zip({{"x/data.pkl", input}, {"x/data/0", std::string(storage_bytes, '\0')}});
    const auto file = fuzz::scratch().write("x.torch", input);
    return fuzz::expect_answer([&] { static_cast<void>(networks::read_torch_model(file)); });
}
