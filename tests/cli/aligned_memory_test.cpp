// SPDX-License-Identifier: Apache-2.0
// apps/bigbird-dna/aligned_memory.cpp, which this program is linked with as bigbird-dna-tensors is.
#include "support/testing.hpp"

#include <sys/mman.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <new>

namespace {

// <cstdlib> declares that it throws nothing, and the compiler would believe it.
extern "C" int memalign_of_libraries(void** memory, std::size_t alignment,
                                     std::size_t size) __asm__("posix_memalign");

}  // namespace

DOCTEST_TEST_CASE("aligned_memory: where there is none it throws, for oneDNN writes into what it gets") {
    void* memory = nullptr;
#ifndef __SANITIZE_ADDRESS__  // which ends the program itself
    DOCTEST_CHECK_THROWS_AS(memalign_of_libraries(&memory, 64, std::numeric_limits<std::ptrdiff_t>::max()),
                            std::bad_alloc);
#endif
    DOCTEST_CHECK(memalign_of_libraries(&memory, 3, 100) == EINVAL);
    DOCTEST_CHECK(memory == nullptr);
    DOCTEST_REQUIRE(memalign_of_libraries(&memory, 64, 100) == 0);
    DOCTEST_CHECK(reinterpret_cast<std::uintptr_t>(memory) % 64 == 0);
    std::free(memory);
}

DOCTEST_TEST_CASE(
    "aligned_memory: mmap throws for LibTorch's callers alone, for oneDNN runs code that is not there") {
    constexpr std::size_t more_than_any = std::size_t{1} << 60;
    constexpr int kind = MAP_PRIVATE | MAP_ANONYMOUS;
    errno = 0;
    const bool failed = ::mmap(nullptr, more_than_any, PROT_READ | PROT_WRITE, kind, -1, 0) == MAP_FAILED;
    DOCTEST_CHECK(failed);
    DOCTEST_CHECK(errno == ENOMEM);
    void* const memory = ::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, kind, -1, 0);
    DOCTEST_REQUIRE(memory != MAP_FAILED);
    ::munmap(memory, 4096);
}
