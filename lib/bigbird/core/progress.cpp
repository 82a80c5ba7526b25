// SPDX-License-Identifier: Apache-2.0
#include "bigbird/core/progress.hpp"

#include "bigbird/core/log.hpp"

#include <unistd.h>

#include <cmath>
#include <cstdio>

namespace bigbird {

namespace {

constexpr double terminal_interval = 0.2, plain_interval = 30.0;  // seconds

double seconds_between(std::chrono::steady_clock::time_point from, std::chrono::steady_clock::time_point to) {
    return std::chrono::duration<double>(to - from).count();
}

}  // namespace

Progress::Progress(std::string label, std::string unit, std::int64_t total,
                   std::function<Clock::time_point()> now)
    : label_(std::move(label)),
      unit_(std::move(unit)),
      total_(total),
      now_(std::move(now)),
      start_(now_()),
      shown_(start_),
      terminal_(::isatty(STDERR_FILENO) == 1),
      quiet_(log_verbosity() == Verbosity::quiet) {}

Progress::~Progress() {
    if (terminal_ && !quiet_ && !finished_ && started_at_ >= 0)
        std::fputc('\n', stderr);  // leave the half-done line readable
}

void Progress::update(std::int64_t done, const std::string& note, double share) {
    if (started_at_ < 0) started_at_ = done;  // excludes work done before a resume from the rate
    done_ = done;
    note_ = note;
    share_ = share;
    const double since = seconds_between(shown_, now_());
    if (!quiet_ && since >= (terminal_ ? terminal_interval : plain_interval)) {
        show(false);
        shown_ = now_();
    }
}

void Progress::finish() {
    if (!finished_ && !quiet_) show(true);
    finished_ = true;
}

double Progress::end() {
    if (terminal_ && !quiet_ && !finished_ && started_at_ >= 0) std::fputs("\r\033[K", stderr);
    finished_ = true;
    return seconds_between(start_, now_());
}

std::string Progress::duration(double seconds) {
    const auto whole = std::llround(seconds);
    if (seconds < 59.95)  // what rounds to 60.0 is a minute
        return fmt::format("{:.1f} s", seconds);
    if (whole < 3600) return fmt::format("{} min {:02} s", whole / 60, whole % 60);
    return fmt::format("{} h {:02} min", whole / 3600, whole % 3600 / 60);
}

void Progress::show(bool last) {
    const double elapsed = seconds_between(start_, now_());
    const double rate =
        elapsed > 0 ? static_cast<double>(done_ - (started_at_ < 0 ? 0 : started_at_)) / elapsed : 0;
    std::string line = label_ + ": " + std::to_string(done_) +
                       (total_ > 0 && !last ? "/" + std::to_string(total_) : "") + " " + unit_;
    if (last && done_ == 1 && unit_.ends_with('s') && !unit_.ends_with("ies")) line.pop_back();
    if (rate > 0) line += fmt::format(", {:.{}f} {}/s", rate, rate < 10 ? 2 : 0, unit_);
    if (last)
        line += ", " + duration(elapsed);
    else if (share_ > 0)
        line += ", " + duration(elapsed / share_ * (1 - share_)) + " left";
    else if (total_ > 0 && rate > 0)
        line += ", " + duration(static_cast<double>(total_ - done_) / rate) + " left";
    if (!note_.empty()) line += ", " + note_;
    if (terminal_) {
        std::fprintf(stderr, "\r\033[K%s%s", line.c_str(), last ? "\n" : "");
        std::fflush(stderr);
    } else {
        log_info("{}", line);
    }
}

}  // namespace bigbird
