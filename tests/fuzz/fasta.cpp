// SPDX-License-Identifier: Apache-2.0
// A FASTA file (plain, gzip or bgzip, told by its bytes) with the .fai and .gzi beside it, stale or lying.
#include "fuzz/fuzz_target.hpp"

#include "bigbird/genome/reference/reference_genome.hpp"

#include <algorithm>
#include <array>

using namespace bigbird;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const fuzz::Scratch& scratch = fuzz::scratch();
    scratch.write_files(fuzz::text_of(data, size), {"x.fa", "x.fa.fai", "x.fa.gzi"});
    const std::filesystem::path file = scratch.folder() / "x.fa";
    fuzz::expect_answer([&] {
        const auto genome = genome::open_reference(file);
        for (const genome::Contig& contig : genome->contigs()) {
            const std::int64_t middle = contig.length / 2, end = contig.length;
            static_cast<void>(genome->fetch({contig.name, -2, std::min<std::int64_t>(end, 5000)}));
            static_cast<void>(genome->fetch({contig.name, middle, std::min(end, middle + 300)}));
            static_cast<void>(genome->fetch({contig.name, std::max<std::int64_t>(end - 100, 0), end + 3}));
            static_cast<void>(genome->fetch({contig.name, 0, end}));
        }
    });
    return fuzz::expect_answer([&] {
        const std::array<std::filesystem::path, 1> files{file};
        static_cast<void>(genome::open_contig_lengths(files)->contigs().size());
    });
}
