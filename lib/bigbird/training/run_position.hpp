// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bigbird/core/formats/json_file.hpp"

#include <cstdint>
#include <optional>

namespace bigbird::training {

/// What a checkpoint must carry besides the model and the optimizer.
struct RunPosition {
    std::int64_t step = 0;
    std::int64_t skipped = 0, skipped_in_a_row = 0;
    double last_loss = 0;
    std::optional<std::int64_t> best_step = std::nullopt;
    double best_value = 0;
    std::int64_t evaluations_since_best = 0;
    Json evaluation = Json::object();  ///< of the best step, or the last one where none is the best
    bool complete = false;
    bool evaluation_due = false;  ///< asked to stop in the middle of the evaluation after `step`

    Json to_json() const {
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

    static RunPosition from_json(const Json& json, std::int64_t step) {
        RunPosition position{.step = step};
        position.skipped = json.value("skipped_steps", std::int64_t{0});
        position.skipped_in_a_row = json.value("skipped_in_a_row", std::int64_t{0});
        position.last_loss = json.value("last_loss", 0.0);
        position.complete = json.value("complete", false);
        position.evaluation_due = json.value("evaluation_due", false);
        position.evaluation = json.value("evaluation", Json::object());
        if (json.contains("best_step")) {
            position.best_step = json["best_step"].get<std::int64_t>();
            position.best_value = json.value("best_value", 0.0);
            position.evaluations_since_best = json.value("evaluations_since_best", std::int64_t{0});
        }
        return position;
    }
};

}  // namespace bigbird::training
