// SPDX-License-Identifier: Apache-2.0
#include "bigbird/training/solve_run.hpp"

#include "bigbird/core/files.hpp"
#include "bigbird/core/log.hpp"
#include "bigbird/training/metrics/metrics_log.hpp"
#include "bigbird/training/run_lock.hpp"
#include "bigbird/training/run_start.hpp"

namespace bigbird::training {

LoopResult solve_run(const LoopSpec& spec, const std::filesystem::path& run_directory,
                     const std::function<Solution()>& solve) {
    const RunLock lock(run_directory);
    if (start_run(run_directory, spec).finished) return finished_result(run_directory, spec);
    const Solution solution = solve();
    MetricsLog(run_directory, 0).append(solution.metrics);
    log_info("{}", solution.metrics.dump());
    PendingOutput pending(run_directory / model_folder, Overwrite::allow, PendingOutput::Kind::folder);
    solution.write_model(pending.path());
    write_card(spec, {.folder = pending.path(), .step = 1, .evaluation = solution.metrics});
    pending.commit();
    return {.steps = 1, .model = run_directory / model_folder};
}

}  // namespace bigbird::training
