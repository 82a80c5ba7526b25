// SPDX-License-Identifier: Apache-2.0
#include "bigbird/core/system/confined_worker.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/interrupt.hpp"
#include "bigbird/core/system/confinement.hpp"

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
#include <cstring>
#include <ctime>
#include <fstream>
#include <new>
#include <optional>
#include <system_error>
#include <thread>

namespace bigbird {

namespace {

constexpr int milliseconds_between_looks = 100;
constexpr std::uint64_t most_at_once = std::uint64_t{1} << 24;

/// What an answer begins with.
enum class Kind : char { answer = 'A', input_error = 'I', out_of_memory = 'M', other_error = 'E' };

/// A message is its length, 8 bytes, and its bytes. False where the other side is gone.
bool send_all(int channel, const char* data, std::size_t size) {
    while (size > 0) {
        const ssize_t count = ::send(channel, data, size, MSG_NOSIGNAL);
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) return false;
        data += count;
        size -= static_cast<std::size_t>(count);
    }
    return true;
}

bool send_message(int channel, std::string_view text) {
    const std::uint64_t size = text.size();
    std::array<char, sizeof size> head{};
    std::memcpy(head.data(), &size, sizeof size);
    return send_all(channel, head.data(), head.size()) && send_all(channel, text.data(), text.size());
}

/// Called again and again while the other side is waited for. May throw.
using Look = std::function<void()>;

bool read_all(int channel, char* data, std::size_t size, const Look& look) {
    while (size > 0) {
        pollfd ready{channel, POLLIN, 0};
        ::poll(&ready, 1, milliseconds_between_looks);
        look();
        if (ready.revents == 0) continue;
        const ssize_t count = ::read(channel, data, size);
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) return false;
        data += count;
        size -= static_cast<std::size_t>(count);
    }
    return true;
}

std::optional<std::string> receive_message(int channel, const Look& look) {
    std::uint64_t size = 0;
    std::array<char, sizeof size> head{};
    if (!read_all(channel, head.data(), head.size(), look)) return std::nullopt;
    std::memcpy(&size, head.data(), sizeof size);
    std::string text;
    while (text.size() < size) {  // no memory is taken by a number of the other side's
        const std::size_t had = text.size();
        text.resize(std::min<std::uint64_t>(size, had + most_at_once));
        if (!read_all(channel, text.data() + had, text.size() - had, look)) return std::nullopt;
    }
    return text;
}

std::string answer_to(const ConfinedWorker::Serve& serve, std::string_view request) {
    const auto message = [](Kind kind, std::string_view text) {
        return static_cast<char>(kind) + std::string(text);
    };
    try {
        return message(Kind::answer, serve(request));
    } catch (const InputError& error) {
        return message(Kind::input_error, error.what());
    } catch (const std::bad_alloc&) {
        return message(Kind::out_of_memory, "");
    } catch (const std::exception& error) {
        return message(Kind::other_error, error.what());
    }
}

/// What libraries say is not for the user, who is told by exceptions.
void silence_errors() {
    const int nothing = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (nothing < 0) return;
    ::dup2(nothing, STDERR_FILENO);
    ::close(nothing);
}

/// Lets the process take so many bytes more, or what `ulimit -v` leaves where that is less.
void limit_memory(std::uint64_t bytes) {
    std::uint64_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    rlimit limit{};
    if (pages == 0 || ::getrlimit(RLIMIT_AS, &limit) != 0) return;
    const auto page_size = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
    limit.rlim_cur = std::min<rlim_t>(limit.rlim_cur, pages * page_size + bytes);
    ::setrlimit(RLIMIT_AS, &limit);
}

/// What came in for the maker is the maker's; no file is left of a crash.
void prepare_child() {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (const int signal : stop_signals)
        std::signal(signal, SIG_IGN);
    for (const int signal : {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL})
        std::signal(signal, SIG_DFL);
    set_stop_signal(0);
    const rlimit none{0, 0};
    ::setrlimit(RLIMIT_CORE, &none);
    silence_errors();
}

