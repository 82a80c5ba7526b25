// SPDX-License-Identifier: Apache-2.0
#include "bigbird/training/run_lock.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/files.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <vector>

namespace bigbird::training {

namespace {

constexpr const char* lock_file = "lock";

/// Opens the lock file, which is created if needed, and returns its descriptor. Throws as RunLock().
int open_lock(const std::filesystem::path& run_directory) {
    std::error_code error;
    std::filesystem::create_directories(run_directory, error);
    const int handle =
        ::open((run_directory / lock_file).c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644);
    if (handle >= 0) return handle;
    const int reason = error ? error.value() : errno;
    throw_refused(
        run_directory.string() + ": this run folder cannot be made or written to: " + std::strerror(reason),
        reason);
}

/// Locks the file. Closes the descriptor if another process holds the lock. Throws as RunLock().
void lock(int handle, const std::filesystem::path& run_directory) {
    if (::flock(handle, LOCK_EX | LOCK_NB) == 0) return;
    const int reason = errno;
    ::close(handle);
    if (reason == EWOULDBLOCK) {
        throw ConfigError(run_directory.string() +
                          ": another process is training in this folder; wait for it or give "
                          "another --output");
    }
    throw_refused((run_directory / lock_file).string() + ": cannot be locked: " + std::strerror(reason),
                  reason);
}

/// Whether the file was removed by the process that held it between our opening and our locking.
bool is_removed(int handle) {
    struct stat status {};
    return ::fstat(handle, &status) == 0 && status.st_nlink == 0;
}

}  // namespace

RunLock::RunLock(const std::filesystem::path& run_directory) : directory_(run_directory) {
    std::error_code unknown;  // if this fails, creating the folder reports why
    folder_is_ours_ = !std::filesystem::exists(run_directory, unknown);
    for (bool held = false; !held;) {
        handle_ = open_lock(run_directory);
        lock(handle_, run_directory);
        held = !is_removed(handle_);
        if (!held) ::close(handle_);
    }
}

RunLock::~RunLock() {
    remove_if_unused();
    ::close(handle_);
}

void RunLock::remove_if_unused() const noexcept {
    try {
        const std::vector<std::filesystem::path> entries = entries_of(directory_);
        if (entries.size() != 1 || entries.front().filename() != lock_file) return;
        ::unlink(entries.front().c_str());
        if (folder_is_ours_) ::rmdir(directory_.c_str());
    } catch (const std::exception&) {  // no memory: the next run takes the lock file unchanged
    }
}

}  // namespace bigbird::training
