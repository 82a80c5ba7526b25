// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <hdf5.h>

#include <cstdlib>
#include <utility>

namespace bigbird::outputs {

/// Call it before anything else of the HDF5 library. Errors are ours to tell; and the library closes nothing
/// at the end of the program, where a file that could not be written would end it by a signal. What is
/// written is locked as a pending output is (core/files.hpp), and a second lock, which this variable would
/// insist on, would be refused.
inline void start_hdf5() {
    static const herr_t once = [] {
        constexpr const char* locking = "HDF5_USE_FILE_LOCKING";
        if (std::getenv(locking) != nullptr) ::setenv(locking, "FALSE", 1);
        return H5dont_atexit();
    }();
    static_cast<void>(once);
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
}

/// An identifier of the HDF5 library and how it is closed.
class Hdf5Handle {
public:
    Hdf5Handle(hid_t id, herr_t (*closer)(hid_t)) : id_(id), close_(closer) {}
    Hdf5Handle(Hdf5Handle&& other) noexcept : id_(std::exchange(other.id_, -1)), close_(other.close_) {}
    Hdf5Handle& operator=(Hdf5Handle&&) = delete;
    ~Hdf5Handle() {
        if (id_ >= 0) close_(id_);
    }
    operator hid_t() const { return id_; }
    /// False where closing, which may write, failed.
    bool close() { return id_ < 0 || close_(std::exchange(id_, -1)) >= 0; }

private:
    hid_t id_;
    herr_t (*close_)(hid_t);
};

/// A file to be read. A part is written by nobody any more, and some file systems have no locks.
inline hid_t open_unlocked_hdf5(const char* path) {
    const Hdf5Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
    H5Pset_file_locking(access, false, true);
    return H5Fopen(path, H5F_ACC_RDONLY, access);
}

}  // namespace bigbird::outputs
