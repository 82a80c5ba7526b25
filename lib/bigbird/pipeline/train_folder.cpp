// SPDX-License-Identifier: Apache-2.0
#include "bigbird/pipeline/train_folder.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/files.hpp"
#include "bigbird/core/formats/is_there.hpp"
#include "bigbird/core/interrupt.hpp"
#include "bigbird/core/log.hpp"
#include "bigbird/core/protected_files.hpp"
#include "bigbird/core/version.hpp"

namespace bigbird::tasks {
namespace fs = std::filesystem;

void require_own_folder(const fs::path& folder) {
    refuse_protected(folder);
    if (is_there(folder / record_file)) return;
    for (const fs::path& entry : entries_of(folder)) {
        const std::string name = entry.filename();
        if (fs::is_directory(entry) && fs::is_empty(entry)) continue;  // made by a workflow engine
        if (name == lock_file || (name.starts_with('.') && name.find(".tmp.") != std::string::npos)) continue;
        throw ConfigError(folder.string() + ": holds " + name + " and no " + record_file +
                          ", so train did not make it; give another --output");
    }
}

bool may_go_on(Json before, Json now, bool trained) {
    const auto taken = [](Json& options, const char* name) {
        const double value = options.value(name, 0.0);
        options.erase(name);
        return value;
    };
    const double steps_before = taken(before, "--steps"), steps = taken(now, "--steps"),
                 epochs_before = taken(before, "--epochs"), epochs = taken(now, "--epochs");
    const bool comparable = (steps > 0) == (steps_before > 0);
    return before == now && (comparable ? steps > steps_before || epochs > epochs_before : trained);
}

void TrainSteps::next(const char* what, const char* part) {
    stop_if_asked();
    if (steps_ > 0 && max_hours_ > 0 && hours_left() <= 0)
        throw Stopped("stopped after --max-hours; the same command goes on", ExitCode::stopped_early);
    log_info("step {} of {}: {} ({})", ++steps_, count_, what, (folder_ / part).string());
}

double TrainSteps::hours_left() const {
    const std::chrono::duration<double, std::ratio<3600>> gone = std::chrono::steady_clock::now() - start_;
    return max_hours_ - gone.count();
}

void write_train_record(const fs::path& folder, const Json& options, const Json& summary, const Json& more) {
    Json json{{"program", "bigbird-dna"}, {"version", std::string(version())}, {"options", options}};
    json.update(more);
    if (!summary.is_null()) json["summary"] = summary;
    write_json(folder / record_file, json, Overwrite::allow);
}

}  // namespace bigbird::tasks
