// SPDX-License-Identifier: Apache-2.0
#include "bigbird/task_models/files/card_figures.hpp"

#include "bigbird/core/log.hpp"

#include <algorithm>

namespace bigbird::task_models {

namespace {

std::string data_of(std::int64_t rows, examples::Split split) {
    return fmt::format("{} rows {}", rows,
                       split == examples::Split::test ? "of test, which nothing was trained on"
                                                      : "held out to choose the step");
}

}  // namespace

model::CardResult card_figures(examples::Task task, examples::Split split,
                               const evaluation::Evaluation& evaluation) {
    const bool promoters = task == examples::Task::promoter;
    model::CardResult result{.task = model::card_task(to_string(task)),
                             .split = std::string(to_string(split)),
                             .data = data_of(evaluation.rows - evaluation.not_scored, split)};
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

model::CardResult card_figures(examples::Split split, const evaluation::SequenceReport& report,
                               const evaluation::SequenceFile& file) {
    struct Known {
        const char *figure, *type, *name;
    };
    constexpr Known known[] = {
        {"accuracy", "accuracy", "Accuracy"},    {"mcc", "matthews_correlation", "MCC"},
        {"f1_macro", "f1", "Mean F1"},           {"auroc", "roc_auc", "AUROC"},
        {"auprc", "average_precision", "AUPRC"}, {"pearson", "pearsonr", "Pearson r"},
        {"spearman", "spearmanr", "Spearman r"}, {"r2", "r_squared", "R2"},
        {"mse", "mse", "Mean squared error"}};
    model::CardResult result{.task = model::card_task(to_string(examples::Task::sequences)),
                             .split = std::string(to_string(split)),
                             .data = data_of(report.rows, split)};
    for (std::size_t i = 0; i < report.names.size(); ++i) {
        const auto* const one = std::ranges::find(known, report.names[i], &Known::figure);
        if (one != std::end(known) && file.figures[i].value)
            result.metrics.push_back({one->type, one->name, *file.figures[i].value});
    }
    return result;
}

}  // namespace bigbird::task_models
