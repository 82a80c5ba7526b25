// SPDX-License-Identifier: Apache-2.0
#include "bigbird/core/error.hpp"
#include "bigbird/core/files.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <system_error>

namespace bigbird {
namespace fs = std::filesystem;

std::vector<fs::path> entries_of(const fs::path& folder) {
    std::vector<fs::path> entries;
    std::error_code error;
    fs::directory_iterator entry(folder, error);
    for (; !error && entry != fs::directory_iterator(); entry.increment(error))
        entries.push_back(entry->path());
    if (error && error != std::errc::no_such_file_or_directory)
        throw ReadError("cannot be looked into: " + error.message(), folder);
    return entries;
}

void require_readable(const fs::path& path) {
    if (path == "-") return;
    std::error_code error;
    const bool there = fs::exists(path, error);
    if (error == std::errc::permission_denied) throw ReadError("cannot be read: " + error.message(), path);
    if (!there) throw InputError("no such file", path);
    if (fs::is_directory(path, error)) throw InputError("is a folder, a file is needed", path);
    if (path == "/dev/zero" || path == "/dev/urandom")
        throw InputError("is a device, a file is needed", path);
    if (::access(path.c_str(), R_OK) != 0)
        throw ReadError(std::string("cannot be read: ") + std::strerror(errno), path);
}

}  // namespace bigbird
