// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

namespace bigbird::training {

/// Holds RUN/lock with flock() while the object exists; the kernel releases it whenever the process ends.
/// Makes the folder and the file, and removes them if nothing else was put into the folder.
class RunLock {
public:
    /// Throws ConfigError if another process holds it or the folder cannot be written.
    explicit RunLock(const std::filesystem::path& run_directory);
    ~RunLock();
    RunLock(const RunLock&) = delete;
    RunLock& operator=(const RunLock&) = delete;

private:
    void remove_if_unused() const noexcept;

    std::filesystem::path directory_;
    bool folder_is_ours_ = false;
    int handle_ = -1;
};

}  // namespace bigbird::training
