// SPDX-License-Identifier: Apache-2.0
#include "bigbird/core/system/processor.hpp"

#include "bigbird/core/error.hpp"

#include <hwy/targets.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <sstream>

#if defined(__x86_64__)
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace bigbird {

namespace {

/// An instruction set's name, here and in the environment variables of the libraries that LibTorch uses, and
/// Highway's targets beyond it, whose newer ones have lower bits.
struct Names {
    const char *ours, *aten, *onednn, *mkl;
    std::int64_t beyond = 0;
};
constexpr std::array<Names, all_instruction_sets.size()> names{
    {{"base", "default", "SSE41", "SSE4_2", (HWY_SSSE3 - 1) | HWY_SSSE3},
     {"avx2", "avx2", "AVX2", "AVX2", HWY_AVX2 - 1},
     {"avx512", "avx512", "AVX512_CORE", "AVX512", HWY_AVX3 - 1},
     {"avx512_bf16", "avx512", "AVX512_CORE_BF16", "AVX512_E2"},
     {"amx", "avx512", "ALL", "AVX512_E4"}}};

const Names& names_of(InstructionSet set) {
    return names[static_cast<std::size_t>(set)];
}

#if defined(__x86_64__)

/// Whether the processor has bfloat16 matrix tiles and the system lets this process use them.
bool has_matrix_tiles() {
    unsigned a = 0, b = 0, c = 0, d = 0;
    if (__get_cpuid_count(7, 0, &a, &b, &c, &d) == 0 || (d & (1U << 22)) == 0 || (d & (1U << 24)) == 0)
        return false;
    constexpr long request_permission = 0x1023, tile_data = 18;  // ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA
    return syscall(SYS_arch_prctl, request_permission, tile_data) == 0;
}

InstructionSet ask_processor() {
    __builtin_cpu_init();
    const auto has = [](int supported) { return supported != 0; };
    if (!has(__builtin_cpu_supports("avx2")) || !has(__builtin_cpu_supports("fma")) ||
        !has(__builtin_cpu_supports("bmi2")))
        return InstructionSet::base;
    if (!has(__builtin_cpu_supports("avx512f")) || !has(__builtin_cpu_supports("avx512bw")) ||
        !has(__builtin_cpu_supports("avx512dq")) || !has(__builtin_cpu_supports("avx512vl")))
        return InstructionSet::avx2;
    if (!has(__builtin_cpu_supports("avx512bf16"))) return InstructionSet::avx512;
    return has_matrix_tiles() ? InstructionSet::amx : InstructionSet::avx512_bf16;
}

#else

InstructionSet ask_processor() {
    return InstructionSet::base;
}

#endif

/// The set that the environment variable names; nullopt if it is unset or empty.
std::optional<InstructionSet> wanted() {
    const char* const variable = std::getenv(processor_variable);
    if (variable == nullptr || *variable == '\0') return std::nullopt;
    const std::string_view word = variable;
    const auto* const found = std::ranges::find(all_instruction_sets, word, name_of);
    if (found == all_instruction_sets.end()) {
        throw ConfigError(std::string(processor_variable) + " is '" + std::string(word) +
                          "'; it can be base, avx2, avx512, avx512_bf16 or amx");
    }
    return *found;
}

/// The value of the first line of a file like /proc/cpuinfo that begins with `key`.
std::optional<std::string> value_in(const std::filesystem::path& cpuinfo, const char* key) {
    std::ifstream file(cpuinfo);
    for (std::string line; std::getline(file, line);) {
        const std::size_t colon = line.find(": ");
        if (line.starts_with(key) && colon != std::string::npos) return line.substr(colon + 2);
    }
    return std::nullopt;
}

}  // namespace

std::string_view name_of(InstructionSet set) {
    return names_of(set).ours;
}

InstructionSet processor_instruction_set() {
    static const InstructionSet set = ask_processor();
    return set;
}

InstructionSet instruction_set() {
    static const InstructionSet set =
        std::min(processor_instruction_set(), wanted().value_or(InstructionSet::amx));
    return set;
}

bool has_bf16_instructions() {
    return instruction_set() >= InstructionSet::avx512_bf16;
}

bool is_intel_processor() {
#if defined(__x86_64__)
    __builtin_cpu_init();
    return __builtin_cpu_is("intel") != 0;
#else
    return false;
#endif
}

std::string processor_name() {
    return value_in("/proc/cpuinfo", "model name").value_or("unknown");
}

std::string processor_features(const std::filesystem::path& cpuinfo) {
    constexpr std::array told{"avx2",     "fma",         "f16c",        "avx512f",  "avx512bw", "avx512dq",
                              "avx512vl", "avx512_vnni", "avx512_bf16", "amx_tile", "amx_bf16", "amx_int8"};
    std::string features;
    std::istringstream words(value_in(cpuinfo, "flags").value_or(""));
    for (std::string word; words >> word;)
        if (std::ranges::find(told, word) != told.end()) features += (features.empty() ? "" : " ") + word;
    return features;
}

void limit_libraries() {
    if (instruction_set() == processor_instruction_set()) return;
    const Names& limit = names_of(instruction_set());
    ::setenv("ATEN_CPU_CAPABILITY", limit.aten, 0);
    ::setenv("ONEDNN_MAX_CPU_ISA", limit.onednn, 0);
    ::setenv("MKL_ENABLE_INSTRUCTIONS", limit.mkl, 0);
    if (limit.beyond != 0) hwy::DisableTargets(limit.beyond);
}

}  // namespace bigbird
