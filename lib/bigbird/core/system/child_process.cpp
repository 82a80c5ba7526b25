// SPDX-License-Identifier: Apache-2.0
#include "bigbird/core/system/child_process.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/interrupt.hpp"
#include "bigbird/core/system/fork_server.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <new>
#include <optional>
#include <stdexcept>
#include <thread>
#include <utility>

namespace bigbird {

namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr int signal_base = 128, not_started = 127, poll_ms = 50;

}  // namespace

/// A pipe, or a connection that is read and written at both ends; the destructor closes both ends.
struct Pipe {
    int reading = -1, writing = -1;

    explicit Pipe(bool both_ways = false) {
        std::array<int, 2> ends{};
        if ((both_ways ? ::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data())
                       : ::pipe2(ends.data(), O_CLOEXEC)) != 0)
            throw ConfigError(std::string("a pipe cannot be made: ") + std::strerror(errno));
        reading = ends[0];
        writing = ends[1];
    }
    ~Pipe() {
        close_end(reading);
        close_end(writing);
    }
    Pipe(const Pipe&) = delete;
    Pipe& operator=(const Pipe&) = delete;

    static void close_end(int& end) {
        if (end >= 0) ::close(end);
        end = -1;
    }
};

/// A child process. The destructor kills it, if it still runs, and waits for it.
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

    /// Waits until `deadline`; if the child has ended, sets `code` to its exit code, or to 128 + signal.
    bool ends(Clock::time_point deadline, int& code) {
        int status = 0;
        while (::waitpid(id_, &status, WNOHANG) == 0) {
            if (Clock::now() >= deadline) return false;
            std::this_thread::sleep_for(milliseconds(1));
        }
        id_ = -1;
        code = WIFEXITED(status) ? WEXITSTATUS(status) : signal_base + WTERMSIG(status);
        return true;
    }

private:
    pid_t id_;
};

namespace {

/// Appends the available bytes; returns false at the end.
bool read_some(int from, std::string& text) {
    std::array<char, 4096> buffer{};
    const ssize_t count = ::read(from, buffer.data(), buffer.size());
    if (count > 0) text.append(buffer.data(), static_cast<std::size_t>(count));
    return count > 0 || (count < 0 && (errno == EINTR || errno == EAGAIN));
}

/// Reads both pipes to their ends; returns false if the time runs out.
bool read_all(Pipe& out, Pipe& err, ChildResult& result, Clock::time_point deadline) {
    while (out.reading >= 0 || err.reading >= 0) {
        stop_if_asked();
        if (Clock::now() >= deadline) return false;
        std::array<pollfd, 2> ends{pollfd{out.reading, POLLIN, 0}, pollfd{err.reading, POLLIN, 0}};
        if (::poll(ends.data(), ends.size(), poll_ms) <= 0) continue;
        if (ends[0].revents != 0 && !read_some(out.reading, result.out)) Pipe::close_end(out.reading);
        if (ends[1].revents != 0 && !read_some(err.reading, result.err)) Pipe::close_end(err.reading);
    }
    return true;
}

std::string signal_text(int signal) {
    return "ended by signal " + std::to_string(signal) + " (" + ::strsignal(signal) + ")";
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
    if (timed_out) return "no answer within the time limit";
    if (code > signal_base) return signal_text(code - signal_base);
    return err.empty() ? "exit code " + std::to_string(code) : err.substr(0, err.find('\n'));
}

ChildResult run_child(const std::function<int()>& body, milliseconds limit) {
    const Clock::time_point deadline = Clock::now() + limit;
    Pipe out, err;
    const pid_t id = fork_here();
    if (id == 0) be_child(body, out.writing, err.writing);
    Child child(id);
    Pipe::close_end(out.writing);
    Pipe::close_end(err.writing);
    ChildResult result;
    result.timed_out = !read_all(out, err, result, deadline) || !child.ends(deadline, result.code);
    return result;
}

ChildResult run_child(const std::string& program, const std::vector<std::string>& words, milliseconds limit) {
    std::vector<char*> arguments;
    arguments.reserve(words.size() + 1);
    for (const std::string& word : words)
        arguments.push_back(const_cast<char*>(word.c_str()));
    arguments.push_back(nullptr);
    return run_child(
        [&] {
            ::execv(program.c_str(), arguments.data());
            std::fprintf(stderr, "%s cannot be started: %s\n", program.c_str(), std::strerror(errno));
            return not_started;
        },
        limit);
}

namespace {

/// The head of a message.
struct Head {
    enum class Kind : std::uint64_t { message, input_error, out_of_memory, other_error } kind{};
    std::uint64_t size = 0;
};

/// Reads or writes all bytes in the child; ends it where the parent is gone.
template <auto Transfer, typename Byte>
void transfer(int connection, Byte* data, std::size_t size) {
    while (size > 0) {
        const ssize_t count = Transfer(connection, data, size);
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) ::_exit(0);
        data += count;
        size -= static_cast<std::size_t>(count);
    }
}

/// Silences libraries' messages, since exceptions inform the user, and leaves signals to the parent.
void prepare_reader() {
    [[maybe_unused]] constexpr rlim_t most_memory = rlim_t{16} << 30;
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (const int signal : stop_signals)
        std::signal(signal, SIG_IGN);
    for (const int signal : {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL})
        std::signal(signal, SIG_DFL);
    const rlimit no_core{0, 0};
    ::setrlimit(RLIMIT_CORE, &no_core);
#ifndef __SANITIZE_ADDRESS__  // which maps more than any limit
    const rlimit memory{most_memory, most_memory};
    ::setrlimit(RLIMIT_AS, &memory);
#endif
    ::dup2(::open("/dev/null", O_WRONLY | O_CLOEXEC), STDERR_FILENO);
}

/// What a reader's process is told first; then come the file's name and the words, each with a zero byte.
struct Request {
    ChildReader::Read read = nullptr;
    std::size_t size = 0;
};

void be_reader(int connection) {
    const auto send = [connection](Head::Kind kind, std::string_view text) {
        const Head head{kind, text.size()};
        transfer<::write>(connection, reinterpret_cast<const char*>(&head), sizeof head);
        transfer<::write>(connection, text.data(), text.size());
    };
    prepare_reader();
    try {
        Request request;
        transfer<::read>(connection, reinterpret_cast<char*>(&request), sizeof request);
        std::string text(request.size, '\0');
        transfer<::read>(connection, text.data(), text.size());
        std::vector<std::string> words;
        for (std::size_t at = 0; at < text.size(); at += words.back().size() + 1)
            words.emplace_back(text.c_str() + at);
        const std::filesystem::path file = words.front();
        words.erase(words.begin());
        request.read(file, words, [&](std::string_view message) { send(Head::Kind::message, message); });
    } catch (const InputError& error) {
        send(Head::Kind::input_error, error.what());
    } catch (const std::bad_alloc&) {
        send(Head::Kind::out_of_memory, "");
    } catch (const std::exception& error) {
        send(Head::Kind::other_error, error.what());
    }
}

}  // namespace

