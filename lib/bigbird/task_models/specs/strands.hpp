// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bigbird/core/choice.hpp"

#include <cstdint>

namespace bigbird::task_models {

/// Which strands of a window are scored: as it comes, the mean of both, or its reverse complement alone.
enum class Strands : std::uint8_t { none, average, only };
/// The values of --reverse-complement.
inline constexpr Choices<Strands, 3> strand_choices{
    {{Strands::none, "none"}, {Strands::average, "average"}, {Strands::only, "only"}}};

}  // namespace bigbird::task_models
