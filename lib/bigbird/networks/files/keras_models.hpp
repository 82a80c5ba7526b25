// SPDX-License-Identifier: Apache-2.0
// Networks of the BPNet family in files of Keras: which one a file holds, and its parts.
#pragma once

#include "bigbird/networks/files/keras_file.hpp"
#include "bigbird/networks/files/profile_model.hpp"

namespace bigbird::networks {

/// Throws InputError if layers' names are not those of a supported network: what else the HDF5 file is.
void require_known_form(const KerasFile& file, const std::filesystem::path& path);
/// ChromBPNet (nobias, bias, joined) or BPNet, of a file that has a known form and its values. Throws
/// InputError: what of the network is not supported.
ProfileModel keras_model_in(const KerasFile& file, const std::filesystem::path& path);
/// The same, with the file's checksum.
ProfileModel read_keras_model(const std::filesystem::path& path);

}  // namespace bigbird::networks
