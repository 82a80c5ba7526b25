// SPDX-License-Identifier: Apache-2.0
#include "bigbird/core/interrupt.hpp"

#include "bigbird/core/error.hpp"

#include <unistd.h>

#include <atomic>
#include <csignal>

namespace bigbird {

namespace {

std::atomic<int> received{0};
std::atomic<bool> ends_at_once{false};
static_assert(std::atomic<int>::is_always_lock_free && std::atomic<bool>::is_always_lock_free);
constexpr int signal_base = 128;

extern "C" void on_signal(int signal) {
    if (ends_at_once.load()) {
        ::_exit(signal_base + signal);
    }
    received.store(signal);
    struct sigaction again {};
    again.sa_handler = signal == SIGTERM || signal == SIGINT ? SIG_DFL : SIG_IGN;
    ::sigaction(signal, &again, nullptr);
}

/// Handlers run on memory of their own. oneDNN's matrix products let the stack pointer point into their
/// workspace, on the heap (its issue 4845, up to 3.11): a handler that ran there would write over the heap.
void use_signal_stack() {
    alignas(64) static char memory[64 * 1024];  // what the processor saves there is up to 11 KiB, with AMX
    stack_t stack{};
    stack.ss_sp = memory;
    stack.ss_size = sizeof memory;
    ::sigaltstack(&stack, nullptr);
}

void mask_signals(int how) noexcept {
    sigset_t signals;
    ::sigemptyset(&signals);
    for (const int signal : stop_signals) {
        ::sigaddset(&signals, signal);
    }
    ::pthread_sigmask(how, &signals, nullptr);
}

bool is_ignored(int signal) noexcept {
    struct sigaction now {};
    return ::sigaction(signal, nullptr, &now) == 0 && now.sa_handler == SIG_IGN;
}

}  // namespace

void install_signal_handlers() {
    use_signal_stack();
    struct sigaction action {};
    action.sa_handler = on_signal;
    action.sa_flags = SA_ONSTACK;
    ::sigemptyset(&action.sa_mask);
    for (const int signal : stop_signals) {
        if (signal != SIGHUP || !is_ignored(signal)) {
            ::sigaction(signal, &action, nullptr);
        }
    }
    struct sigaction ignore {};
    ignore.sa_handler = SIG_IGN;
    ::sigaction(SIGPIPE, &ignore, nullptr);
    ::sigaction(SIGXFSZ, &ignore, nullptr);
    release_signals();
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

int stop_signal() noexcept {
    return received.load();
}

void stop_if_asked() {
    switch (stop_signal()) {
        case 0:
            return;
        case SIGHUP:
            throw Stopped("stopped as the terminal closed (SIGHUP)", ExitCode::hung_up);
        case SIGINT:
            throw Stopped("stopped by an interrupt (SIGINT)", ExitCode::interrupted);
        case SIGXCPU:
            throw Stopped("stopped as the limit of processor time was reached (SIGXCPU)",
                          ExitCode::out_of_time);
        case SIGUSR1:
            throw Stopped("stopped by a request to end (SIGUSR1)", ExitCode::user_signal);
        case SIGUSR2:
            throw Stopped("stopped by a request to end (SIGUSR2)", ExitCode::user_signal2);
        default:
            throw Stopped("stopped by a request to end (SIGTERM)", ExitCode::terminated);
    }
}

void set_stop_signal(int signal) noexcept {
    received.store(signal);
}

}  // namespace bigbird
