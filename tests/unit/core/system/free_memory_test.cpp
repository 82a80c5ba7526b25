// SPDX-License-Identifier: Apache-2.0
#include "bigbird/core/system/free_memory.hpp"

#include "support/temp_dir.hpp"
#include "support/testing.hpp"

#include <sys/resource.h>

#include <cmath>
#include <new>
#include <stdexcept>

using namespace bigbird;
using bigbird::testing::TempDir;
using bigbird::testing::write_file;
namespace fs = std::filesystem;

DOCTEST_TEST_CASE("free_memory: the narrowest control group above a process counts, in either version") {
    const TempDir folder;
    const fs::path mounted = folder / "cgroup", inner = mounted / "slurm/job1";
    fs::create_directories(inner);
    write_file(folder / "self", "1:cpu:/elsewhere\n0::/slurm/job1\n");
    DOCTEST_CHECK(std::isinf(left_by_control_groups(folder / "self", mounted)));
    write_file(inner / "memory.max", "max\n");
    write_file(inner / "memory.current", "300\n");
    DOCTEST_CHECK(std::isinf(left_by_control_groups(folder / "self", mounted)));
    write_file(mounted / "slurm/memory.max", "1000\n");
    write_file(mounted / "slurm/memory.current", "400\n");
    DOCTEST_CHECK(left_by_control_groups(folder / "self", mounted) == 600);
    write_file(inner / "memory.max", "350\n");
    write_file(inner / "memory.stat", "anon 270\ninactive_file 30\n");
    DOCTEST_CHECK(left_by_control_groups(folder / "self", mounted) == 80);

    write_file(folder / "old", "12:memory:/job\n");
    fs::create_directories(mounted / "memory/job");
    write_file(mounted / "memory/job/memory.limit_in_bytes", "500\n");
    write_file(mounted / "memory/job/memory.usage_in_bytes", "450\n");
    write_file(mounted / "memory/job/memory.stat", "total_inactive_file 7\n");
    DOCTEST_CHECK(left_by_control_groups(folder / "old", mounted) == 57);
    DOCTEST_CHECK(std::isinf(left_by_control_groups(folder / "none", mounted)));
}

DOCTEST_TEST_CASE("free_memory: what is left falls with what is taken, and ulimit -v is looked at") {
    const double before = free_memory();
    DOCTEST_CHECK(before > 0);
#ifdef __SANITIZE_ADDRESS__
    return;  // AddressSanitizer maps more than any limit
#endif
    rlimit old{};
    DOCTEST_REQUIRE(::getrlimit(RLIMIT_AS, &old) == 0);
    rlimit narrow = old;
    narrow.rlim_cur = 1;  // less than there is already
    DOCTEST_REQUIRE(::setrlimit(RLIMIT_AS, &narrow) == 0);
    const double left = free_memory();
    ::setrlimit(RLIMIT_AS, &old);
    DOCTEST_CHECK(left == 0);
}

DOCTEST_TEST_CASE("free_memory: memory that ran out is told from other failures") {
    DOCTEST_CHECK(is_out_of_memory(std::bad_alloc()));
    DOCTEST_CHECK(is_out_of_memory(std::runtime_error("CUDA out of memory. Tried to allocate 2.00 GiB.")));
    DOCTEST_CHECK(
        is_out_of_memory(std::runtime_error("CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling")));
    DOCTEST_CHECK(is_out_of_memory(std::runtime_error("could not create a primitive")));
    DOCTEST_CHECK(is_out_of_memory(std::runtime_error("could not create an engine")));
    DOCTEST_CHECK(is_out_of_memory(std::runtime_error("could not clone a memory descriptor")));
    // What std::thread throws where its stack finds no room.
    DOCTEST_CHECK(
        is_out_of_memory(std::system_error(std::make_error_code(std::errc::resource_unavailable_try_again))));
    DOCTEST_CHECK_FALSE(is_out_of_memory(std::system_error(std::make_error_code(std::errc::io_error))));
    DOCTEST_CHECK_FALSE(is_out_of_memory(std::runtime_error("something else")));
}
