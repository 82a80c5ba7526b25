// SPDX-License-Identifier: Apache-2.0
#include "bigbird/outputs/merge/attribution_reader.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/system/child_process.hpp"
#include "bigbird/outputs/hdf5_handle.hpp"

#include <array>
#include <string_view>

namespace bigbird::outputs {
namespace fs = std::filesystem;

namespace {

constexpr std::string_view letters = "ACGT";
using Shape = std::array<hsize_t, 3>;

Hdf5Handle open_letters(hid_t file, const char* name, const fs::path& path, Shape& shape) {
    Hdf5Handle dataset(H5Dopen2(file, name, H5P_DEFAULT), H5Dclose);
    const Hdf5Handle space(dataset < 0 ? -1 : H5Dget_space(dataset), H5Sclose);
    if (space < 0 || H5Sget_simple_extent_ndims(space) != 3 ||
        H5Sget_simple_extent_dims(space, shape.data(), nullptr) < 0 || shape[1] != letters.size())
        throw InputError(
            std::string("holds no '") + name +
                "' of regions, 4 letters and bases, as predict-mutagenesis and attribute write it "
                "to .h5",
            path);
    return dataset;
}

/// (4, length) of a region.
std::vector<float> read_region(hid_t dataset, const Shape& shape, hsize_t region, const fs::path& path) {
    const Shape start{region, 0, 0}, count{1, shape[1], shape[2]};
    std::vector<float> numbers(shape[1] * shape[2]);
    const Hdf5Handle space(H5Dget_space(dataset), H5Sclose),
        memory(H5Screate_simple(3, count.data(), nullptr), H5Sclose);
    if (H5Sselect_hyperslab(space, H5S_SELECT_SET, start.data(), nullptr, count.data(), nullptr) < 0 ||
        H5Dread(dataset, H5T_NATIVE_FLOAT, memory, space, H5P_DEFAULT, numbers.data()) < 0)
        throw InputError("is cut off or damaged", path);
    return numbers;
}

/// Runs in the child process: sends the label, the number of regions, then each region's sequence and scores.
void send_all(const fs::path& path, const ChildReader::Send& send) {
    start_hdf5();
    const Hdf5Handle file = open_unlocked_hdf5(path.c_str());
    if (file < 0) throw InputError("is no HDF5 file, or damaged", path);
    Shape shape{}, same{};
    const Hdf5Handle sequence = open_letters(file, "raw/seq", path, shape),
                     scores = open_letters(file, "shap/seq", path, same);
    if (shape != same) throw InputError("its 'raw/seq' and 'shap/seq' have different shapes", path);
    send(text_attribute(file, "label").value_or(path.stem().string()));
    send(ChildReader::bytes_of(std::vector<hsize_t>{shape[0]}));
    for (hsize_t region = 0; region < shape[0]; ++region) {
        send(ChildReader::bytes_of(read_region(sequence, shape, region, path)));
        send(ChildReader::bytes_of(read_region(scores, shape, region, path)));
    }
}

motifs::Contributions contributions_of(const std::vector<float>& sequence, const std::vector<float>& scores) {
    const std::size_t length = scores.size() / letters.size();
    motifs::Contributions region{std::string(length, 'N'), std::vector<float>(length)};
    for (std::size_t i = 0; i < length; ++i) {
        for (std::size_t code = 0; code < letters.size(); ++code) {
            const float score = scores[code * length + i];
            region.values[i] -= score / 4;
            if (sequence[code * length + i] == 0) continue;
            region.dna[i] = letters[code];
            region.values[i] += score;
        }
    }
    return region;
}

}  // namespace

LabelContributions read_attributions(const fs::path& path) {
    ChildReader reader(path, [&](const ChildReader::Send& send) { send_all(path, send); });
    LabelContributions all{reader.next()};
    const auto regions = reader.next_numbers<hsize_t>();
    if (regions.size() != 1) reader.throw_unfit();
    for (hsize_t i = 0; i < regions.front(); ++i) {
        const auto sequence = reader.next_numbers<float>(), scores = reader.next_numbers<float>();
        if (sequence.size() != scores.size()) reader.throw_unfit();
        all.regions.push_back(contributions_of(sequence, scores));
    }
    return all;
}

}  // namespace bigbird::outputs