[[noreturn]] void be_worker(int channel, const ConfinedWorker::Serve& serve, std::uint64_t memory) {
    prepare_child();
    limit_memory(memory);
    confine_process(channel);
    while (const std::optional<std::string> request = receive_message(channel, [] {})) {
        if (!send_message(channel, answer_to(serve, *request))) break;
    }
    ::_exit(0);
}

/// What the process has used so far; 0 of one that has ended.
std::chrono::nanoseconds processor_time_of(pid_t process) {
    clockid_t clock{};
    timespec used{};
    if (::clock_getcpuclockid(process, &clock) != 0 || ::clock_gettime(clock, &used) != 0) return {};
    return std::chrono::seconds(used.tv_sec) + std::chrono::nanoseconds(used.tv_nsec);
}

}  // namespace

ConfinedWorker::ConfinedWorker(Serve serve, const WorkerLimits& limits)
    : processor_time_(limits.processor_time) {
    std::array<int, 2> ends{};
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) {
        throw std::system_error(errno, std::generic_category(), "socketpair");
    }
    child_ = ::fork();
    if (child_ == 0) {
        ::close(ends[0]);
        be_worker(ends[1], serve, limits.memory);
    }
    const int reason = errno;
    ::close(ends[1]);
    channel_ = ends[0];
    if (child_ < 0) {
        ::close(channel_);
        throw std::system_error(reason, std::generic_category(), "fork");
    }
}

ConfinedWorker::~ConfinedWorker() {
    ::close(channel_);
    if (child_ > 0) {
        ::kill(child_, SIGKILL);
        ::waitpid(child_, nullptr, 0);
    }
}

/// One that lives on, where the channel to it broke, is killed.
int ConfinedWorker::wait_for_end() {
    constexpr int most_looks = 1000;
    int status = 0;
    for (int look = 0; look < most_looks; ++look) {
        if (::waitpid(child_, &status, WNOHANG) == child_) {
            child_ = -1;
            return status;
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    ::kill(child_, SIGKILL);
    while (::waitpid(child_, &status, 0) < 0 && errno == EINTR) {
    }
    child_ = -1;
    return status;
}

void ConfinedWorker::throw_ended() {
    const int status = wait_for_end();
    if (WIFSIGNALED(status)) {
        throw WorkerEnded("by signal " + std::to_string(WTERMSIG(status)) + " (" +
                          ::strsignal(WTERMSIG(status)) + ")");
    }
    if (WEXITSTATUS(status) == static_cast<int>(ExitCode::device))
        throw std::bad_alloc();  // as program.cpp ends
    throw WorkerEnded("with exit code " + std::to_string(WEXITSTATUS(status)));
}

void ConfinedWorker::require_time(std::chrono::nanoseconds used) {
    if (used <= processor_time_) return;
    ::kill(child_, SIGKILL);
    wait_for_end();
    throw WorkerEnded("after " + std::to_string(processor_time_.count()) +
                      " s of processor time without an answer");
}

std::string ConfinedWorker::ask(std::string_view request) {
    if (child_ < 0) throw WorkerEnded("before");
    const std::chrono::nanoseconds start = processor_time_of(child_);
    const Look look = [&] {
        stop_if_asked();
        require_time(processor_time_of(child_) - start);
    };
    std::optional<std::string> message;
    if (send_message(channel_, request)) message = receive_message(channel_, look);
    if (!message || message->empty()) throw_ended();
    std::string text = message->substr(1);
    switch (static_cast<Kind>(message->front())) {
        case Kind::answer:
            return text;
        case Kind::input_error:
            throw InputError(text);
        case Kind::out_of_memory:
            throw std::bad_alloc();
        case Kind::other_error:
            break;
    }
    throw std::runtime_error(text);
}

std::string ConfinedWorker::ask_about(const std::filesystem::path& file, std::string_view request) {
    try {
        return ask(request);
    } catch (const WorkerEnded& ended) {
        throw InputError(std::string("is damaged: the library that reads it ended ") + ended.what(), file);
    }
}

}  // namespace bigbird
