// SPDX-License-Identifier: Apache-2.0
// Splicing networks in HDF5 files of Keras, recognized by their graphs: names of layers are free.
#pragma once

#include "bigbird/networks/splicing/splice_member.hpp"

#include <filesystem>

namespace bigbird::networks {

/// Throws InputError: what of the network is not SpliceAI's form.
SpliceMember read_keras_member(const std::filesystem::path& path);

}  // namespace bigbird::networks
