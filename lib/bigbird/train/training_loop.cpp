// SPDX-License-Identifier: Apache-2.0
#include "bigbird/train/training_loop.hpp"

#include "bigbird/core/check.hpp"
#include "bigbird/core/error.hpp"
#include "bigbird/core/files.hpp"
#include "bigbird/core/interrupt.hpp"
#include "bigbird/core/log.hpp"
#include "bigbird/core/progress.hpp"
#include "bigbird/core/version.hpp"
#include "bigbird/train/checkpoint_store.hpp"
#include "bigbird/train/metrics_log.hpp"
#include "bigbird/train/run_lock.hpp"
#include "bigbird/train/run_start.hpp"

#include <ATen/ATen.h>

#include <chrono>
#include <cmath>
#include <set>

namespace bigbird::train {

namespace fs = std::filesystem;

namespace {

using Clock = std::chrono::steady_clock;

constexpr int most_skipped_in_a_row = 20;

double seconds_since(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
}

double rounded(double value, double unit) {
    return std::round(value / unit) * unit;
}

/// What a checkpoint must carry besides the model and the optimizer.
struct Position {
    std::int64_t step = 0;
    std::int64_t skipped = 0, skipped_in_a_row = 0;
    double last_loss = 0;
    std::optional<std::int64_t> best_step = std::nullopt;
    double best_value = 0;
    std::int64_t evaluations_since_best = 0;
    bool complete = false;

    Json to_json() const {
        Json json{{"skipped_steps", skipped},
                  {"skipped_in_a_row", skipped_in_a_row},
                  {"last_loss", last_loss},
                  {"complete", complete}};
        if (best_step) {
            json["best_step"] = *best_step;
            json["best_value"] = best_value;
            json["evaluations_since_best"] = evaluations_since_best;
        }
        return json;
    }

    static Position from_json(const Json& json, std::int64_t step) {
        Position position{.step = step};
        position.skipped = json.value("skipped_steps", std::int64_t{0});
        position.skipped_in_a_row = json.value("skipped_in_a_row", std::int64_t{0});
        position.last_loss = json.value("last_loss", 0.0);
        position.complete = json.value("complete", false);
        if (json.contains("best_step")) {
            position.best_step = json["best_step"].get<std::int64_t>();
            position.best_value = json.value("best_value", 0.0);
            position.evaluations_since_best = json.value("evaluations_since_best", std::int64_t{0});
        }
        return position;
    }
};

class Loop {
public:
    Loop(TrainingTask& task, const LoopSpec& spec, const fs::path& run_directory)
        : task_(task),
          spec_(spec),
          run_(run_directory),
          store_(run_directory, spec.keep),
          optimizer_(task.module(), spec.optimizer) {}

    LoopResult run(const std::optional<Checkpoint>& checkpoint);

private:
    void restore(const Checkpoint& checkpoint);
    void train();
    void make_step(std::int64_t step, MetricsLog& log);
    void count_skipped(bool skipped, std::int64_t step);
    bool evaluate(std::int64_t step, MetricsLog& log);
    bool note_evaluation(const Json& metrics, std::int64_t step);
    void write_checkpoint();
    void stop_where_asked(Clock::time_point start);
    void write_final_model();

    bool due(std::int64_t every) const { return every > 0 && position_.step % every == 0; }
    std::int64_t total() const { return spec_.learning_rate.total_steps; }

