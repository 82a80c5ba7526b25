// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace bigbird::networks {

struct TarMembers {
    std::vector<std::string> names;
    bool all = true;  ///< false if the archive was too long to read to its end
};

/// Members of a tar archive, plain or through gzip, up to a gigabyte of it. None where it is no archive.
TarMembers list_tar_members(const std::filesystem::path& path);

}  // namespace bigbird::networks
