// SPDX-License-Identifier: Apache-2.0
// Splicing networks in files of torch.save(): OpenSpliceAI's and Pangolin's state_dicts.
#pragma once

#include "bigbird/networks/splicing/splice_member.hpp"

#include <filesystem>

namespace bigbird::networks {

/// A Pangolin file's name tells which tissue it is for. Throws InputError: what else the file holds.
SpliceMember read_torch_member(const std::filesystem::path& path);

}  // namespace bigbird::networks
