// SPDX-License-Identifier: Apache-2.0
// training_state/ of a checkpoint: state.json, the list of checksums, the optimizer's header. A list that an
// input lacks is made, so that inputs come past it.
#include "fuzz/fuzz_target.hpp"

#include "bigbird/model/files/describe.hpp"
#include "bigbird/training/state/run_position.hpp"
#include "bigbird/training/state/state_folder.hpp"

using namespace bigbird;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    constexpr const char *state = "checkpoint/training_state/state.json",
                         *list = "checkpoint/training_state/sha256.txt",
                         *optimizer = "checkpoint/training_state/optimizer.safetensors";
    const std::filesystem::path& folder = fuzz::scratch().folder();
    const std::filesystem::path checkpoint = folder / "checkpoint";
    fuzz::scratch().write_files(fuzz::text_of(data, size), {state, optimizer, list});
    if (!std::filesystem::exists(folder / list)) {
        fuzz::expect_answer([&] { training::write_sums(checkpoint); });
    }
    fuzz::expect_answer([&] { training::check_sums(checkpoint); });
    fuzz::expect_answer([&] {
        const Json read = training::read_state(checkpoint);
        static_cast<void>(training::position_of(read, checkpoint).to_json().dump());
    });
    return fuzz::expect_answer(
        [&] { static_cast<void>(model::description_text(model::describe(folder / optimizer))); });
}
