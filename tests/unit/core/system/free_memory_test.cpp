// SPDX-License-Identifier: Apache-2.0
#include "bigbird/core/system/free_memory.hpp"

#include "support/testing.hpp"

#include <unistd.h>

#include <new>
#include <stdexcept>

using namespace bigbird;

DOCTEST_TEST_CASE("free_memory: some is free, and no more than the machine has") {
    const double machine =
        static_cast<double>(::sysconf(_SC_PHYS_PAGES)) * static_cast<double>(::sysconf(_SC_PAGESIZE));
    DOCTEST_CHECK(free_memory() > 0);
    DOCTEST_CHECK(free_memory() <= machine);
}

DOCTEST_TEST_CASE("free_memory: memory that ran out is told from other failures") {
    DOCTEST_CHECK(is_out_of_memory(std::bad_alloc()));
    for (const char* words :
         {"CUDA out of memory. Tried to allocate 2.00 GiB.",
          "CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling", "could not create a primitive",
          "could not create an engine", "could not clone a memory descriptor"})
        DOCTEST_CHECK(is_out_of_memory(std::runtime_error(words)));
    // What std::thread throws where its stack finds no room.
    DOCTEST_CHECK(
        is_out_of_memory(std::system_error(std::make_error_code(std::errc::resource_unavailable_try_again))));
    DOCTEST_CHECK_FALSE(is_out_of_memory(std::system_error(std::make_error_code(std::errc::io_error))));
    DOCTEST_CHECK_FALSE(is_out_of_memory(std::runtime_error("something else")));
}

DOCTEST_TEST_CASE("device_fault: LibTorch's words about a GPU become one sentence, others are left") {
    const auto fault = device_fault(std::runtime_error(
        "CUDA error: an illegal memory access was encountered.\nCUDA kernel errors might be "
        "asynchronously reported\nfor debugging consider"));
    DOCTEST_CHECK(
        fault.value_or("").starts_with("the GPU failed: CUDA error: an illegal memory access was "
                                       "encountered; 'bigbird-dna info --program'"));
    DOCTEST_CHECK(fault.value_or("\n").find('\n') == std::string::npos);
    DOCTEST_CHECK(device_fault(std::runtime_error("cuDNN error: CUDNN_STATUS_EXECUTION_FAILED")).has_value());
    DOCTEST_CHECK_FALSE(device_fault(std::runtime_error("shapes differ")).has_value());
}
