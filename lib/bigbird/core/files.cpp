// SPDX-License-Identifier: Apache-2.0
#include "bigbird/core/files.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/log.hpp"
#include "bigbird/core/protected_files.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <memory>
#include <mutex>
#include <new>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bigbird {
namespace fs = std::filesystem;

namespace {

constexpr std::string_view mark = ".tmp.", old_ending = ".old";
constexpr int most_names = 100;  // tried for a temporary, where others hold the first ones

std::string system_reason() {
    return std::strerror(errno);
}

[[noreturn]] void throw_not_synced(const fs::path& name, int reason) {
    throw WriteError(name.string() + ": cannot be synced to disk: " + std::strerror(reason));
}

/// 0, or why not. Some file systems of networks and of users do not know it of folders.
int sync_handle(int handle) {
    if (::fsync(handle) == 0) return 0;
    const int reason = errno;
    struct ::stat status {};
    const bool folder = ::fstat(handle, &status) == 0 && S_ISDIR(status.st_mode);
    return folder && (reason == EINVAL || reason == EOPNOTSUPP || reason == ENOSYS) ? 0 : reason;
}

void sync_one(const fs::path& path, const fs::path& name) {
    const int handle = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (handle < 0) throw_not_synced(name, errno);
    const int reason = sync_handle(handle);
    ::close(handle);
    if (reason != 0) throw_not_synced(name, reason);
}

struct CloseFolder {
    void operator()(DIR* folder) const noexcept { ::closedir(folder); }
};

/// Adds what lies in a folder, where its name is asked for; false, with errno, where the folder cannot be
/// read. std::filesystem's iterators end the program where memory runs out.
template <typename IsWanted>
bool list(const fs::path& folder, std::vector<fs::path>& entries, const IsWanted& is_wanted) {
    const std::unique_ptr<DIR, CloseFolder> open(::opendir(folder.c_str()));
    errno = open ? 0 : errno;
    while (const dirent* entry = open ? ::readdir(open.get()) : nullptr) {
        const std::string_view name = entry->d_name;
        if (name != "." && name != ".." && is_wanted(name)) entries.push_back(folder / name);
        errno = 0;
    }
    return errno == 0;
}

constexpr auto any_name = [](std::string_view) { return true; };

void sync_all(const fs::path& path, const fs::path& name);

/// What lies in a folder, where it is one. Errors call it `name`, which it is to get.
void sync_contents(const fs::path& path, const fs::path& name) {
    if (!fs::is_directory(fs::symlink_status(path))) return;
    std::vector<fs::path> entries;
    if (!list(path, entries, any_name)) throw_not_synced(name, errno);
    for (const fs::path& entry : entries)
        sync_all(entry, name / entry.filename());
}

void sync_all(const fs::path& path, const fs::path& name) {
    sync_contents(path, name);
    sync_one(path, name);
}

/// A file, or a folder with what it holds, without taking memory of our own. `handle`: an open descriptor of
/// it, which is closed, or -1.
void remove_at(int parent, const char* name, int handle = -1) noexcept {
    if (::unlinkat(parent, name, 0) == 0 || errno == ENOENT) {
        if (handle >= 0) ::close(handle);
        return;
    }
    if (handle < 0) handle = ::openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (handle < 0) {
        return;
    }
    DIR* folder = ::fdopendir(handle);
    folder = folder != nullptr ? folder : ::fdopendir(handle);  // it takes memory, which may come back
    if (folder == nullptr) {
        ::close(handle);
        return;
    }
    for (int pass = 0; pass < 3; ++pass) {  // what is removed may make some file systems skip entries
        while (const dirent* entry = ::readdir(folder)) {
            const std::string_view inside = entry->d_name;
            if (inside != "." && inside != "..") remove_at(handle, entry->d_name);
        }
        if (::unlinkat(parent, name, AT_REMOVEDIR) == 0 || errno != ENOTEMPTY) break;
        ::rewinddir(folder);
    }
    ::closedir(folder);
}

fs::path parent_of(const fs::path& target) {
    return target.has_parent_path() ? target.parent_path() : fs::path(".");
}

fs::path without_trailing_slash(fs::path path) {
    if (!path.has_filename() && path.has_parent_path()) path = path.parent_path();
    return path;
}

/// Targets that this process is writing.
class Targets {
public:
    void add(const PendingOutput* output) {
        const fs::path& target = output->target();
        std::error_code error;
        const fs::path name = fs::weakly_canonical(parent_of(target), error) / target.filename();
        const std::scoped_lock lock(mutex_);
        if (std::ranges::find(all_, name, &Target::name) != all_.end()) {
            throw ConfigError(target.string() + ": is named for two outputs");
        }
        all_.push_back({.output = output, .name = name});
    }
    void remove(const PendingOutput* output) noexcept {
        const std::scoped_lock lock(mutex_);
        std::erase_if(all_, [&](const Target& target) { return target.output == output; });
    }
    void remove_temporaries() noexcept {
        const std::unique_lock lock(mutex_, std::try_to_lock);
        for (const Target& target : all_)
            remove_quietly(target.output->path());
    }

private:
    struct Target {
        const PendingOutput* output;
        fs::path name;
    };
    std::mutex mutex_;
    std::vector<Target> all_;
};

Targets& targets() {
    static auto* const all = new Targets;  // there still as a library ends the process (remove_unfinished())
    return *all;
}

/// Whether there is anything of this name, a link that points nowhere included.
bool is_there(const fs::path& path) {
    std::error_code error;
    return fs::symlink_status(path, error).type() != fs::file_type::not_found;
}

bool same_file(int handle, const fs::path& path) {
    struct ::stat opened {
    }, named{};
    return ::fstat(handle, &opened) == 0 && ::lstat(path.c_str(), &named) == 0 &&
           opened.st_dev == named.st_dev && opened.st_ino == named.st_ino;
}

/// What new files and folders may not have; umask() itself could only be read by changing it.
::mode_t process_umask() {
    std::ifstream in("/proc/self/status");
    for (std::string word; in >> word;) {
        if (word == "Umask:" && in >> word) {
            return static_cast<::mode_t>(std::strtoul(word.c_str(), nullptr, 8));
        }
    }
    const ::mode_t mask = ::umask(077);
    ::umask(mask);
    return mask;
}

/// .NAME.tmp. of the temporaries of a target; a name that leaves no room for it is cut, and told by a number.
std::string temporary_begin(const fs::path& target) {
    constexpr std::size_t most = 210;  // of 255 bytes
    std::string name = target.filename().string();
    if (name.size() > most) {
        std::uint64_t number = 14695981039346656037U;  // FNV-1a
        for (const unsigned char letter : name)
            number = (number ^ letter) * 1099511628211U;
        name = name.substr(0, most - 20) + std::to_string(number);
    }
    return "." + name + std::string(mark);
}

fs::path temporary_name(const fs::path& target, int attempt) {
    const std::string name = temporary_begin(target) + std::to_string(::getpid());
    return parent_of(target) / (attempt == 0 ? name : name + "." + std::to_string(attempt));
}

/// .NAME.tmp.PID, also with a number or .old behind it; `begin`: .NAME.tmp.
bool is_temporary(std::string_view name, std::string_view begin) {
    if (!name.starts_with(begin)) return false;
    std::string_view rest = name.substr(begin.size());
    if (rest.ends_with(old_ending)) {
        rest.remove_suffix(old_ending.size());
    }
    return !rest.empty() && rest.find_first_not_of("0123456789.") == std::string_view::npos;
}

/// A temporary that no process holds, locked until this ends.
class Leftover {
public:
    explicit Leftover(fs::path path) : path_(std::move(path)) {
        struct ::stat status {};
        if (::lstat(path_.c_str(), &status) != 0 || status.st_uid != ::geteuid()) return;
        const bool folder = S_ISDIR(status.st_mode);
        if (!folder && !S_ISREG(status.st_mode)) return;
        // Locks of network file systems need a file that is open for writing.
        const int access = folder ? O_RDONLY | O_DIRECTORY : O_RDWR;
        handle_ = ::open(path_.c_str(), access | O_NOFOLLOW | O_CLOEXEC);
        dead_ = handle_ >= 0 && ::flock(handle_, LOCK_EX | LOCK_NB) == 0 && same_file(handle_, path_);
    }
    ~Leftover() {
        if (handle_ >= 0) ::close(handle_);
    }
    Leftover(const Leftover&) = delete;
    Leftover& operator=(const Leftover&) = delete;

