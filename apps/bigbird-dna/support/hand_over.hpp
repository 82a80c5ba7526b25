// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace bigbird::cli {

inline constexpr const char* tensor_program = "bigbird-dna-tensors";

/// The runner, in bigbird-dna, of commands that need LibTorch: replaces this process by tensor_program
/// (beside this program) with the same arguments. Throws ConfigError where that program is missing.
[[noreturn]] void exec_tensor_program(char** argv);

}  // namespace bigbird::cli
