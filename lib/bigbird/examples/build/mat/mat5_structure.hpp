// SPDX-License-Identifier: Apache-2.0
// Checks the sizes that a MATLAB 5 .mat file declares, before matio trusts them and allocates memory. Format:
// MathWorks, "MAT-File Format", chapter 1.
#pragma once

#include <filesystem>

namespace bigbird::examples {

/// Throws InputError if an element of a MATLAB 5 file claims more bytes than there are, and if a
/// variable is not an array of numbers. Compressed variables are inflated to their end, so that zlib compares
/// its checksum, which matio ignores; only the head is kept. Does not check files of MATLAB 7.3; refuses all
/// others, also those of MATLAB 4. Throws Stopped.
void check_mat5(const std::filesystem::path& path);

}  // namespace bigbird::examples
