// SPDX-License-Identifier: Apache-2.0
#include "bigbird/training/run_start.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/files.hpp"
#include "bigbird/core/formats/is_there.hpp"
#include "bigbird/core/log.hpp"
#include "bigbird/core/version.hpp"
#include "bigbird/training/metrics/metrics_log.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <set>
#include <vector>

namespace bigbird::training {

namespace fs = std::filesystem;

namespace {

constexpr const char* lock_file = "lock";

/// Opens the lock file, which is created if needed, and returns its descriptor. Throws as RunLock().
int open_lock(const std::filesystem::path& run_directory) {
    std::error_code error;
    std::filesystem::create_directories(run_directory, error);
    const int handle =
        ::open((run_directory / lock_file).c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644);
    if (handle >= 0) return handle;
    const int reason = error ? error.value() : errno;
    throw_refused(
        run_directory.string() + ": this run folder cannot be made or written to: " + std::strerror(reason),
        reason);
}

/// Locks the file. Closes the descriptor if another process holds the lock. Throws as RunLock().
void lock(int handle, const std::filesystem::path& run_directory) {
    if (::flock(handle, LOCK_EX | LOCK_NB) == 0) return;
    const int reason = errno;
    ::close(handle);
    if (reason == EWOULDBLOCK) {
        throw ConfigError(run_directory.string() +
                          ": another process is training in this folder; wait for it or give "
                          "another --output");
    }
    throw_refused((run_directory / lock_file).string() + ": cannot be locked: " + std::strerror(reason),
                  reason);
}

/// Whether the file was removed by the process that held it between our opening and our locking.
bool is_removed(int handle) {
    struct stat status {};
    return ::fstat(handle, &status) == 0 && status.st_nlink == 0;
}

constexpr const char* configuration_file = "config.resolved.json";

/// An empty model/ does not count: workflow engines create the folders of outputs beforehand.
bool is_finished(const fs::path& run_directory) {
    return is_there(run_directory / model_folder / "config.json");
}

bool has_run(const fs::path& run_directory) {
    return is_finished(run_directory) || !CheckpointStore(run_directory, 1).steps().empty();
}

std::string shown(const Json& options, const std::string& name) {
    return options.contains(name) ? options[name].dump() : "not set";
}

/// The first entry that differs, such as "hidden_size", in an option that is an object, a network's
/// configuration.
std::string differing_entry(const Json& before, const Json& now) {
    for (const Json* entries : {&before, &now}) {
        for (const auto& item : entries->items()) {
            const std::string& key = item.key();
            if (shown(before, key) != shown(now, key)) return key;
        }
    }
    return "";
}

std::string difference(const std::string& name, const Json& before, const Json& now) {
    if (shown(before, name).find("sha256") != std::string::npos)
        return name + " does not hold what it held when this run was started";
    const bool objects =
        before.contains(name) && now.contains(name) && before[name].is_object() && now[name].is_object();
    if (objects) {
        const std::string entry = differing_entry(before[name], now[name]);
        return name + " has " + entry + " " + shown(now[name], entry) + ", but this run was started with " +
               shown(before[name], entry);
    }
    return name + " is " + shown(now, name) + ", but this run was started with " + shown(before, name);
}

/// Whether the run goes on for more --steps than before; what follows from the length may then change, too.
/// Throws ConfigError if another option differs.
bool require_same_or_longer(const Json& before, const Json& now) {
    const auto steps = [](const Json& options) {
        const Json value = options.value("--steps", Json());
        return value.is_number_integer() ? value.get<std::int64_t>() : 0;
    };
    Json expected = before;
    const bool longer = steps(before) > 0 && steps(now) > steps(before);
    for (const char* name : {"--steps", "--warmup-steps", "--evaluate-every", "--patience"})
        if (longer && now.contains(name)) expected[name] = now[name];
    require_same_options(expected, now);
    return longer;
}

/// The options of the existing run. Throws ConfigError if the file is not ours.
Json options_before(const fs::path& run_directory) {
    const fs::path file = run_directory / configuration_file;
    if (!is_there(file)) {
        throw ConfigError(run_directory.string() + ": holds no " + configuration_file +
                          ", so it is no run of this program's; give another --output");
    }
    const Json json = read_json(file);
    return json.is_object() && json.contains("options") ? json["options"] : Json::object();
}

/// Checks the options of a checkpoint. If the run becomes longer, it is not at its end any more. Throws
/// ConfigError.
void go_on_from(Checkpoint& checkpoint, const LoopSpec& spec) {
    const Json before = checkpoint.state.value("options", Json::object());
    if (!require_same_or_longer(before, spec.fixed_options)) return;
    log_info("--steps is {} now, it was {}: training goes on from step {}",
             shown(spec.fixed_options, "--steps"), shown(before, "--steps"), checkpoint.step);
    if (Json& progress = checkpoint.state["progress"]; progress.is_object())
        progress.update({{"complete", false}, {"extended", true}});
}

void refuse_existing(const fs::path& run_directory, const LoopSpec& spec) {
    if (has_run(run_directory) && !spec.run.force) {
        throw ConfigError(run_directory.string() +
                          ": holds a run already; go on with it without --resume, give another --output, or "
                          "discard it with --force");
    }
}

/// Removes what a killed process was about to write: ".model.tmp.123".
void remove_leftovers(const fs::path& run_directory) {
    for (const fs::path& entry : entries_of(run_directory)) {
        const std::string name = entry.filename().string();
        if (name.starts_with(".") && name.find(".tmp.") != std::string::npos) remove_quietly(entry);
    }
}

/// Logs changed options that do not affect the result.
void report_changes(const fs::path& run_directory, const Json& now) {
    const fs::path file = run_directory / configuration_file;
    const Json last = is_there(file) ? read_json(file) : Json::object();
    const Json before = last.is_object() ? last.value("settings", Json::object()) : Json::object();
    for (const auto& item : now.items())
        if (before.contains(item.key()) && before[item.key()] != item.value())
            log_info("{} is {} now, it was {}", item.key(), item.value().dump(), before[item.key()].dump());
}

/// Removes the run's own files from `step` on; 0 removes all.
void discard_after(const fs::path& run_directory, std::int64_t step) {
    std::error_code error;
    fs::remove_all(run_directory / model_folder, error);
    CheckpointStore(run_directory, 1).drop_after(step);
    if (step == 0) {
        fs::remove(run_directory / "metrics.jsonl", error);
        fs::remove_all(run_directory / "tensorboard", error);
    }
    remove_leftovers(run_directory);
}

bool is_inside(const fs::path& path, const fs::path& folder) {
    const fs::path relative = fs::weakly_canonical(path).lexically_relative(fs::weakly_canonical(folder));
    return !relative.empty() && *relative.begin() != "..";
}

Checkpoint open_path(const fs::path& path) {
    if (!is_there(path / "checkpoints")) return CheckpointStore::open(path);
    std::optional<Checkpoint> newest = CheckpointStore(path, 1).latest();
    if (!newest) throw InputError("this run holds no checkpoint to resume from", path);
    return std::move(*newest);
}

RunStart start_from_path(const fs::path& run_directory, const LoopSpec& spec) {
    const fs::path path = spec.run.resume;
    const bool own = is_inside(path, run_directory);
    if (!own) {
        refuse_existing(run_directory, spec);
    } else if (is_finished(run_directory) && !spec.run.force) {
        throw ConfigError(run_directory.string() +
                          ": this run is finished; going back to a checkpoint discards its model, which "
                          "needs --force");
    }
    RunStart start{.checkpoint = open_path(path)};
    go_on_from(*start.checkpoint, spec);
    discard_after(run_directory, own ? start.checkpoint->step : 0);
    return start;
}

RunStart start_automatically(const fs::path& run_directory, const LoopSpec& spec, bool checkpoints) {
    RunStart start;
    const bool finished = is_finished(run_directory);
    if (finished && !require_same_or_longer(options_before(run_directory), spec.fixed_options)) {
        start.finished = true;
        return start;
    }
    start.checkpoint = CheckpointStore(run_directory, 1).latest();
    if (start.checkpoint) {
        go_on_from(*start.checkpoint, spec);
    } else if (finished && checkpoints) {
        throw ConfigError(run_directory.string() +
                          ": its checkpoints are gone, so that it cannot go on; give another --output, or "
                          "start afresh with --force");
    }
    discard_after(run_directory, start.checkpoint ? start.checkpoint->step : 0);
    return start;
}

/// Whether the run is finished and does not become longer. Throws ConfigError if start_run() would refuse
/// before it looks into a checkpoint.
bool stays_finished(const fs::path& run_directory, const LoopSpec& spec) {
    if (!spec.run.resume.empty()) {
        if (!is_there(spec.run.resume))
            throw ConfigError("--resume is '" + spec.run.resume + "', and there is no such folder");
    } else if (has_run(run_directory) && !spec.run.force) {
        return !require_same_or_longer(options_before(run_directory), spec.fixed_options) &&
               is_finished(run_directory);
    }
    return false;
}

}  // namespace

std::string sentence_of(const Json& metrics) {
    std::string text;
    for (const auto& [name, value] : metrics.items()) {
        if (name == "step" || value.is_null()) continue;
        text += (text.empty() ? "" : ", ") + name + " ";
        text += value.is_number_float() ? fmt::format("{:.6g}", value.get<double>())
                : value.is_string()     ? value.get<std::string>()
                                        : value.dump();
    }
    return text;
}

RunLock::RunLock(const std::filesystem::path& run_directory) : directory_(run_directory) {
    std::error_code unknown;  // if this fails, creating the folder reports why
    folder_is_ours_ = !std::filesystem::exists(run_directory, unknown);
    for (bool held = false; !held;) {
        handle_ = open_lock(run_directory);
        lock(handle_, run_directory);
        held = !is_removed(handle_);
        if (!held) ::close(handle_);
    }
}

RunLock::~RunLock() {
    remove_if_unused();
    ::close(handle_);
}

void RunLock::remove_if_unused() const noexcept {
    try {
        const std::vector<std::filesystem::path> entries = entries_of(directory_);
        if (entries.size() != 1 || entries.front().filename() != lock_file) return;
        ::unlink(entries.front().c_str());
        if (folder_is_ours_) ::rmdir(directory_.c_str());
    } catch (const std::exception&) {  // no memory: the next run takes the lock file unchanged
    }
}

void require_same_options(const Json& before, const Json& now, const std::string& afresh) {
    std::set<std::string> names;
    for (const Json* options : {&before, &now})
        for (const auto& item : options->items())
            names.insert(item.key());
    for (const std::string& name : names) {
        if (shown(before, name) == shown(now, name)) continue;
        throw ConfigError(difference(name, before, now) +
                          "; use the same, give another --output, or start afresh with " + afresh);
    }
}

RunStart start_run(const fs::path& run_directory, const LoopSpec& spec, bool checkpoints) {
    RunStart start;
    if (!spec.run.resume.empty())
        start = start_from_path(run_directory, spec);
    else if (spec.run.force)
        discard_after(run_directory, 0);
    else
        start = start_automatically(run_directory, spec, checkpoints);
    if (!start.finished) {
        if (start.checkpoint) report_changes(run_directory, spec.free_options);
        const Json configuration{{"program", "bigbird-dna"},
                                 {"version", std::string(version())},
                                 {"options", spec.fixed_options},
                                 {"settings", spec.free_options}};
        write_json(run_directory / configuration_file, configuration, Overwrite::allow);
    }
    return start;
}

LoopResult finished_result(const fs::path& run_directory, const LoopSpec& spec) {
    return {.steps = spec.learning_rate.total_steps,
            .finished_before = true,
            .model = run_directory / model_folder};
}

std::optional<LoopResult> finished_run(const fs::path& run_directory, const LoopSpec& spec) {
    const Json finished = stays_finished(run_directory, spec);
    // Maybe only the first rank can access the run folder.
    return spec.ranks->broadcast(finished).get<bool>() ? std::optional(finished_result(run_directory, spec))
                                                       : std::nullopt;
}

LoopResult solve_run(const LoopSpec& spec, const std::filesystem::path& run_directory,
                     const std::function<Solution()>& solve) {
    const RunLock lock(run_directory);
    if (start_run(run_directory, spec, false).finished) return finished_result(run_directory, spec);
    const Solution solution = solve();
    MetricsLog(run_directory, 0).append(solution.metrics);
    log_info("solved: {}", sentence_of(solution.metrics));
    PendingOutput pending(run_directory / model_folder, Overwrite::allow, PendingOutput::Kind::folder);
    solution.write_model(pending.path());
    write_card(spec, {.folder = pending.path(), .step = 1, .evaluation = solution.metrics});
    pending.commit();
    return {.steps = 1, .model = run_directory / model_folder};
}

}  // namespace bigbird::training