struct ChildReader::State {
    std::filesystem::path file;
    milliseconds patience;
    Pipe pipe{true};
    std::optional<Child> child;

    /// Waits for bytes; throws if none arrive.
    void read(char* data, std::size_t size, Clock::time_point deadline) {
        while (size > 0) {
            pollfd end{pipe.reading, POLLIN, 0};
            const bool ready = ::poll(&end, 1, poll_ms) > 0;
            stop_if_asked();
            if (!ready && Clock::now() >= deadline) throw_damaged("gave no answer");
            if (!ready) continue;
            const ssize_t count = ::read(pipe.reading, data, size);
            if (count < 0 && errno == EINTR) continue;
            if (count <= 0) throw_ended();
            data += count;
            size -= static_cast<std::size_t>(count);
        }
    }
    [[noreturn]] void throw_damaged(const std::string& how) const {
        throw InputError("is damaged: the library that reads it " + how, file);
    }
    [[noreturn]] void throw_ended() {
        int code = 0;
        const bool ended = child->ends(Clock::now() + std::chrono::seconds(1), code);
        if (ended && code == static_cast<int>(ExitCode::device))
            throw std::bad_alloc();  // HDF5 called exit()
        throw_damaged(ended && code > signal_base ? signal_text(code - signal_base)
                                                  : "ended with exit code " + std::to_string(code));
    }
};

ChildReader::ChildReader(std::filesystem::path file, Read read, const Words& words, milliseconds patience)
    : state_(new State{.file = std::move(file), .patience = patience, .child = {}}) {
    state_->child.emplace(ForkServer::fork(be_reader, state_->pipe.writing));
    Pipe::close_end(state_->pipe.writing);
    std::string text = state_->file.string() + '\0';
    for (const std::string& word : words)
        (text += word) += '\0';
    const Request request{read, text.size()};
    text.insert(0, reinterpret_cast<const char*>(&request), sizeof request);
    for (std::string_view left = text; !left.empty();) {  // a child that ended is found by next()
        const ssize_t count = ::send(state_->pipe.reading, left.data(), left.size(), MSG_NOSIGNAL);
        if (count < 0 && errno != EINTR) break;
        left.remove_prefix(static_cast<std::size_t>(std::max<ssize_t>(0, count)));
    }
}

ChildReader::~ChildReader() = default;

void ChildReader::throw_unfit() const {
    throw InputError("is damaged: its reader gave no answer that fits", state_->file);
}

std::string ChildReader::next() {
    constexpr std::uint64_t most_at_once = std::uint64_t{1} << 24;
    const Clock::time_point deadline = Clock::now() + state_->patience;
    Head head;
    state_->read(reinterpret_cast<char*>(&head), sizeof head, deadline);
    std::string text;
    while (text.size() <
           head.size) {  // reads in chunks, so that a wrong size from the child does not allocate memory
        const std::size_t had = text.size();
        text.resize(std::min<std::uint64_t>(head.size, had + most_at_once));
        state_->read(text.data() + had, text.size() - had, deadline);
    }
    switch (head.kind) {
        case Head::Kind::message:
            return text;
        case Head::Kind::input_error:
            throw InputError(text);
        case Head::Kind::out_of_memory:
            throw std::bad_alloc();
        case Head::Kind::other_error:
            break;
    }
    throw std::runtime_error(text);
}

}  // namespace bigbird
