// SPDX-License-Identifier: Apache-2.0
// Networks of the BPNet family in files of Keras: which one a file holds, and its parts.
#pragma once

#include "bigbird/networks/files/profile_model.hpp"

namespace bigbird::networks {

/// ChromBPNet (nobias, bias, joined) or BPNet. Throws InputError: what else the HDF5 file is, or what of its
/// network is not supported.
ProfileModel read_keras_model(const std::filesystem::path& path);

}  // namespace bigbird::networks
