// SPDX-License-Identifier: Apache-2.0
// test_data/baselines/logits.json: what PyTorch computes (scripts/checks/make_baseline_fixtures.py).
#pragma once

#include "bigbird/baselines/window/architecture.hpp"

#include <string>
#include <vector>

namespace bigbird::testing {

/// The windows of an architecture as (windows, length) codes.
at::Tensor fixture_bases(const std::string& architecture);

/// Checks names and shapes of the parameters, fills them as the script does and compares the logits.
void check_against_pytorch(const std::string& architecture, baselines::BaseNetworkImpl& network);

/// Checks, on the architecture's windows, that dropout is of training alone and follows from the sample.
void check_dropout(const std::string& architecture, baselines::BaseNetworkImpl& network);

}  // namespace bigbird::testing