    bool is_dead() const { return dead_; }
    bool is_also(const fs::path& path) const { return same_file(handle_, path); }

private:
    fs::path path_;
    int handle_ = -1;
    bool dead_ = false;
};

/// Ends what a killed run of the same output had begun.
void clean_up(const fs::path& path, const fs::path& target, const fs::path& leader) {
    const Leftover leftover(path);
    std::error_code ignored;
    if (!leftover.is_dead()) {
        return;
    }
    if (path.extension() == old_ending && !is_there(target)) {  // killed between two renames
        fs::rename(path, target, ignored);
        return;
    }
    if (!leader.empty() && leftover.is_also(target) && !is_there(leader)) {
        fs::remove(target, ignored);
    }
    remove_quietly(path);
}

void remove_leftovers(const fs::path& target, const fs::path& leader) {
    const std::string begin = temporary_begin(target);
    std::vector<fs::path> leftovers;  // few, where the folder may hold a hundred thousand outputs
    list(parent_of(target), leftovers, [&](std::string_view name) { return is_temporary(name, begin); });
    for (const fs::path& path : leftovers)
        clean_up(path, target, leader);
}

/// Of what was replaced and cannot be removed, such as a folder of another user's.
void say_where_left(const fs::path& replaced, const fs::path& target) noexcept {
    if (::faccessat(AT_FDCWD, replaced.c_str(), F_OK, AT_SYMLINK_NOFOLLOW) != 0) return;
    try {
        log_warning("{}: what it replaced cannot be removed and lies in {}", target.string(),
                    replaced.string());
    } catch (const std::exception&) {  // no memory for it
    }
}

[[noreturn]] void throw_appeared(const fs::path& target) {
    throw ConfigError(
        target.string() +
        ": appeared while this was being written; give another --output, or --force to replace it");
}

/// Whether the system or the file system does not know the flags of renameat2() or hard links.
bool is_unknown(int reason) {
    return reason == EINVAL || reason == ENOSYS || reason == EOPNOTSUPP || reason == EPERM ||
           reason == EMLINK;
}

int rename_flags(const fs::path& from, const fs::path& to, unsigned flags) {
    return ::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), flags);
}

}  // namespace

