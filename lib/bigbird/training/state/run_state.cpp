// SPDX-License-Identifier: Apache-2.0
#include "bigbird/training/state/run_state.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/files.hpp"
#include "bigbird/core/formats/checksum.hpp"
#include "bigbird/core/formats/file_name.hpp"
#include "bigbird/core/formats/mapped_file.hpp"

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

}  // namespace

Json RunPosition::to_json() const {
    Json json{{"skipped_steps", skipped},
              {"skipped_in_a_row", skipped_in_a_row},
              {"last_loss", last_loss},
              {"complete", complete}};
    if (evaluation_due) json["evaluation_due"] = true;
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
    position.evaluation = json.value("evaluation", Json::object());
    if (json.contains("best_step")) {
        position.best_step = checked(whole_number(json, "best_step"));
        position.best_value = json.value("best_value", 0.0);
        position.evaluations_since_best = count_of(json, "evaluations_since_best");
    }
    return position;
}

RunPosition position_of(const Json& state, const std::filesystem::path& checkpoint) {
    try {
        return RunPosition::from_json(state.value("progress", Json::object()), whole_number(state, "step"));
    } catch (const Json::exception&) {
        throw InputError("is damaged: it does not say how far the run was", checkpoint / state_file);
    }
}

void write_state(const fs::path& checkpoint, const Json& state) {
    fs::create_directory(checkpoint / "training_state");
    write_json(checkpoint / state_file, state, Overwrite::refuse);
}

void write_sums(const fs::path& checkpoint) {
    const std::map<std::string, std::string> sums = checksums(checkpoint);
    write_atomically(checkpoint / sums_file, Overwrite::refuse, [&](std::ostream& out) {
        for (const auto& [name, sum] : sums)
            out << sum << "  " << name << '\n';
    });
}

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

}  // namespace bigbird::training
