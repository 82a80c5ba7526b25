// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bigbird/task_models/specs/embed_spec.hpp"

#include <cstdint>

namespace bigbird::task_models {

struct EmbedReport {
    std::int64_t rows = 0, embedded = 0, truncated = 0;
    double seconds = 0;
};

/// Writes one row for each row that comes in, in order, or one for each of its tokens with `token` (1, 2, …),
/// `token_start` and `token_end` (the bases that it spells, counted from the window's start on the strand
/// that was read) and `piece` behind the row's fields. Columns are d0 … d(hidden - 1). Memory does not grow
/// with the rows. Throws InputError, ConfigError, DeviceError, WriteError, Stopped.
EmbedReport embed(const EmbedSpec& spec);

}  // namespace bigbird::task_models
