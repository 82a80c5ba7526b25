// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bigbird/core/files.hpp"
#include "bigbird/genome/text/byte_stream.hpp"

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace bigbird::genome {

/// How bgzip compresses. Fast takes a quarter of the time for a tenth more bytes.
enum class Compress : std::uint8_t { usual, fast };

/// Writes text atomically: bgzip if the name ends in .gz or .bgz (compressed by threads; the bytes do not
/// depend on their number), else plain; "-" is standard output. Pipes and devices are written to directly.
/// Not thread-safe.
class TextOutput {
public:
    TextOutput(const std::filesystem::path& path, Overwrite overwrite, int threads = 1,
               Compress compress = Compress::usual);

    void write(std::string_view text);
    /// Ends the file, which commit() or commit_together() then renames to its final name. Returns null if the
    /// output is not a file. Throws WriteError.
    PendingOutput* finish();
    /// Ends the file and renames it to its final name. Without this call, the destructor removes the file.
    /// Throws WriteError.
    void commit();

private:
    struct CloseFile {
        void operator()(std::FILE* file) const noexcept { std::fclose(file); }
    };

    [[noreturn]] void fail(bool packed) const;
    std::FILE* plain() const { return file_ ? file_.get() : stdout; }

    std::filesystem::path name_;
    std::optional<PendingOutput> pending_;  ///< none of pipes and devices
    std::unique_ptr<std::FILE, CloseFile> file_;
    detail::BgzfHandle compressed_;
};

/// Throws Stopped if `output` is "-" and its reader has closed it (errno is EPIPE), else WriteError with
/// `reason`.
[[noreturn]] void throw_writing_failed(const std::filesystem::path& output, const std::string& reason);

/// Commits all outputs, or none.
void commit_together(std::span<const std::unique_ptr<TextOutput>> outputs);

}  // namespace bigbird::genome
