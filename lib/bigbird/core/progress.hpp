// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>

namespace bigbird {

/// Shows the progress of long work: a line that is updated on a terminal, a new line every half minute
/// elsewhere, nothing when quiet. One thread updates it. Writes to standard error only.
class Progress {
public:
    using Clock = std::chrono::steady_clock;

    /// `total` 0 means unknown. `unit` is what is counted: "documents", "windows", "steps". `now` returns the
    /// time.
    Progress(std::string label, std::string unit, std::int64_t total,
             std::function<Clock::time_point()> now = Clock::now);
    ~Progress();
    Progress(const Progress&) = delete;
    Progress& operator=(const Progress&) = delete;

    /// Sets the amount done so far, and a note shown after it ("loss 2.31"). Cheap: prints at most a few
    /// times per second. `share` of the total work, where units take unequal time: the estimate of the time
    /// left uses it.
    void update(std::int64_t done, const std::string& note = {}, double share = 0);
    /// Ends the line; prints the total, the time and the rate.
    void finish();
    /// Ends the line without a message, for callers that print their own. Returns the seconds that passed.
    double end();

    /// "12.3 s", "4 min 05 s", "3 h 07 min".
    static std::string duration(double seconds);

private:
    void show(bool last);

    std::string label_, unit_, note_;
    std::int64_t total_, done_ = 0, started_at_ = -1;
    double share_ = 0;
    std::function<Clock::time_point()> now_;
    Clock::time_point start_, shown_;
    bool terminal_, quiet_, finished_ = false;
};

/// The seconds that `work` takes.
template <typename Work>
double seconds_of(const Work& work) {
    const auto start = std::chrono::steady_clock::now();
    work();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace bigbird