void remove_quietly(const fs::path& path) noexcept {
    remove_at(AT_FDCWD, path.c_str());
}

void remove_unfinished() noexcept {
    targets().remove_temporaries();
}

std::vector<fs::path> entries_of(const fs::path& folder) {
    std::vector<fs::path> entries;
    if (!list(folder, entries, any_name) && errno != ENOENT) {
        if (errno == ENOMEM) throw std::bad_alloc();
        throw ReadError("cannot be looked into: " + system_reason(), folder);
    }
    return entries;
}

void throw_refused(const std::string& message, int reason) {
    constexpr std::array gave_out{ENOSPC, EDQUOT, EIO, ENOMEM, EMFILE, ENFILE, EINTR, ESTALE};
    if (std::find(gave_out.begin(), gave_out.end(), reason) != gave_out.end()) {
        throw WriteError(message);
    }
    throw ConfigError(message);
}

void throw_cannot_be_made(const fs::path& target, int reason) {
    throw_refused(target.string() + ": this output cannot be made: " + std::strerror(reason), reason);
}

void prepare_output(const fs::path& target, Overwrite overwrite, const fs::path& leader) {
    const fs::path output = without_trailing_slash(target), parent = parent_of(output);
    if (output == "-")
        throw ConfigError("-: this output is no text that standard output could take; name it");
    remove_leftovers(output, leader);
    if (overwrite == Overwrite::refuse && is_there(output)) {
        throw ConfigError(target.string() +
                          ": exists already; give another --output, or --force to replace it");
    }
    refuse_foreign_folder(output);
    refuse_protected(output);
    std::error_code error;
    fs::create_directories(parent, error);
    if (error) {
        throw_refused(parent.string() + ": this output folder cannot be made: " + error.message(),
                      error.value());
    }
    if (::access(parent.c_str(), W_OK | X_OK) != 0) {
        throw ConfigError(parent.string() + ": this output folder cannot be written to: " + system_reason());
    }
}

