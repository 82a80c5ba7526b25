// SPDX-License-Identifier: Apache-2.0
#include "cli/run_program.hpp"

#include "support/temp_dir.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <chrono>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <thread>

extern char** environ;

namespace bigbird::testing {

namespace {

// Limits the size of files for the children started while it lives.
class FileLimit {
public:
    explicit FileLimit(std::uint64_t bytes)
        : old_handler_(std::signal(SIGXFSZ, bytes > 0 ? SIG_IGN : SIG_DFL)) {
        ::getrlimit(RLIMIT_FSIZE, &old_limit_);
        rlimit limit = old_limit_;
        limit.rlim_cur = bytes > 0 ? bytes : limit.rlim_cur;
        ::setrlimit(RLIMIT_FSIZE, &limit);
    }
    ~FileLimit() {
        ::setrlimit(RLIMIT_FSIZE, &old_limit_);
        std::signal(SIGXFSZ, old_handler_);
    }
    FileLimit(const FileLimit&) = delete;
    FileLimit& operator=(const FileLimit&) = delete;

private:
    rlimit old_limit_{};
    void (*old_handler_)(int);
};

/// Whether the process handles the signal, or holds it back until it does.
bool handles(pid_t process, int signal) {
    std::ifstream in("/proc/" + std::to_string(process) + "/status");
    for (std::string key, value; in >> key >> value;) {
        if (key != "SigBlk:" && key != "SigCgt:") continue;
        if ((std::stoull(value, nullptr, 16) >> (signal - 1) & 1U) != 0) return true;
    }
    return false;
}

void disturb(pid_t child, const std::string& err, const Disturbance& disturbance) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (disturbance.signal != 0 && std::chrono::steady_clock::now() < deadline) {
        if (read_file(err).find(disturbance.once_said) != std::string::npos &&
            (disturbance.once_filled.empty() || !std::filesystem::is_empty(disturbance.once_filled))) {
            if (!handles(child, disturbance.signal)) continue;
            std::this_thread::sleep_for(std::chrono::milliseconds(disturbance.milliseconds));
            ::kill(child, disturbance.signal);
            return;
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
}

}  // namespace

std::string program_path() {
    return BIGBIRD_PROGRAM;
}

std::string fake_driver_folder() {
    return BIGBIRD_FAKE_DRIVER;
}

ProgramResult run_program(const std::vector<std::string>& arguments, const std::string& input,
                          const Disturbance& disturbance) {
    const TempDir folder;
    write_file(folder / "in", input);
    std::vector<std::string> words{"bigbird-dna"};
    words.insert(words.end(), arguments.begin(), arguments.end());
    std::vector<char*> argv;
    for (std::string& word : words) {
        argv.push_back(word.data());
    }
    argv.push_back(nullptr);

    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    const std::string in = folder / "in", out = folder / "out", err = folder / "err";
    ::posix_spawn_file_actions_addopen(&actions, 0, in.c_str(), O_RDONLY, 0);
    ::posix_spawn_file_actions_addopen(&actions, 1, out.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    ::posix_spawn_file_actions_addopen(&actions, 2, err.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    const std::string program = disturbance.program.empty() ? program_path() : disturbance.program;
    pid_t child = 0;
    const int failure = [&] {
        const FileLimit limit(disturbance.largest_file);
        return ::posix_spawn(&child, program.c_str(), &actions, nullptr, argv.data(), environ);
    }();
    ::posix_spawn_file_actions_destroy(&actions);
    if (failure != 0) {
        throw std::runtime_error(program + " cannot be started: " + std::strerror(failure));
    }
    disturb(child, err, disturbance);
    int status = 0;
    ::waitpid(child, &status, 0);
    const int code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    return {code, WIFSIGNALED(status), read_file(out), read_file(err)};
}

}  // namespace bigbird::testing
