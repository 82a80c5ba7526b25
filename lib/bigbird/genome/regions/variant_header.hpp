// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

namespace bigbird::genome::detail {

/// Checks the sizes that a VCF or BCF header declares, before htslib trusts them and allocates memory: a BCF
/// header's length, and the indices in the dictionary (IDX=). Throws InputError if one is larger than any
/// real header needs, two names share an index, or the header is longer than 256 MB. Also throws if the
/// file's compression cannot be read; this is the only check of files that are not regular. Formats: VCF
/// specification 4.3, 1.2 and 6.2.
void check_variant_header(const std::filesystem::path& path);

/// Throws an InputError for a header that htslib cannot read, with the fault and its line.
[[noreturn]] void refuse_variant_header(const std::filesystem::path& path);

}  // namespace bigbird::genome::detail
