// SPDX-License-Identifier: Apache-2.0
// Outputs that appear under their final name only when complete: written beside the target, synced, renamed.
//
// A temporary is a new file .NAME.tmp.NUMBER in the target's folder, locked (flock) as long as its process
// lives. An unlocked one is left over from a killed run; the next run with the same output removes it.
#pragma once

#include <filesystem>
#include <functional>
#include <iosfwd>
#include <span>
#include <vector>

namespace bigbird {

/// What to do if an output already exists.
enum class Overwrite : bool { refuse, allow };

/// Removes leftovers of this output's killed runs and makes the parent folder. Throws ConfigError naming
/// --force where `target` exists and may not be replaced, or where its folder cannot be made or written. Also
/// throws where it is a non-empty folder that bigbird-dna did not write, or refuse_protected() refuses. A
/// link counts as existing whatever it points to. Call it before the work starts, so that no result is lost
/// to a refusal.
void prepare_output(const std::filesystem::path& target, Overwrite overwrite);

/// Throws WriteError if `reason`, an errno, is a failure of the disk or the system, else ConfigError.
[[noreturn]] void throw_refused(const std::string& message, int reason);
/// Throws for a file or folder of an output that cannot be created.
[[noreturn]] void throw_cannot_be_made(const std::filesystem::path& target, int reason);

/// A file or folder under construction. Until commit() it is at path() (same parent folder as the target,
/// hidden name); the destructor removes what was not committed, also when an exception or a signal (Stopped)
/// passes. Holds one file descriptor. Not thread-safe.
class PendingOutput {
public:
    enum class Kind : bool { file, folder };

    /// `target` is checked as by prepare_output; an empty file or folder is made. Throws ConfigError (also
    /// where this process writes the same target already), WriteError.
    PendingOutput(const std::filesystem::path& target, Overwrite overwrite, Kind kind = Kind::file);
    ~PendingOutput();
    PendingOutput(const PendingOutput&) = delete;
    PendingOutput& operator=(const PendingOutput&) = delete;

    const std::filesystem::path& path() const { return temporary_; }
    const std::filesystem::path& target() const { return target_; }
    /// Writes the file through `body`. Throws WriteError.
    void write(const std::function<void(std::ostream&)>& body) const;
    /// Syncs to disk and renames; replaces an existing output if allowed, a link itself rather than its
    /// target. Throws WriteError; then the old output is unchanged.
    void commit();

private:
    friend void commit_together(std::span<PendingOutput* const> outputs);

    void sync_all() const;
    void place();
    void take_back() noexcept;

    std::filesystem::path target_, temporary_;
    std::filesystem::path name_;  ///< the target's without links
    std::filesystem::path old_;   ///< the replaced output, until all outputs are renamed
    Overwrite overwrite_;
    int lock_ = -1;  ///< descriptor of the temporary
    bool placed_ = false, replaces_ = false, keeps_old_ = false;
};

/// Commits all outputs in order, or none: all are synced to disk before the first one is renamed. If a rename
/// fails, the earlier ones are undone. Throws as commit().
void commit_together(std::span<PendingOutput* const> outputs);

/// Writes a complete text or binary file through `body`, atomically. Throws ConfigError or WriteError; on
/// failure the target is unchanged.
void write_atomically(const std::filesystem::path& target, Overwrite overwrite,
                      const std::function<void(std::ostream&)>& body);

/// Removes this process's uncommitted outputs. For a process that ends without running destructors.
void remove_unfinished() noexcept;

/// Removes a file, or a folder with its contents, for destructors: ignores failures.
void remove_quietly(const std::filesystem::path& path) noexcept;

/// Whether no process holds the lock (flock) of a file or folder that this process may open.
bool is_unlocked(const std::filesystem::path& path);

/// `path` without a slash at its end, as shells add to folders.
std::filesystem::path without_trailing_slash(const std::filesystem::path& path);

/// Paths of a folder's entries, in no order; none where there is no such folder. Throws ReadError if it
/// cannot be read.
std::vector<std::filesystem::path> entries_of(const std::filesystem::path& folder);

/// Throws InputError "no such file" where `path` is not a readable regular file (or pipe); "-" passes.
void require_readable(const std::filesystem::path& path);

}  // namespace bigbird
