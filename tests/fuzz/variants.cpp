// SPDX-License-Identifier: Apache-2.0
// VCF and BCF through htslib, and the windows of their records.
#include "fuzz/fuzz_target.hpp"

#include "bigbird/genome/reference/reference_genome.hpp"
#include "bigbird/rows/variant_rows.hpp"

using namespace bigbird;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto file = fuzz::scratch().write("x.vcf", fuzz::text_of(data, size));
    static const auto reference =
        genome::in_memory_genome({{"chr1", std::string(2000, 'A')}, {"22", "ACGTN"}});
    return fuzz::expect_answer([&] {
        rows::VariantRows reader(file, *reference, 100);
        while (auto row = reader.next()) {
            reader.fill(*row);
            reader.settle(*row);
        }
        reader.report();
    });
}
