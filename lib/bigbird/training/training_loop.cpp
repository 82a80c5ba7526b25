// SPDX-License-Identifier: Apache-2.0
#include "bigbird/training/training_loop.hpp"

#include "bigbird/core/check.hpp"
#include "bigbird/core/error.hpp"
#include "bigbird/core/files.hpp"
#include "bigbird/core/interrupt.hpp"
#include "bigbird/core/log.hpp"
#include "bigbird/core/progress.hpp"
#include "bigbird/core/version.hpp"
#include "bigbird/model/device/device.hpp"
#include "bigbird/model/files/model_card.hpp"
#include "bigbird/model/weights.hpp"
#include "bigbird/training/checkpoint_store.hpp"
#include "bigbird/training/metrics/metrics_log.hpp"
#include "bigbird/training/run_start.hpp"

#include <ATen/ATen.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <fstream>
#include <set>

namespace bigbird::training {

namespace fs = std::filesystem;

namespace {

using Clock = std::chrono::steady_clock;

constexpr int most_skipped_in_a_row = 20;

double seconds_since(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
}

double rounded(double value, int decimals) {
    const double scale = std::pow(10.0, decimals);
    return std::round(value * scale) / scale;
}

/// NaN if there is no such number.
double number_of(const Json& json, const std::string& name) {
    const Json value = json.value(name, Json());
    return value.is_number() ? value.get<double>() : std::nan("");
}

/// A step of all ranks together.
struct StepTotals {
    at::Tensor scalars;  // (1 + metrics), the loss first
    double tokens = 0, sequences = 0, padded_tokens = 0, operations = 0, wait_seconds = 0;
    int signal = 0;     ///< signal that reached any rank
    bool late = false;  ///< by the first rank's clock

    static constexpr std::size_t before_signals = 6;
    static constexpr std::size_t counters = before_signals + stop_signals.size();
};

/// Adds up the ranks' statistics of a step.
StepTotals add_up(const StepStats& stats, bool late, Ranks& ranks) {
    StepTotals totals;
    std::vector<at::Tensor> scalars{stats.loss.detach().to(at::kFloat)};
    for (const auto& metric : stats.metrics)
        scalars.push_back(metric.second.detach().to(scalars.front().options()));
    totals.scalars = at::stack(scalars);
    const int signal = stop_signal();
    std::array<double, StepTotals::counters> values{static_cast<double>(stats.tokens),
                                                    static_cast<double>(stats.sequences),
                                                    static_cast<double>(stats.padded_tokens),
                                                    stats.operations,
                                                    stats.wait_seconds,
                                                    late && ranks.is_first() ? 1.0 : 0.0};
    for (std::size_t i = 0; i < stop_signals.size(); ++i)
        values[StepTotals::before_signals + i] = signal == stop_signals[i] ? 1.0 : 0.0;
    if (ranks.size() > 1) {
        ranks.sum(totals.scalars);
        at::Tensor sums = at::from_blob(values.data(), {std::ssize(values)}, at::kDouble);
        ranks.sum(sums);
    }
    totals.tokens = values[0];
    totals.sequences = values[1];
    totals.padded_tokens = values[2];
    totals.operations = values[3];
    totals.wait_seconds = values[4] / ranks.size();
    totals.late = values[5] > 0;
    for (std::size_t i = stop_signals.size(); i-- > 0;)
        if (values[StepTotals::before_signals + i] > 0) totals.signal = stop_signals[i];
    return totals;
}

/// A step whose losses may not have been copied from the device yet.
struct PendingStep {
    std::int64_t step;
    Clock::time_point start;
    double rate;
    std::vector<std::string> names;  // names of the metrics
    StepTotals totals;
    model::HostCopy values;  // loss, metrics, norm
};

class Loop {
public:
    Loop(TrainingTask& task, const LoopSpec& spec, const fs::path& run_directory, Ranks& ranks)
        : task_(task),
          spec_(spec),
          run_(run_directory),
          ranks_(ranks),
          store_(run_directory, spec.run.keep),
          optimizer_(task.module(), spec.optimizer),
          reads_late_(spec.read_late.value_or(!device().is_cpu())) {}

