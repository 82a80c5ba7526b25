// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bigbird/genome/reference/interval.hpp"

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

namespace bigbird::examples {

/// Compares lengths of the reference's contigs with those in a file (0: the file lacks the contig). Returns a
/// warning if a contig is a slice of the file's, much shorter; else nothing. Throws InputError: other
/// lengths, no contig in common.
std::string require_lengths(const std::filesystem::path& path, std::span<const genome::Contig> contigs,
                            std::span<const std::int64_t> in_file);

}  // namespace bigbird::examples
