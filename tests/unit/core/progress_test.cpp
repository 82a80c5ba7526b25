// SPDX-License-Identifier: Apache-2.0
#include "bigbird/core/progress.hpp"

#include "support/testing.hpp"

#include "bigbird/core/log.hpp"
#include "bigbird/core/system/child_process.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

using bigbird::Progress;
using bigbird::Verbosity;
using namespace std::chrono_literals;

namespace {

/// What `body` writes to standard error where that is a file.
std::string plain_lines(Verbosity verbosity, const std::function<void()>& body) {
    return bigbird::run_child(
               [&] {
                   bigbird::set_up_log(verbosity);
                   body();
                   return 0;
               },
               60s)
        .err;
}

constexpr char end_of_text = '\x03';

/// Copies to standard output what `terminal` says before `end`: a terminal hands bytes on when it likes.
bool copy_until(int terminal, char end) {
    std::array<char, 4096> text{};
    for (;;) {
        const ssize_t size = ::read(terminal, text.data(), text.size());
        if (size <= 0) return false;
        const std::string_view part(text.data(), static_cast<std::size_t>(size));
        const std::size_t stop = part.find(end);
        std::fwrite(text.data(), 1, stop == part.npos ? part.size() : stop, stdout);
        if (stop != part.npos) return true;
    }
}

/// A clock that stands until it is set forward.
struct StoppedClock {
    Progress::Clock::time_point time;
    std::function<Progress::Clock::time_point()> now = [this] { return time; };
};

/// What `body` writes to standard error where that is a terminal.
std::string terminal_text(const std::function<void()>& body) {
    return bigbird::run_child(
               [&] {
                   const int terminal = ::posix_openpt(O_RDWR | O_NOCTTY);
                   if (terminal < 0 || ::grantpt(terminal) != 0 || ::unlockpt(terminal) != 0) return 1;
                   const int side = ::open(::ptsname(terminal), O_RDWR | O_NOCTTY);
                   if (side < 0 || ::dup2(side, STDERR_FILENO) < 0) return 2;
                   bigbird::set_up_log(Verbosity::normal);
                   body();
                   std::fputc(end_of_text, stderr);
                   std::fflush(stderr);
                   return copy_until(terminal, end_of_text) ? 0 : 3;
               },
               60s)
        .out;
}

const std::string clear_line = "\r\033[K";

}  // namespace

DOCTEST_TEST_CASE("progress: durations read as people say them") {
    const std::pair<double, const char*> expected[] = {
        {0.04, "0.0 s"},       {12.34, "12.3 s"},        {59.9, "59.9 s"},        {59.96, "1 min 00 s"},
        {60, "1 min 00 s"},    {245, "4 min 05 s"},      {3599.4, "59 min 59 s"}, {3599.5, "1 h 00 min"},
        {11220, "3 h 07 min"}, {360'000, "100 h 00 min"}};
    for (const auto& [seconds, text] : expected)
        DOCTEST_CHECK(Progress::duration(seconds) == text);
}

DOCTEST_TEST_CASE("progress: ends with the seconds that passed") {
    Progress progress("work", "steps", 10);
    progress.update(3);
    std::this_thread::sleep_for(20ms);
    const double seconds = progress.end();
    DOCTEST_CHECK(seconds >= 0.02);
    DOCTEST_CHECK(seconds < 60);
}

DOCTEST_TEST_CASE("progress: in a file, one line at the end, with total, rate, time and note") {
    const std::string lines = plain_lines(Verbosity::normal, [] {
        StoppedClock clock;
        Progress progress("training", "pieces", 500, clock.now);
        progress.update(100);
        clock.time += 20ms;
        progress.update(400, "loss 2.31");
        progress.finish();
        progress.finish();  // once is enough
        Progress one("training", "labels", 1, clock.now);
        one.update(1);
        one.finish();
    });
    DOCTEST_CHECK(lines ==
                  "bigbird-dna: training: 400 pieces, 15000 pieces/s, 0.0 s, loss 2.31\n"
                  "bigbird-dna: training: 1 label, 0.0 s\n");
}

DOCTEST_TEST_CASE("progress: what a resumed run had done before does not count into its rate") {
    const std::string lines = plain_lines(Verbosity::normal, [] {
        StoppedClock clock;
        Progress progress("training", "steps", 0, clock.now);
        progress.update(1'000'000);
        clock.time += 250ms;
        progress.update(1'000'001);
        progress.finish();
    });
    DOCTEST_CHECK(lines == "bigbird-dna: training: 1000001 steps, 4.00 steps/s, 0.2 s\n");
}

DOCTEST_TEST_CASE("progress: quiet is quiet") {
    DOCTEST_CHECK(plain_lines(
                      Verbosity::quiet,
                      [] {
                          Progress progress("training", "pieces", 500);
                          progress.update(400);
                          progress.finish();
                      })
                      .empty());
}

DOCTEST_TEST_CASE("progress: on a terminal the line renews itself, some times a second, and ends") {
    const std::string text = terminal_text([] {
        StoppedClock clock;
        Progress progress("scoring", "windows", 400, clock.now);
        progress.update(0);  // too soon to be shown
        clock.time += 210ms;
        progress.update(100);
        progress.update(101);  // too soon again
        progress.finish();
    });
    DOCTEST_CHECK(text == clear_line + "scoring: 100/400 windows, 476 windows/s, 0.6 s left" +  //
                              clear_line + "scoring: 101 windows, 481 windows/s, 0.2 s\r\n");
}

DOCTEST_TEST_CASE("progress: the time left follows the share of the work where that is told") {
    const std::string text = terminal_text([] {
        StoppedClock clock;
        Progress progress("training", "pieces", 1000, clock.now);
        progress.update(0);
        clock.time += 300ms;
        progress.update(1, "", 0.5);
        progress.end();
    });
    // half the work took 0.3 s; one piece of a thousand would tell 299 s
    DOCTEST_CHECK(text == clear_line + "training: 1/1000 pieces, 3.33 pieces/s, 0.3 s left" + clear_line);
}

DOCTEST_TEST_CASE("progress: a line that an exception left half done stays readable") {
    const std::string text = terminal_text([] {
        try {
            Progress progress("training", "pieces", 1000);
            progress.update(1);
            throw std::runtime_error("broken");
        } catch (const std::runtime_error&) {
        }
        std::fputs("error", stderr);
    });
    DOCTEST_CHECK(text == "\r\nerror");  // the terminal's own \r
}
