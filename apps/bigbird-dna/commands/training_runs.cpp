// SPDX-License-Identifier: Apache-2.0
// Runners of pretrain, evaluate-mlm, finetune and train in bigbird-dna-tensors.
#include "commands/commands.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/interrupt.hpp"
#include "bigbird/core/log.hpp"
#include "bigbird/core/parallel.hpp"
#include "bigbird/core/system/temporary_folder.hpp"
#include "bigbird/core/words.hpp"
#include "bigbird/finetuning/finetune.hpp"
#include "bigbird/genome/text/text_output.hpp"
#include "bigbird/pipeline/train.hpp"
#include "bigbird/pretraining/mlm_evaluation.hpp"
#include "bigbird/pretraining/pretrain.hpp"
#include "bigbird/training/ranks/rank_spec.hpp"

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace bigbird::cli {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds look_every{20};
constexpr std::chrono::seconds grace{10};  // time for the others to report why they fail, too
constexpr int signal_base = 128;

std::vector<std::string> own_arguments() {
    std::ifstream in("/proc/self/cmdline", std::ios::binary);
    std::vector<std::string> arguments;
    for (std::string argument; std::getline(in, argument, '\0');)
        arguments.push_back(argument);
    return arguments;
}

/// Exit codes after which the first rank may still be writing its checkpoint.
bool is_clean_stop(int code) {
    return code == static_cast<int>(ExitCode::stopped_early) ||
           std::ranges::any_of(
               stop_signals, [&](int signal) { return code == signal_base + signal; });
}

struct Child {
    pid_t process = -1;
    bool ended = false;
    int code = 0;
};

[[noreturn]] void become(int rank, pid_t parent, std::vector<std::string> arguments) {
    ::setpgid(0, 0);  // the terminal's Ctrl-C goes to the launcher, which passes it on once
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) ::_exit(signal_base + SIGKILL);
    ::setenv("RANK", std::to_string(rank).c_str(), 1);
    ::setenv("LOCAL_RANK", std::to_string(rank).c_str(), 1);
    std::vector<char*> words;
    words.reserve(arguments.size() + 1);
    for (std::string& argument : arguments)
        words.push_back(argument.data());
    words.push_back(nullptr);
    ::execv("/proc/self/exe", words.data());
    ::_exit(static_cast<int>(ExitCode::bug));
}

class RankProcesses {
public:
    explicit RankProcesses(int count) {
        const std::vector<std::string> arguments = own_arguments();
        ::setenv("WORLD_SIZE", std::to_string(count).c_str(), 1);
        ::setenv("LOCAL_WORLD_SIZE", std::to_string(count).c_str(), 1);
        ::setenv("BIGBIRD_MEETING_FILE", (meeting_.path() / "meeting").c_str(), 1);
        const pid_t parent = ::getpid();
        hold_signals();  // also for the new processes, until they have loaded their libraries
        for (int rank = 0; rank < count; ++rank) {
            const pid_t process = ::fork();
            if (process == 0) become(rank, parent, arguments);
            if (process < 0) {
                send(SIGKILL);
                throw ConfigError(std::string("the processes cannot be started: ") + std::strerror(errno));
            }
            children_.push_back({.process = process});
        }
        release_signals();
    }

    int wait() {
        Clock::time_point deadline = Clock::time_point::max();
        int passed_on = 0;
        while (!std::ranges::all_of(children_, &Child::ended)) {
            collect();
            if (stop_signal() != passed_on) {
                passed_on = stop_signal();
                send(passed_on);
            }
            if (broken_ && deadline == Clock::time_point::max()) deadline = Clock::now() + grace;
            if (Clock::now() > deadline) send(SIGKILL);
            std::this_thread::sleep_for(look_every);
        }
        return own_failure_ != 0 ? own_failure_ : first_failure_;
    }

private:
    void send(int signal) const {
        for (const Child& child : children_)
            if (!child.ended) ::kill(child.process, signal);
    }

    void collect() {
        for (std::size_t rank = 0; rank < children_.size(); ++rank) {
            Child& child = children_[rank];
            int status = 0;
            if (child.ended || ::waitpid(child.process, &status, WNOHANG) != child.process) continue;
            child.ended = true;
            child.code = WIFSIGNALED(status) ? signal_base + WTERMSIG(status) : WEXITSTATUS(status);
            if (WIFSIGNALED(status) && first_failure_ == 0) {
                const int number = WTERMSIG(status);
                log_error("process {} of {} was killed by signal {}{}", rank, children_.size(), number,
                          number == SIGKILL ? ", which is also how a system without memory ends it" : "");
            }
            first_failure_ = first_failure_ == 0 ? child.code : first_failure_;
            broken_ = broken_ || (child.code != 0 && !is_clean_stop(child.code));
            // Processes that failed because they lost another process exit with the device's code.
            if (own_failure_ == 0 && child.code != static_cast<int>(ExitCode::device))
                own_failure_ = child.code;
        }
    }

