// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

namespace bigbird::cli {

/// The path of bigbird-dna-tensors: beside this program.
std::filesystem::path tensor_program();

/// Replaces this process by bigbird-dna-tensors (beside this program) with the same arguments. Throws
/// ConfigError where that program is missing.
[[noreturn]] void exec_tensor_program(char** argv);

/// The runner, in bigbird-dna, of a command that needs LibTorch.
class HandOver {
public:
    explicit HandOver(char** argv) : argv_(argv) {}
    template <typename Options>
    int operator()(const Options&) const {
        exec_tensor_program(argv_);
    }

private:
    char** argv_;
};

}  // namespace bigbird::cli
