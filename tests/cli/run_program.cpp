// SPDX-License-Identifier: Apache-2.0
#include "cli/run_program.hpp"

#include "support/temp_dir.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>

#include <cstring>
#include <stdexcept>

extern char** environ;

namespace bigbird::testing {

ProgramResult run_program(const std::vector<std::string>& arguments, const std::string& input) {
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
    pid_t child = 0;
    const int failure = ::posix_spawn(&child, BIGBIRD_PROGRAM, &actions, nullptr, argv.data(), environ);
    ::posix_spawn_file_actions_destroy(&actions);
    if (failure != 0) {
        throw std::runtime_error(std::string(BIGBIRD_PROGRAM) +
                                 " cannot be started: " + std::strerror(failure));
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    const int code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    return {code, read_file(out), read_file(err)};
}

}  // namespace bigbird::testing