    TemporaryFolder meeting_{"meeting"};  // for the file through which the processes connect
    std::vector<Child> children_;
    int first_failure_ = 0, own_failure_ = 0;
    bool broken_ = false;  // so that the others cannot finish
};

/// Starts this program's command line `count` times, as the ranks of one job on this machine, and waits for
/// them. Signals are passed on to all. When one process fails, the others are ended. Returns 0, or the exit
/// code of the process that failed first through its own fault. No child outlives this process. Throws
/// ConfigError for more than eight per processor.
int launch_processes(int count) {
    constexpr int most_per_processor = 8;  // each takes 0.4 GB before it reads its options
    const int most = most_per_processor * resolve_threads(0);
    if (count > most) {
        throw ConfigError(fmt::format("--processes {}: at most {} are of use here, {} a processor", count,
                                      most, most_per_processor));
    }
    const StopDeadline none;  // the processes have their own
    return RankProcesses(count).wait();
}

/// Whether this process must start the others instead of training.
bool launches_processes(int processes) {
    return processes > 1 && training::ranks_from_environment().size == 1;
}

/// This process's rank. Silences the log of all ranks except the first. Throws ConfigError if --processes
/// contradicts the environment.
training::RankSpec rank_of_this_process(int processes) {
    training::RankSpec rank = training::ranks_from_environment();
    if (processes > 1 && processes != rank.size) {
        throw ConfigError("--processes " + std::to_string(processes) +
                          " contradicts the environment, in which this is one of " +
                          std::to_string(rank.size) + " processes; leave out --processes");
    }
    if (!rank.is_first()) set_up_log(Verbosity::quiet, "process " + std::to_string(rank.rank) + ": ");
    return rank;
}

void print_lines(const std::vector<std::string>& lines) {
    for (const std::string& line : lines)
        std::puts(line.c_str());
}

std::string which_model(const tasks::FinetuneSpec& spec, const training::LoopResult& result) {
    if (result.best_step) return "the best on validation, of step " + std::to_string(*result.best_step);
    if (spec.row().is_solved()) return "solved at once";
    if (spec.row().has_members()) return "the mean of " + counted(spec.sequence.members, "network");
    return "of the last step";
}

/// Logs which model finetune kept, and whether longer training would probably improve it.
void report_finetuned(const tasks::FinetuneSpec& spec, const training::LoopResult& result) {
    if (result.finished_before) {
        log_info("{}: this run is finished already", result.model.string());
        return;
    }
    log_info("{}: the model, {}", result.model.string(), which_model(spec, result));
    if (const auto advice = tasks::still_improving(spec, result)) log_info("{}", *advice);
}

}  // namespace

int run(const pretraining::PretrainSpec& spec) {
    if (launches_processes(spec.processes)) return launch_processes(spec.processes);
    const training::RankSpec rank = rank_of_this_process(spec.processes);
    if (!spec.dry_run)
        log_info("{}: the pretrained model", pretraining::pretrain(spec, rank).model.string());
    else if (rank.is_first())
        print_lines(pretraining::plan_lines(pretraining::plan_pretraining(spec, rank)));
    return 0;
}

int run(const EvaluateMlmOptions& options) {
    const Overwrite overwrite = options.output.overwrite;
    std::vector<std::unique_ptr<genome::TextOutput>> outputs;
    outputs.push_back(std::make_unique<genome::TextOutput>(options.output.output, overwrite));
    if (!options.token_scores.empty())
        outputs.push_back(std::make_unique<genome::TextOutput>(options.token_scores, overwrite));
    const Json report = pretraining::evaluate_mlm(
        options.spec, options.token_scores.empty() ? nullptr : outputs.back().get());
    outputs.front()->write(report.dump(2) + "\n");
    genome::commit_together(outputs);
    for (const std::string& line : pretraining::mlm_table(report))
        log_info("{}", line);
    return 0;
}

int run(const FinetuneOptions& options) {
    const tasks::FinetuneSpec& spec = options.spec;
    if (launches_processes(spec.processes)) return launch_processes(spec.processes);
    const training::RankSpec rank = rank_of_this_process(spec.processes);
    report_finetuned(spec, tasks::finetune(spec, rank));
    return 0;
}

int run(const tasks::TrainSpec& spec) {
    print_lines(spec.dry_run ? tasks::forecast_train(spec) : tasks::train(spec));
    return 0;
}

}  // namespace bigbird::cli
