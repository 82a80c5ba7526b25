// SPDX-License-Identifier: Apache-2.0
// Outputs that appear under their final name only when whole: written beside the target, synced, renamed.
#pragma once

#include <filesystem>
#include <functional>
#include <iosfwd>

namespace bigbird {

/// What to do where an output exists already.
enum class Overwrite : bool { refuse, allow };

/// Throws ConfigError naming --force where `target` exists and may not be replaced, or where its folder
/// cannot be made or written. Makes the parent folder. Call it before the work starts, so that hours of work
/// never end in a refusal.
void prepare_output(const std::filesystem::path& target, Overwrite overwrite);

/// A file or folder under construction. Until commit() it lies at path() (same parent folder as the target,
/// hidden name); the destructor removes what was not committed, also when an exception or a signal (Stopped)
/// passes. Not thread-safe.
class PendingOutput {
public:
    /// `target` is checked as by prepare_output. With `directory` an empty folder is made, else only the name
    /// is reserved.
    PendingOutput(std::filesystem::path target, Overwrite overwrite, bool directory = false);
    ~PendingOutput();
    PendingOutput(const PendingOutput&) = delete;
    PendingOutput& operator=(const PendingOutput&) = delete;

    const std::filesystem::path& path() const { return temporary_; }
    const std::filesystem::path& target() const { return target_; }
    /// Syncs to disk and renames; replaces what is there if that was allowed. Throws WriteError.
    void commit();

private:
    std::filesystem::path target_, temporary_;
    Overwrite overwrite_;
    bool committed_ = false;
};

/// Writes a whole text or binary file through `body`, atomically. Throws ConfigError or WriteError; on
/// failure the target is unchanged.
void write_atomically(const std::filesystem::path& target, Overwrite overwrite,
                      const std::function<void(std::ostream&)>& body);

/// Flushes a file, or all files of a folder and the folder itself, to disk. Throws WriteError.
void sync_to_disk(const std::filesystem::path& path);

/// Throws InputError "no such file" where `path` is not a readable regular file (or pipe); "-" passes.
void require_readable(const std::filesystem::path& path);

}  // namespace bigbird
