// SPDX-License-Identifier: Apache-2.0
#include "bigbird/core/formats/checksum.hpp"

#include "bigbird/core/formats/mapped_file.hpp"

#include <openssl/evp.h>
#include <spdlog/fmt/fmt.h>

#include <array>
#include <memory>
#include <new>

namespace bigbird {

namespace {

class Sha256 {
public:
    Sha256() : context_(EVP_MD_CTX_new(), EVP_MD_CTX_free) {
        // Every OpenSSL has SHA-256, so this fails only if memory runs out.
        if (!context_ || EVP_DigestInit_ex(context_.get(), EVP_sha256(), nullptr) != 1)
            throw std::bad_alloc();
    }
    void add(std::string_view bytes) { EVP_DigestUpdate(context_.get(), bytes.data(), bytes.size()); }
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
    Sha256 sum;
    read_in_pieces(path, [&](std::string_view piece) {
        sum.add(piece);
        if (between) between();
    });
    return sum.hex();
}

std::string sha256_of_text(std::string_view text) {
    Sha256 sum;
    sum.add(text);
    return sum.hex();
}

}  // namespace bigbird
