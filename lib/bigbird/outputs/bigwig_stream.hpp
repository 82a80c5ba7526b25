// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdio>
#include <filesystem>

namespace bigbird::outputs {

/// A new stream that is written and read back, as libBigWig does for its zoom levels. libBigWig ends the
/// program by a signal where reading fails; this stream throws WriteError, through libBigWig and the C
/// library. Writes that fail mark it, as any. `name`: what errors call it. Null, with errno, where it cannot
/// be opened.
std::FILE* open_bigwig_stream(const std::filesystem::path& path, const std::filesystem::path& name);

}  // namespace bigbird::outputs
