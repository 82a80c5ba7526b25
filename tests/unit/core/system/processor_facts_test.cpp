// SPDX-License-Identifier: Apache-2.0
#include "bigbird/core/system/processor_facts.hpp"

#include "support/temp_dir.hpp"
#include "support/testing.hpp"

using namespace bigbird;

DOCTEST_TEST_CASE("processor_facts: the first processor's features that kernels look at") {
    const testing::TempDir folder;
    testing::write_file(
        folder / "cpuinfo",
        "processor\t: 0\nmodel name\t: AMD EPYC 7B13\nflags\t\t: fpu fma sse avx2 amx_tile_not rdseed\n"
        "\nprocessor\t: 1\nmodel name\t: other\nflags\t\t: avx512f\n");
    DOCTEST_CHECK(processor_features(folder / "cpuinfo") == "fma avx2");
    DOCTEST_CHECK(processor_features(folder / "none").empty());
}
