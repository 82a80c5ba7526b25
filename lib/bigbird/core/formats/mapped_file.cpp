// SPDX-License-Identifier: Apache-2.0
#include "bigbird/core/formats/mapped_file.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/files.hpp"
#include "bigbird/core/formats/is_there.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <utility>
#include <vector>

namespace bigbird {

MappedFile::MappedFile(const std::filesystem::path& path) : path_(path) {
    require_readable(path);
    std::error_code error;
    if (std::filesystem::is_fifo(path, error))  // opening it would wait for a writer
        throw InputError("is a pipe, a file is needed", path);
    const auto failed = [&] {
        return ReadError(std::string("cannot be read: ") + std::strerror(errno), path);
    };
    const int handle = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (handle < 0) throw failed();
    struct ::stat status {};
    void* address = nullptr;
    std::size_t size = 0;
    bool ok = ::fstat(handle, &status) == 0;
    if (ok && status.st_size > 0) {  // an empty file cannot be mapped
        size = static_cast<std::size_t>(status.st_size);
        address = ::mmap(nullptr, size, PROT_READ, MAP_SHARED, handle, 0);
        ok = address != MAP_FAILED;
    }
    const int reason = errno;
    ::close(handle);
    if (!ok && reason == ENOMEM) throw DeviceError(path.string() + ": cannot be read: out of memory");
    if (!ok) {
        errno = reason;
        throw failed();
    }
    bytes_ = {static_cast<const std::byte*>(address), size};
}

MappedFile::~MappedFile() {
    if (!bytes_.empty()) ::munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : path_(std::move(other.path_)), bytes_(std::exchange(other.bytes_, {})) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
    std::swap(path_, other.path_);
    std::swap(bytes_, other.bytes_);
    return *this;
}

void MappedFile::release(std::size_t size) const {
    const std::size_t page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)), pages = size / page * page;
    if (pages > 0) ::madvise(const_cast<std::byte*>(bytes_.data()), pages, MADV_DONTNEED);
}

std::string read_whole_file(const std::filesystem::path& path) {
    require_readable(path);
    refuse_named_pipe(path);
    std::error_code error;
    if (std::filesystem::is_character_file(path, error) && path != "/dev/stdin")
        throw InputError("is a device, a file is needed", path);  // some devices never end
    std::ifstream in(path, std::ios::binary);
    if (!in.is_open()) throw ReadError(std::string("cannot be opened: ") + std::strerror(errno), path);
    std::string bytes;
    std::vector<char> buffer(1 << 16);
    while (in) {  // read() sets the stream's state if it fails; iterators would throw
        in.read(buffer.data(), static_cast<std::streamsize>(buffer.size()));
        bytes.append(buffer.data(), static_cast<std::size_t>(in.gcount()));
    }
    if (in.bad()) throw ReadError("cannot be read: " + std::string(std::strerror(errno)), path);
    return bytes;
}

}  // namespace bigbird
