// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

namespace bigbird {

/// A new folder in $TMPDIR, only for its owner, removed by the destructor. It is locked (flock) meanwhile: a
/// folder unlocked for ten minutes is left over from a killed process, and the next one of the same kind
/// removes it. Holds one file descriptor. Not thread-safe.
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
