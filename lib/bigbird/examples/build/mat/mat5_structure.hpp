// SPDX-License-Identifier: Apache-2.0
// Checks the sizes that a MATLAB 5 .mat file declares, before matio trusts them and allocates memory. Format:
// MathWorks, "MAT-File Format", chapter 1.
#pragma once

#include <filesystem>

namespace bigbird::examples {

/// Throws InputError where an element of a MATLAB 5 file claims more bytes than there are, and where a
/// variable is no array of numbers. Compressed variables are inflated to their end, where zlib compares its
/// checksum, which matio passes over; nothing but the head is kept. Files of MATLAB 7.3 are left to their
/// reader; any others, MATLAB 4's too, are no such file. Throws Stopped.
void check_mat5(const std::filesystem::path& path);

}  // namespace bigbird::examples
