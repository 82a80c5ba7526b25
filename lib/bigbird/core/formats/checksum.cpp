// SPDX-License-Identifier: Apache-2.0
#include "bigbird/core/formats/checksum.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/files.hpp"
#include "bigbird/core/formats/is_there.hpp"

#include <openssl/evp.h>
#include <spdlog/fmt/fmt.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <memory>
#include <new>
#include <vector>

namespace bigbird {

namespace {

class Sha256 {
public:
    Sha256() : context_(EVP_MD_CTX_new(), EVP_MD_CTX_free) {
        // Every OpenSSL has SHA-256, so this fails only if memory runs out.
        if (!context_ || EVP_DigestInit_ex(context_.get(), EVP_sha256(), nullptr) != 1)
            throw std::bad_alloc();
    }
    void add(const char* data, std::size_t size) { EVP_DigestUpdate(context_.get(), data, size); }
    std::string hex() {
        std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
        unsigned int size = 0;
        EVP_DigestFinal_ex(context_.get(), digest.data(), &size);
        std::string text;
        for (unsigned int i = 0; i < size; ++i)
            text += fmt::format("{:02x}", digest[i]);
        return text;
    }

private:
    std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context_;
};

}  // namespace

std::string sha256_of_file(const std::filesystem::path& path, const std::function<void()>& between) {
    require_readable(path);
    refuse_named_pipe(path);
    std::ifstream in(path, std::ios::binary);
    if (!in.is_open()) throw ReadError(std::string("cannot be opened: ") + std::strerror(errno), path);
    Sha256 sum;
    std::vector<char> buffer(1 << 20);
    while (in) {
        in.read(buffer.data(), static_cast<std::streamsize>(buffer.size()));
        sum.add(buffer.data(), static_cast<std::size_t>(in.gcount()));
        if (between) between();
    }
    if (in.bad()) throw ReadError("cannot be read: " + std::string(std::strerror(errno)), path);
    return sum.hex();
}

std::string sha256_of_text(std::string_view text) {
    Sha256 sum;
    sum.add(text.data(), text.size());
    return sum.hex();
}

}  // namespace bigbird