PendingOutput::PendingOutput(fs::path target, Overwrite overwrite, Kind kind, fs::path leader)
    : target_(without_trailing_slash(std::move(target))), leader_(std::move(leader)), overwrite_(overwrite) {
    prepare_output(target_, overwrite, leader_);
    if (kind == Kind::file && is_folder(target_)) {
        throw ConfigError(target_.string() + ": is a folder, where a file is to be written");
    }
    targets().add(this);
    try {
        for (int attempt = 0; attempt < most_names; ++attempt) {
            temporary_ = temporary_name(target_, attempt);
            old_ = temporary_;
            old_ += old_ending;
            if (make(kind)) {
                return;
            }
        }
        throw_cannot_be_made(target_, EEXIST);
    } catch (...) {
        targets().remove(this);
        throw;
    }
}

/// False where the name is taken, or where another run took the new file or folder for a leftover.
bool PendingOutput::make(Kind kind) {
    if (kind == Kind::folder) {
        if (::mkdir(temporary_.c_str(), 0700) == 0) {
            lock_ = ::open(temporary_.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        } else if (errno == EEXIST) {
            return false;
        } else {
            throw_cannot_be_made(target_, errno);
        }
    } else {
        lock_ = ::open(temporary_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    }
    if (lock_ < 0) {
        const int reason = errno;
        if (kind == Kind::folder) ::rmdir(temporary_.c_str());
        if (reason == EEXIST || (reason == ENOENT && kind == Kind::folder)) {
            return false;
        }
        throw_cannot_be_made(target_, reason);
    }
    const bool taken = ::flock(lock_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    errno = 0;
    if (!taken && same_file(lock_, temporary_)) {
        return true;
    }
    const int reason = taken ? 0 : errno;
    if (reason != 0 && reason != ENOENT) {  // it is ours, and cannot be looked at
        remove_at(AT_FDCWD, temporary_.c_str(), std::exchange(lock_, -1));
        throw_cannot_be_made(target_, reason);
    }
    ::close(std::exchange(lock_, -1));
    return false;
}

PendingOutput::~PendingOutput() {
    if (placed_ == Placed::no) {
        remove_at(AT_FDCWD, temporary_.c_str(),
                  std::exchange(lock_, -1));  // no descriptor may be left for it
    }
    if (lock_ >= 0) ::close(lock_);
    targets().remove(this);
}

void PendingOutput::write(const std::function<void(std::ostream&)>& body) const {
    std::ofstream out(temporary_, std::ios::binary);
    if (!out) {
        throw_cannot_be_made(target_, errno);
    }
    errno = 0;
    body(out);
    out.close();
    if (!out) {
        throw WriteError(target_.string() + ": writing failed: " +
                         (errno != 0 ? system_reason() : std::string("is the disk full?")));
    }
}

/// All bytes to the disk, with the permissions that the target is to have.
void PendingOutput::seal() const {
    struct ::stat status {};
    if (::fstat(lock_, &status) != 0 ||
        ::fchmod(lock_, (S_ISDIR(status.st_mode) ? 0777U : 0666U) & ~process_umask()) != 0) {
        throw WriteError(target_.string() + ": its permissions cannot be set: " + system_reason());
    }
    sync_contents(temporary_, target_);
    if (const int reason = sync_handle(lock_); reason != 0) {  // not by its name: it may not be readable now
        throw_not_synced(target_, reason);
    }
}

/// Every way leaves something to go back to, as far as the file system can.
void PendingOutput::place() {
    const auto done = [this](Placed how, int result) {
        if (result == 0) placed_ = how;
        return result == 0;
    };
    const auto failed = [this](int reason) {
        throw WriteError(target_.string() + ": cannot be put in place: " + std::strerror(reason));
    };
    if (!leader_.empty() && !is_there(target_)) {
        if (done(Placed::linked, ::link(temporary_.c_str(), target_.c_str()))) return;
        if (errno != EEXIST && !is_unknown(errno)) failed(errno);
    }
    if (done(Placed::fresh, rename_flags(temporary_, target_, RENAME_NOREPLACE))) return;
    if (errno == EEXIST) {
        if (overwrite_ == Overwrite::refuse) throw_appeared(target_);
        if (done(Placed::swapped, rename_flags(temporary_, target_, RENAME_EXCHANGE))) return;
    }
    if (!is_unknown(errno)) failed(errno);
    if (!is_there(target_)) {
        if (!done(Placed::fresh, ::rename(temporary_.c_str(), target_.c_str()))) failed(errno);
        return;
    }
    if (overwrite_ == Overwrite::refuse) throw_appeared(target_);
    std::error_code error;
    const bool folders = fs::is_directory(fs::symlink_status(temporary_, error)) ||
                         fs::is_directory(fs::symlink_status(target_, error));
    if (!folders) {
        if (!done(Placed::over, ::rename(temporary_.c_str(), target_.c_str()))) failed(errno);
        return;
    }
    if (::rename(target_.c_str(), old_.c_str()) != 0) failed(errno);
    if (done(Placed::moved, ::rename(temporary_.c_str(), target_.c_str()))) return;
    const int reason = errno;
    ::rename(old_.c_str(), target_.c_str());
    failed(reason);
}

void PendingOutput::take_back() noexcept {
    switch (std::exchange(placed_, Placed::no)) {
        case Placed::fresh:
            ::rename(target_.c_str(), temporary_.c_str());
            break;
        case Placed::linked:
            ::unlink(target_.c_str());
            break;
        case Placed::swapped:
            rename_flags(temporary_, target_, RENAME_EXCHANGE);
            break;
        case Placed::moved:
            ::rename(target_.c_str(), temporary_.c_str());
            ::rename(old_.c_str(), target_.c_str());
            break;
        case Placed::over:
        case Placed::no:
            break;
    }
}

/// Removes what the output replaced.
void PendingOutput::finish() noexcept {
    const fs::path* const replaced = placed_ == Placed::moved                                  ? &old_
                                     : placed_ == Placed::linked || placed_ == Placed::swapped ? &temporary_
                                                                                               : nullptr;
    if (replaced != nullptr) {
        remove_quietly(*replaced);
        say_where_left(*replaced, target_);
    }
    ::close(std::exchange(lock_, -1));
}

void PendingOutput::commit() {
    PendingOutput* const self = this;
    commit_together({&self, 1});
}

void commit_together(std::span<PendingOutput* const> outputs) {
    for (PendingOutput* output : outputs) {
        output->seal();
    }
    try {
        std::set<fs::path> folders;
        for (PendingOutput* output : outputs) {
            output->place();
            folders.insert(parent_of(output->target()));
        }
        for (const fs::path& folder : folders) {
            sync_one(folder, folder);
        }
    } catch (...) {
        std::for_each(outputs.rbegin(), outputs.rend(), [](PendingOutput* output) { output->take_back(); });
        throw;
    }
    for (PendingOutput* output : outputs)
        output->finish();
}

void write_atomically(const fs::path& target, Overwrite overwrite,
                      const std::function<void(std::ostream&)>& body) {
    PendingOutput pending(target, overwrite);
    pending.write(body);
    pending.commit();
}

void sync_to_disk(const fs::path& path) {
    sync_all(path, path);
}

namespace {

/// /dev/zero, /dev/full, /dev/random, /dev/urandom: what is read of them takes memory without end.
bool is_endless(const fs::path& path) {
    struct ::stat status {};
    constexpr unsigned memory_devices = 1;
    constexpr std::array numbers{5U, 7U, 8U, 9U};
    return ::stat(path.c_str(), &status) == 0 && S_ISCHR(status.st_mode) &&
           major(status.st_rdev) == memory_devices &&
           std::ranges::find(numbers, minor(status.st_rdev)) != numbers.end();
}

}  // namespace

void require_readable(const fs::path& path) {
    if (path == "-") {
        return;
    }
    std::error_code error;
    if (!fs::exists(path, error)) {
        throw InputError("no such file", path);
    }
    if (fs::is_directory(path, error)) {
        throw InputError("is a folder, a file is needed", path);
    }
    if (is_endless(path)) {
        throw InputError("is a device, a file is needed", path);
    }
    if (::access(path.c_str(), R_OK) != 0) {
        throw ReadError("cannot be read: " + system_reason(), path);
    }
}

}  // namespace bigbird
