// SPDX-License-Identifier: Apache-2.0
#include "bigbird/core/system/child_process.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/interrupt.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <exception>
#include <thread>

namespace bigbird {

namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr int signal_base = 128, not_started = 127, poll_ms = 50;

/// A pipe whose ends are closed with it.
class Pipe {
public:
    Pipe() {
        std::array<int, 2> ends{};
        if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
            throw ConfigError(std::string("a pipe cannot be made: ") + std::strerror(errno));
        }
        reading_ = ends[0];
        writing_ = ends[1];
    }
    ~Pipe() {
        close_end(reading_);
        close_end(writing_);
    }
    Pipe(const Pipe&) = delete;
    Pipe& operator=(const Pipe&) = delete;

    int reading() const { return reading_; }
    int writing() const { return writing_; }
    void close_reading() { close_end(reading_); }
    void close_writing() { close_end(writing_); }

private:
    static void close_end(int& end) {
        if (end >= 0) {
            ::close(end);
        }
        end = -1;
    }
    int reading_ = -1, writing_ = -1;
};

/// A child that is killed and waited for at the latest when this ends.
class Child {
public:
    explicit Child(pid_t id) : id_(id) {}
    ~Child() {
        if (id_ > 0) {
            ::kill(id_, SIGKILL);
            ::waitpid(id_, nullptr, 0);
        }
    }
    Child(const Child&) = delete;
    Child& operator=(const Child&) = delete;

    /// Its exit code, or 128 + signal, if it ended until `deadline`.
    bool ends(Clock::time_point deadline, int& code) {
        int status = 0;
        while (::waitpid(id_, &status, WNOHANG) == 0) {
            if (Clock::now() >= deadline) {
                return false;
            }
            std::this_thread::sleep_for(milliseconds(1));
        }
        id_ = -1;
        code = WIFEXITED(status) ? WEXITSTATUS(status) : signal_base + WTERMSIG(status);
        return true;
    }

private:
    pid_t id_;
};

/// Appends what has come; false at the end.
bool read_some(int from, std::string& text) {
    std::array<char, 4096> buffer{};
    const ssize_t count = ::read(from, buffer.data(), buffer.size());
    if (count > 0) {
        text.append(buffer.data(), static_cast<std::size_t>(count));
    }
    return count > 0 || (count < 0 && (errno == EINTR || errno == EAGAIN));
}

/// Reads both pipes to their ends; false where the time is up before.
bool read_all(Pipe& out, Pipe& err, ChildResult& result, Clock::time_point deadline) {
    while (out.reading() >= 0 || err.reading() >= 0) {
        stop_if_asked();
        if (Clock::now() >= deadline) {
            return false;
        }
        std::array<pollfd, 2> ends{pollfd{out.reading(), POLLIN, 0}, pollfd{err.reading(), POLLIN, 0}};
        if (::poll(ends.data(), ends.size(), poll_ms) <= 0) {
            continue;
        }
        if (ends[0].revents != 0 && !read_some(out.reading(), result.out)) {
            out.close_reading();
        }
        if (ends[1].revents != 0 && !read_some(err.reading(), result.err)) {
            err.close_reading();
        }
    }
    return true;
}

[[noreturn]] void be_child(const std::function<int()>& body, int out, int err) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    ::dup2(out, STDOUT_FILENO);
    ::dup2(err, STDERR_FILENO);
    int code = static_cast<int>(ExitCode::bug);
    try {
        code = body();
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
    }
    std::fflush(stdout);
    std::fflush(stderr);
    ::_exit(code);
}

}  // namespace

std::string ChildResult::failure() const {
    if (timed_out) {
        return "no answer within the time limit";
    }
    if (code > signal_base) {
        return std::string("ended by signal ") + std::to_string(code - signal_base) + " (" +
               ::strsignal(code - signal_base) + ")";
    }
    return err.empty() ? "exit code " + std::to_string(code) : err.substr(0, err.find('\n'));
}

ChildResult run_child(const std::function<int()>& body, milliseconds limit) {
    const Clock::time_point deadline = Clock::now() + limit;
    Pipe out, err;
    std::fflush(stdout);  // else the child's copy of what is still to be written is written, too
    const pid_t id = ::fork();
    if (id == 0) {
        be_child(body, out.writing(), err.writing());
    }
    if (id < 0) {
        throw ConfigError(std::string("a process cannot be started: ") + std::strerror(errno));
    }
    Child child(id);
    out.close_writing();
    err.close_writing();
    ChildResult result;
    result.timed_out = !read_all(out, err, result, deadline) || !child.ends(deadline, result.code);
    return result;
}

ChildResult run_child(const std::string& program, const std::vector<std::string>& words, milliseconds limit) {
    std::vector<char*> arguments;
    arguments.reserve(words.size() + 1);
    for (const std::string& word : words) {
        arguments.push_back(const_cast<char*>(word.c_str()));
    }
    arguments.push_back(nullptr);
    return run_child(
        [&] {
            ::execv(program.c_str(), arguments.data());
            std::fprintf(stderr, "%s cannot be started: %s\n", program.c_str(), std::strerror(errno));
            return not_started;
        },
        limit);
}

}  // namespace bigbird
