// SPDX-License-Identifier: Apache-2.0
#include "bigbird/core/files.hpp"

#include "bigbird/core/error.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>

namespace bigbird {
namespace fs = std::filesystem;

namespace {

std::string system_reason() {
    return std::strerror(errno);
}

void sync_one(const fs::path& path) {
    const int handle = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (handle < 0) {
        throw WriteError(path.string() + ": cannot be synced to disk: " + system_reason());
    }
    const int result = ::fsync(handle);
    const std::string reason = result == 0 ? "" : system_reason();
    ::close(handle);
    if (result != 0) {
        throw WriteError(path.string() + ": cannot be synced to disk: " + reason);
    }
}

fs::path parent_of(const fs::path& target) {
    return target.has_parent_path() ? target.parent_path() : fs::path(".");
}

fs::path without_trailing_slash(fs::path path) {
    if (!path.has_filename() && path.has_parent_path()) path = path.parent_path();
    return path;
}

}  // namespace

void prepare_output(const fs::path& target, Overwrite overwrite) {
    std::error_code error;
    if (overwrite == Overwrite::refuse && fs::exists(target, error)) {
        throw ConfigError(target.string() +
                          ": exists already; give another --output, or --force to replace it");
    }
    const fs::path parent = parent_of(target);
    fs::create_directories(parent, error);
    if (error) {
        throw ConfigError(parent.string() + ": this output folder cannot be made: " + error.message());
    }
    if (::access(parent.c_str(), W_OK | X_OK) != 0) {
        throw ConfigError(parent.string() + ": this output folder cannot be written to: " + system_reason());
    }
}

PendingOutput::PendingOutput(fs::path target, Overwrite overwrite, bool directory)
    : target_(without_trailing_slash(std::move(target))), overwrite_(overwrite) {
    prepare_output(target_, overwrite);
    temporary_ =
        parent_of(target_) / ("." + target_.filename().string() + ".tmp." + std::to_string(::getpid()));
    std::error_code ignored;
    fs::remove_all(temporary_, ignored);
    if (directory && !fs::create_directory(temporary_, ignored)) {
        throw ConfigError(target_.string() + ": this output folder cannot be made: " + ignored.message());
    }
}

PendingOutput::~PendingOutput() {
    if (!committed_) {
        std::error_code ignored;
        fs::remove_all(temporary_, ignored);
    }
}

void PendingOutput::commit() {
    sync_to_disk(temporary_);
    std::error_code error;
    fs::path replaced;
    if (fs::is_directory(target_, error)) {  // rename() replaces files, and only empty folders
        if (overwrite_ == Overwrite::refuse) {
            throw ConfigError(
                target_.string() +
                ": appeared while this was being written; give another --output, or --force to replace it");
        }
        replaced = temporary_;
        replaced += ".old";
        fs::rename(target_, replaced, error);
    }
    fs::rename(temporary_, target_, error);
    if (error) {
        throw WriteError(target_.string() + ": cannot be put in place: " + error.message());
    }
    committed_ = true;
    if (!replaced.empty()) {
        fs::remove_all(replaced, error);
    }
    sync_one(parent_of(target_));
}

void write_atomically(const fs::path& target, Overwrite overwrite,
                      const std::function<void(std::ostream&)>& body) {
    PendingOutput pending(target, overwrite);
    {
        std::ofstream out(pending.path(), std::ios::binary);
        if (!out) {
            throw ConfigError(target.string() + ": this output cannot be made: " + system_reason());
        }
        body(out);
        out.flush();
        if (!out) {
            throw WriteError(target.string() + ": writing failed: " + system_reason());
        }
    }
    pending.commit();
}

void sync_to_disk(const fs::path& path) {
    if (fs::is_directory(path)) {
        for (const auto& entry : fs::recursive_directory_iterator(path)) {
            sync_one(entry.path());
        }
    }
    sync_one(path);
}

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
    if (::access(path.c_str(), R_OK) != 0) {
        throw InputError("cannot be read: " + system_reason(), path);
    }
}

}  // namespace bigbird
