// SPDX-License-Identifier: Apache-2.0
#include "bigbird/training/specs/run_spec.hpp"

namespace bigbird::training {

Json RunSpec::settings() const {
    return {{"--checkpoint-every", checkpoint_every}, {"--keep", keep}, {"--keep-every", keep_every}};
}

}  // namespace bigbird::training
