// SPDX-License-Identifier: Apache-2.0
#include "bigbird/core/processor_facts.hpp"

#include "support/temp_dir.hpp"
#include "support/testing.hpp"

using namespace bigbird;

DOCTEST_TEST_CASE("processor_facts: the first one's name and the features that kernels look at") {
    const testing::TempDir folder;
    testing::write_file(
        folder / "cpuinfo",
        "processor\t: 0\nmodel name\t: AMD EPYC 7B13\nflags\t\t: fpu fma sse avx2 amx_tile_not rdseed\n"
        "\nprocessor\t: 1\nmodel name\t: other\nflags\t\t: avx512f\n");
    const ProcessorFacts facts = processor_facts(folder / "cpuinfo");
    DOCTEST_CHECK(facts.name == "AMD EPYC 7B13");
    DOCTEST_CHECK(facts.features == "fma avx2");
    DOCTEST_CHECK(processor_facts(folder / "none").name.empty());
}
