// SPDX-License-Identifier: Apache-2.0
#include "support/hand_over.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/interrupt.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace bigbird::cli {

std::filesystem::path tensor_program() {
    return std::filesystem::read_symlink("/proc/self/exe").parent_path() / "bigbird-dna-tensors";
}

void exec_tensor_program(char** argv) {
    const std::filesystem::path program = tensor_program();
    hold_signals();
    ::execv(program.c_str(), argv);
    throw ConfigError(program.string() + " cannot be started: " + std::strerror(errno) +
                      "; it belongs beside bigbird-dna, for the commands that need LibTorch");
}

}  // namespace bigbird::cli
