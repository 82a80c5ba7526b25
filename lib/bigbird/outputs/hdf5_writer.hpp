// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bigbird/outputs/hdf5_handle.hpp"

#include <algorithm>
#include <string>
#include <vector>

namespace bigbird::outputs {

/// Creates a file at a pending output's path without HDF5's lock, which would conflict with the pending
/// output's own.
inline Hdf5Handle create_unlocked_hdf5(const char* path) {
    const Hdf5Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
    H5Pset_file_locking(access, false, true);
    return {H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, access), H5Fclose};
}

/// Creates datasets, groups and attributes in a file. `fine` becomes false at the first failure.
struct Hdf5Writer {
    hid_t file;
    bool fine = true;

    Hdf5Handle group(const char* name) const {
        const Hdf5Handle properties(H5Pcreate(H5P_GROUP_CREATE), H5Pclose);
        H5Pset_obj_track_times(properties, false);  // makes equal rows give equal bytes
        return {H5Gcreate2(file, name, H5P_DEFAULT, properties, H5P_DEFAULT), H5Gclose};
    }
    void dataset(const Hdf5Handle& parent, const char* name, hid_t stored, hid_t held,
                 const std::vector<hsize_t>& size, const void* data) {
        const auto rank = static_cast<int>(size.size());
        const Hdf5Handle space(H5Screate_simple(rank, size.data(), nullptr), H5Sclose);
        const Hdf5Handle properties(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
        H5Pset_obj_track_times(properties, false);
        if (rank > 1 && size.front() * size.back() > 0) {
            constexpr hsize_t together = 64;
            std::vector<hsize_t> chunk = size;
            chunk.front() = std::min(together, size.front());
            H5Pset_chunk(properties, rank, chunk.data());
            H5Pset_shuffle(properties);
            H5Pset_deflate(properties, 1);
        }
        Hdf5Handle made(H5Dcreate2(parent, name, stored, space, H5P_DEFAULT, properties, H5P_DEFAULT),
                        H5Dclose);
        fine = fine && made >= 0 &&
               (size.front() == 0 || H5Dwrite(made, held, H5S_ALL, H5S_ALL, H5P_DEFAULT, data) >= 0) &&
               made.close();
    }
    void attribute(const std::string& name, const std::string& value, hid_t type) {
        if (H5Aexists(file, name.c_str()) > 0) return;  // several models share a name
        const Hdf5Handle space(H5Screate(H5S_SCALAR), H5Sclose);
        const Hdf5Handle made(H5Acreate2(file, name.c_str(), type, space, H5P_DEFAULT, H5P_DEFAULT),
                              H5Aclose);
        const char* const text = value.c_str();
        fine = fine && H5Awrite(made, type, &text) >= 0;
    }
};

}  // namespace bigbird::outputs
