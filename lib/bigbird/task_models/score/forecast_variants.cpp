// SPDX-License-Identifier: Apache-2.0
#include "bigbird/core/error.hpp"
#include "bigbird/core/interrupt.hpp"
#include "bigbird/core/parallel.hpp"
#include "bigbird/core/progress.hpp"
#include "bigbird/task_models/score/score.hpp"
#include "bigbird/task_models/score/variant_scorers.hpp"

#include <algorithm>
#include <chrono>
#include <span>
#include <utility>

namespace bigbird::task_models {

namespace {

constexpr std::int64_t runs = 64, rows_a_run = 64;

using Run = std::vector<rows::VariantRow>;

/// Returns evenly spaced runs of adjacent rows, and adds the number of all rows to `rows`.
std::vector<Run> keep_runs(rows::VariantRows& all, std::int64_t total, std::int64_t& rows) {
    const std::int64_t stride = std::max(rows_a_run, total / runs);
    std::vector<Run> kept;
    for (; std::optional<rows::VariantRow> row = all.next(); ++rows) {
        if (rows % stride == 0) kept.emplace_back();
        if (rows % stride < rows_a_run) kept.back().push_back(std::move(*row));
    }
    return kept;
}

}  // namespace

VariantForecast forecast_variants(const VariantSpec& spec, double seconds_of_trial) {
    spec.validate();
    if (spec.variants == "-")
        throw ConfigError("--dry-run reads the variants twice: give --variants as a file");
    const int threads = resolve_threads(spec.threads);
    const std::unique_ptr<genome::ReferenceGenome> reference = genome::open_references(spec.references);
    const std::unique_ptr<VariantScorer> scorer = load_variant_scorer(spec);
    std::optional<rows::TssIndex> tss;
    if (const auto bounds = scorer->about_tss()) tss.emplace(spec.tss, *reference, *bounds);
    rows::VariantRows all(spec.variants, *reference, scorer->window(), spec.strict, tss ? &*tss : nullptr,
                          scorer->begin_of(), scorer->aligned());
    VariantForecast forecast;
    std::vector<Run> kept = keep_runs(all, rows::count_variant_rows(spec.variants), forecast.alleles);
    double seconds = 0;
    const bool several = kept.size() > 1;
    bool cold = several;  // the first run includes one-time setup
    for (const std::size_t index : spread_order(kept.size())) {
        stop_if_asked();
        if (seconds > seconds_of_trial) break;
        std::span<rows::VariantRow> run = kept[index];
        if (several && run.size() > 1) {  // the rows before a run would have paid for its first window
            all.fill(run.front());
            scorer->score(run.first(1), threads);
            run = run.subspan(1);
        }
        const auto begin = std::chrono::steady_clock::now();
        parallel_for(std::ssize(run), threads,
                     [&](std::int64_t i) { all.fill(run[static_cast<std::size_t>(i)]); });
        const std::vector<AlleleEffects> effects = scorer->score(run, threads);
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

}  // namespace bigbird::task_models
