// SPDX-License-Identifier: Apache-2.0
// Work that may crash or hang, done in a process of its own.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

namespace bigbird {

struct ChildResult {
    int code = -1;  ///< exit code, or 128 + signal
    bool timed_out = false;
    std::string out, err;  ///< standard output and error, up to its end

    bool succeeded() const { return code == 0 && !timed_out; }
    /// Why it did not succeed, in a few words: the time limit, the signal, or the first line of its standard
    /// error.
    std::string failure() const;
};

/// Forks; `body` runs in the child, whose exit code it returns. An exception there becomes its text on
/// standard error and exit code 70. A child that outlasts `limit` is killed. Call it where this process has
/// one thread, or with a body that does nothing but exec. Throws Stopped where a signal came in meanwhile.
ChildResult run_child(const std::function<int()>& body, std::chrono::milliseconds limit);

/// The same for a program, by its path; `words` are its arguments with the program's name in front.
ChildResult run_child(const std::string& program, const std::vector<std::string>& words,
                      std::chrono::milliseconds limit);

}  // namespace bigbird