    TrainingTask& task_;
    const LoopSpec& spec_;
    fs::path run_;
    CheckpointStore store_;
    AdamW optimizer_;
    Position position_;
    std::int64_t checkpoint_at_ = 0;
    double tokens_per_second_ = 0;  // smoothed, for people
};

void Loop::restore(const Checkpoint& checkpoint) {
    task_.read_model(checkpoint.directory);
    optimizer_.restore(checkpoint.optimizer);
    position_ = Position::from_json(checkpoint.state.value("progress", Json::object()), checkpoint.step);
    task_.restore(checkpoint.state.value("task", Json::object()));
    if (fs::equivalent(checkpoint.directory.parent_path(), run_ / "checkpoints")) {
        checkpoint_at_ = position_.step;
    }
    log_info("resuming after step {} of {}", position_.step, total());
}

LoopResult Loop::run(const std::optional<Checkpoint>& checkpoint) {
    if (checkpoint) {
        fs::create_directories(run_ / "checkpoints");
        restore(*checkpoint);
    }
    if (position_.best_step) {
        store_.protect(*position_.best_step);
    }
    train();
    if (checkpoint_at_ != position_.step) {
        write_checkpoint();
    }
    write_final_model();
    return {.steps = position_.step,
            .skipped_steps = position_.skipped,
            .last_loss = position_.last_loss,
            .best_step = position_.best_step,
            .model = run_ / "model"};
}

void Loop::train() {
    MetricsLog log(run_ / "metrics.jsonl", position_.step);
    Progress progress("training", "steps", total());
    const Clock::time_point start = Clock::now();
    progress.update(position_.step);
    while (position_.step < total() && !position_.complete) {
        make_step(position_.step + 1, log);
        const bool last = position_.step == total();
        bool better = false;
        if (spec_.evaluate_every > 0 && (due(spec_.evaluate_every) || last)) {
            better = evaluate(position_.step, log);
        }
        position_.complete = position_.complete || last;
        if (better || due(spec_.checkpoint_every) || position_.complete) {
            write_checkpoint();
        }
        progress.update(position_.step,
                        fmt::format("loss {:.4f}, {:.0f} tokens/s", position_.last_loss, tokens_per_second_));
        if (!position_.complete) {
            stop_where_asked(start);
        }
    }
    progress.finish();
}

void Loop::make_step(std::int64_t step, MetricsLog& log) {
    const Clock::time_point start = Clock::now();
    const double rate = learning_rate(spec_.learning_rate, step);
    optimizer_.zero_gradients();
    const StepStats stats = task_.accumulate(step);
    BIGBIRD_EXPECTS(stats.loss.defined(), "a training step without a loss");
    const at::Tensor norm = optimizer_.step(rate, stats.loss);
    std::vector<at::Tensor> scalars{stats.loss.detach().to(norm.options()), norm};
    for (const auto& metric : stats.metrics) {
        scalars.push_back(metric.second.detach().to(norm.options()));
    }
    const at::Tensor values = at::stack(scalars).to(at::kCPU, at::kDouble);
    const double* value = values.const_data_ptr<double>();
    const double seconds = seconds_since(start);
    position_.step = step;

    Json line{{"step", step}, {"loss", value[0]}};
    for (std::size_t i = 0; i < stats.metrics.size(); ++i) {
        line[stats.metrics[i].first] = value[i + 2];
    }
    const double speed = static_cast<double>(stats.tokens) / std::max(seconds, 1e-9);
    line["learning_rate"] = rate;
    line["gradient_norm"] = value[1];
    line["tokens"] = stats.tokens;
    line["sequences"] = stats.sequences;
    line["tokens_per_second"] = rounded(speed, 0.1);
    line["seconds"] = rounded(seconds, 1e-4);
    const bool skipped = !std::isfinite(value[0]) || !std::isfinite(value[1]);
    if (skipped) {
        line["skipped"] = true;
    } else {
        position_.last_loss = value[0];
    }
    log.append(line);
    tokens_per_second_ = tokens_per_second_ == 0 ? speed : 0.9 * tokens_per_second_ + 0.1 * speed;
    count_skipped(skipped, step);
}

void Loop::count_skipped(bool skipped, std::int64_t step) {
    if (!skipped) {
        position_.skipped_in_a_row = 0;
        return;
    }
    ++position_.skipped;
    ++position_.skipped_in_a_row;
    log_warning("step {} left out: its loss or gradient is not finite ({} so far)", step, position_.skipped);
    if (position_.skipped_in_a_row >= most_skipped_in_a_row) {
        throw ConfigError(fmt::format(
            "the loss or the gradient was not finite in {} steps in a row, up to step {}; the run "
            "stays at its last checkpoint: try a lower --learning-rate, a longer "
            "--warmup-steps or --dtype fp32",
            most_skipped_in_a_row, step));
    }
}

bool Loop::evaluate(std::int64_t step, MetricsLog& log) {
    const Clock::time_point start = Clock::now();
    const Json metrics = task_.evaluate();
    Json line{{"step", step}};
    std::string text;
    for (const auto& item : metrics.items()) {
        line[item.key()] = item.value();
        if (item.value().is_number()) {
            text +=
                fmt::format("{}{} {:.6g}", text.empty() ? "" : ", ", item.key(), item.value().get<double>());
        }
    }
    line["eval_seconds"] = rounded(seconds_since(start), 1e-4);
    log.append(line);
    log_info("step {}: {}", step, text);
    return spec_.selection && note_evaluation(metrics, step);
}

bool Loop::note_evaluation(const Json& metrics, std::int64_t step) {
    const Selection& selection = *spec_.selection;
    BIGBIRD_EXPECTS(metrics.contains(selection.metric), "an evaluation without " + selection.metric);
    const Json& json = metrics[selection.metric];
    const double value = json.is_number() ? json.get<double>() : std::nan("");
    const bool better = std::isfinite(value) &&
                        (!position_.best_step || (selection.higher_is_better ? value > position_.best_value
                                                                             : value < position_.best_value));
    if (better) {
        position_.best_step = step;
        position_.best_value = value;
        position_.evaluations_since_best = 0;
        store_.protect(step);
        return true;
    }
    ++position_.evaluations_since_best;
    if (selection.patience > 0 && position_.evaluations_since_best >= selection.patience) {
        log_info("stopping at step {}: {} has not become better in {} evaluations", step, selection.metric,
                 selection.patience);
        position_.complete = true;
    }
    return false;
}

void Loop::write_checkpoint() {
    const Json state{{"program", "bigbird-dna"},
                     {"version", std::string(version())},
                     {"options", spec_.fixed_options},
                     {"progress", position_.to_json()},
                     {"task", task_.state()}};
    const fs::path written =
        store_.write(position_.step, state, optimizer_.state(),
                     [this](const fs::path& directory) { task_.write_model(directory); });
    checkpoint_at_ = position_.step;
    log_debug("checkpoint {} written", written.string());
}

void Loop::stop_where_asked(Clock::time_point start) {
    const bool late = spec_.max_hours > 0 && seconds_since(start) >= spec_.max_hours * 3600.0;
    if (stop_signal() == 0 && !late) {
        return;
    }
    if (checkpoint_at_ != position_.step) {
        write_checkpoint();
    }
    log_info("checkpoint of step {} written; the same command goes on from it", position_.step);
    stop_if_asked();
    throw Stopped(fmt::format("stopped after {} as --max-hours asks, at step {} of {}",
                              Progress::duration(seconds_since(start)), position_.step, total()),
                  ExitCode::stopped_early);
}

void Loop::write_final_model() {
    PendingOutput pending(run_ / "model", Overwrite::allow, true);
    if (position_.best_step && *position_.best_step != position_.step) {
        const fs::path best = store_.directory_of(*position_.best_step);
        for (const auto& entry : fs::directory_iterator(best)) {
            if (entry.is_regular_file()) {
                fs::copy_file(entry.path(), pending.path() / entry.path().filename());
            }
        }
        log_info("the model is that of step {}, the best", *position_.best_step);
    } else {
        task_.write_model(pending.path());
    }
    pending.commit();
}

}  // namespace

void TrainingTask::read_model(const fs::path& directory) {
    const fs::path file = directory / "model.safetensors";
    const model::TensorMap tensors = model::read_safetensors(file);
    const at::NoGradGuard no_gradients;
    std::set<const void*> filled;
    std::vector<std::pair<std::string, at::Tensor>> missing;
    const auto fill = [&](const std::string& name, const at::Tensor& target) {
        const auto found = tensors.find(name);
        if (found == tensors.end()) {
            missing.emplace_back(name, target);
            return;
        }
        if (found->second.sizes() != target.sizes()) {
            throw InputError(name + " has another shape than the model to be resumed", file);
        }
        target.copy_(found->second);
        filled.insert(target.unsafeGetTensorImpl());
    };
    for (const auto& item : module().named_parameters()) {
        fill(item.key(), item.value());
    }
    for (const auto& item : module().named_buffers()) {
        fill(item.key(), item.value());
    }
    for (const auto& [name, target] : missing) {  // a tied tensor may stand there under its other name
        if (!filled.contains(target.unsafeGetTensorImpl())) {
            throw InputError("lacks " + name, file);
        }
    }
}

LoopResult run_training(TrainingTask& task, const LoopSpec& spec, const fs::path& run_directory) {
    spec.learning_rate.validate();
    spec.optimizer.validate();
    run_is_finished(run_directory, spec);
    const RunLock lock(run_directory);
    const RunStart start = start_run(run_directory, spec);
    if (start.finished) {
        log_info("{}: this run is finished already; nothing to do", run_directory.string());
        return {.steps = spec.learning_rate.total_steps,
                .finished_before = true,
                .model = run_directory / "model"};
    }
    return Loop(task, spec, run_directory).run(start.checkpoint);
}

}  // namespace bigbird::train
