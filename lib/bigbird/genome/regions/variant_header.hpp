// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

namespace bigbird::genome::detail {

/// What the header of a VCF or BCF file says of itself, before htslib, which believes it, takes memory by it:
/// the length of a BCF's header, and the places in the dictionary (IDX=). Throws InputError where one of them
/// is larger than any real header needs, where two names share a place, where the header is longer than 256
/// MB, and where the file is compressed in a way that cannot be read. Only regular files are looked at; of
/// others the compression alone is known. Formats: VCF specification 4.3, 1.2 and 6.2.
void check_variant_header(const std::filesystem::path& path);

/// Throws the InputError of a header that htslib cannot read: its fault, with its line.
[[noreturn]] void refuse_variant_header(const std::filesystem::path& path);

}  // namespace bigbird::genome::detail
