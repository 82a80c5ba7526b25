// SPDX-License-Identifier: Apache-2.0
#include "cli/shell.hpp"

#include "support/temp_dir.hpp"

#include <sys/wait.h>

#include <cstdlib>

namespace bigbird::testing {

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
