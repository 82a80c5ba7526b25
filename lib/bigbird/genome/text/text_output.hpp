// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bigbird/core/files.hpp"

#include <filesystem>
#include <memory>
#include <string_view>

namespace bigbird::genome {

/// Writes text atomically: bgzip where the name ends in .gz or .bgz (threads compress, the bytes do not
/// depend on their number), plain else, standard output for "-". Pipes and devices are written to as they
/// are. Not thread-safe.
class TextOutput {
public:
    TextOutput(const std::filesystem::path& path, Overwrite overwrite, int threads = 1);
    ~TextOutput();

    void write(std::string_view text);
    /// Ends the file and puts it in place. Throws WriteError. Without it the destructor leaves nothing
    /// behind.
    void commit();

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace bigbird::genome
