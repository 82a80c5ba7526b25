// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bigbird/core/log.hpp"

#include <string>

namespace bigbird {

/// As set_up_log, with words before every message ("process 1: "): for several processes that write to one
/// terminal.
void set_up_log_with_prefix(Verbosity verbosity, const std::string& prefix);

}  // namespace bigbird
