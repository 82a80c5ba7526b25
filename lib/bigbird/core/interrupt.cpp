// SPDX-License-Identifier: Apache-2.0
#include "bigbird/core/interrupt.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/log.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <mutex>
#include <string>
#include <system_error>
#include <utility>

namespace bigbird {

namespace {

std::atomic<int> received{0};
std::atomic<bool> ends_at_once{false};
std::atomic<int> deadlines{0};  // number of live deadlines
static_assert(std::atomic<int>::is_always_lock_free && std::atomic<bool>::is_always_lock_free);
constexpr int signal_base = 128;
constexpr char answer[] =
    "bigbird-dna: stopping as soon as what is done is safe; the same signal again ends at once\n";

/// Milliseconds of the monotonic clock, above 0, when SIGTERM and SIGINT first came in; 0: they did not.
std::array<std::atomic<std::int64_t>, 2> asked_at{};
static_assert(std::atomic<std::int64_t>::is_always_lock_free);
constexpr std::int64_t one_signal_ms = 1000;

std::int64_t now_ms() {
    timespec now{};
    ::clock_gettime(CLOCK_MONOTONIC, &now);
    return std::int64_t{now.tv_sec} * 1000 + now.tv_nsec / 1'000'000 + 1;
}

extern "C" void on_signal(int signal) {
    if (ends_at_once.load()) ::_exit(signal_base + signal);
    const int error = errno;
    int none = 0;
    received.compare_exchange_strong(none, signal);
    const bool asks = signal == SIGTERM || signal == SIGINT;
    const std::size_t kind = signal == SIGINT ? 1 : 0;
    std::int64_t first = 0;
    const std::int64_t now = now_ms();
    const bool again = asks && !asked_at[kind].compare_exchange_strong(first, now);
    if (asks && !again && asked_at[1 - kind].load() == 0) [[maybe_unused]]
        const auto written = ::write(STDERR_FILENO, answer, sizeof answer - 1);
    if (!asks || (again && now - first >= one_signal_ms)) {
        struct sigaction action {};
        action.sa_handler = asks ? SIG_DFL : SIG_IGN;
        ::sigaction(signal, &action, nullptr);
        if (asks) ::raise(signal);  // comes in when this handler returns
    }
    errno = error;
}

/// Gives signal handlers a separate stack. oneDNN's matrix products let the stack pointer point into their
/// workspace on the heap (oneDNN issue 4845, up to 3.11): a handler that ran there would overwrite the heap.
void use_signal_stack() {
    alignas(64) static char memory[64 * 1024];  // the processor saves up to 11 KiB there, with AMX
    stack_t stack{};
    stack.ss_sp = memory;
    stack.ss_size = sizeof memory;
    ::sigaltstack(&stack, nullptr);
}

void mask_signals(int how) noexcept {
    sigset_t signals;
    ::sigemptyset(&signals);
    for (const int signal : stop_signals)
        ::sigaddset(&signals, signal);
    ::pthread_sigmask(how, &signals, nullptr);
}

}  // namespace

void install_signal_handlers() {
    use_signal_stack();
    struct sigaction action {};
    action.sa_handler = on_signal;
    action.sa_flags = SA_ONSTACK;
    ::sigemptyset(&action.sa_mask);
    for (const int signal : stop_signals) {
        struct sigaction now {};
        const bool is_ignored = ::sigaction(signal, nullptr, &now) == 0 && now.sa_handler == SIG_IGN;
        if (!is_ignored) ::sigaction(signal, &action, nullptr);
    }
    std::signal(SIGPIPE, SIG_IGN);
    std::signal(SIGXFSZ, SIG_IGN);
    release_signals();
}

void take_signals_on_own_thread() {
    mask_signals(SIG_BLOCK);
    std::thread([] {
        mask_signals(SIG_UNBLOCK);
        while (true)
            ::pause();
    }).detach();
}

void hold_signals() {
    mask_signals(SIG_BLOCK);
    stop_if_asked();
}

void release_signals() noexcept {
    mask_signals(SIG_UNBLOCK);
}

EndAtSignal::EndAtSignal() {
    ends_at_once.store(true);
    if (stop_signal() != 0) {
        ends_at_once.store(false);
        stop_if_asked();
    }
}

EndAtSignal::~EndAtSignal() {
    ends_at_once.store(false);
}

namespace {

/// Gives this thread priority over the others, whose results are dropped.
void go_before_other_threads() {
    constexpr int least = 19;
    std::error_code unknown;
    for (const auto& thread : std::filesystem::directory_iterator("/proc/self/task", unknown)) {
        const int id = std::stoi(thread.path().filename().string());
        if (id != ::gettid()) ::setpriority(PRIO_PROCESS, static_cast<id_t>(id), least);
    }
}

[[noreturn]] void end_process(const std::function<void()>& keep) {
    ExitCode code = ExitCode::write_failed;
    try {
        go_before_other_threads();
        keep();
        stop_if_asked();
    } catch (const Stopped& stopped) {
        log_warning("{}", stopped.what());
        code = stopped.code();
    } catch (const Error& error) {
        log_error("{}", error.what());
        code = error.code();
    } catch (const std::exception& error) {
        log_error("what is done cannot be kept: {}", error.what());
    }
    std::fflush(stdout);
    ::_exit(static_cast<int>(code));
}

}  // namespace

StopDeadline::StopDeadline() : depth_(++deadlines) {}

StopDeadline::StopDeadline(std::chrono::milliseconds grace, std::function<void()> keep) : StopDeadline() {
    const auto watch = [grace, keep = std::move(keep), depth = depth_](const std::stop_token& over) {
        constexpr std::chrono::milliseconds look_every{50};
        std::mutex mutex;
        std::condition_variable_any ended;
        std::unique_lock lock(mutex);
        const auto is_asked_after = [&](std::chrono::milliseconds time) {
            ended.wait_for(lock, over, time, [] { return false; });
            return stop_signal() != 0 && depth == deadlines.load() && !over.stop_requested();
        };
        while (!over.stop_requested())
            if (is_asked_after(look_every) && is_asked_after(grace)) end_process(keep);
    };
    try {
        watch_ = std::jthread(watch);
    } catch (const std::system_error&) {  // no thread
    }
}

StopDeadline::~StopDeadline() {
    watch_.request_stop();
    if (watch_.joinable()) watch_.join();
    --deadlines;
}

int stop_signal() noexcept {
    return received.load();
}

void stop_if_asked() {
    const int signal = stop_signal();
    if (signal == 0) return;
    constexpr std::pair<int, const char*> reasons[] = {
        {SIGHUP, "stopped as the terminal closed (SIGHUP)"},
        {SIGINT, "stopped by an interrupt (SIGINT)"},
        {SIGXCPU, "stopped as the limit of processor time was reached (SIGXCPU)"},
        {SIGUSR1, "stopped by a request to end (SIGUSR1)"},
        {SIGUSR2, "stopped by a request to end (SIGUSR2)"}};
    for (const auto& [known, reason] : reasons)
        if (signal == known) throw Stopped(reason, static_cast<ExitCode>(signal_base + signal));
    throw Stopped("stopped by a request to end (SIGTERM)", ExitCode::terminated);
}

void set_stop_signal(int signal) noexcept {
    received.store(signal);
}

}  // namespace bigbird
