// SPDX-License-Identifier: Apache-2.0
#include "bigbird/core/files.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/log.hpp"
#include "bigbird/core/protected_files.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <map>
#include <mutex>
#include <random>
#include <set>

namespace bigbird {
namespace fs = std::filesystem;

namespace {
std::map<fs::path, fs::path> unfinished;  // what this process is writing: names and temporaries
std::mutex unfinished_mutex;

std::string because() {
    return std::string(": ") + std::strerror(errno);
}

fs::path parent_of(const fs::path& target) {
    return target.has_parent_path() ? target.parent_path() : fs::path(".");
}

/// Whether something has this name, if only a dangling link, which is_there() of an input does not count.
bool is_taken(const fs::path& path) {
    std::error_code error;
    return fs::symlink_status(path, error).type() != fs::file_type::not_found;
}

/// `name`: what errors call it. Some file systems cannot sync folders (EINVAL).
void sync(const fs::path& path, const fs::path& name) {
    const int handle = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    const bool synced = handle >= 0 && (::fsync(handle) == 0 || errno == EINVAL);
    const std::string reason = because();
    if (handle >= 0) ::close(handle);
    if (!synced) throw WriteError(name.string() + ": cannot be synced to disk" + reason);
}

std::string temporary_prefix(const fs::path& target) {
    return "." + target.filename().string() + ".tmp.";
}

/// Whether the run that left a temporary, or the output that it replaced (.old), has ended. The lock is on
/// the temporary, and on the target once that is renamed.
bool is_left_over(const fs::path& path, const fs::path& target) {
    if (path.extension() != ".old") return is_unlocked(path);
    fs::path writer = path;
    writer.replace_extension();
    if (is_taken(writer)) return is_unlocked(writer);
    return !is_taken(target) || is_unlocked(target);
}

void remove_leftovers(const fs::path& target) {
    const std::string begin = temporary_prefix(target);
    std::error_code error;
    fs::directory_iterator entry(parent_of(target), error);
    for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
        const fs::path& path = entry->path();
        const std::string name = path.filename().string();
        const bool numbered = name.find_first_of("0123456789", begin.size()) == begin.size();
        if (!name.starts_with(begin) || !numbered || !is_left_over(path, target)) continue;
        if (path.extension() == ".old" && !is_taken(target))  // killed between two renames
            ::rename(path.c_str(), target.c_str());
        else
            remove_quietly(path);
    }
}

}  // namespace

fs::path without_trailing_slash(const fs::path& path) {
    return path.has_filename() ? path : path.parent_path();
}

bool is_unlocked(const fs::path& path) {
    const int access = is_folder(path) ? O_RDONLY : O_RDWR;  // network file systems lock what is writable
    const int handle = ::open(path.c_str(), access | O_NOFOLLOW | O_CLOEXEC);
    const bool unlocked = handle >= 0 && ::flock(handle, LOCK_EX | LOCK_NB) == 0;
    if (handle >= 0) ::close(handle);
    return unlocked;
}

void remove_quietly(const fs::path& path) noexcept {
    std::error_code ignored;
    fs::remove_all(path, ignored);
}

void remove_unfinished() noexcept {
    const std::scoped_lock lock(unfinished_mutex);
    for (const auto& [name, temporary] : unfinished)
        remove_quietly(temporary);
}

void throw_refused(const std::string& message, int reason) {
    constexpr std::array gave_out{ENOSPC, EDQUOT, EIO, ENOMEM, EMFILE, ENFILE, EINTR, ESTALE};
    if (std::ranges::find(gave_out, reason) != gave_out.end()) throw WriteError(message);
    throw ConfigError(message);
}

void throw_cannot_be_made(const fs::path& target, int reason) {
    throw_refused(target.string() + ": this output cannot be made: " + std::strerror(reason), reason);
}

void prepare_output(const fs::path& target, Overwrite overwrite) {
    const fs::path output = without_trailing_slash(target), parent = parent_of(output);
    if (output == "-")
        throw ConfigError("-: this output is no text that standard output could take; name it");
    remove_leftovers(output);
    std::error_code error;
    if (fs::symlink_status(output, error).type() == fs::file_type::none)  // it cannot be looked up
        throw_cannot_be_made(target, error.value());
    if (overwrite == Overwrite::refuse && is_taken(output))
        throw ConfigError(target.string() +
                          ": exists already; give another --output, or --force to replace it");
    refuse_foreign_folder(output);
    refuse_protected(output);
    fs::create_directories(parent, error);
    const std::string folder = parent.string() + ": this output folder cannot be ";
    if (error) throw_refused(folder + "made: " + error.message(), error.value());
    if (::access(parent.c_str(), W_OK | X_OK) != 0) throw ConfigError(folder + "written to" + because());
}

