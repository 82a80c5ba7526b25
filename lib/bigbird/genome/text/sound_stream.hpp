// SPDX-License-Identifier: Apache-2.0
// Whether a stream of htslib is complete. Its readers of records take an error for the end.
#pragma once

#include <cstdint>
#include <filesystem>

struct BGZF;

namespace bigbird::genome::detail {

/// Throws InputError: damaged behind `line`, the last that could be read (0: not known).
[[noreturn]] void refuse_damaged(const std::filesystem::path& path, std::int64_t line = 0);
/// Throws InputError: a bgzip file whose last block is not the empty one. Whether it was cut between two
/// blocks cannot be seen.
[[noreturn]] void refuse_unclosed(const std::filesystem::path& path, std::int64_t line = 0);
/// Throws InputError if a block could not be read, or if a bgzip file has `ended` and is not closed.
void require_sound(BGZF& file, bool ended, const std::filesystem::path& path, std::int64_t line);

}  // namespace bigbird::genome::detail
