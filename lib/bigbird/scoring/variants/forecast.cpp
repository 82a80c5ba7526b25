// SPDX-License-Identifier: Apache-2.0
#include "bigbird/core/error.hpp"
#include "bigbird/core/interrupt.hpp"
#include "bigbird/core/progress.hpp"
#include "bigbird/core/system/trial.hpp"
#include "bigbird/scoring/score_rows.hpp"
#include "bigbird/scoring/variants/variant_work.hpp"

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>

namespace bigbird::tasks {

namespace {

/// Returns evenly spaced runs of `each` adjacent rows, and adds the number of all rows to `rows`.
std::vector<std::vector<rows::VariantRow>> keep_runs(rows::VariantRows& all, std::int64_t total,
                                                     std::int64_t each, std::int64_t& rows) {
    const std::int64_t stride = std::max(each, total / trial_runs);
    std::vector<std::vector<rows::VariantRow>> kept;
    for (; std::optional<rows::VariantRow> row = all.next(); ++rows) {
        if (rows % stride == 0) kept.emplace_back();
        if (rows % stride < each) kept.back().push_back(std::move(*row));
    }
    return kept;
}

}  // namespace

VariantForecast forecast_variants(const VariantSpec& spec, double seconds_of_trial) {
    spec.validate();
    if (spec.variants == "-")
        throw ConfigError("--dry-run reads the variants twice: give --variants as a file");
    VariantWork work(spec, false);
    VariantScorer& scorer = *work.scorer;
    VariantForecast forecast;
    const std::int64_t each = std::min(rows_per_run, static_cast<std::int64_t>(scorer.rows_at_once));
    const bool alone = each < rows_per_run;  // a row takes long, and has a window of its own
    auto kept = keep_runs(work.rows, rows::count_variant_rows(spec.variants), each, forecast.alleles);
    double seconds = 0;
    const bool several = kept.size() > 1;
    bool cold = several;  // the first run includes one-time setup
    for (const std::size_t index : spread_order(kept.size())) {
        stop_if_asked();
        if (seconds > seconds_of_trial) break;
        std::span<rows::VariantRow> run = kept[index];
        if (cold && alone) run = run.first(1);
        if (several && !alone && run.size() > 1) {  // the rows before a run would have paid for its window
            work.rows.fill(run.front());
            scorer.score(run.first(1), work.threads);
            run = run.subspan(1);
        }
        const auto begin = std::chrono::steady_clock::now();
        fill_rows(work.rows, run, work.threads);
        const std::vector<AlleleEffects> effects = scorer.score(run, work.threads);
        const auto taken = std::chrono::steady_clock::now() - begin;
        if (std::exchange(cold, false)) continue;
        seconds += std::chrono::duration<double>(taken).count();
        forecast.tried += std::ssize(run);
        forecast.scored += std::ranges::count_if(effects, [](const auto& some) { return !some.empty(); });
    }
    if (forecast.tried > 0)
        forecast.seconds =
            seconds / static_cast<double>(forecast.tried) * static_cast<double>(forecast.alleles);
    forecast.memory = most_memory();
    return forecast;
}

std::string describe(const VariantForecast& forecast) {
    const auto tried = static_cast<double>(std::max<std::int64_t>(1, forecast.tried)),
               all = static_cast<double>(std::max<std::int64_t>(1, forecast.alleles));
    return fmt::format(
        "alleles           {} ({:.0f} % of {} tried have scores)\n"
        "seconds           {:.1f} ({}; {:.2f} ms per allele)\n"
        "memory            {:.0f} MB, whatever the number of variants\n",
        forecast.alleles, 100 * static_cast<double>(forecast.scored) / tried, forecast.tried,
        forecast.seconds, Progress::duration(forecast.seconds), 1000 * forecast.seconds / all,
        static_cast<double>(forecast.memory) / 1e6);
}

}  // namespace bigbird::tasks
