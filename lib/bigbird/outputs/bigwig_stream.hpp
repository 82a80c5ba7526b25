// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdio>
#include <filesystem>

namespace bigbird::outputs {

/// Opens a new stream that is written and read back, as libBigWig does for its zoom levels. If reading fails,
/// libBigWig would end the program by a signal; this stream throws WriteError, through libBigWig and the C
/// library. Failed writes set its error flag, as for any stream. `name`: its name in errors. Returns null,
/// with errno, if it cannot be opened.
std::FILE* open_bigwig_stream(const std::filesystem::path& path, const std::filesystem::path& name);

}  // namespace bigbird::outputs
