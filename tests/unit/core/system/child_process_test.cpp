// SPDX-License-Identifier: Apache-2.0
#include "bigbird/core/system/child_process.hpp"

#include "support/testing.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/interrupt.hpp"
#include "bigbird/core/system/fork_server.hpp"

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <mutex>
#include <new>
#include <stdexcept>
#include <string>
#include <thread>

using namespace bigbird;
using namespace std::chrono_literals;

DOCTEST_TEST_CASE("child_process: what it says and the code with which it ends come back") {
    const ChildResult result = run_child(
        [] {
            std::fputs("out", stdout);
            std::fputs("err", stderr);
            return 3;
        },
        20s);
    DOCTEST_CHECK(result.code == 3);
    DOCTEST_CHECK(result.out == "out");
    DOCTEST_CHECK(result.failure() == "err");
    DOCTEST_CHECK_FALSE(result.succeeded());
}

DOCTEST_TEST_CASE("child_process: an exception, a signal and a time limit are told apart") {
    const ChildResult thrown = run_child([]() -> int { throw InputError("bad"); }, 20s);
    DOCTEST_CHECK(thrown.code == 70);
    DOCTEST_CHECK(thrown.failure() == "bad");
    DOCTEST_CHECK(run_child([] { return 5; }, 20s).failure() == "exit code 5");
    DOCTEST_CHECK(ChildResult{.code = 5, .out = "", .err = "first line\nsecond line\n"}.failure() ==
                  "first line");
    const ChildResult killed = run_child([]() -> int { return ::raise(SIGKILL); }, 20s);
    DOCTEST_CHECK(killed.code == 128 + SIGKILL);
    DOCTEST_CHECK(killed.failure() == "ended by signal 9 (Killed)");
    const auto start = std::chrono::steady_clock::now();
    const ChildResult hanging = run_child(
        [] {
            std::fputs("so far", stdout);
            std::fflush(stdout);
            ::pause();
            return 0;
        },
        200ms);
    DOCTEST_CHECK(hanging.timed_out);
    DOCTEST_CHECK(hanging.out == "so far");
    DOCTEST_CHECK(hanging.failure() == "no answer within the time limit");
    DOCTEST_CHECK(std::chrono::steady_clock::now() - start < 10s);
}

DOCTEST_TEST_CASE("child_process: programs are started with their arguments, or why not is said") {
    DOCTEST_CHECK(run_child("/bin/echo", {"echo", "a b", "c"}, 20s).out == "a b c\n");
    const ChildResult none = run_child("/nonexistent/program", {"program"}, 20s);
    DOCTEST_CHECK(none.code == 127);
    DOCTEST_CHECK(none.failure() == "/nonexistent/program cannot be started: No such file or directory");
}

namespace {

std::size_t open_files() {
    std::size_t count = 0;
    for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator("/proc/self/fd"))
        ++count;
    return count;
}

bool has_children() {
    return ::waitpid(-1, nullptr, WNOHANG) == 0 || errno != ECHILD;
}

}  // namespace

