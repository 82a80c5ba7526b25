// SPDX-License-Identifier: Apache-2.0
// What other files than supported networks are, and what to take instead.
#include "small_zip.hpp"
#include "support/temp_dir.hpp"
#include "support/testing.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/networks/files/profile_model.hpp"

#include <hdf5.h>
#include <zlib.h>

#include <filesystem>

using namespace bigbird;
using namespace bigbird::testing;
namespace fs = std::filesystem;

namespace {

std::string refusal_of(const fs::path& path) {
    const std::string message = message_of<InputError>([&] { networks::read_profile_model(path); });
    DOCTEST_CHECK(message.starts_with(path.string() + ": "));
    return message.substr(path.string().size() + 2);
}

/// An HDF5 file of empty groups, or of layers of Keras without weights.
void write_groups(const fs::path& path, const std::vector<std::string>& groups, bool layers = false) {
    const hid_t file = H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    for (const std::string& group : groups)
        H5Gclose(H5Gcreate2(file, group.c_str(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    if (layers) {
        const hid_t type = H5Tcopy(H5T_C_S1);
        H5Tset_size(type, 64);
        const hsize_t count = groups.size();
        const hid_t space = H5Screate_simple(1, &count, nullptr),
                    names = H5Acreate2(file, "layer_names", type, space, H5P_DEFAULT, H5P_DEFAULT);
        std::string bytes;
        for (std::string group : groups) {
            group.resize(64);
            bytes += group;
        }
        H5Awrite(names, type, bytes.data());
        H5Aclose(names);
        H5Sclose(space);
        H5Tclose(type);
    }
    H5Fclose(file);
}

/// Adds a layer with a kernel and a bias of zeros to a file of write_groups().
void add_weights(const fs::path& path, const std::string& layer, const std::vector<hsize_t>& shape) {
    const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT),
                group = H5Gopen2(file, layer.c_str(), H5P_DEFAULT);
    std::string names;
    for (const std::string name : {"kernel:0", "bias:0"}) {
        std::string padded = name;
        padded.resize(16);
        names += padded;
        const std::vector<hsize_t> size = name[0] == 'k' ? shape : std::vector<hsize_t>{shape.back()};
        const hid_t space = H5Screate_simple(static_cast<int>(size.size()), size.data(), nullptr);
        H5Dclose(
            H5Dcreate2(group, name.c_str(), H5T_IEEE_F32LE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
        H5Sclose(space);
    }
    const hid_t type = H5Tcopy(H5T_C_S1);
    H5Tset_size(type, 16);
    const hsize_t count = 2;
    const hid_t space = H5Screate_simple(1, &count, nullptr),
                list = H5Acreate2(group, "weight_names", type, space, H5P_DEFAULT, H5P_DEFAULT);
    H5Awrite(list, type, names.data());
    for (const hid_t one : {list})
        H5Aclose(one);
    H5Sclose(space);
    H5Tclose(type);
    H5Gclose(group);
    H5Fclose(file);
}

std::string tar_member(const std::string& name, const std::string& content, char type = '0') {
    std::string header(512, '\0');
    header.replace(0, std::min<std::size_t>(100, name.size()), name.substr(0, 100));
    char size[12];
    std::snprintf(size, sizeof size, "%011zo", content.size());
    header.replace(124, 11, size);
    header[156] = type;
    header.replace(257, 5, "ustar");
    std::string padded = content;
    padded.resize((content.size() + 511) / 512 * 512);
    return header + padded;
}

void write_gzip(const fs::path& path, const std::string& content) {
    gzFile file = gzopen(path.c_str(), "wb");
    gzwrite(file, content.data(), static_cast<unsigned>(content.size()));
    gzclose(file);
}

}  // namespace

DOCTEST_TEST_CASE("file_kind: HDF5 files of predictions, contributions and other things") {
    const TempDir folder;
    const fs::path path = folder / "x.h5";
    write_groups(path, {"predictions", "coords"});
    DOCTEST_CHECK(holds(refusal_of(path), "predictions of a model, not the model"));
    write_groups(path, {"projected_shap", "shap", "raw"});
    DOCTEST_CHECK(holds(refusal_of(path), "contributions (SHAP)"));
    write_groups(path, {"layers", "vars"});
    DOCTEST_CHECK(holds(refusal_of(path), "weights of Keras 3 without names"));
    write_groups(path, {"a", "b"});
    DOCTEST_CHECK(holds(refusal_of(path), "not of a model that Keras wrote (at its root: 'a', 'b')"));
    write_groups(path, {"dense_7"}, true);
    DOCTEST_CHECK(holds(refusal_of(path), "none of ChromBPNet or BPNet (layers 'dense_7')"));
}

DOCTEST_TEST_CASE("file_kind: chrombpnet-lite, and BPNets that are not supported") {
    const TempDir folder;
    const fs::path path = folder / "x.h5";
    write_groups(path, {"conv1d_1", "logcounts"}, true);
    add_weights(path, "conv1d_1", {25, 4, 8});
    DOCTEST_CHECK(holds(refusal_of(path), "is a model of chrombpnet-lite"));
    DOCTEST_CHECK(holds(refusal_of(test_data("models/splicing/keras/splice1.h5")),
                        "is a splice model of SpliceAI's form: predict-splicing takes it"));
    write_groups(path, {"main_conv_0", "main_dil_conv_1", "profile_predictions_0", "profile_predictions_1"},
                 true);
    DOCTEST_CHECK(holds(refusal_of(path), "BPNet of several tasks"));
    write_groups(path, {"main_conv_0", "main_conv_0_relu_cr"}, true);
    DOCTEST_CHECK(holds(refusal_of(path), "without pre-activation"));
}

DOCTEST_TEST_CASE("file_kind: an archive's members, and the command that unpacks one") {
    const TempDir folder;
    const std::string bias = "./fold_0/model.bias_scaled.fold_0.ENCSR637XSC.h5",
                      nobias = "./fold_0/model.chrombpnet_nobias.fold_0.ENCSR637XSC.h5",
                      long_name = "./" + std::string(120, 'x') + "/model.chrombpnet_nobias.fold_0.h5";
    const fs::path path = folder / "ENCFF142IOR.tar.gz";
    const std::string end(1024, '\0');
    write_gzip(path, tar_member("./fold_0/", "", '5') + tar_member(bias, std::string(700, 'b')) +
                         tar_member(nobias, "n") + end);
    std::string message = refusal_of(path);
    DOCTEST_CHECK(holds(message, "'" + bias + "', '" + nobias + "'"));
    DOCTEST_CHECK(message.ends_with("tar -xf '" + path.string() + "' '" + nobias + "'"));
    write_gzip(path, tar_member("././@LongLink", long_name, 'L') + tar_member("./xxx", "n") + end);
    DOCTEST_CHECK(refusal_of(path).ends_with("'" + long_name + "'"));
    write_file(folder / "plain.tar", tar_member("a.tar", "n") + end);
    DOCTEST_CHECK(
        holds(refusal_of(folder / "plain.tar"), "archive without .h5 files, perhaps with a SavedModel"));
    write_gzip(path, "text");
    DOCTEST_CHECK(holds(refusal_of(path), "unpack it first"));
    write_file(path, read_file(path).substr(0, 12));
    DOCTEST_CHECK(holds(refusal_of(path), "unpack it first"));
}

DOCTEST_TEST_CASE("file_kind: SavedModels, folders, texts and missing files") {
    const TempDir folder;
    fs::create_directories(folder / "fold_0/model");
    write_file(folder / "fold_0/model/saved_model.pb", "x");
    write_file(folder / "fold_0/model.h5", "x");
    for (const char* path : {"fold_0/model", "fold_0/model/saved_model.pb"}) {
        const std::string message = refusal_of(folder / path);
        DOCTEST_CHECK(holds(message, "SavedModel of TensorFlow"));
        DOCTEST_CHECK(message.ends_with("beside it: 'model.h5'"));
    }
    DOCTEST_CHECK(holds(refusal_of(folder.path()), "is a folder"));
    write_file(folder / "x.txt", "text\n");
    DOCTEST_CHECK(holds(refusal_of(folder / "x.txt"), "is neither a model folder nor"));
    write_file(folder / "model.safetensors", "x");
    DOCTEST_CHECK(holds(refusal_of(folder / "model.safetensors"), "give the folder with its config.json"));
    DOCTEST_CHECK(holds(refusal_of(folder / "none"), "no such file"));
    DOCTEST_CHECK(networks::is_model_file(folder / "x.txt"));
    DOCTEST_CHECK(!networks::is_model_file(folder.path()));
}
