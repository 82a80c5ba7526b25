// SPDX-License-Identifier: Apache-2.0
#include "bigbird/core/interrupt.hpp"

#include "support/testing.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/system/child_process.hpp"

#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <functional>
#include <string>
#include <thread>
#include <vector>

using namespace bigbird;
using namespace std::chrono_literals;

namespace {

/// The exit code of a stop for `signal`, and what it says.
std::pair<ExitCode, std::string> stop_of(int signal) {
    set_stop_signal(signal);
    try {
        stop_if_asked();
    } catch (const Stopped& stopped) {
        set_stop_signal(0);
        return {stopped.code(), stopped.what()};
    }
    set_stop_signal(0);
    return {ExitCode::success, ""};
}

/// The exit code of a process of its own.
int code_of(const std::function<int()>& body) {
    return run_child(body, 20s).code;
}

#ifdef __x86_64__
/// Sends this process a signal while the stack pointer is `stack`, as it is within matrix products of oneDNN.
void signal_on_stack(int signal, char* stack) {
    long number = SYS_kill;
    asm volatile(
        "mov %%rsp, %%rbx\n\t"
        "mov %[stack], %%rsp\n\t"
        "syscall\n\t"
        "mov %%rbx, %%rsp"
        : "+a"(number)
        : "D"(static_cast<long>(::getpid())), "S"(static_cast<long>(signal)), [stack] "r"(stack)
        : "rbx", "rcx", "r11", "memory");
}
#endif

}  // namespace

DOCTEST_TEST_CASE("interrupt: what was ignored at the start stays ignored") {
    for (const int signal : stop_signals) {
        DOCTEST_CAPTURE(signal);
        const auto before = ::signal(signal, SIG_IGN);
        install_signal_handlers();
        std::raise(signal);
        DOCTEST_CHECK(stop_signal() == 0);
        ::signal(signal, before == SIG_IGN ? SIG_DFL : before);
    }
}

DOCTEST_TEST_CASE(
    "interrupt: each signal becomes the exit code that shells expect, and is told by its name") {
    const std::pair<int, const char*> expected[] = {
        {SIGINT, "stopped by an interrupt (SIGINT)"},
        {SIGTERM, "stopped by a request to end (SIGTERM)"},
        {SIGHUP, "stopped as the terminal closed (SIGHUP)"},
        {SIGXCPU, "stopped as the limit of processor time was reached (SIGXCPU)"},
        {SIGUSR1, "stopped by a request to end (SIGUSR1)"},
        {SIGUSR2, "stopped by a request to end (SIGUSR2)"}};
    for (const auto& [signal, what] : expected)
        DOCTEST_CHECK(stop_of(signal) == std::pair(static_cast<ExitCode>(128 + signal), std::string(what)));
    DOCTEST_CHECK(stop_of(0).first == ExitCode::success);
}

DOCTEST_TEST_CASE(
    "interrupt: the first signal lets the work end, the same one a second later ends it at once") {
    const auto ends_after = [](const std::vector<int>& signals, std::chrono::milliseconds pause = 0ms) {
        return code_of([=] {
            install_signal_handlers();
            for (const int signal : signals) {
                std::raise(signal);
                std::this_thread::sleep_for(pause);
            }
            return stop_signal();
        });
    };
    DOCTEST_CHECK(ends_after({}) == 0);
    for (const int signal : stop_signals) {
        DOCTEST_CHECK(ends_after({signal}) == signal);
        DOCTEST_CHECK(ends_after({signal, signal, signal}) ==
                      signal);  // one for the child, one for its group
        const bool ends_at_second = signal == SIGTERM || signal == SIGINT;
        DOCTEST_CHECK(ends_after({signal, signal}, 1100ms) == (ends_at_second ? 128 + signal : signal));
    }
    // The first counts. Batch systems send another one before they kill.
    DOCTEST_CHECK(ends_after({SIGTERM, SIGINT}) == SIGTERM);
    DOCTEST_CHECK(ends_after({SIGUSR1, SIGINT, SIGTERM}, 1100ms) == SIGUSR1);
}