    LoopResult run(const std::optional<Checkpoint>& checkpoint) {
        const StopDeadline none;  // a checkpoint in progress is completed
        if (checkpoint) {
            fs::create_directories(run_ / "checkpoints");
            restore(*checkpoint);
        }
        share_start();
        if (position_.best_step) store_.protect(*position_.best_step);
        train();
        if (checkpoint_at_ != position_.step) write_checkpoint();
        write_final_model();
        return {.steps = position_.step,
                .skipped_steps = position_.skipped,
                .last_loss = position_.last_loss,
                .best_step = position_.best_step,
                .model = run_ / model_folder};
    }

private:
    void restore(const Checkpoint& checkpoint) {
        task_.read_model(checkpoint.directory);
        optimizer_.restore(checkpoint.optimizer);
        position_ = position_of(checkpoint.state, checkpoint.directory);
        try {
            task_.restore(checkpoint.state.value("task", Json::object()));
        } catch (const Json::exception&) {
            throw InputError("is damaged: it does not say how far the run was",
                             checkpoint.directory / "training_state/state.json");
        }
        if (fs::equivalent(checkpoint.directory.parent_path(), run_ / "checkpoints"))
            checkpoint_at_ = position_.step;
        if (ranks_.is_first()) find_best(checkpoint.directory.parent_path());
        log_info("resuming after step {} of {}", position_.step, total());
    }
    /// The best step's checkpoint becomes the model at the end. If the run continues in another folder,
    /// copies it. If it is missing, the best step is chosen among later ones.
    void find_best(const fs::path& checkpoints) {
        if (!position_.best_step || store_.adopt(*position_.best_step, checkpoints)) return;
        log_warning(
            "the checkpoint of step {}, whose evaluation was the best, is gone: the best is looked for from "
            "step {} on",
            *position_.best_step, position_.step);
        position_.best_step.reset();
        position_.evaluations_since_best = 0;
    }
    /// Sends the first rank's initial state to all ranks.
    void share_start() {
        if (ranks_.size() == 1) return;
        const Json told = ranks_.broadcast(Json{{"step", position_.step},
                                                {"checkpoint_at", checkpoint_at_},
                                                {"progress", position_.to_json()},
                                                {"task", task_.state()}});
        if (!ranks_.is_first()) {
            const auto step = told.at("step").get<std::int64_t>();
            position_ = RunPosition::from_json(told.at("progress"), step);
            checkpoint_at_ = told.at("checkpoint_at").get<std::int64_t>();
            task_.restore(told.at("task"));
        }
        const at::NoGradGuard no_gradients;
        for (at::Tensor& tensor : task_.module().parameters())
            ranks_.broadcast(tensor);
        for (at::Tensor& tensor : task_.module().buffers())
            ranks_.broadcast(tensor);
        for (const auto& item : optimizer_.state()) {
            at::Tensor tensor = item.second;
            ranks_.broadcast(tensor);
        }
    }
    void train() {
        if (ranks_.is_first()) log_.emplace(run_, position_.step);
        Progress progress("training", "steps", total());
        progress.update(position_.step);
        while (position_.evaluation_due || (position_.step < total() && !position_.complete)) {
            const bool was_due = position_.evaluation_due;
            if (!was_due) make_step(position_.step + 1);
            const bool last = position_.step == total();
            position_.evaluation_due = spec_.evaluate_every > 0 && (due(spec_.evaluate_every) || last);
            if (position_.evaluation_due || last || due(spec_.run.checkpoint_every)) read_step();
            const bool better = position_.evaluation_due && evaluate(position_.step);
            position_.complete = position_.complete || last;
            if (better || was_due || due(spec_.run.checkpoint_every) || position_.complete)
                write_checkpoint();
            const double speed = recent_count_ / std::max(recent_seconds_, 1e-9);
            progress.update(
                position_.step,
                fmt::format("loss {:.4f}, {:.{}f} {}/s, {:.0f} % waiting for data", position_.last_loss,
                            speed, speed < 10 ? 1 : 0, unit_, 100 * wait_share_));
            if (!position_.complete) stop_where_asked();
        }
        progress.finish();
    }
    /// Runs the task's work between two changes of the parameters. If the work takes too long after a stop
    /// signal, another thread writes a checkpoint of the last step. The first rank writes it; the others
    /// wait.
    template <typename Work>
    auto stoppable(const Work& work) {
        constexpr std::chrono::seconds grace{1}, grace_of_others{8};
        try {
            const StopDeadline deadline(ranks_.is_first() ? grace : grace_of_others,
                                        [this] { keep_last_step(); });
            return work();
        } catch (const Stopped&) {
            keep_last_step();
            throw;
        }
    }
    void make_step(std::int64_t step) {
        const Clock::time_point start = Clock::now();
        const double rate = learning_rate(spec_.learning_rate, step);
        optimizer_.zero_gradients();
        const StepStats stats = stoppable([&] { return task_.accumulate(step); });
        BIGBIRD_EXPECTS(stats.loss.defined(), "a training step without a loss");
        const StepTotals totals = add_up(stats, late(), ranks_);
        asked_ = ranks_.size() > 1 ? totals.signal : 0;
        too_late_ = totals.late;
        const at::Tensor norm = optimizer_.step(rate, totals.scalars[0]);
        task_.made(step);
        position_.step = step;
        std::vector<std::string> names;
        for (const auto& metric : stats.metrics)
            names.push_back(metric.first);
        PendingStep now{
            step,   start,
            rate,   std::move(names),
            totals, model::HostCopy(at::cat({totals.scalars, norm.reshape({1})}).to(at::kDouble))};
        if (reads_late_) read_step();
        pending_ = std::move(now);
        if (!reads_late_) read_step();
    }
    void keep_last_step() {
        const at::NoGradGuard no_gradients;  // also on another thread
        read_step();
        if (position_.step == 0) {
            log_info("stopped within the first step; the same command starts afresh");
            return;
        }
        if (checkpoint_at_ != position_.step) write_checkpoint();
        log_info("checkpoint of step {} written; the same command goes on from it", position_.step);
    }
    /// Logs the step that was not read yet, if any. Waits until the device has computed it.
    void read_step() {
        if (!pending_) return;
        PendingStep step = std::move(*pending_);
        pending_.reset();
        Json line = step_line(step, step.values.get());
        // The time of consecutive steps on the device ends when their results are read.
        add_speed(line, step.totals, seconds_since(std::max(step.start, last_read_)));
        last_read_ = Clock::now();
        append(line);
        count_skipped(line.contains("skipped"), step.step);
    }
    /// The losses and metrics of a step.
    Json step_line(const PendingStep& step, const at::Tensor& values) {
        const StepTotals& totals = step.totals;
        const double* value = values.const_data_ptr<double>();
        const std::size_t at_norm = step.names.size() + 1;
        Json line{{"step", step.step}, {"loss", value[0]}};
        for (std::size_t i = 0; i < step.names.size(); ++i)
            line[step.names[i]] = value[i + 1];
        line["learning_rate"] = step.rate;
        line["gradient_norm"] = value[at_norm];
        if (totals.tokens > 0) line["tokens"] = static_cast<std::int64_t>(totals.tokens);
        line["sequences"] = static_cast<std::int64_t>(totals.sequences);
        if (totals.padded_tokens > 0)
            line["padding_share"] = rounded(1.0 - totals.tokens / totals.padded_tokens, 6);
        if (!std::isfinite(value[0]) || !std::isfinite(value[at_norm]))
            line["skipped"] = true;
        else
            position_.last_loss = value[0];
        return line;
    }
    /// Adds times and rates, which differ from run to run.
    void add_speed(Json& line, const StepTotals& totals, double seconds) {
        const bool has_tokens = totals.tokens > 0;
        const double count = has_tokens ? totals.tokens : totals.sequences;
        const double waited = std::min(1.0, totals.wait_seconds / std::max(seconds, 1e-9));
        if (has_tokens) line["tokens_per_second"] = rounded(count / std::max(seconds, 1e-9), 1);
        line["seconds"] = rounded(seconds, 4);
        line["data_wait_share"] = rounded(waited, 4);
        if (totals.operations > 0) {
            if (matrix_rate_ == 0)
                matrix_rate_ = matrix_product_rate(spec_.compute, device()) * ranks_.size();
            line["flops_per_second"] = std::round(totals.operations / std::max(seconds, 1e-9));
            line["mfu"] = rounded(totals.operations / std::max(seconds, 1e-9) / matrix_rate_, 4);
        }
        line["memory_bytes"] = peak_memory(device());
        const double old = recent_seconds_ == 0 ? 0 : 0.9;
        recent_count_ = old * recent_count_ + (1 - old) * count;
        recent_seconds_ = old * recent_seconds_ + (1 - old) * seconds;
        unit_ = has_tokens ? "tokens" : "windows";
        wait_share_ = old * wait_share_ + (1 - old) * waited;
    }
    void count_skipped(bool skipped, std::int64_t step) {
        if (!skipped) {
            position_.skipped_in_a_row = 0;
            return;
        }
        ++position_.skipped;
        ++position_.skipped_in_a_row;
        if (ranks_.is_first()) {
            log_warning("step {} left out: its loss or gradient is not finite ({} so far)", step,
                        position_.skipped);
        }
        if (position_.skipped_in_a_row >= most_skipped_in_a_row) {
            throw ConfigError(fmt::format(
                "the loss or the gradient was not finite in {} steps in a row, up to step {}; the run "
                "stays at its last checkpoint: try a lower --learning-rate or --dtype fp32",
                most_skipped_in_a_row, step));
        }
    }
    bool evaluate(std::int64_t step) {
        const Clock::time_point start = Clock::now();
        const Json metrics = stoppable([&] { return task_.evaluate(); });
        position_.evaluation_due = false;
        Json line{{"step", step}};
        line.update(metrics);
        line["eval_seconds"] = rounded(seconds_since(start), 4);
        append(line);
        log_info("step {}: {}", step, sentence_of(metrics));
        const bool better = spec_.selection && note_evaluation(metrics, step);
        if (better || !position_.best_step) position_.evaluation = metrics;
        return better;
    }
    bool note_evaluation(const Json& metrics, std::int64_t step) {
        const Selection& selection = *spec_.selection;
        BIGBIRD_EXPECTS(metrics.contains(selection.metric), "an evaluation without " + selection.metric);
        const double value = number_of(metrics, selection.metric);
        const bool equal_but_lower_loss =
            value == position_.best_value &&
            number_of(metrics, "eval_loss") < number_of(position_.evaluation, "eval_loss");
        const bool better =
            std::isfinite(value) &&
            (!position_.best_step || equal_but_lower_loss ||
             (selection.higher_is_better ? value > position_.best_value : value < position_.best_value));
        if (better) {
            position_.best_step = step;
            position_.best_value = value;
            position_.evaluations_since_best = 0;
            store_.protect(step);
            return true;
        }
        ++position_.evaluations_since_best;
        // The rate of a longer schedule is higher than at the end of the shorter one: evaluations are worse
        // at first.
        if (selection.patience > 0 && !position_.extended &&
            position_.evaluations_since_best >= selection.patience) {
            log_info("stopping at step {}: {} has not become better in {} evaluations", step,
                     selection.metric, selection.patience);
            position_.complete = true;
        }
        return false;
    }
    void write_checkpoint() {
        checkpoint_at_ = position_.step;
        if (!ranks_.is_first()) return;
        const Json state{{"program", "bigbird-dna"},
                         {"version", std::string(version())},
                         {"options", spec_.fixed_options},
                         {"progress", position_.to_json()},
                         {"task", task_.state()}};
        const fs::path written =
            store_.write(position_.step, state, optimizer_.state(), [this](const fs::path& directory) {
                task_.write_model(directory);
                fs::create_directory(directory / "training_state");
                task_.write_training_state(directory / "training_state");
            });
        log_debug("checkpoint {} written", written.string());
    }
    void stop_where_asked() {
        if (ranks_.size() == 1) {
            asked_ = stop_signal();
            too_late_ = late();
        }
        if (asked_ == 0 && !too_late_) return;
        keep_last_step();
        set_stop_signal(asked_);  // a signal to one rank counts for all
        stop_if_asked();
        throw Stopped(fmt::format("stopped after {} as --max-hours asks, at step {} of {}",
                                  Progress::duration(seconds_since(start_)), position_.step, total()),
                      ExitCode::stopped_early);
    }
    void write_final_model() {
        if (!ranks_.is_first()) return;
        PendingOutput pending(run_ / model_folder, Overwrite::allow, PendingOutput::Kind::folder);
        const std::int64_t step = position_.best_step.value_or(position_.step);
        const fs::path best = store_.directory_of(step);
        if (position_.best_step && (step != position_.step || fs::exists(best))) {
            for (const auto& entry : fs::directory_iterator(best))
                if (entry.path().filename() != "training_state")
                    fs::copy(entry.path(), pending.path() / entry.path().filename(),
                             fs::copy_options::recursive);
            if (step != position_.step) log_info("the model is that of step {}, the best", step);
        } else {
            task_.write_model(pending.path());
        }
        write_card(spec_, {.folder = pending.path(), .step = step, .evaluation = position_.evaluation});
        pending.commit();
    }
    void append(const Json& line) {
        if (log_) log_->append(line);
    }
    bool late() const {
        return spec_.run.max_hours > 0 && seconds_since(start_) >= spec_.run.max_hours * 3600.0;
    }
    at::Device device() { return task_.module().parameters().front().device(); }

