// SPDX-License-Identifier: Apache-2.0
#include "bigbird/core/interrupt.hpp"

#include "bigbird/core/error.hpp"

#include <atomic>
#include <csignal>

namespace bigbird {

namespace {

std::atomic<int> received{0};
static_assert(std::atomic<int>::is_always_lock_free);

extern "C" void on_signal(int signal) {
    received.store(signal);
    struct sigaction again {};
    again.sa_handler = SIG_DFL;
    ::sigaction(signal, &again, nullptr);
}

}  // namespace

void install_signal_handlers() {
    struct sigaction action {};
    action.sa_handler = on_signal;
    ::sigemptyset(&action.sa_mask);
    ::sigaction(SIGINT, &action, nullptr);
    ::sigaction(SIGTERM, &action, nullptr);
    struct sigaction ignore {};
    ignore.sa_handler = SIG_IGN;
    ::sigaction(SIGPIPE, &ignore, nullptr);
}

int stop_signal() noexcept {
    return received.load();
}

void stop_if_asked() {
    const int signal = stop_signal();
    if (signal == 0) {
        return;
    }
    throw signal == SIGINT ? Stopped("stopped by an interrupt (SIGINT)", ExitCode::interrupted)
                           : Stopped("stopped by a request to end (SIGTERM)", ExitCode::terminated);
}

void set_stop_signal(int signal) noexcept {
    received.store(signal);
}

}  // namespace bigbird
