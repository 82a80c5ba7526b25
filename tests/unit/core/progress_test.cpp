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
#include <cstdlib>
#include <functional>
#include <regex>
#include <stdexcept>
#include <string>
#include <thread>

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
                   std::fflush(stderr);
                   ::fcntl(terminal, F_SETFL, O_NONBLOCK);
                   std::array<char, 4096> text{};
                   const ssize_t size = ::read(terminal, text.data(), text.size());
                   std::fwrite(text.data(), 1, size > 0 ? static_cast<std::size_t>(size) : 0, stdout);
                   return 0;
               },
               60s)
        .out;
}

const std::string clear_line = "\r\033[K";

}  // namespace

DOCTEST_TEST_CASE("progress: durations read as people say them") {
    DOCTEST_CHECK(Progress::duration(0.04) == "0.0 s");
    DOCTEST_CHECK(Progress::duration(12.34) == "12.3 s");
    DOCTEST_CHECK(Progress::duration(59.9) == "59.9 s");
    DOCTEST_CHECK(Progress::duration(60) == "1 min 00 s");
    DOCTEST_CHECK(Progress::duration(245) == "4 min 05 s");
    DOCTEST_CHECK(Progress::duration(3599.4) == "59 min 59 s");
    DOCTEST_CHECK(Progress::duration(3599.5) == "1 h 00 min");
    DOCTEST_CHECK(Progress::duration(11220) == "3 h 07 min");
    DOCTEST_CHECK(Progress::duration(360'000) == "100 h 00 min");
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
        Progress progress("training", "pieces", 500);
        progress.update(100);
        std::this_thread::sleep_for(20ms);
        progress.update(400, "loss 2.31");
        progress.finish();
        progress.finish();  // once is enough
    });
    DOCTEST_CAPTURE(lines);
    DOCTEST_CHECK(std::regex_match(
        lines, std::regex("bigbird-dna: training: 400 pieces, [0-9]+ pieces/s, [0-9.]+ s, loss 2\\.31\n")));
}

DOCTEST_TEST_CASE("progress: what a resumed run had done before does not count into its rate") {
    const std::string lines = plain_lines(Verbosity::normal, [] {
        Progress progress("training", "steps", 0);
        progress.update(1'000'000);
        std::this_thread::sleep_for(250ms);
        progress.update(1'000'001);
        progress.finish();
    });
    std::smatch rate;
    DOCTEST_REQUIRE(std::regex_search(lines, rate, std::regex(", ([0-9.]+) steps/s, ")));
    DOCTEST_CHECK(std::stod(rate[1]) <= 4.0);
    DOCTEST_CHECK(rate[1].str().find('.') + 3 == rate[1].str().size());  // slow rates have two digits more
}

DOCTEST_TEST_CASE("progress: quiet is quiet") {
    DOCTEST_CHECK(plain_lines(Verbosity::quiet, [] {
                      Progress progress("training", "pieces", 500);
                      progress.update(400);
                      progress.finish();
                  }).empty());
}

DOCTEST_TEST_CASE("progress: on a terminal the line renews itself, some times a second, and ends") {
    const std::string text = terminal_text([] {
        Progress progress("scoring", "windows", 400);
        progress.update(0);  // too soon to be shown
        std::this_thread::sleep_for(210ms);
        progress.update(100);
        progress.update(101);  // too soon again
        progress.finish();
    });
    DOCTEST_CAPTURE(text);
    DOCTEST_CHECK(text.starts_with(clear_line + "scoring: 100/400 windows, "));
    DOCTEST_CHECK(std::regex_search(text, std::regex(", [0-9.]+ s left")));
    DOCTEST_CHECK(text.find("101/400") == std::string::npos);
    const std::size_t last = text.rfind(clear_line);
    DOCTEST_CHECK(last > 0);
    DOCTEST_CHECK(text.substr(last + clear_line.size()).starts_with("scoring: 101 windows, "));
    DOCTEST_CHECK(text.ends_with("\n"));
}

DOCTEST_TEST_CASE("progress: the time left follows the share of the work where that is told") {
    const std::string text = terminal_text([] {
        Progress progress("training", "pieces", 1000);
        progress.update(0);
        std::this_thread::sleep_for(300ms);
        progress.update(1, "", 0.5);
        progress.end();
    });
    std::smatch left;
    DOCTEST_REQUIRE(std::regex_search(text, left, std::regex(", ([0-9.]+) s left")));
    DOCTEST_CHECK(std::stod(left[1]) >= 0.3);
    DOCTEST_CHECK(std::stod(left[1]) < 30);  // not the 299 s that one piece of a thousand tells
    DOCTEST_CHECK(text.ends_with(clear_line));
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
