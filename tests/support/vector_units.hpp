// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "support/testing.hpp"

#include <hwy/targets.h>

namespace bigbird::testing {

/// Runs `body` once with each kind of vector unit that this processor has. Which ones Highway compiles
/// kernels for is up to macros (HWY_WANT_AVX3_DL): define those of the kernels before this header.
template <typename Body>
static void for_each_vector_unit(const Body& body) {
    for (const std::int64_t target : hwy::SupportedAndGeneratedTargets()) {
        hwy::SetSupportedTargetsForTest(target);
        hwy::GetChosenTarget().Update(hwy::SupportedTargets());
        DOCTEST_CAPTURE(hwy::TargetName(target));
        body();
    }
    hwy::SetSupportedTargetsForTest(0);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
}

}  // namespace bigbird::testing
