// SPDX-License-Identifier: Apache-2.0
#include "bigbird/training/find_model.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/log.hpp"
#include "bigbird/training/checkpoint_store.hpp"

namespace bigbird::training {

std::filesystem::path find_model(const std::filesystem::path& path) {
    std::error_code error;
    for (const std::filesystem::path& folder : {path, path / "model"})
        if (std::filesystem::exists(folder / "config.json", error)) return folder;
    const CheckpointStore store(path, 1);
    const std::vector<std::int64_t> steps = store.steps();
    if (steps.empty()) {
        throw InputError(std::filesystem::exists(path, error)
                             ? "is no model folder: it holds no config.json, model/ or checkpoints/"
                             : "no such model folder",
                         path);
    }
    log_info("{}: this run is not finished; its checkpoint of step {} is used", path.string(), steps.back());
    return store.directory_of(steps.back());
}

}  // namespace bigbird::training
