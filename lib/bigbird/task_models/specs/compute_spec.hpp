// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bigbird/core/choice.hpp"

#include <cstdint>
#include <string>

namespace bigbird::task_models {

/// Where and how a network computes.
struct ComputeSpec {
    std::int64_t batch_tokens = 0;                        ///< padded tokens per batch; 0: fits the device
    std::string device = "auto";                          ///< model::open_device
    std::string dtype = "auto", attention = "automatic";  ///< parse_compute_options
    int threads = 0;                                      ///< 0: all that are available to this process
};

/// Which strands of a window are scored: the given one, the mean of both, or only the reverse complement.
enum class Strands : std::uint8_t { none, average, only };
/// The values of --reverse-complement.
inline constexpr Choices<Strands, 3> strand_choices{
    {{Strands::none, "none"}, {Strands::average, "average"}, {Strands::only, "only"}}};

}  // namespace bigbird::task_models
