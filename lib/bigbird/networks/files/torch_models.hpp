// SPDX-License-Identifier: Apache-2.0
// Networks of the BPNet family in files of torch.save(): which one a file holds, and its parts.
#pragma once

#include "bigbird/networks/files/profile_model.hpp"

namespace bigbird::networks {

/// Cherimoya, or a module of bpnet-lite (BPNet, ChromBPNet, BasePairNet). Throws InputError: what else the
/// file holds, or what of its network is not supported.
ProfileModel read_torch_model(const std::filesystem::path& path);

}  // namespace bigbird::networks
