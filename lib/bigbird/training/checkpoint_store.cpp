// SPDX-License-Identifier: Apache-2.0
#include "bigbird/training/checkpoint_store.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/files.hpp"
#include "bigbird/core/formats/checksum.hpp"
#include "bigbird/core/formats/file_name.hpp"
#include "bigbird/core/formats/mapped_file.hpp"
#include "bigbird/core/log.hpp"
#include "bigbird/core/parse_number.hpp"

#include <algorithm>
#include <map>
#include <sstream>

namespace bigbird::training {

namespace fs = std::filesystem;

namespace {

/// Maximum number of steps, so that sums do not overflow.
constexpr std::int64_t most = 1'000'000'000'000'000;

std::int64_t checked(std::int64_t count) {
    if (count < 0 || count > most) throw Json::out_of_range::create(401, "a count of steps", nullptr);
    return count;
}

std::int64_t count_of(const Json& json, const char* name) {
    return json.contains(name) ? checked(whole_number(json, name)) : 0;
}

constexpr const char* state_file = "training_state/state.json";
constexpr const char* sums_file = "training_state/sha256.txt";

/// Checksums of all files of a folder except the list itself, by their relative names.
std::map<std::string, std::string> checksums(const fs::path& directory) {
    std::map<std::string, std::string> sums;
    for (const auto& entry : fs::recursive_directory_iterator(directory)) {
        const std::string name = entry.path().lexically_relative(directory).generic_string();
        if (entry.is_regular_file() && name != sums_file) sums.emplace(name, sha256_of_file(entry.path()));
    }
    return sums;
}

void write_sums(const fs::path& checkpoint) {
    const std::map<std::string, std::string> sums = checksums(checkpoint);
    write_atomically(checkpoint / sums_file, Overwrite::refuse, [&](std::ostream& out) {
        for (const auto& [name, sum] : sums)
            out << sum << "  " << name << '\n';
    });
}

/// Compares every file of the list with its checksum.
void check_sums(const fs::path& checkpoint) {
    std::istringstream list(read_whole_file(checkpoint / sums_file));
    std::string line;
    bool any = false;
    while (std::getline(list, line)) {
        const std::size_t gap = line.find("  ");
        if (gap == std::string::npos) throw InputError("is damaged", checkpoint / sums_file);
        if (!is_name_within(line.substr(gap + 2)))
            throw InputError("names a file outside its folder", checkpoint / sums_file);
        const fs::path file = checkpoint / line.substr(gap + 2);
        require_readable(file);
        if (sha256_of_file(file) != line.substr(0, gap))
            throw InputError("is damaged: its checksum is not the one that was written", file);
        any = true;
    }
    if (!any) throw InputError("is empty", checkpoint / sums_file);
}

Json read_state(const fs::path& checkpoint) {
    Json state = read_json(checkpoint / state_file);
    if (!state.contains("step") || !state["step"].is_number_unsigned())
        throw InputError("names no step", checkpoint / state_file);
    return state;
}

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

Json RunPosition::to_json() const {
    Json json{{"skipped_steps", skipped},
              {"skipped_in_a_row", skipped_in_a_row},
              {"last_loss", last_loss},
              {"complete", complete}};
    if (evaluation_due) json["evaluation_due"] = true;
    if (extended) json["extended"] = true;
    if (!evaluation.empty()) json["evaluation"] = evaluation;
    if (best_step) {
        json["best_step"] = *best_step;
        json["best_value"] = best_value;
        json["evaluations_since_best"] = evaluations_since_best;
    }
    return json;
}

RunPosition RunPosition::from_json(const Json& json, std::int64_t step) {
    RunPosition position{.step = checked(step)};
    position.skipped = count_of(json, "skipped_steps");
    position.skipped_in_a_row = count_of(json, "skipped_in_a_row");
    position.last_loss = json.value("last_loss", 0.0);
    position.complete = json.value("complete", false);
    position.evaluation_due = json.value("evaluation_due", false);
    position.extended = json.value("extended", false);
    position.evaluation = json.value("evaluation", Json::object());
    if (json.contains("best_step")) {
        position.best_step = checked(whole_number(json, "best_step"));
        position.best_value = json.value("best_value", 0.0);
        position.evaluations_since_best = count_of(json, "evaluations_since_best");
    }
    return position;
}

RunPosition position_of(const Json& state, const fs::path& checkpoint) {
    try {
        return RunPosition::from_json(state.value("progress", Json::object()), whole_number(state, "step"));
    } catch (const Json::exception&) {
        throw InputError("is damaged: it does not say how far the run was", checkpoint / state_file);
    }
}

CheckpointStore::CheckpointStore(fs::path run_directory, int keep)
    : root_(std::move(run_directory) / "checkpoints"), keep_(std::max(1, keep)) {}

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
    fs::create_directory(pending.path() / "training_state");
    write_json(pending.path() / state_file, state, Overwrite::refuse);
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
    if (!all.empty()) throw InputError("none of the checkpoints is complete; --force starts again", root_);
    return std::nullopt;
}

void CheckpointStore::drop_after(std::int64_t step) {
    for (const fs::path& entry : entries_of(root_))
        if (step_of(entry).value_or(step) > step || is_leftover(entry)) remove_quietly(entry);
}

void CheckpointStore::prune() {
    std::vector<std::int64_t> all = steps();
    std::erase(all, protected_);
    for (std::size_t i = 0; i + static_cast<std::size_t>(keep_) < all.size(); ++i)
        remove_quietly(directory_of(all[i]));
}

fs::path find_model(const fs::path& path) {
    std::error_code error;
    if (fs::is_regular_file(path, error)) return path;
    for (const fs::path& folder : {path, path / "model"})
        if (fs::exists(folder / "config.json", error) || fs::exists(folder / "adapter_config.json", error))
            return folder;
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
