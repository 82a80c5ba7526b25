// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bigbird/core/formats/json_file.hpp"
#include "bigbird/examples/build/signals/read_signal.hpp"

namespace bigbird::examples {

/// The reads of a BAM or CRAM by what became of them, and the shift of a file of cut sites.
Json to_json(const SignalRead& file, const SignalReading& how);

}  // namespace bigbird::examples
