// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bigbird/core/error.hpp"
#include "bigbird/outputs/sinks.hpp"

#include <hdf5.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

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

/// Access to a file without HDF5's lock: files that are read are complete, some file systems have no locks,
/// and a pending output has its own, which would conflict.
inline Hdf5Handle unlocked_hdf5() {
    Hdf5Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
    H5Pset_file_locking(access, false, true);
    return access;
}
inline Hdf5Handle open_unlocked_hdf5(const char* path) {
    return {H5Fopen(path, H5F_ACC_RDONLY, unlocked_hdf5()), H5Fclose};
}
/// `small`: for a file of few rows.
inline Hdf5Handle create_unlocked_hdf5(const char* path, bool small = false) {
    const Hdf5Handle creation(H5Pcreate(H5P_FILE_CREATE), H5Pclose), access = unlocked_hdf5();
    if (small) {
        H5Pset_istore_k(creation, 1);       // the index of a dataset's few chunks: 0.1, not 2 kB
        H5Pset_meta_block_size(access, 0);  // no room in advance, of 2 kB each
        H5Pset_small_data_block_size(access, 0);
    }
    return {H5Fcreate(path, H5F_ACC_TRUNC, creation, access), H5Fclose};
}

inline void require_hdf5_written(bool fine, const std::filesystem::path& target) {
    if (!fine) throw WriteError(target.string() + ": writing HDF5 failed: is the disk full?");
}

/// The types that numbers and texts have in a file of scores.
class Hdf5Types {
public:
    Hdf5Types() : text_(H5Tcopy(H5T_C_S1), H5Tclose) {
        H5Tset_size(text_, H5T_VARIABLE);
        H5Tset_cset(text_, H5T_CSET_UTF8);
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
    hid_t field(FieldKind kind) const {
        if (kind == FieldKind::integer) return H5T_STD_I64LE;
        return kind == FieldKind::real ? H5T_IEEE_F64LE : text();
    }

private:
    Hdf5Handle text_;
};

/// An attribute of a file that is a text; nullopt if there is none.
inline std::optional<std::string> text_attribute(hid_t file, const char* name) {
    if (H5Aexists(file, name) <= 0) return std::nullopt;
    const Hdf5Handle attribute(H5Aopen(file, name, H5P_DEFAULT), H5Aclose);
    const Hdf5Types types;
    char* text = nullptr;
    if (H5Aread(attribute, types.text(), &text) < 0 || text == nullptr) return std::nullopt;
    std::string value = text;
    H5free_memory(text);
    return value;
}

using Hdf5Shape = std::vector<hsize_t>;

/// A dataset's shape; empty if there is none.
inline Hdf5Shape shape_of(hid_t dataset) {
    const Hdf5Handle space(dataset < 0 ? -1 : H5Dget_space(dataset), H5Sclose);
    Hdf5Shape shape(static_cast<std::size_t>(std::max(0, space < 0 ? 0 : H5Sget_simple_extent_ndims(space))));
    H5Sget_simple_extent_dims(space, shape.data(), nullptr);
    return shape;
}

/// Reads the part of a dataset that has the shape `count` and begins at `start`; false on failure.
inline bool read_part(hid_t dataset, hid_t type, const Hdf5Shape& start, const Hdf5Shape& count, void* to) {
    const Hdf5Handle space(H5Dget_space(dataset), H5Sclose),
        memory(H5Screate_simple(static_cast<int>(count.size()), count.data(), nullptr), H5Sclose);
    return H5Sselect_hyperslab(space, H5S_SELECT_SET, start.data(), nullptr, count.data(), nullptr) >= 0 &&
           H5Dread(dataset, type, memory, space, H5P_DEFAULT, to) >= 0;
}

/// Chunks of at most 64 rows; none, which leaves the dataset uncompressed, where there are no numbers.
inline Hdf5Shape chunk_of(Hdf5Shape size) {
    constexpr hsize_t together = 64;
    if (size.front() * size.back() == 0) return {};
    size.front() = std::min(together, size.front());
    return size;
}

/// The properties of a new dataset, with `chunk` in chunks of this shape, which are compressed if `packed`.
/// Equal rows give equal bytes.
inline Hdf5Handle dataset_properties(const Hdf5Shape& chunk, bool packed = true) {
    Hdf5Handle properties(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
    H5Pset_obj_track_times(properties, false);
    if (chunk.empty()) return properties;
    H5Pset_chunk(properties, static_cast<int>(chunk.size()), chunk.data());
    if (packed) {
        H5Pset_shuffle(properties);
        H5Pset_deflate(properties, 1);
    }
    return properties;
}

/// Creates datasets, groups and attributes in a file. `fine` becomes false at the first failure.
struct Hdf5Writer {
    hid_t file;
    bool fine = true;

    Hdf5Handle group(const char* name) {
        const Hdf5Handle properties(H5Pcreate(H5P_GROUP_CREATE), H5Pclose);
        H5Pset_obj_track_times(properties, false);
        Hdf5Handle made(H5Gcreate2(file, name, H5P_DEFAULT, properties, H5P_DEFAULT), H5Gclose);
        fine = fine && made >= 0;
        return made;
    }
    void dataset(hid_t parent, const char* name, hid_t stored, hid_t held, const Hdf5Shape& size,
                 const void* data, const Hdf5Shape& chunk = {}) {
        const Hdf5Handle space(H5Screate_simple(static_cast<int>(size.size()), size.data(), nullptr),
                               H5Sclose);
        const Hdf5Handle properties = dataset_properties(chunk);
        Hdf5Handle made(H5Dcreate2(parent, name, stored, space, H5P_DEFAULT, properties, H5P_DEFAULT),
                        H5Dclose);
        fine = fine && made >= 0 &&
               (size.front() == 0 || H5Dwrite(made, held, H5S_ALL, H5S_ALL, H5P_DEFAULT, data) >= 0) &&
               made.close();  // writes small metadata
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
