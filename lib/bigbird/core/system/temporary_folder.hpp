// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

namespace bigbird {

/// A new folder in $TMPDIR, accessible only to its owner, removed by the destructor. The folder is locked
/// (flock) while it is used. An unlocked folder older than ten minutes was left by a killed process; the next
/// object of the same kind removes it. Holds one file descriptor. Not thread-safe.
class TemporaryFolder {
public:
    /// $TMPDIR/bigbird-dna.KIND.XXXXXX. Throws ConfigError naming TMPDIR where it cannot be made.
    explicit TemporaryFolder(const std::string& kind);
    ~TemporaryFolder();
    TemporaryFolder(const TemporaryFolder&) = delete;
    TemporaryFolder& operator=(const TemporaryFolder&) = delete;

    const std::filesystem::path& path() const { return path_; }

private:
    std::filesystem::path path_;
    int lock_ = -1;
};

}  // namespace bigbird
