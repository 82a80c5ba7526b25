// SPDX-License-Identifier: Apache-2.0
#include "bigbird/outputs/letter_arrays.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/outputs/hdf5_handle.hpp"
#include "bigbird/outputs/npz_array.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

namespace bigbird::outputs {
namespace fs = std::filesystem;

namespace {

constexpr std::string_view alphabet = "ACGT";
constexpr hsize_t regions_a_chunk = 64;
constexpr unsigned compression_level = 1;

class NpzArrays : public LetterArrays {
public:
    NpzArrays(const fs::path& path, Overwrite overwrite)
        : scores_(letter_array_files(path)[0], overwrite, "<f4"),
          letters_(letter_array_files(path)[1], overwrite, "|i1") {}
    void finish(std::vector<PendingOutput*>& pending) override {
        pending.insert(pending.end(), {letters_.finish(), scores_.finish()});
    }

protected:
    void write(const genome::Interval&, const std::string&, std::span<const std::int8_t> letters,
               std::span<const float> scores) override {
        const std::array<std::size_t, 2> shape{alphabet.size(), length()};
        letters_.add(std::as_bytes(letters), shape);
        scores_.add(std::as_bytes(scores), shape);
    }

private:
    NpzArray scores_, letters_;
};

class Hdf5Arrays : public LetterArrays {
public:
    Hdf5Arrays(const fs::path& path, Overwrite overwrite, const rows::Provenance& provenance)
        : pending_(path, overwrite), types_((start_hdf5(), Precision::float32)), file_(create(), H5Fclose) {
        require(file_ >= 0);
        for (const auto& [key, value] : provenance)
            write_attribute(key, value);
    }
    void finish(std::vector<PendingOutput*>& pending) override {
        if (!letters_) open();
        write_regions();
        require(letters_->close() && scores_->close() && file_.close());
        pending.push_back(&pending_);
    }

protected:
    void write(const genome::Interval& where, const std::string& name, std::span<const std::int8_t> letters,
               std::span<const float> scores) override {
        if (!letters_) open();
        append(*letters_, H5T_NATIVE_INT8, letters.data());
        append(*scores_, H5T_NATIVE_FLOAT, scores.data());
        contigs_.push_back(where.contig);
        names_.push_back(name);
        begins_.push_back(where.begin);
        ends_.push_back(where.end);
    }

private:
    void require(bool fine) const {
        if (!fine) throw WriteError(pending_.target().string() + ": writing HDF5 failed: is the disk full?");
    }
    hid_t create() const {
        const Hdf5Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
        H5Pset_file_locking(access, false, true);  // the library's lock would meet the pending output's
        return H5Fcreate(pending_.path().c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access);
    }
    void write_attribute(const std::string& key, const std::string& value) {
        if (H5Aexists(file_, key.c_str()) > 0) return;  // several models have one key
        const Hdf5Handle space(H5Screate(H5S_SCALAR), H5Sclose);
        const Hdf5Handle attribute(
            H5Acreate2(file_, key.c_str(), types_.text(), space, H5P_DEFAULT, H5P_DEFAULT), H5Aclose);
        const char* const text = value.c_str();
        require(H5Awrite(attribute, types_.text(), &text) >= 0);
    }
    Hdf5Handle group(const char* name) const {
        const Hdf5Handle properties(H5Pcreate(H5P_GROUP_CREATE), H5Pclose);
        H5Pset_obj_track_times(properties, false);  // the same rows, the same bytes
        Hdf5Handle made(H5Gcreate2(file_, name, H5P_DEFAULT, properties, H5P_DEFAULT), H5Gclose);
        require(made >= 0);
        return made;
    }
    hid_t dataset(hid_t parent, const char* name, hid_t type, std::span<const hsize_t> size,
                  const hsize_t* most, const hsize_t* chunk) const {
        const Hdf5Handle space(H5Screate_simple(static_cast<int>(size.size()), size.data(), most), H5Sclose);
        const Hdf5Handle properties(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
        H5Pset_obj_track_times(properties, false);
        if (chunk != nullptr) {
            H5Pset_chunk(properties, static_cast<int>(size.size()), chunk);
            H5Pset_shuffle(properties);
            H5Pset_deflate(properties, compression_level);
        }
        const hid_t made = H5Dcreate2(parent, name, type, space, H5P_DEFAULT, properties, H5P_DEFAULT);
        require(made >= 0);
        return made;
    }
    /// The datasets of a length that is known now.
    void open() {
        const hsize_t width = std::max<std::size_t>(1, length());
        const std::array<hsize_t, 3> none{0, alphabet.size(), width},
            most{H5S_UNLIMITED, alphabet.size(), width}, chunk{regions_a_chunk, alphabet.size(), width};
        const Hdf5Handle raw = group("raw"), shap = group("shap");
        letters_.emplace(dataset(raw, "seq", H5T_STD_I8LE, none, most.data(), chunk.data()), H5Dclose);
        scores_.emplace(dataset(shap, "seq", H5T_IEEE_F32LE, none, most.data(), chunk.data()), H5Dclose);
    }
    void append(hid_t to, hid_t type, const void* data) const {
        const std::array<hsize_t, 3> size{contigs_.size() + 1, alphabet.size(), length()},
            start{contigs_.size(), 0, 0}, count{1, alphabet.size(), length()};
        require(H5Dset_extent(to, size.data()) >= 0);
        const Hdf5Handle space(H5Dget_space(to), H5Sclose),
            memory(H5Screate_simple(3, count.data(), nullptr), H5Sclose);
        require(H5Sselect_hyperslab(space, H5S_SELECT_SET, start.data(), nullptr, count.data(), nullptr) >=
                    0 &&
                H5Dwrite(to, type, memory, space, H5P_DEFAULT, data) >= 0);
    }
    void write_column(hid_t parent, const char* name, hid_t stored, hid_t held, const void* data) const {
        const std::array<hsize_t, 1> size{contigs_.size()};
        Hdf5Handle column(dataset(parent, name, stored, size, nullptr, nullptr), H5Dclose);
        require(size[0] == 0 || H5Dwrite(column, held, H5S_ALL, H5S_ALL, H5P_DEFAULT, data) >= 0);
        require(column.close());
    }
    void write_regions() const {
        const Hdf5Handle regions = group("regions");
        for (const auto& [name, texts] : {std::pair{"chrom", &contigs_}, std::pair{"name", &names_}}) {
            std::vector<const char*> pointers;
            for (const std::string& text : *texts)
                pointers.push_back(text.c_str());
            write_column(regions, name, types_.text(), types_.text(), pointers.data());
        }
        write_column(regions, "start", H5T_STD_I64LE, H5T_NATIVE_INT64, begins_.data());
        write_column(regions, "end", H5T_STD_I64LE, H5T_NATIVE_INT64, ends_.data());
    }

    PendingOutput pending_;
    Hdf5Types types_;
    Hdf5Handle file_;
    std::optional<Hdf5Handle> letters_, scores_;
    std::vector<std::string> contigs_, names_;
    std::vector<std::int64_t> begins_, ends_;
};

}  // namespace

bool is_letter_arrays(const fs::path& path) {
    return path.extension() == ".h5" || path.extension() == ".hdf5" || path.extension() == ".npz";
}

std::vector<fs::path> letter_array_files(const fs::path& path) {
    if (path.extension() != ".npz") return {path};
    fs::path letters = path;
    return {path, letters.replace_extension(".onehot.npz")};
}

void LetterArrays::add(const genome::Interval& where, const std::string& name, std::string_view dna,
                       std::span<const float> scores) {
    if (length_ == 0) length_ = dna.size();
    if (dna.size() != length_) {
        throw InputError(where.contig + ":" + std::to_string(where.begin) + "-" + std::to_string(where.end) +
                         " has " + std::to_string(dna.size()) + " bases, the regions before it " +
                         std::to_string(length_) +
                         ": .h5 and .npz need regions of one length, .tsv does not");
    }
    std::vector<std::int8_t> letters(alphabet.size() * length_);
    std::vector<float> turned(letters.size());
    for (std::size_t code = 0; code < alphabet.size(); ++code) {
        for (std::size_t i = 0; i < length_; ++i) {
            letters[code * length_ + i] = dna[i] == alphabet[code] ? 1 : 0;
            const float score = scores[i * alphabet.size() + code];
            turned[code * length_ + i] = std::isnan(score) ? 0 : score;
        }
    }
    write(where, name, letters, turned);
}

std::unique_ptr<LetterArrays> letter_arrays(const fs::path& path, Overwrite overwrite,
                                            const rows::Provenance& provenance) {
    if (path.extension() == ".npz") return std::make_unique<NpzArrays>(path, overwrite);
    return std::make_unique<Hdf5Arrays>(path, overwrite, provenance);
}

}  // namespace bigbird::outputs