    bool due(std::int64_t every) const { return every > 0 && position_.step % every == 0; }
    std::int64_t total() const { return spec_.learning_rate.total_steps; }

    TrainingTask& task_;
    const LoopSpec& spec_;
    fs::path run_;
    Ranks& ranks_;
    CheckpointStore store_;
    Optimizer optimizer_;
    RunPosition position_;
    std::optional<MetricsLog> log_;  // only on the first rank
    Clock::time_point start_ = Clock::now(), last_read_ = start_;
    bool reads_late_;
    std::optional<PendingStep> pending_;
    std::int64_t checkpoint_at_ = 0;
    int asked_ = 0;          // the signal on which all ranks agree
    bool too_late_ = false;  // likewise
    double matrix_rate_ = 0;
    double recent_count_ = 0, recent_seconds_ = 0, wait_share_ = 0;  // smoothed, for people
    const char* unit_ = "windows";                                   // unit of the speed
};

}  // namespace

void TrainingTask::read_model(const fs::path& directory) {
    const fs::path file = directory / "model.safetensors";
    const model::TensorMap tensors = model::read_weights(directory);
    const at::NoGradGuard no_gradients;
    std::vector<std::pair<std::string, at::Tensor>> targets = module().named_parameters().pairs();
    for (const auto& item : module().named_buffers())
        targets.push_back(item.pair());
    std::set<const void*> filled;
    for (auto& [name, target] : targets) {
        const auto found = tensors.find(name);
        if (found == tensors.end()) continue;
        if (found->second.sizes() != target.sizes())
            throw InputError(name + " has another shape than the model to be resumed", file);
        target.copy_(found->second);
        filled.insert(target.unsafeGetTensorImpl());
    }
    for (const auto& [name, target] : targets)  // a tied tensor may be in the file under its other name
        if (!filled.contains(target.unsafeGetTensorImpl())) throw InputError("lacks " + name, file);
}

void write_card(const LoopSpec& spec, const TrainedModel& model) {
    if (!spec.card) return;
    std::ofstream out(model.folder / model::card_file, std::ios::binary);
    out << spec.card(model);
    if (!out.flush()) throw WriteError((model.folder / model::card_file).string() + ": writing failed");
}

std::string out_of_memory(const LoopSpec& spec) {
    return "memory is too small for so many tokens at once; " + spec.memory_advice;
}

LoopResult run_training(TrainingTask& task, const LoopSpec& spec, const fs::path& run_directory) {
    spec.learning_rate.validate();
    spec.optimizer.validate();
    Ranks& ranks = *spec.ranks;
    finished_run(run_directory, spec);  // throws if the run is refused
    ranks.wait_for_all();               // no changes before all ranks have checked
    std::optional<RunLock> lock;
    RunStart start;
    if (ranks.is_first()) {
        lock.emplace(run_directory);
        start = start_run(run_directory, spec);
    }
    start.finished = ranks.broadcast(Json(start.finished)).get<bool>();
    if (start.finished) {
        log_info("{}: this run is finished already; nothing to do", run_directory.string());
        return finished_result(run_directory, spec);
    }
    return with_memory_advice(out_of_memory(spec),
                              [&] { return Loop(task, spec, run_directory, ranks).run(start.checkpoint); });
}

}  // namespace bigbird::training
