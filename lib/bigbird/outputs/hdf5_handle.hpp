// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bigbird/outputs/table_schema.hpp"

#include <hdf5.h>

#include <cstdlib>
#include <utility>

namespace bigbird::outputs {

/// Call it before any other function of the HDF5 library. Disables the library's error messages, because we
/// report errors ourselves. Also keeps it from closing files at the end of the program, where a file that
/// could not be written would end the program by a signal. Written files are already locked as pending
/// outputs (core/files.hpp), so HDF5's own lock, which this variable controls, would be refused.
inline void start_hdf5() {
    static const herr_t once = [] {
        constexpr const char* locking = "HDF5_USE_FILE_LOCKING";
        if (std::getenv(locking) != nullptr) ::setenv(locking, "FALSE", 1);
        return H5dont_atexit();
    }();
    static_cast<void>(once);
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
}

/// An identifier of the HDF5 library and the function that closes it.
class Hdf5Handle {
public:
    Hdf5Handle(hid_t id, herr_t (*closer)(hid_t)) : id_(id), close_(closer) {}
    Hdf5Handle(Hdf5Handle&& other) noexcept : id_(std::exchange(other.id_, -1)), close_(other.close_) {}
    Hdf5Handle& operator=(Hdf5Handle&&) = delete;
    ~Hdf5Handle() {
        if (id_ >= 0) close_(id_);
    }
    operator hid_t() const { return id_; }
    /// False if closing, which may write, failed.
    bool close() { return id_ < 0 || close_(std::exchange(id_, -1)) >= 0; }

private:
    hid_t id_;
    herr_t (*close_)(hid_t);
};

/// Opens a file for reading, without a lock: parts are complete, and some file systems have no locks.
inline hid_t open_unlocked_hdf5(const char* path) {
    const Hdf5Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
    H5Pset_file_locking(access, false, true);
    return H5Fopen(path, H5F_ACC_RDONLY, access);
}

/// The types that numbers and texts have in a file of scores.
class Hdf5Types {
public:
    explicit Hdf5Types(Precision precision)
        : precision_(precision),
          text_(H5Tcopy(H5T_C_S1), H5Tclose),
          half_(H5Tcopy(H5T_IEEE_F32LE), H5Tclose) {
        H5Tset_size(text_, H5T_VARIABLE);
        H5Tset_cset(text_, H5T_CSET_UTF8);
        H5Tset_fields(half_, 15, 10, 5, 0, 10);  // as numpy's float16
        H5Tset_size(half_, 2);
        H5Tset_ebias(half_, 15);
    }
    static constexpr std::size_t most_letters = 255;
    /// Text of a fixed number of bytes, at most `most_letters`, filled up with zeros.
    static Hdf5Handle text_of(std::size_t letters) {
        Hdf5Handle type(H5Tcopy(H5T_C_S1), H5Tclose);
        H5Tset_size(type, letters);
        H5Tset_strpad(type, H5T_STR_NULLPAD);
        H5Tset_cset(type, H5T_CSET_UTF8);
        return type;
    }
    /// Text of any length, in files and in memory.
    hid_t text() const { return text_; }
    hid_t half() const { return half_; }
    hid_t scores() const { return precision_ == Precision::float16 ? half() : H5T_IEEE_F32LE; }
    hid_t field(FieldKind kind) const {
        if (kind == FieldKind::integer) return H5T_STD_I64LE;
        return kind == FieldKind::real ? H5T_IEEE_F64LE : text();
    }

private:
    Precision precision_;
    Hdf5Handle text_, half_;
};

}  // namespace bigbird::outputs
