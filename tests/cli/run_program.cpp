// SPDX-License-Identifier: Apache-2.0
#include "cli/run_program.hpp"

#include "support/temp_dir.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>

extern char** environ;

namespace bigbird::testing {

namespace {

// Limits the size of files for the children started while it lives.
class FileLimit {
public:
    explicit FileLimit(std::uint64_t bytes) {
        ::getrlimit(RLIMIT_FSIZE, &old_limit_);
        rlimit limit = old_limit_;
        limit.rlim_cur = bytes > 0 ? bytes : limit.rlim_cur;
        ::setrlimit(RLIMIT_FSIZE, &limit);
    }
    ~FileLimit() { ::setrlimit(RLIMIT_FSIZE, &old_limit_); }
    FileLimit(const FileLimit&) = delete;
    FileLimit& operator=(const FileLimit&) = delete;

private:
    rlimit old_limit_{};
};

/// Whether `signal` is in a set of signals of a process or thread, such as SigBlk; none where it has ended.
std::optional<bool> has_signal(const std::filesystem::path& process, const std::string& set, int signal) {
    std::ifstream in(process / "status");
    for (std::string line; std::getline(in, line);) {
        if (!line.starts_with(set + ":")) continue;
        return (std::stoull(line.substr(set.size() + 1), nullptr, 16) >> (signal - 1) & 1U) != 0;
    }
    return std::nullopt;
}

/// Whether the process handles the signal, or holds it back until it does.
bool handles(const std::filesystem::path& process, int signal) {
    return has_signal(process, "SigBlk", signal).value_or(false) ||
           has_signal(process, "SigCgt", signal).value_or(false);
}

void count_threads(const std::filesystem::path& process, int signal, ProgramResult& result) {
    std::error_code ended;
    for (const auto& thread : std::filesystem::directory_iterator(process / "task", ended)) {
        const std::optional<bool> held = has_signal(thread, "SigBlk", signal);
        if (!held) continue;
        ++result.threads;
        result.open_threads += *held ? 0 : 1;
    }
}

void disturb(pid_t child, const std::string& err, const Disturbance& disturbance, ProgramResult& result) {
    const std::filesystem::path process = "/proc/" + std::to_string(child);
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (disturbance.signal != 0 && std::chrono::steady_clock::now() < deadline) {
        if (read_file(err).find(disturbance.once_said) != std::string::npos &&
            (disturbance.once_filled.empty() || !std::filesystem::is_empty(disturbance.once_filled))) {
            if (!handles(process, disturbance.signal)) {
                std::this_thread::sleep_for(std::chrono::milliseconds(1));
                continue;
            }
            std::this_thread::sleep_for(std::chrono::milliseconds(disturbance.milliseconds));
            count_threads(process, disturbance.signal, result);
            ::kill(child, disturbance.signal);
            std::this_thread::sleep_for(std::chrono::milliseconds(5));  // pending ones would become one
            if (disturbance.twice) ::kill(child, disturbance.signal);
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
    for (std::string& word : words)
        argv.push_back(word.data());
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
    if (failure != 0) throw std::runtime_error(program + " cannot be started: " + std::strerror(failure));
    ProgramResult result;
    disturb(child, err, disturbance, result);
    int status = 0;
    ::waitpid(child, &status, 0);
    result.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    result.by_signal = WIFSIGNALED(status);
    result.out = read_file(out);
    result.err = read_file(err);
    return result;
}

bool has_shell(const std::string& name) {
    return std::system(("command -v " + name + " >/dev/null 2>&1").c_str()) == 0;
}

ProgramResult run_shell(const std::string& shell, const std::string& script) {
    const TempDir home;
    write_file(home / "script", script);
    const std::string out = home / "out";
    const std::string command = "HOME='" + home.path().string() + "' " + shell + " '" +
                                (home / "script").string() + "' >'" + out + "' 2>&1";
    const int status = std::system(command.c_str());
    return {.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status),
            .out = read_file(out),
            .err = {}};
}

}  // namespace bigbird::testing
