// SPDX-License-Identifier: Apache-2.0
#include "bigbird/scoring/rows/forecast.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/files.hpp"
#include "bigbird/core/interrupt.hpp"
#include "bigbird/core/progress.hpp"
#include "bigbird/core/system/temporary_folder.hpp"
#include "bigbird/core/system/trial.hpp"
#include "bigbird/scoring/score_rows.hpp"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <iterator>

namespace bigbird::tasks {
namespace fs = std::filesystem;

namespace {

/// Adjacent rows, in the form that the scorer gets.
using Run = std::vector<rows::RegionRow>;

/// Counts all rows, and returns evenly spaced runs of them.
std::vector<Run> survey(rows::RowSource& source, const RowScorer& scorer, bool by_lines,
                        PredictForecast& forecast) {
    std::vector<Run> tried;
    const std::int64_t stride = std::max<std::int64_t>(rows_per_run, source.total() / trial_runs);
    std::optional<rows::RegionRow> before;
    while (std::optional<rows::RegionRow> row = source.next()) {
        if (forecast.rows % 4096 == 0) stop_if_asked();
        const std::int64_t index = forecast.rows % stride;
        if (index == 0) tried.emplace_back();
        if (index < rows_per_run) tried.back().push_back(*row);
        ++forecast.rows;
        forecast.rows_out += by_lines && !row->last_of_line ? 0 : 1;
        forecast.windows += scorer.placement().new_windows(before ? &*before : nullptr, *row);
        before = std::move(row);
    }
    return tried;
}

/// Rows and their scores, row by row; rows without sequence have none.
struct Scored {
    Run rows;
    std::vector<float> scores;
};

/// Counts over all runs, and the results of the scored ones.
struct Trial {
    std::int64_t rows = 0, with_sequence = 0;
    Scored scored;  ///< rows with sequence in the scored runs
    Scored blank;   ///< rows without sequence in all runs
    struct Rate {
        std::int64_t windows = 0;
        double seconds = 0;
    };
    Rate cold, warm;  ///< the first run, which includes one-time setup, and the others
};

bool has_sequence(const rows::RegionRow& row) {
    return rows::is_scored(row.head.status);
}

/// Appends the rows that have sequence.
void add(const Run& run, std::span<const float> scores, Scored& all) {
    const std::size_t labels = scores.size() / run.size();
    for (std::size_t i = 0; i < run.size(); ++i) {
        if (!has_sequence(run[i])) continue;
        all.rows.push_back(run[i]);
        const auto values = scores.subspan(i * labels, labels);
        all.scores.insert(all.scores.end(), values.begin(), values.end());
    }
}

/// Counts the rows of all runs, and scores runs for about `limit` seconds.
Trial try_runs(std::vector<Run> tried, const rows::RowSource& source, RowScorer& scorer, double limit,
               int threads) {
    Trial trial;
    for (Run& run : tried) {
        stop_if_asked();
        fill_rows(source, std::span(run), threads);
        trial.rows += std::ssize(run);
        trial.with_sequence += std::ranges::count_if(run, has_sequence);
        std::ranges::copy_if(run, std::back_inserter(trial.blank.rows), std::not_fn(has_sequence));
    }
    for (const std::size_t index : spread_order(tried.size())) {
        stop_if_asked();
        if (trial.warm.seconds > limit) break;
        const Run& run = tried[index];
        if (std::ranges::none_of(run, has_sequence)) continue;
        Run copy = run;  // prepare() moves the sequences out
        const auto begin = std::chrono::steady_clock::now();
        const std::vector<float> scores = scorer.score(scorer.prepare(copy, threads), {});
        Trial::Rate& counted = trial.cold.windows == 0 ? trial.cold : trial.warm;
        counted.seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
        add(run, scores, trial.scored);
        for (std::size_t i = 0; i < run.size(); ++i)
            counted.windows += scorer.placement().new_windows(i > 0 ? &run[i - 1] : nullptr, run[i]);
    }
    return trial;
}

/// Returns the total size of a folder's files in bytes, and deletes them.
std::int64_t take_bytes(const TemporaryFolder& folder) {
    std::uintmax_t bytes = 0;
    for (const auto& entry : fs::directory_iterator(folder.path()))
        bytes += entry.file_size();
    for (const auto& entry : fs::directory_iterator(folder.path()))
        fs::remove(entry.path());
    return static_cast<std::int64_t>(bytes);
}

/// Estimates the size of an output from the tried rows. Rows with and without sequence are written
/// separately, because only some rows with sequence were scored. An output of one row gives the part that
/// does not grow with the rows.
double forecast_bytes(const TemporaryFolder& folder, const std::string& ending, const WriteOutput& write,
                      const Trial& trial, std::int64_t rows_out) {
    double fixed = 0, growing = 0;
    for (const Scored* rows : {&trial.scored, &trial.blank}) {
        if (rows->rows.empty()) continue;
        const auto written = static_cast<double>(rows->rows.size());
        const auto of_tried =
            static_cast<double>(rows == &trial.scored ? trial.with_sequence : std::ssize(rows->rows));
        const auto bytes_of = [&](std::size_t count) {
            const std::size_t labels = rows->scores.size() / rows->rows.size();
            write(folder.path() / ("dry-run" + ending), std::span(rows->rows).first(count),
                  std::span(rows->scores).first(count * labels));
            return static_cast<double>(take_bytes(folder));
        };
        const double one = bytes_of(1), all = bytes_of(rows->rows.size());
        fixed = std::max(fixed, one);
        growing += (all - one) / std::max(1.0, written - 1) * of_tried / static_cast<double>(trial.rows);
    }
    return fixed + growing * static_cast<double>(std::max<std::int64_t>(0, rows_out - 1));
}

}  // namespace

PredictForecast forecast_rows(rows::RowSource& source, RowScorer& scorer, std::int64_t passes_per_window,
                              bool by_lines, const std::vector<std::string>& endings,
                              const WriteOutput& write, double seconds_of_trial, int threads) {
    PredictForecast forecast;
    std::vector<Run> tried = survey(source, scorer, by_lines, forecast);
    const Trial trial = try_runs(std::move(tried), source, scorer, seconds_of_trial, threads);
    const auto& [windows, seconds] = trial.warm.windows > 0 ? trial.warm : trial.cold;
    forecast.tried_rows = trial.rows;
    forecast.tried_windows = windows;
    if (trial.rows > 0) {
        forecast.share_with_sequence =
            static_cast<double>(trial.with_sequence) / static_cast<double>(trial.rows);
    }
    forecast.windows =
        static_cast<std::int64_t>(static_cast<double>(forecast.windows) * forecast.share_with_sequence);
    forecast.passes = forecast.windows * passes_per_window;
    if (windows > 0)
        forecast.seconds = seconds / static_cast<double>(windows) * static_cast<double>(forecast.windows);
    forecast.memory = most_memory();
    if (trial.rows == 0) return forecast;
    const TemporaryFolder folder("dry-run");
    for (const std::string& ending : endings)
        forecast.bytes.emplace_back(ending, static_cast<std::int64_t>(forecast_bytes(
                                                folder, ending, write, trial, forecast.rows_out)));
    return forecast;
}

std::string describe(const PredictForecast& forecast) {
    std::string text;
    const auto say = [&](const std::string& name, const std::string& value) {
        text += fmt::format("{:<18}{}\n", name, value);
    };
    say("rows", std::to_string(forecast.rows));
    say("windows", fmt::format("{} ({:.0f} % of {} rows tried hold sequence)", forecast.windows,
                               100 * forecast.share_with_sequence, forecast.tried_rows));
    say("passes", std::to_string(forecast.passes));
    say("seconds", fmt::format("{:.1f} ({}; measured on {} windows)", forecast.seconds,
                               Progress::duration(forecast.seconds), forecast.tried_windows));
    say("memory",
        fmt::format("{:.0f} MB, whatever the number of rows; a track takes up to 24 bytes a row more",
                    static_cast<double>(forecast.memory) / 1e6));
    for (const auto& [ending, bytes] : forecast.bytes)
        say("bytes " + ending, fmt::format("{} ({:.1f} MB)", bytes, static_cast<double>(bytes) / 1e6));
    return text;
}

}  // namespace bigbird::tasks