DOCTEST_TEST_CASE("interrupt: a reader that went away is a failed write, not the end of the program") {
    const int child = code_of([] {
        install_signal_handlers();
        std::array<int, 2> ends{};
        if (::pipe(ends.data()) != 0) return 1;
        ::close(ends[0]);
        return ::write(ends[1], "x", 1) < 0 && errno == EPIPE ? 7 : 8;
    });
    DOCTEST_CHECK(child == 7);
}

DOCTEST_TEST_CASE("interrupt: all threads see a signal") {
    const int child = code_of([] {
        install_signal_handlers();
        int seen = 0;
        std::jthread worker([&] {
            while (stop_signal() == 0)
                std::this_thread::yield();
            seen = stop_signal();
        });
        ::kill(::getpid(), SIGINT);
        worker.join();
        return seen == SIGINT ? 7 : 8;
    });
    DOCTEST_CHECK(child == 7);
}

DOCTEST_TEST_CASE(
    "interrupt: a signal that was held back across exec() comes in when the handlers are installed") {
    for (const int signal : stop_signals) {
        const int child = code_of([=] {
            hold_signals();
            std::raise(signal);
            if (stop_signal() != 0) return 8;
            install_signal_handlers();
            return stop_signal() == signal ? 7 : 9;
        });
        DOCTEST_CHECK(child == 7);
    }
    const int late = code_of([] {
        install_signal_handlers();
        std::raise(SIGTERM);
        try {
            hold_signals();
        } catch (const Stopped&) {
            return 7;
        }
        return 8;
    });
    DOCTEST_CHECK(late == 7);
}

DOCTEST_TEST_CASE(
    "interrupt: where nothing can be interrupted, a signal ends the process with its exit code") {
    const auto ends = [](bool inside, int signal) {
        return code_of([=] {
            install_signal_handlers();
            if (inside) {
                const EndAtSignal end_at_signal;
                std::raise(signal);
                return 8;
            }
            { const EndAtSignal end_at_signal; }
            std::raise(signal);
            return 7;
        });
    };
    for (const int signal : stop_signals) {
        DOCTEST_CHECK(ends(true, signal) == 128 + signal);
        DOCTEST_CHECK(ends(false, signal) == 7);
    }
    set_stop_signal(SIGTERM);
    DOCTEST_CHECK_THROWS_AS(EndAtSignal{}, Stopped);
    set_stop_signal(0);
}

DOCTEST_TEST_CASE("interrupt: work that does not look at a signal is ended, what is done kept before") {
    const auto ends = [](int signal, std::chrono::milliseconds work, std::function<void()> keep) {
        return run_child(
            [=] {
                install_signal_handlers();
                const StopDeadline of_all(
                    5s, [] { ::_exit(9); });
                if (signal != 0) std::raise(signal);
                {
                    const StopDeadline deadline(200ms, keep);
                    std::this_thread::sleep_for(work);
                }
                const StopDeadline none;
                std::this_thread::sleep_for(300ms);
                return 7;
            },
            20s);
    };
    const auto keep = [] { std::puts("kept"); };
    for (const int signal : stop_signals) {
        const ChildResult ended = ends(signal, 60s, keep);
        DOCTEST_CHECK(ended.code == 128 + signal);
        DOCTEST_CHECK(ended.out == "kept\n");
        DOCTEST_CHECK(ended.err.find("stopped ") != std::string::npos);
    }
    DOCTEST_CHECK(ends(SIGTERM, 0s, keep).code == 7);
    DOCTEST_CHECK(ends(0, 500ms, keep).code == 7);
    const ChildResult full = ends(SIGTERM, 60s, [] { throw WriteError("the disk is full"); });
    DOCTEST_CHECK(full.code == 74);
    DOCTEST_CHECK(full.err.find("the disk is full") != std::string::npos);
}

#ifdef __x86_64__
DOCTEST_TEST_CASE("interrupt: a signal writes nothing where the stack pointer is") {
    const int child = code_of([] {
        install_signal_handlers();
        std::vector<char> heap(std::size_t{1} << 17, 'x');
        signal_on_stack(SIGTERM, heap.data() + heap.size() / 2);
        if (stop_signal() != SIGTERM) return 9;
        return heap == std::vector<char>(heap.size(), 'x') ? 7 : 8;
    });
    DOCTEST_CHECK(child == 7);
}
#endif
