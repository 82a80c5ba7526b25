// SPDX-License-Identifier: Apache-2.0
#include "bigbird/task_models/files/card_figures.hpp"

#include "bigbird/core/log.hpp"

namespace bigbird::task_models {

model::CardResult card_figures(examples::Task task, examples::Split split,
                               const evaluation::Evaluation& evaluation) {
    const bool promoters = task == examples::Task::promoter;
    model::CardResult result{
        .task = model::card_task(to_string(task)),
        .split = std::string(to_string(split)),
        .data = fmt::format("{} rows {}", evaluation.rows - evaluation.not_scored,
                            split == examples::Split::test ? "of test, which nothing was trained on"
                                                           : "held out to choose the step")};
    const auto add = [&](const char* type, const char* name, const evaluation::Figure& figure) {
        if (figure.value) result.metrics.push_back({type, name, *figure.value});
    };
    const evaluation::GroupFigures& all = evaluation.groups.front();
    add("roc_auc", promoters ? "AUROC" : "Mean AUROC", all.mean_roc_auc);
    add("average_precision", promoters ? "AUPRC" : "Mean AUPRC", all.mean_average_precision);
    if (evaluation.at_threshold) add("f1", "F1", evaluation.at_threshold->f1);
    if (evaluation.reliability) {
        result.metrics.push_back(
            {"expected_calibration_error", "Calibration error", evaluation.reliability->calibration_error});
    }
    return result;
}

}  // namespace bigbird::task_models
