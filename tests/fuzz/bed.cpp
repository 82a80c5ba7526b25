// SPDX-License-Identifier: Apache-2.0
// BED and narrowPeak rows, plain or compressed, their windows on a reference, and their tiles.
#include "bigbird/genome/regions/bed.hpp"

#include "fuzz/fuzz_target.hpp"

#include "bigbird/genome/reference/reference_genome.hpp"
#include "bigbird/rows/region_rows.hpp"

using namespace bigbird;

namespace {

void read_rows(const std::filesystem::path& file, const rows::RegionOptions& options) {
    static const auto reference =
        genome::in_memory_genome({{"chr1", std::string(2000, 'A')}, {"2", "ACGTN"}});
    rows::RegionReader reader(file, *reference, options);
    int left = 1000;  // tiles of a long row are many
    while (auto row = reader.next()) {
        reader.fill(*row);
        if (--left == 0) return;
    }
    reader.report();
    static_cast<void>(reader.total());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto file = fuzz::scratch().write("x.bed", fuzz::text_of(data, size));
    fuzz::expect_answer([&] { static_cast<void>(genome::read_bed(file)); });
    fuzz::expect_answer([&] {
        read_rows(file, {.anchor = rows::Anchor::automatic, .use_strand = true, .skip_invalid = true});
    });
    return fuzz::expect_answer([&] {
        read_rows(
            file,
            {.anchor = rows::Anchor::summit, .skip_invalid = true, .tile = 200, .tile_both_strands = true});
    });
}
