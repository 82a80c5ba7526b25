// SPDX-License-Identifier: Apache-2.0
#include "bigbird/task_models/specs/embed_spec.hpp"

#include "bigbird/core/error.hpp"

namespace bigbird::task_models {

void EmbedSpec::validate() const {
    if (regions.empty() && sequences.empty()) {
        throw ConfigError("--regions with --reference, or --sequences, is needed");
    }
}

}  // namespace bigbird::task_models
