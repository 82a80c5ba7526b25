// SPDX-License-Identifier: Apache-2.0
// A .fai, or a table of contigs and lengths (chrom.sizes), given in place of a FASTA file.
#include "fuzz/fuzz_target.hpp"

#include "bigbird/genome/reference/reference_genome.hpp"

#include <array>

using namespace bigbird;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text = fuzz::text_of(data, size);
    const std::array<std::filesystem::path, 1> table{fuzz::scratch().write("chrom.sizes", text)};
    const std::array<std::filesystem::path, 1> index{fuzz::scratch().write("x.fai", text)};
    fuzz::expect_answer([&] { static_cast<void>(genome::open_contig_lengths(table)->find("chr1")); });
    return fuzz::expect_answer([&] { static_cast<void>(genome::open_contig_lengths(index)->find("chr1")); });
}
