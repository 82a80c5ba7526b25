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
#include <vector>

namespace bigbird {

MappedFile::MappedFile(const std::filesystem::path& path) : path_(path) {
    require_readable(path);
    std::error_code error;
    if (std::filesystem::is_fifo(path, error))  // opening it would wait for a writer
        throw InputError("is a pipe, a file is needed", path);
    const int handle = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    struct ::stat status {};
    const bool opened = handle >= 0 && ::fstat(handle, &status) == 0;
    const auto size = static_cast<std::size_t>(status.st_size);
    const bool maps = opened && size > 0;  // an empty file cannot be mapped
    void* const address = maps ? ::mmap(nullptr, size, PROT_READ, MAP_SHARED, handle, 0) : nullptr;
    const int reason = errno;
    if (handle >= 0) ::close(handle);
    const bool failed = !opened || address == MAP_FAILED;
    if (failed && reason == ENOMEM) throw DeviceError(path.string() + ": cannot be read: out of memory");
    if (failed) throw ReadError(std::string("cannot be read: ") + std::strerror(reason), path);
    memory_ = {static_cast<std::byte*>(address), Unmap{size}};
}

void MappedFile::Unmap::operator()(std::byte* memory) const noexcept {
    ::munmap(memory, size);
}

void read_in_pieces(const std::filesystem::path& path, const std::function<void(std::string_view)>& consume) {
    require_readable(path);
    refuse_named_pipe(path);
    std::ifstream in(path, std::ios::binary);
    if (!in.is_open()) throw ReadError(std::string("cannot be opened: ") + std::strerror(errno), path);
    std::vector<char> buffer(1 << 20);
    while (in) {  // read() sets the stream's state if it fails; iterators would throw
        in.read(buffer.data(), static_cast<std::streamsize>(buffer.size()));
        consume({buffer.data(), static_cast<std::size_t>(in.gcount())});
    }
    if (in.bad()) throw ReadError("cannot be read: " + std::string(std::strerror(errno)), path);
}

std::string read_whole_file(const std::filesystem::path& path) {
    std::error_code error;
    if (std::filesystem::is_character_file(path, error) && path != "/dev/stdin")
        throw InputError("is a device, a file is needed", path);  // some devices never end
    std::string bytes;
    read_in_pieces(path, [&](std::string_view piece) { bytes += piece; });
    return bytes;
}

}  // namespace bigbird
