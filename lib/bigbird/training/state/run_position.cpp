// SPDX-License-Identifier: Apache-2.0
#include "bigbird/training/state/run_position.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/formats/json_file.hpp"

#include <stdexcept>

namespace bigbird::training {

namespace {

/// Maximum number of steps, so that sums do not overflow.
constexpr std::int64_t most = 1'000'000'000'000'000;

std::int64_t checked(std::int64_t count) {
    if (count < 0 || count > most) throw std::out_of_range("a count of steps");
    return count;
}

std::int64_t count_of(const Json& json, const char* name) {
    return json.contains(name) ? checked(whole_number(json, name)) : 0;
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
    const auto damaged = [&] {
        return InputError("is damaged: it does not say how far the run was",
                          checkpoint / "training_state/state.json");
    };
    try {
        return RunPosition::from_json(state.value("progress", Json::object()), whole_number(state, "step"));
    } catch (const Json::exception&) {
        throw damaged();
    } catch (const std::out_of_range&) {
        throw damaged();
    }
}

}  // namespace bigbird::training
