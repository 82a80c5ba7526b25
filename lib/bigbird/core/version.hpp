// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace bigbird {

/// The release, such as "0.4.0"; written into every artefact.
std::string_view version();

}  // namespace bigbird
