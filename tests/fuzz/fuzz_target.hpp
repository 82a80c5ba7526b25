// SPDX-License-Identifier: Apache-2.0
// What fuzz targets share. A target hands bytes to a reader as the file or folder that it expects. An Error
// of core/error.hpp is an answer; any other exception, a sanitizer's report, much memory or time is a
// finding.
#pragma once

#include "bigbird/core/error.hpp"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace bigbird::fuzz {

/// What stands between the files of an input that is a folder.
inline constexpr std::string_view separator = "\n--8<--\n";

inline std::string_view text_of(const std::uint8_t* data, std::size_t size) {
    return {reinterpret_cast<const char*>(data), size};
}

/// The files of an input, in order; one at least.
std::vector<std::string_view> split_files(std::string_view input);

/// A folder of this process alone, in memory where the system has /dev/shm; removed at its end.
class Scratch {
public:
    Scratch();
    ~Scratch();
    Scratch(const Scratch&) = delete;
    Scratch& operator=(const Scratch&) = delete;

    const std::filesystem::path& folder() const { return folder_; }
    /// Writes a file and returns its path; folders in the name are made.
    std::filesystem::path write(const std::string& name, std::string_view content) const;
    /// Writes files of these names out of the input's; those that it lacks are removed.
    void write_files(std::string_view input, std::initializer_list<const char*> names) const;

private:
    std::filesystem::path folder_;
};

/// The one of this process. Logging is silent from here on.
const Scratch& scratch();

/// Calls a reader; its Errors are answers.
template <typename Read>
int expect_answer(const Read& read) {
    try {
        read();
    } catch (const Error&) {  // a sentence and an exit code
    }
    return 0;
}

}  // namespace bigbird::fuzz
