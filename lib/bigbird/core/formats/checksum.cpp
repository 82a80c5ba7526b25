// SPDX-License-Identifier: Apache-2.0
#include "bigbird/core/formats/checksum.hpp"

#include "bigbird/core/formats/mapped_file.hpp"

#include <openssl/evp.h>
#include <spdlog/fmt/fmt.h>
#include <spdlog/fmt/ranges.h>

#include <array>
#include <memory>
#include <new>

namespace bigbird {

namespace {

/// SHA-256 of what `feed` passes to its argument, in any pieces.
std::string sha256_of(const std::function<void(const std::function<void(std::string_view)>&)>& feed) {
    const std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context(EVP_MD_CTX_new(), EVP_MD_CTX_free);
    // Every OpenSSL has SHA-256, so this fails only if memory runs out.
    if (!context || EVP_DigestInit_ex(context.get(), EVP_sha256(), nullptr) != 1) throw std::bad_alloc();
    feed([&](std::string_view bytes) { EVP_DigestUpdate(context.get(), bytes.data(), bytes.size()); });
    std::array<unsigned char, 32> digest{};
    EVP_DigestFinal_ex(context.get(), digest.data(), nullptr);
    return fmt::format("{:02x}", fmt::join(digest, ""));
}

}  // namespace

std::string sha256_of_file(const std::filesystem::path& path, const std::function<void()>& between) {
    return sha256_of([&](const auto& add) {
        read_in_pieces(
            path,
            [&](std::string_view piece) {
                add(piece);
                if (between) between();
            });
    });
}

std::string sha256_of_text(std::string_view text) {
    return sha256_of([&](const auto& add) { add(text); });
}

}  // namespace bigbird
