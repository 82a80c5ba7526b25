// SPDX-License-Identifier: Apache-2.0
#include "bigbird/training/checkpoint_store.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/files.hpp"
#include "bigbird/core/log.hpp"
#include "bigbird/core/parse_number.hpp"
#include "bigbird/training/state/run_state.hpp"

#include <algorithm>

namespace bigbird::training {

namespace fs = std::filesystem;

namespace {

constexpr const char* optimizer_file = "training_state/optimizer.safetensors";
constexpr std::string_view prefix = "step-";

std::optional<std::int64_t> step_of(const fs::path& directory) {
    const std::string name = directory.filename().string();
    return name.starts_with(prefix) ? parse_number<std::int64_t>(name.substr(prefix.size())) : std::nullopt;
}

/// Whether a path is PendingOutput's leftover of a killed process.
bool is_leftover(const fs::path& path) {
    const std::string name = path.filename().string();
    return name.starts_with(".step-") && name.find(".tmp.") != std::string::npos;
}

}  // namespace

CheckpointStore::CheckpointStore(fs::path run_directory, int keep, std::int64_t keep_every)
    : root_(std::move(run_directory) / "checkpoints"), keep_(std::max(1, keep)), keep_every_(keep_every) {}

fs::path CheckpointStore::directory_of(std::int64_t step) const {
    return root_ / fmt::format("step-{:08}", step);
}

std::vector<std::int64_t> CheckpointStore::steps() const {
    std::vector<std::int64_t> steps;
    for (const fs::path& entry : entries_of(root_))
        if (const auto step = step_of(entry)) steps.push_back(*step);
    std::sort(steps.begin(), steps.end());
    return steps;
}

fs::path CheckpointStore::write(std::int64_t step, Json state, const model::TensorMap& optimizer,
                                const std::function<void(const fs::path&)>& write_model) {
    PendingOutput pending(directory_of(step), Overwrite::allow, PendingOutput::Kind::folder);
    write_model(pending.path());
    state["step"] = step;
    write_state(pending.path(), state);
    model::write_safetensors(optimizer, pending.path() / optimizer_file);
    write_sums(pending.path());
    pending.commit();
    prune();
    return pending.target();
}

bool CheckpointStore::adopt(std::int64_t step, const fs::path& checkpoints) {
    const fs::path here = directory_of(step), there = checkpoints / here.filename();
    std::error_code error;
    if (fs::exists(here, error)) return true;
    try {
        open(there);
    } catch (const InputError&) {
        return false;
    }
    PendingOutput pending(here, Overwrite::refuse, PendingOutput::Kind::folder);
    for (const fs::path& entry : entries_of(there))
        fs::copy(entry, pending.path() / entry.filename(), fs::copy_options::recursive);
    pending.commit();
    return true;
}

Checkpoint CheckpointStore::open(const fs::path& directory) {
    std::error_code error;
    if (!fs::is_directory(directory, error)) throw InputError("no such checkpoint folder", directory);
    if (!fs::exists(directory / "training_state", error))
        throw InputError("is no checkpoint: it has no training_state/", directory);
    check_sums(directory);
    Checkpoint checkpoint;
    checkpoint.directory = directory;
    checkpoint.state = read_state(directory);
    checkpoint.step = checkpoint.state["step"].get<std::int64_t>();
    if (step_of(directory).value_or(checkpoint.step) != checkpoint.step)
        throw InputError("was renamed: it is of step " + std::to_string(checkpoint.step), directory);
    checkpoint.optimizer = model::read_safetensors(directory / optimizer_file);
    return checkpoint;
}

std::optional<Checkpoint> CheckpointStore::latest() const {
    const std::vector<std::int64_t> all = steps();
    for (auto step = all.rbegin(); step != all.rend(); ++step) {
        try {
            return open(directory_of(*step));
        } catch (const ReadError&) {  // it may be complete, and resuming from an older one would remove it
            throw;
        } catch (const InputError& broken) {
            log_warning("checkpoint {} is not used: {}", directory_of(*step).string(), broken.what());
        }
    }
    if (!all.empty())
        throw InputError("none of the checkpoints is whole; --resume never --force starts afresh", root_);
    return std::nullopt;
}

void CheckpointStore::drop_after(std::int64_t step) {
    for (const fs::path& entry : entries_of(root_))
        if (step_of(entry).value_or(step) > step || is_leftover(entry)) remove_quietly(entry);
}

void CheckpointStore::prune() {
    std::vector<std::int64_t> all = steps();
    std::erase_if(all, [this](std::int64_t step) {
        return step == protected_ || (keep_every_ > 0 && step % keep_every_ == 0);
    });
    for (std::size_t i = 0; i + static_cast<std::size_t>(keep_) < all.size(); ++i)
        remove_quietly(directory_of(all[i]));
}

fs::path find_model(const fs::path& path) {
    std::error_code error;
    for (const fs::path& folder : {path, path / "model"})
        if (fs::exists(folder / "config.json", error)) return folder;
    const CheckpointStore store(path, 1);
    const std::vector<std::int64_t> steps = store.steps();
    if (steps.empty()) {
        throw InputError(fs::exists(path, error)
                             ? "is no model folder: it holds no config.json, model/ or checkpoints/"
                             : "no such model folder",
                         path);
    }
    log_info("{}: this run is not finished; its checkpoint of step {} is used", path.string(), steps.back());
    return store.directory_of(steps.back());
}

}  // namespace bigbird::training
