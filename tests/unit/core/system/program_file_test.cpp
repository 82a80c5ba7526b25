// SPDX-License-Identifier: Apache-2.0
#include "bigbird/core/system/program_file.hpp"

#include "support/testing.hpp"

using namespace bigbird;
namespace fs = std::filesystem;

DOCTEST_TEST_CASE("program_file: beside the program, else in bin/ beside its folder") {
    const fs::path self = fs::read_symlink("/proc/self/exe");
    DOCTEST_CHECK(program_file(self.filename()) == self);
    // A build tree: build/tests/core_tests and build/bin/bigbird-dna.
    DOCTEST_CHECK(program_file("bigbird-dna") == self.parent_path().parent_path() / "bin" / "bigbird-dna");
    DOCTEST_CHECK(program_file("no-such-file") == self.parent_path() / "no-such-file");
}
