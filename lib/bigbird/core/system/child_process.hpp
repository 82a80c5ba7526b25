// SPDX-License-Identifier: Apache-2.0
// Runs work that may crash or hang in a separate process.
#pragma once

#include <chrono>
#include <cstring>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace bigbird {

struct ChildResult {
    int code = -1;  ///< exit code, or 128 + signal
    bool timed_out = false;
    std::string out, err;  ///< standard output and error, up to its end

    bool succeeded() const { return code == 0 && !timed_out; }
    /// Why the child failed, in a few words: the time limit, the signal, or the first line of its standard
    /// error.
    std::string failure() const;
};

/// Forks, and runs `body` in the child; its result is the child's exit code. For an exception, the child
/// prints the text to standard error and exits with 70. A child that runs longer than `limit` is killed. Call
/// it where other threads only wait, holding no lock that `body` takes, or with a body that only calls exec.
/// Throws Stopped if a stop signal arrives during the call.
ChildResult run_child(const std::function<int()>& body, std::chrono::milliseconds limit);

/// Runs a program, given by its path. `words`: its arguments, beginning with the program's name.
ChildResult run_child(const std::string& program, const std::vector<std::string>& words,
                      std::chrono::milliseconds limit);

/// Reads an untrusted file with a library that may crash or loop on it. A child process reads the file and
/// sends the content. The child takes at most 16 GiB of memory and ends with this object. Not thread-safe.
class ChildReader {
public:
    using Send = std::function<void(std::string_view)>;
    using Words = std::vector<std::string>;
    /// A function of the file and of words, which sends messages.
    using Read = void (*)(const std::filesystem::path& file, const Words& words, const Send& send);

    /// `read` runs in a child that ForkServer forks. `words` have no zero bytes. `patience`: the time limit
    /// for each message.
    ChildReader(std::filesystem::path file, Read read, const Words& words = {},
                std::chrono::milliseconds patience = std::chrono::minutes(2));
    ~ChildReader();
    ChildReader(const ChildReader&) = delete;
    ChildReader& operator=(const ChildReader&) = delete;

    /// The next message. Throws InputError and std::bad_alloc as `read` did, std::runtime_error for its other
    /// exceptions, InputError if the child ended or sends nothing more, and Stopped if a stop signal arrives.
    std::string next();
    /// The next message, as the numbers that were passed to bytes_of().
    template <typename Number>
    std::vector<Number> next_numbers() {
        const std::string bytes = next();
        std::vector<Number> numbers(bytes.size() / sizeof(Number));
        if (bytes.size() != numbers.size() * sizeof(Number)) throw_unfit();
        if (!bytes.empty()) std::memcpy(numbers.data(), bytes.data(), bytes.size());
        return numbers;
    }
    /// Throws InputError: the child's message has the wrong size.
    [[noreturn]] void throw_unfit() const;

    /// Numbers, or structures of them, as a message.
    template <typename Number>
    static std::string_view bytes_of(const std::vector<Number>& numbers) {
        return {reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(Number)};
    }

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace bigbird
