// SPDX-License-Identifier: Apache-2.0
// What the process that reads HDF5 says of a file of Keras (a JSON object), as a network of the BPNet family.
// HDF5 itself is not fuzzed: it reads behind what it freed where a file is damaged (SECURITY.md).
#include "fuzz/fuzz_target.hpp"

#include "bigbird/networks/files/keras_models.hpp"

using namespace bigbird;

namespace {

/// Gives each weight as many zeros as its shape says; false for what no file holds.
bool fill_weights(networks::KerasFile& file) {
    constexpr std::int64_t most = 100'000;
    std::int64_t all = 0;
    for (networks::KerasWeight& weight : file.weights) {
        std::int64_t numbers = 1;
        for (const std::int64_t size : weight.shape) {
            if (size < 1 || size > most / numbers) return false;
            numbers *= size;
        }
        if ((all += numbers) > most) return false;
        weight.values.assign(static_cast<std::size_t>(numbers), 0.5F);
    }
    return true;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::filesystem::path path = "x.h5";
    return fuzz::expect_answer([&] {
        networks::KerasFile file = networks::keras_file_from(std::string(fuzz::text_of(data, size)), path);
        networks::require_known_form(file, path);
        if (fill_weights(file)) static_cast<void>(networks::keras_model_in(file, path));
    });
}