PendingOutput::PendingOutput(const fs::path& target, Overwrite overwrite, Kind kind)
    : target_(without_trailing_slash(target)), overwrite_(overwrite) {
    prepare_output(target_, overwrite);
    const bool folder = kind == Kind::folder;
    if (!folder && is_folder(target_))
        throw ConfigError(target_.string() + ": is a folder, where a file is to be written");
    std::error_code error;
    name_ = fs::weakly_canonical(parent_of(target_), error) / target_.filename();
    temporary_ = parent_of(target_) / (temporary_prefix(target_) + std::to_string(std::random_device()()));
    old_ = temporary_.string() + ".old";
    const std::scoped_lock lock(unfinished_mutex);
    if (unfinished.contains(name_)) throw ConfigError(target_.string() + ": is named for two outputs");
    const int flags = folder ? O_RDONLY | O_DIRECTORY : O_RDWR | O_CREAT | O_EXCL;
    if (!folder || ::mkdir(temporary_.c_str(), 0777) == 0)
        lock_ = ::open(temporary_.c_str(), flags | O_CLOEXEC, 0666);
    if (lock_ < 0) throw_cannot_be_made(target_, errno);
    ::flock(lock_, LOCK_EX | LOCK_NB);  // if the file system has no locks, leftovers stay
    unfinished.emplace(name_, temporary_);
}

PendingOutput::~PendingOutput() {
    ::close(lock_);
    if (!placed_) remove_quietly(temporary_);
    const std::scoped_lock lock(unfinished_mutex);
    unfinished.erase(name_);
}

void PendingOutput::write(const std::function<void(std::ostream&)>& body) const {
    std::ofstream out(temporary_, std::ios::binary);
    if (!out) throw_cannot_be_made(target_, errno);
    errno = 0;
    body(out);
    out.close();
    const std::string reason = errno != 0 ? because() : ": is the disk full?";
    if (!out) throw WriteError(target_.string() + ": writing failed" + reason);
}

void PendingOutput::sync_all() const {
    if (is_folder(temporary_))
        for (const fs::directory_entry& entry : fs::recursive_directory_iterator(temporary_))
            sync(entry.path(), target_ / entry.path().lexically_relative(temporary_));
    sync(temporary_, target_);
}

/// Keeps the replaced output for undo. A file always exists; renaming cannot replace a folder.
void PendingOutput::place() {
    replaces_ = is_taken(target_);
    if (replaces_ && overwrite_ == Overwrite::refuse) {
        throw ConfigError(
            target_.string() +
            ": appeared while this was being written; give another --output, or --force to replace it");
    }
    const bool folders = is_folder(temporary_) || is_folder(target_);
    keeps_old_ = replaces_ && (folders ? ::rename : ::link)(target_.c_str(), old_.c_str()) == 0;
    placed_ = (!folders || keeps_old_ == replaces_) && ::rename(temporary_.c_str(), target_.c_str()) == 0;
    if (placed_) return;
    const std::string reason = because();
    if (keeps_old_) ::rename(old_.c_str(), target_.c_str());
    throw WriteError(target_.string() + ": cannot be put in place" + reason);
}

void PendingOutput::take_back() noexcept {
    if (!placed_ || keeps_old_ != replaces_) return;  // no links on this file system: the old one is gone
    placed_ = ::rename(target_.c_str(), temporary_.c_str()) != 0;
    if (keeps_old_) ::rename(old_.c_str(), target_.c_str());
}

void PendingOutput::commit() {
    commit_together(std::array{this});
}

void commit_together(std::span<PendingOutput* const> outputs) {
    for (const PendingOutput* output : outputs)
        output->sync_all();
    try {
        std::set<fs::path> folders;
        for (PendingOutput* output : outputs) {
            output->place();
            folders.insert(parent_of(output->target()));
        }
        for (const fs::path& folder : folders)
            sync(folder, folder);
    } catch (...) {
        std::for_each(outputs.rbegin(), outputs.rend(), [](PendingOutput* output) { output->take_back(); });
        throw;
    }
    for (PendingOutput* output : outputs) {
        ::close(std::exchange(output->lock_, -1));  // HDF5 does not open locked files
        if (!output->keeps_old_) continue;
        remove_quietly(output->old_);
        if (is_taken(output->old_))  // such as a folder of another user's
            log_warning("{}: what it replaced cannot be removed and lies in {}", output->target_.string(),
                        output->old_.string());
    }
}

void write_atomically(const fs::path& target, Overwrite overwrite,
                      const std::function<void(std::ostream&)>& body) {
    PendingOutput output(target, overwrite);
    output.write(body);
    output.commit();
}

}  // namespace bigbird
