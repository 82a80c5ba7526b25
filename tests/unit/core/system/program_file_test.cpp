// SPDX-License-Identifier: Apache-2.0
#include "bigbird/core/system/program_file.hpp"

#include "support/temp_dir.hpp"
#include "support/testing.hpp"

using namespace bigbird;
namespace fs = std::filesystem;

DOCTEST_TEST_CASE("program_file: beside the program, else in bin/ beside its folder") {
    const fs::path self = fs::read_symlink("/proc/self/exe");
    DOCTEST_CHECK(program_file(self.filename()) == self);
    // A build tree: build/tests/core_tests and build/bin/PROGRAM.
    const fs::path in_bin = self.parent_path().parent_path() / "bin" / "program-file-test";
    fs::create_directories(in_bin.parent_path());
    testing::write_file(in_bin, "");
    DOCTEST_CHECK(program_file("program-file-test") == in_bin);
    fs::remove(in_bin);
    DOCTEST_CHECK(program_file("no-such-file") == self.parent_path() / "no-such-file");
}
