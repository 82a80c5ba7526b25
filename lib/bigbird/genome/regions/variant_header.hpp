// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

namespace bigbird::genome::detail {

/// Checks the sizes that a VCF or BCF header declares, before htslib trusts them and allocates memory: a BCF
/// header's length, and the indices in the dictionary (IDX=). Throws InputError where one is larger than any
/// real header needs, two names share an index, or the header is longer than 256 MB. Also throws where the
/// file's compression cannot be read, the only check of files that are not regular. Formats: VCF
/// specification 4.3, 1.2 and 6.2.
void check_variant_header(const std::filesystem::path& path);

/// Throws the InputError of a header that htslib cannot read: its fault, with its line.
[[noreturn]] void refuse_variant_header(const std::filesystem::path& path);

}  // namespace bigbird::genome::detail
