// SPDX-License-Identifier: Apache-2.0
#include "bigbird/core/system/temporary_folder.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/files.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <vector>

namespace bigbird {
namespace fs = std::filesystem;

namespace {

constexpr std::time_t seconds_to_lock = 600;

bool is_left_over(const fs::path& path) {
    struct ::stat status {};
    return ::lstat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode) && status.st_uid == ::geteuid() &&
           status.st_mtime <= std::time(nullptr) - seconds_to_lock && is_unlocked(path);
}

void remove_leftovers(const fs::path& parent, const std::string& prefix) {
    std::vector<fs::path> entries;
    try {
        entries = entries_of(parent);
    } catch (const ReadError&) {  // a folder that others may write to and not look into
    }
    for (const fs::path& entry : entries)
        if (entry.filename().string().starts_with(prefix) && is_left_over(entry)) remove_quietly(entry);
}

}  // namespace

TemporaryFolder::TemporaryFolder(const std::string& kind) {
    std::error_code error;
    const fs::path parent = fs::temp_directory_path(error);
    if (error) throw ConfigError("TMPDIR names no folder: " + error.message());
    const std::string prefix = "bigbird-dna." + kind + ".";
    remove_leftovers(parent, prefix);
    std::string name = (parent / (prefix + "XXXXXX")).string();
    if (::mkdtemp(name.data()) == nullptr)
        throw ConfigError(name + ": cannot be made: " + std::strerror(errno) + "; name a folder in TMPDIR");
    path_ = name;
    lock_ = ::open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (lock_ >= 0) ::flock(lock_, LOCK_EX | LOCK_NB);
}

TemporaryFolder::~TemporaryFolder() {
    remove_quietly(path_);
    if (lock_ >= 0) ::close(lock_);
}

}  // namespace bigbird
