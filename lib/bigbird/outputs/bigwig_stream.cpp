// SPDX-License-Identifier: Apache-2.0
#include "bigbird/outputs/bigwig_stream.hpp"

#include "bigbird/core/error.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <string>

namespace bigbird::outputs {

namespace {

struct File {
    int handle;
    std::string name;
};

ssize_t read_file(void* cookie, char* out, std::size_t size) {
    const auto* const file = static_cast<const File*>(cookie);
    ssize_t count = 0;
    do {
        count = ::read(file->handle, out, size);
    } while (count < 0 && errno == EINTR);
    if (count < 0) throw WriteError(file->name + ": cannot be read back: " + std::strerror(errno));
    return count;
}

/// 0 is an error, as fopencookie() has it.
ssize_t write_file(void* cookie, const char* data, std::size_t size) {
    std::size_t done = 0;
    while (done < size) {
        const ssize_t count = ::write(static_cast<const File*>(cookie)->handle, data + done, size - done);
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) return 0;
        done += static_cast<std::size_t>(count);
    }
    return static_cast<ssize_t>(done);
}

int seek_file(void* cookie, off64_t* offset, int whence) {
    const off64_t position = ::lseek64(static_cast<const File*>(cookie)->handle, *offset, whence);
    if (position < 0) return -1;
    *offset = position;
    return 0;
}

int close_file(void* cookie) {
    const std::unique_ptr<File> file(static_cast<File*>(cookie));
    return ::close(file->handle);
}

}  // namespace

std::FILE* open_bigwig_stream(const std::filesystem::path& path, const std::filesystem::path& name) {
    auto file = std::make_unique<File>(
        File{::open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600), name.string()});
    if (file->handle < 0) return nullptr;
    std::FILE* const stream = ::fopencookie(
        file.get(), "w+", {.read = read_file, .write = write_file, .seek = seek_file, .close = close_file});
    if (stream == nullptr) {
        ::close(file->handle);
        return nullptr;
    }
    static_cast<void>(file.release());
    return stream;
}

}  // namespace bigbird::outputs
