// SPDX-License-Identifier: Apache-2.0
#include "bigbird/core/system/processor.hpp"

#include "support/environment.hpp"
#include "support/temp_dir.hpp"
#include "support/testing.hpp"

#include "bigbird/core/system/child_process.hpp"

#include <hwy/targets.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

using namespace bigbird;

namespace {

/// A line of the system's about the processor, such as its features; empty where there is none.
std::string cpuinfo(const std::string& key) {
    std::ifstream file("/proc/cpuinfo");
    for (std::string line; std::getline(file, line);)
        if (line.starts_with(key)) return line + " ";
    return {};
}

std::string variable(const char* name) {
    const char* const value = std::getenv(name);
    return value == nullptr ? "" : value;
}

}  // namespace

DOCTEST_TEST_CASE("processor: instruction sets have names and an order") {
    std::ostringstream names;
    for (const InstructionSet set : all_instruction_sets)
        names << name_of(set) << ' ';
    DOCTEST_CHECK(names.str() == "base avx2 avx512 avx512_bf16 amx ");
    DOCTEST_CHECK(InstructionSet::base < InstructionSet::avx2);
    DOCTEST_CHECK(InstructionSet::avx512_bf16 < InstructionSet::amx);
}

DOCTEST_TEST_CASE("processor: it has what the system lists") {
    const std::string features = cpuinfo("flags");
    if (features.empty()) return;
    const auto has = [&](const std::string& word) {
        return features.find(" " + word + " ") != std::string::npos;
    };
    const InstructionSet set = processor_instruction_set();
    DOCTEST_CHECK((set >= InstructionSet::avx2) == (has("avx2") && has("fma") && has("bmi2")));
    if (set >= InstructionSet::avx512) DOCTEST_CHECK(has("avx512bw"));
    if (set >= InstructionSet::avx512_bf16) DOCTEST_CHECK(has("avx512_bf16"));
    if (set >= InstructionSet::amx) DOCTEST_CHECK(has("amx_bf16"));
    DOCTEST_CHECK(processor_name() != "unknown");
    DOCTEST_CHECK(is_intel_processor() == (cpuinfo("vendor_id").find("GenuineIntel") != std::string::npos));
}

DOCTEST_TEST_CASE("processor: no more is used than BIGBIRD_CPU names, by libraries either") {
    DOCTEST_CHECK(instruction_set() <= processor_instruction_set());
    DOCTEST_CHECK(has_bf16_instructions() == (instruction_set() >= InstructionSet::avx512_bf16));
    const std::string wanted = variable(processor_variable);
    if (!wanted.empty()) DOCTEST_CHECK(name_of(instruction_set()) == wanted);
    if (instruction_set() == processor_instruction_set()) return;
    // tests/support/main.cpp has called limit_libraries().
    const std::int64_t targets = hwy::SupportedTargets();
    if (instruction_set() == InstructionSet::base) {
        DOCTEST_CHECK((targets & (HWY_SSSE3 | HWY_SSE4 | HWY_AVX2 | HWY_AVX3 | HWY_AVX3_DL)) == 0);
        DOCTEST_CHECK(variable("ATEN_CPU_CAPABILITY") == "default");
    } else if (instruction_set() == InstructionSet::avx2) {
        DOCTEST_CHECK((targets & HWY_AVX2) != 0);
        DOCTEST_CHECK((targets & (HWY_AVX3 | HWY_AVX3_DL)) == 0);
        DOCTEST_CHECK(variable("ONEDNN_MAX_CPU_ISA") == "AVX2");
    } else if (instruction_set() == InstructionSet::avx512) {
        DOCTEST_CHECK((targets & HWY_AVX3) != 0);
        DOCTEST_CHECK((targets & HWY_AVX3_DL) == 0);
    }
}

DOCTEST_TEST_CASE("processor: BIGBIRD_CPU may name a lesser processor, and nothing else") {
    const std::string self = std::filesystem::read_symlink("/proc/self/exe");
    const auto with = [&](const std::string& word) {
        const testing::Environment variable(processor_variable, word);
        return run_child(self, {"core_tests", "-tc=processor: no more*"}, std::chrono::seconds(60));
    };
    DOCTEST_CHECK(with("base").succeeded());
    for (const char* word : {"AVX2", "sse", "avx2 ", "avx"}) {
        const ChildResult refused = with(word);
        DOCTEST_CHECK(refused.code == 128 + SIGABRT);  // this program does not catch it
        DOCTEST_CHECK(refused.err.find(std::string("BIGBIRD_CPU is '") + word +
                                       "'; it can be base, avx2, avx512, avx512_bf16 or amx") !=
                      std::string::npos);
    }
}

DOCTEST_TEST_CASE("processor: the first processor's features that kernels look at") {
    const testing::TempDir folder;
    testing::write_file(
        folder / "cpuinfo",
        "processor\t: 0\nmodel name\t: AMD EPYC 7B13\nflags\t\t: fpu fma sse avx2 amx_tile_not rdseed\n"
        "\nprocessor\t: 1\nmodel name\t: other\nflags\t\t: avx512f\n");
    DOCTEST_CHECK(processor_features(folder / "cpuinfo") == "fma avx2");
    DOCTEST_CHECK(processor_features(folder / "none").empty());
}
