// SPDX-License-Identifier: Apache-2.0
#include "bigbird/core/formats/mapped_guard.hpp"

#include "support/temp_dir.hpp"
#include "support/testing.hpp"

#include "bigbird/core/formats/mapped_file.hpp"
#include "bigbird/core/system/child_process.hpp"

#include <csignal>

using namespace bigbird;
using namespace std::chrono_literals;

DOCTEST_TEST_CASE(
    "mapped_guard: a file that is cut off while it is read ends the process with 3 and its name") {
    const testing::TempDir folder;
    testing::write_file(folder / "other", std::string(20'000, 'x'));
    testing::write_file(folder / "shard", std::string(20'000, 'x'));
    const ChildResult child = run_child(
        [&] {
            const MappedFile other(folder / "other"), first(folder / "shard");
            const MappedFile moved(MappedFile(folder / "shard"));
            std::filesystem::resize_file(folder / "shard", 5000);
            return static_cast<int>(moved.bytes()[19'000]);
        },
        10s);
    DOCTEST_CHECK(child.code == 3);
    DOCTEST_CHECK(child.err == "bigbird-dna: error: " + (folder / "shard").string() +
                                   ": was cut off, or its disk gave out, while it was read\n");
}

DOCTEST_TEST_CASE("mapped_guard: another SIGBUS ends the process as before") {
    const ChildResult child = run_child(
        [] {
            guard_mapping({}, "none");
            std::raise(SIGBUS);
            std::raise(SIGBUS);
            return 0;
        },
        10s);
    DOCTEST_CHECK(child.code == 128 + SIGBUS);
}
