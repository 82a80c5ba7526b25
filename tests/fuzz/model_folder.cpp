// SPDX-License-Identifier: Apache-2.0
// A model folder: config.json, model.safetensors and tokenizer.json, as `info` reads them.
#include "fuzz/fuzz_target.hpp"

#include "bigbird/model/files/config.hpp"
#include "bigbird/model/files/describe.hpp"

using namespace bigbird;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const fuzz::Scratch& scratch = fuzz::scratch();
    scratch.write_files(fuzz::text_of(data, size), {"config.json", "model.safetensors", "tokenizer.json"});
    fuzz::expect_answer([&] {
        const auto file = scratch.folder() / "config.json";
        const model::BigBirdConfig config = model::config_from_json(read_json(file), file);
        config.validate();
        const Json again = model::config_to_json(config, "BigBirdForPreTraining");
        model::config_from_json(again, file).validate();
    });
    return fuzz::expect_answer(
        [&] { static_cast<void>(model::description_text(model::describe(scratch.folder()))); });
}
