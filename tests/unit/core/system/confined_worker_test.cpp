// SPDX-License-Identifier: Apache-2.0
#include "bigbird/core/system/confined_worker.hpp"

#include "support/testing.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/interrupt.hpp"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <ctime>
#include <new>

using namespace bigbird;

DOCTEST_TEST_CASE("confined_worker: what it holds lives from one request to the next, in its own process") {
    int asked = 0;
    ConfinedWorker worker([&asked, maker = ::getpid()](std::string_view request) {
        return std::to_string(++asked) + std::string(request) + (::getpid() == maker ? "here" : "there");
    });
    DOCTEST_CHECK(worker.ask("a") == "1athere");
    DOCTEST_CHECK(worker.ask("") == "2there");
    DOCTEST_CHECK(asked == 0);
}

DOCTEST_TEST_CASE("confined_worker: long answers and requests come whole") {
    ConfinedWorker worker(
        [](std::string_view request) { return std::string(request) + std::string(request); });
    const std::string long_text(std::size_t{40} << 20, 'x');
    DOCTEST_CHECK(worker.ask(long_text) == long_text + long_text);
}

DOCTEST_TEST_CASE("confined_worker: its errors are the asker's, and it goes on") {
    ConfinedWorker worker([](std::string_view request) -> std::string {
        if (request == "input") throw InputError("is odd", "a.mat", 3);
        if (request == "memory") throw std::bad_alloc();
        if (request == "other") throw std::logic_error("no");
        return "fine";
    });
    DOCTEST_CHECK(testing::message_of<InputError>([&] { worker.ask("input"); }) == "a.mat:3: is odd");
    DOCTEST_CHECK_THROWS_AS(worker.ask("memory"), std::bad_alloc);
    DOCTEST_CHECK(testing::message_of<std::runtime_error>([&] { worker.ask("other"); }) == "no");
    DOCTEST_CHECK(worker.ask("") == "fine");
}

DOCTEST_TEST_CASE("confined_worker: a crash is told, once and again") {
    const auto how = [](auto end) {
        ConfinedWorker worker([end](std::string_view) -> std::string {
            end();
            return {};
        });
        const std::string first = testing::message_of<WorkerEnded>([&] { worker.ask(""); });
        DOCTEST_CHECK_THROWS_AS(worker.ask(""), WorkerEnded);
        return first;
    };
    DOCTEST_CHECK(how([] { ::raise(SIGSEGV); }) == "by signal 11 (Segmentation fault)");
    DOCTEST_CHECK(how([] { ::raise(SIGKILL); }) == "by signal 9 (Killed)");
    DOCTEST_CHECK(how([] { ::_exit(5); }) == "with exit code 5");
}

DOCTEST_TEST_CASE("confined_worker: a loop without end is ended, a long wait is not") {
    ConfinedWorker worker(
        [](std::string_view request) -> std::string {
            if (request == "wait") ::poll(nullptr, 0, 1500);
            volatile bool busy = request == "loop";
            while (busy) {
            }
            return "fine";
        },
        {.processor_time = std::chrono::seconds(1)});
    DOCTEST_CHECK(worker.ask("wait") == "fine");
    DOCTEST_CHECK(testing::message_of<WorkerEnded>([&] { worker.ask("loop"); }) ==
                  "after 1 s of processor time without an answer");
    DOCTEST_CHECK_THROWS_AS(worker.ask(""), WorkerEnded);
}

DOCTEST_TEST_CASE("confined_worker: the time of a request is its own") {
    ConfinedWorker worker(
        [](std::string_view) -> std::string {
            const std::clock_t begin = std::clock();
            while (std::clock() - begin < CLOCKS_PER_SEC * 6 / 10) {
            }
            return "fine";
        },
        {.processor_time = std::chrono::seconds(1)});
    for (int i = 0; i < 3; ++i)
        DOCTEST_CHECK(worker.ask("") == "fine");
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // whose operator new ends the process
DOCTEST_TEST_CASE("confined_worker: its memory has a limit, and the asker's has none") {
    ConfinedWorker worker(
        [](std::string_view request) {
            return std::to_string(std::string(std::size_t{1} << (request == "much" ? 30 : 20), 'x').size());
        },
        {.memory = std::uint64_t{500} << 20});
    DOCTEST_CHECK(worker.ask("little") == "1048576");
    DOCTEST_CHECK_THROWS_AS(worker.ask("much"), std::bad_alloc);
    DOCTEST_CHECK(worker.ask("little") == "1048576");
    DOCTEST_CHECK(std::string(std::size_t{1} << 30, 'x').back() == 'x');
}
#endif

DOCTEST_TEST_CASE("confined_worker: what is said of the file on which it ended") {
    ConfinedWorker worker([](std::string_view request) -> std::string {
        if (request == "end") ::raise(SIGSEGV);
        throw InputError("is odd", "a.mat");
    });
    DOCTEST_CHECK(testing::message_of<InputError>([&] { worker.ask_about("a.mat", ""); }) == "a.mat: is odd");
    DOCTEST_CHECK(testing::message_of<InputError>([&] { worker.ask_about("a.mat", "end"); }) ==
                  "a.mat: is damaged: the library that reads it ended by signal 11 (Segmentation fault)");
}

DOCTEST_TEST_CASE("confined_worker: where the channel breaks, a worker that lives on is ended") {
    const int channel = ::dup(STDERR_FILENO);  // its number is the channel's
    ::close(channel);
    ConfinedWorker worker([](std::string_view) { return std::string(); });
    DOCTEST_CHECK(worker.ask("").empty());
    const int broken = ::open("/dev/null", O_RDONLY);
    DOCTEST_REQUIRE(::dup2(broken, channel) == channel);
    DOCTEST_CHECK_THROWS_AS(worker.ask(""), WorkerEnded);
    ::close(broken);
}

DOCTEST_TEST_CASE("confined_worker: a signal ends the wait") {
    ConfinedWorker worker([](std::string_view) -> std::string {
        while (true)
            ::pause();
    });
    set_stop_signal(SIGTERM);
    DOCTEST_CHECK_THROWS_AS(worker.ask(""), Stopped);
    set_stop_signal(0);
}