DOCTEST_TEST_CASE("child_process: much on both ends at once does not stop either") {
    const std::string much(500'000, 'x');
    const ChildResult result = run_child(
        [&] {
            for (int i = 0; i < 10; ++i)
                std::fputs(much.c_str(), i % 2 == 0 ? stdout : stderr);
            return 0;
        },
        60s);
    DOCTEST_CHECK(result.succeeded());
    DOCTEST_CHECK(result.out.size() == 5 * much.size());
    DOCTEST_CHECK(result.err.size() == 5 * much.size());
}

DOCTEST_TEST_CASE(
    "child_process: the limit holds for one that has closed its ends, and for what it started") {
    const auto start = std::chrono::steady_clock::now();
    const ChildResult silent = run_child(
        [] {
            ::close(STDOUT_FILENO);
            ::close(STDERR_FILENO);
            return ::pause();
        },
        200ms);
    DOCTEST_CHECK(silent.timed_out);
    DOCTEST_CHECK_FALSE(silent.succeeded());
    const ChildResult parent = run_child(
        [] {
            if (::fork() == 0) {  // holds the ends open after its parent is gone
                std::this_thread::sleep_for(3s);
                ::_exit(0);
            }
            return 0;
        },
        200ms);
    DOCTEST_CHECK(parent.timed_out);
    DOCTEST_CHECK(run_child("/bin/sleep", {"sleep", "30"}, 200ms).timed_out);
    DOCTEST_CHECK(std::chrono::steady_clock::now() - start < 20s);
}

DOCTEST_TEST_CASE("child_process: neither processes nor open files stay behind, however it ends") {
    const std::size_t before = open_files();
    for (int round = 0; round < 5; ++round) {
        run_child([] { return 0; }, 20s);
        run_child([] { return ::pause(); }, 20ms);
        run_child([]() -> int { throw InputError("bad"); }, 20s);
        run_child("/nonexistent/program", {"program"}, 20s);
        set_stop_signal(SIGTERM);
        DOCTEST_CHECK_THROWS_AS(run_child([] { return ::pause(); }, 20s), Stopped);
        set_stop_signal(0);
    }
    DOCTEST_CHECK(open_files() == before);
    DOCTEST_CHECK_FALSE(has_children());
}

DOCTEST_TEST_CASE("child_process: what this process had still to write is written once") {
    const ChildResult outer = run_child(
        [] {
            std::fputs("once ", stdout);
            const ChildResult inner = run_child(
                [] {
                    std::fputs("inner", stdout);
                    return 0;
                },
                20s);
            std::fputs(inner.out.c_str(), stdout);
            return 0;
        },
        20s);
    DOCTEST_CHECK(outer.out == "once inner");
}

namespace {

using Words = ChildReader::Words;
using Send = ChildReader::Send;

const std::string long_text(std::size_t{40} << 20, 'x');

void tell(const std::filesystem::path& file, const Words& words, const Send& send) {
    send(std::to_string(::getpid()) == words.at(0) ? "here" : "there");
    send(file.string() + words.at(1) + words.at(2));
    send(long_text);
}

void fail(const std::filesystem::path&, const Words& words, const Send&) {
    if (words[0] == "input") throw InputError("is odd", "a.mat", 3);
    if (words[0] == "bug") throw std::logic_error("no");
    if (words[0] == "memory") throw std::bad_alloc();
    if (words[0] == "signal") ::raise(SIGSEGV);
    ::_exit(5);
}

void wait_for_ever(const std::filesystem::path&, const Words&, const Send&) {
    while (true)
        ::pause();
}

std::mutex shared;

void lock_and_send(const std::filesystem::path&, const Words&, const Send& send) {
    const std::scoped_lock lock(shared);
    send(std::string(long_text));
}

/// 32 GiB of address space that are in use, as a GPU's driver takes.
class Mapped {
public:
    ~Mapped() { ::munmap(memory_, size); }

private:
    static constexpr std::size_t size = std::size_t{32} << 30;
    void* memory_ = ::mmap(nullptr, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
};

}  // namespace

DOCTEST_TEST_CASE("child_process: a reader's messages come in order and whole, from a process of its own") {
    ChildReader reader("a.mat", tell, {std::to_string(::getpid()), "", long_text});
    DOCTEST_CHECK(reader.next() == "there");
    DOCTEST_CHECK(reader.next() == "a.mat" + long_text);
    DOCTEST_CHECK(reader.next() == long_text);
    DOCTEST_CHECK_THROWS_AS(reader.next(), InputError);
}

DOCTEST_TEST_CASE("child_process: a reader's errors are thrown on, and a crash is damage to the file") {
    const auto error_of = [](const std::string& what) {
        ChildReader reader("a.mat", fail, {what});
        return testing::message_of<std::exception>([&] { reader.next(); });
    };
    const auto all = [&] {
        DOCTEST_CHECK(error_of("input") == "a.mat:3: is odd");
        DOCTEST_CHECK(error_of("bug") == "no");
        DOCTEST_CHECK(error_of("memory") == std::bad_alloc().what());
        DOCTEST_CHECK(error_of("signal") ==
                      "a.mat: is damaged: the library that reads it ended by signal 11 (Segmentation fault)");
        DOCTEST_CHECK(error_of("exit") ==
                      "a.mat: is damaged: the library that reads it ended with exit code 5");
    };
    all();
    const ForkServer server;
    all();
}

DOCTEST_TEST_CASE("child_process: a reader that gives no answer is ended, also by a signal to the asker") {
    const auto ask = [] {
        ChildReader reader("a.mat", wait_for_ever, {}, 100ms);
        DOCTEST_CHECK(testing::message_of<InputError>([&] { reader.next(); }) ==
                      "a.mat: is damaged: the library that reads it gave no answer");
        set_stop_signal(SIGTERM);
        DOCTEST_CHECK_THROWS_AS(reader.next(), Stopped);
        set_stop_signal(0);
    };
    const std::size_t before = open_files();
    ask();
    {
        const ForkServer server;
        ask();
    }
    DOCTEST_CHECK(open_files() == before);
    DOCTEST_CHECK_FALSE(has_children());
}

DOCTEST_TEST_CASE("child_process: a fork server's readers inherit no lock and no memory of later times") {
    const ForkServer server;
    const std::scoped_lock held(shared);
    const Mapped mapped;
    ChildReader first("a.mat", lock_and_send, {}, 20s), second("b.mat", lock_and_send, {}, 20s);
    DOCTEST_CHECK(second.next() == long_text);
    DOCTEST_CHECK(first.next() == long_text);
}
