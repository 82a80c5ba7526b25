// SPDX-License-Identifier: Apache-2.0
#include "bigbird/core/formats/whole_file.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/files.hpp"
#include "bigbird/core/formats/is_there.hpp"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <vector>

namespace bigbird {

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
