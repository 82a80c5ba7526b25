// SPDX-License-Identifier: Apache-2.0
// The processor's instruction sets, and which of them this program may use. All code that depends on
// instruction sets asks here, so that one environment variable limits all of it.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace bigbird {

/// Instruction sets that code is compiled for; each includes those before it. `base` is what every x86-64
/// processor has; every other architecture uses it, too. `avx2` includes FMA and BMI2; `avx512` is F, BW, DQ
/// and VL; `avx512_bf16` multiplies bfloat16 numbers; `amx` does so by matrix tiles.
enum class InstructionSet : std::uint8_t { base, avx2, avx512, avx512_bf16, amx };

inline constexpr std::array all_instruction_sets{InstructionSet::base, InstructionSet::avx2,
                                                 InstructionSet::avx512, InstructionSet::avx512_bf16,
                                                 InstructionSet::amx};

/// The environment variable that names the largest instruction set to use: base, avx2, avx512, avx512_bf16 or
/// amx.
inline constexpr const char* processor_variable = "BIGBIRD_CPU";

/// "base", "avx2", "avx512", "avx512_bf16", "amx".
std::string_view name_of(InstructionSet set);

/// The largest instruction set that the processor has and the operating system allows. Thread-safe.
InstructionSet processor_instruction_set();

/// The smaller instruction set of the processor's and the one that BIGBIRD_CPU names. The variable is read
/// once; thread-safe. Throws ConfigError if it is not a known name.
InstructionSet instruction_set();

/// Whether the processor has instructions that multiply bfloat16 numbers. Without them, arithmetic in
/// bfloat16 is many times slower than in float.
bool has_bf16_instructions();

/// Whether Intel made the processor. On others, MKL uses at most AVX2.
bool is_intel_processor();

/// The processor by its own name, such as "AMD EPYC 9R14"; "unknown" where the system has none.
std::string processor_name();

/// The features of the first processor in a file like /proc/cpuinfo, for bug reports: those that our kernels
/// and LibTorch check, by the system's names, separated by blanks. instruction_set() decides which may be
/// used.
std::string processor_features(const std::filesystem::path& cpuinfo = "/proc/cpuinfo");

/// Limits libraries with code for several instruction sets (LibTorch, oneDNN, MKL, Highway) to
/// instruction_set(), if BIGBIRD_CPU names less than the processor has. Does not change environment variables
/// of theirs that are already set. Call it at the beginning of main(), before any of them computes and while
/// there is one thread. Throws as instruction_set().
void limit_libraries();

}  // namespace bigbird
