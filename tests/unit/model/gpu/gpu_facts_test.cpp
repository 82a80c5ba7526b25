// SPDX-License-Identifier: Apache-2.0
#include "bigbird/model/gpu/gpu_facts.hpp"

#include "support/testing.hpp"

using namespace bigbird::model;

namespace {

const Gpu h100{"H100", 9, 0, 80}, a100{"A100", 8, 0, 80}, t4{"T4", 7, 5, 16}, v100{"V100", 7, 0, 32},
    b200{"B200", 10, 0, 180};

/// A machine where all is well.
GpuFacts good(std::vector<Gpu> gpus = {h100}) {
    GpuFacts facts;
    facts.driver = {.is_missing = false, .version = 13010, .gpus = std::move(gpus)};
    facts.libtorch_cuda = 13000;
    return facts;
}

/// Why cuda:0 cannot be used, after a look that the machine's obstacle is the same where it is the machine's.
std::string obstacle(const GpuFacts& facts) {
    DOCTEST_CHECK(gpu_obstacle(facts, 0) == machine_obstacle(facts));
    DOCTEST_CHECK(choose_gpu(facts, std::nullopt).obstacle == machine_obstacle(facts));
    return machine_obstacle(facts);
}

}  // namespace

DOCTEST_TEST_CASE("gpu_facts: nothing stands in the way where all is there") {
    DOCTEST_CHECK(obstacle(good()).empty());
    DOCTEST_CHECK(choose_gpu(good(), std::nullopt).index == 0);
    DOCTEST_CHECK(choose_gpu(good({h100, a100}), 1).index == 1);
}

DOCTEST_TEST_CASE("gpu_facts: what is missing is said, and what to do") {
    struct Case {
        DriverFacts driver;
        int libtorch_cuda;
        std::string load_error, obstacle;
    };
    const auto driver_of = [](int version) {
        DriverFacts driver = good().driver;
        driver.version = version;
        return driver;
    };
    const std::string no_file = "libcuda.so.1: cannot open shared object file: No such file or directory",
                      no_elf = "/usr/lib/libcuda.so.1: invalid ELF header",
                      no_open = "LibTorch's CUDA part cannot be opened: ";
    const Case cases[] = {
        {{.load_error = no_file}, 13000, "", "no NVIDIA driver is installed (libcuda.so.1 is missing)"},
        {{.load_error = no_elf, .is_missing = false},
         13000,
         "",
         "the NVIDIA driver cannot be opened: " + no_elf},
        {driver_of(12040), 13000, "",
         "the NVIDIA driver is too old: it serves CUDA 12.4, and this LibTorch needs 13.0; install driver "
         "580 "
         "or newer"},
        {driver_of(12040), 12080, "", ""},
        {driver_of(11080), 12080, "",
         "the NVIDIA driver is too old: it serves CUDA 11.8, and this LibTorch needs 12.8; install driver "
         "525 "
         "or newer"},
        {driver_of(11080), 14000, "",
         "the NVIDIA driver is too old: it serves CUDA 11.8, and this LibTorch needs 14.0; install a newer "
         "driver"},
        {{.is_missing = false, .version = 13010},
         13000,
         "",
         "the driver shows no GPU (see nvidia-smi, and CUDA_VISIBLE_DEVICES)"},
        {{.is_missing = false, .version = 13010, .start_error = 803, .start_error_text = "no such driver"},
         13000,
         "",
         "the NVIDIA driver does not start: no such driver (CUDA error 803; see nvidia-smi)"},
        {driver_of(13010), 13000, "undefined symbol: x", no_open + "undefined symbol: x"},
        {driver_of(13010), 13000, "libcufile.so.0: cannot open shared object file",
         no_open + "libcufile.so.0: cannot open shared object file; scripts/setup --with-cuda of a clone, or "
                   "pip's torch with CUDA, brings it"},
        {driver_of(13010), 0, "",
         "this LibTorch was built without CUDA: scripts/setup installs one with it"}};
    for (const Case& each : cases)
        DOCTEST_CHECK(obstacle({each.driver, each.libtorch_cuda, each.load_error}) == each.obstacle);
}

DOCTEST_TEST_CASE("gpu_facts: a GPU that is not there") {
    DOCTEST_CHECK(choose_gpu(good(), 1).obstacle ==
                  "cuda:1 does not exist: this machine shows 1 GPU, cuda:0");
    DOCTEST_CHECK(choose_gpu(good(), 1).index == -1);
    DOCTEST_CHECK(choose_gpu(good({h100, a100}), 5).obstacle ==
                  "cuda:5 does not exist: this machine shows 2 GPUs, cuda:0 to cuda:1");
    GpuFacts facts = good();
    facts.load_error = "libcufile.so.0: cannot open";  // the index comes first: no installation mends it
    DOCTEST_CHECK(choose_gpu(facts, 1).obstacle.starts_with("cuda:1 does not exist"));
}

DOCTEST_TEST_CASE("gpu_facts: a GPU that LibTorch does not serve is named, and auto passes over it") {
    const std::string old =
        "cuda:0 (V100, compute capability 7.0) is too old: this LibTorch needs compute capability 7.5 or "
        "newer";
    DOCTEST_CHECK(choose_gpu(good({v100}), 0).obstacle == old);
    DOCTEST_CHECK(choose_gpu(good({v100}), std::nullopt).obstacle == old);
    DOCTEST_CHECK(choose_gpu(good({v100, t4}), std::nullopt).index == 1);
    GpuFacts facts = good({v100});
    facts.libtorch_cuda = 12080;
    DOCTEST_CHECK(choose_gpu(facts, 0).index == 0);
}

DOCTEST_TEST_CASE("gpu_facts: our own kernels give way where they do not serve the GPU") {
    for (const char* backend : {"automatic", "blocked", "reference"})
        DOCTEST_CHECK_FALSE(attention_fallback(backend, t4).has_value());
    DOCTEST_CHECK_FALSE(attention_fallback("fused", a100).has_value());
    DOCTEST_CHECK_FALSE(attention_fallback("fused", b200).has_value());
    DOCTEST_CHECK_FALSE(attention_fallback("fused-hopper", h100).has_value());
    DOCTEST_CHECK(attention_fallback("fused-hopper", a100)->backend == "fused");
    DOCTEST_CHECK(attention_fallback("fused-hopper", b200)->backend == "fused");
    DOCTEST_CHECK(attention_fallback("fused-hopper", t4)->backend == "blocked");
    const auto fallback = attention_fallback("fused", t4);
    DOCTEST_CHECK(fallback->backend == "blocked");
    DOCTEST_CHECK(fallback->sentence ==
                  "--attention blocked computes instead of fused, whose kernels need a GPU of compute "
                  "capability 8.0 or newer: this is T4, compute capability 7.5");
}

// A real one is tests/gpu's; pretended ones are tests/cli/device_test.cpp's.

DOCTEST_TEST_CASE("cuda_driver: says the same twice, and why it cannot be asked where there is none") {
    const DriverFacts first = ask_cuda_driver(), second = ask_cuda_driver();
    DOCTEST_CHECK(first.version == second.version);
    DOCTEST_CHECK(first.gpus.size() == second.gpus.size());
    DOCTEST_CHECK(first.load_error.empty() == (first.version > 0));
    DOCTEST_CHECK((!first.is_missing || first.load_error.starts_with("libcuda.so.1")));
}
