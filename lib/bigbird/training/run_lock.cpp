// SPDX-License-Identifier: Apache-2.0
#include "bigbird/training/run_lock.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/files.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace bigbird::training {

RunLock::RunLock(const std::filesystem::path& run_directory) {
    std::error_code error;
    std::filesystem::create_directories(run_directory, error);
    const std::filesystem::path file = run_directory / "lock";
    handle_ = ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644);
    if (handle_ < 0) {
        const int reason = error ? error.value() : errno;
        throw_refused(run_directory.string() +
                          ": this run folder cannot be made or written to: " + std::strerror(reason),
                      reason);
    }
    if (::flock(handle_, LOCK_EX | LOCK_NB) != 0) {
        const int reason = errno;
        ::close(handle_);
        if (reason == EWOULDBLOCK) {
            throw ConfigError(run_directory.string() +
                              ": another process is training in this folder; wait for it or give "
                              "another --output");
        }
        throw_refused(file.string() + ": cannot be locked: " + std::strerror(reason), reason);
    }
}

RunLock::~RunLock() {
    ::close(handle_);
}

}  // namespace bigbird::training
