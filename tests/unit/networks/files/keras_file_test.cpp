// SPDX-License-Identifier: Apache-2.0
// Files of Keras that were changed: what is read all the same, and what is refused.
#include "support/temp_dir.hpp"
#include "support/testing.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/formats/json_file.hpp"
#include "bigbird/networks/files/profile_model.hpp"

#include <hdf5.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <limits>

using namespace bigbird;
using namespace bigbird::testing;
using networks::ProfileModel;
using networks::read_profile_model;
namespace fs = std::filesystem;

namespace {

const std::string first = "model_weights/wo_bias_bpnet_1st_conv",
                  kernel = first + "/wo_bias_bpnet_1st_conv/kernel:0",
                  bias = first + "/wo_bias_bpnet_1st_conv/bias:0";

/// A copy of a fixture that is changed through HDF5.
class ChangedFile {
public:
    explicit ChangedFile(const std::string& fixture = "chrombpnet_nobias.h5") {
        fs::copy_file(test_data("models/profiles/" + fixture), path());
        fs::permissions(path(), fs::perms::owner_write, fs::perm_options::add);
        file_ = H5Fopen(path().c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
        DOCTEST_REQUIRE(file_ >= 0);
    }
    ~ChangedFile() { close(); }
    fs::path path() const { return folder_ / "model.h5"; }
    hid_t file() const { return file_; }

    void remove(const std::string& name) const {
        DOCTEST_REQUIRE(H5Ldelete(file_, name.c_str(), H5P_DEFAULT) >= 0);
    }

    std::string config() const {
        const hid_t attribute = H5Aopen(file_, "model_config", H5P_DEFAULT), type = H5Aget_type(attribute);
        char* text = nullptr;
        DOCTEST_REQUIRE(H5Aread(attribute, type, static_cast<void*>(&text)) >= 0);
        std::string config = text;
        H5free_memory(text);
        H5Tclose(type);
        H5Aclose(attribute);
        return config;
    }
    void set_config(const std::string& text) const {
        H5Adelete(file_, "model_config");
        const hid_t space = H5Screate(H5S_SCALAR), type = H5Tcopy(H5T_C_S1);
        H5Tset_size(type, H5T_VARIABLE);
        const hid_t attribute = H5Acreate2(file_, "model_config", type, space, H5P_DEFAULT, H5P_DEFAULT);
        const char* const pointer = text.c_str();
        DOCTEST_REQUIRE(H5Awrite(attribute, type, static_cast<const void*>(&pointer)) >= 0);
        H5Aclose(attribute);
        H5Tclose(type);
        H5Sclose(space);
    }
    /// Changes a value of a layer's configuration.
    void set(const std::string& layer, const std::string& key, const Json& value) const {
        Json whole = Json::parse(config());
        bool found = false;
        for (Json& one : whole["config"]["layers"]) {
            if (one["config"]["name"] != layer) continue;
            (key == "class_name" ? one : one["config"])[key] = value;
            found = true;
        }
        DOCTEST_REQUIRE(found);
        set_config(whole.dump());
    }

    /// Replaces a dataset by one of other properties, type or shape, of zeros.
    void replace(const std::string& name, std::vector<hsize_t> shape, hid_t type,
                 hid_t properties = H5P_DEFAULT) const {
        remove(name);
        const hid_t space = H5Screate_simple(static_cast<int>(shape.size()), shape.data(), nullptr);
        const hid_t made = H5Dcreate2(file_, name.c_str(), type, space, H5P_DEFAULT, properties, H5P_DEFAULT);
        DOCTEST_REQUIRE(made >= 0);
        H5Dclose(made);
        H5Sclose(space);
    }

    ProfileModel read() {
        close();
        return read_profile_model(path());
    }
    std::string refusal() {
        close();
        const std::string message = message_of<InputError>([&] { read_profile_model(path()); });
        DOCTEST_CHECK(message.starts_with(path().string() + ": "));
        DOCTEST_CHECK(message.find('\n') == std::string::npos);
        return message;
    }

private:
    void close() {
        if (file_ >= 0) H5Fclose(file_);
        file_ = -1;
    }
    TempDir folder_;
    hid_t file_ = -1;
};

const std::vector<hsize_t> stem_shape{21, 4, 6};

}  // namespace

DOCTEST_TEST_CASE("keras_file: the sizes of each fixture, from its shapes and description") {
    const auto shape = [](const char* file, std::size_t part = 0) {
        return read_profile_model(test_data(std::string("models/profiles/") + file)).parts.at(part).shape;
    };
    DOCTEST_CHECK(
        shape("chrombpnet_nobias.h5") ==
        networks::ProfileShape{.filters = 6, .layers = 3, .input = 266, .output = 90, .counts = 218});
    DOCTEST_CHECK(
        shape("bias.h5") ==
        networks::ProfileShape{.filters = 4, .layers = 2, .input = 266, .output = 90, .counts = 234});
    DOCTEST_CHECK(shape("chrombpnet_other.h5") ==
                  networks::ProfileShape{
                      .filters = 5, .layers = 4, .head = 25, .input = 331, .output = 101, .counts = 251});
    DOCTEST_CHECK(
        shape("chrombpnet_other.h5", 1) ==
        networks::ProfileShape{
            .filters = 3, .layers = 1, .stem = 11, .head = 35, .input = 331, .output = 101, .counts = 317});
    const ProfileModel other = read_profile_model(test_data("models/profiles/chrombpnet_other.h5"));
    DOCTEST_CHECK(other.source["bias_model"] == "functional_7");
    DOCTEST_CHECK(other.source["keras_version"] == "2.4.0");
    DOCTEST_CHECK(!other.source.contains("assumed"));
    DOCTEST_CHECK(read_profile_model(test_data("models/profiles/bpnet.h5")).source["control_tracks"] == 2);
}

DOCTEST_TEST_CASE("keras_file: a file of save_weights() has the authors' usual lengths") {
    const TempDir folder;
    const fs::path path = folder / "weights.h5";
    {
        const hid_t from = H5Fopen(test_data("models/profiles/chrombpnet_nobias.h5").c_str(), H5F_ACC_RDONLY,
                                   H5P_DEFAULT),
                    group = H5Gopen2(from, "model_weights", H5P_DEFAULT),
                    to = H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
        const auto copy = [](hid_t source, const char* name, const H5L_info_t*, void* target) {
            return H5Ocopy(source, name, *static_cast<hid_t*>(target), name, H5P_DEFAULT, H5P_DEFAULT);
        };
        hid_t target = to;
        DOCTEST_REQUIRE(H5Literate(group, H5_INDEX_NAME, H5_ITER_NATIVE, nullptr, copy, &target) >= 0);
        const hid_t names = H5Aopen(group, "layer_names", H5P_DEFAULT), type = H5Aget_type(names),
                    space = H5Aget_space(names),
                    made = H5Acreate2(to, "layer_names", type, space, H5P_DEFAULT, H5P_DEFAULT);
        std::string bytes(H5Tget_size(type) * static_cast<std::size_t>(H5Sget_simple_extent_npoints(space)),
                          '\0');
        H5Aread(names, type, bytes.data());
        H5Awrite(made, type, bytes.data());
        for (const hid_t attribute : {names, made})
            H5Aclose(attribute);
        H5Tclose(type);
        H5Sclose(space);
        H5Gclose(group);
        H5Fclose(from);
        H5Fclose(to);
    }
    const ProfileModel model = read_profile_model(path);
    DOCTEST_CHECK(model.parts[0].shape.input == 2114);
    DOCTEST_CHECK(model.parts[0].shape.output == 1000);
    DOCTEST_CHECK(model.parts[0].shape.counts == 2066);
    DOCTEST_CHECK(holds(model.source["assumed"].get<std::string>(), "2114"));
}

DOCTEST_TEST_CASE("keras_file: weights that are missing or of another shape") {
    {
        ChangedFile file;
        file.remove(bias);
        DOCTEST_CHECK(holds(file.refusal(), "lists 'bias:0', but does not hold it"));
    }
    {
        ChangedFile file;
        file.replace(bias, {5}, H5T_IEEE_F32LE);
        DOCTEST_CHECK(holds(file.refusal(), "unexpected shape in the layer 'wo_bias_bpnet_1st_conv'"));
    }
    {
        ChangedFile file;
        file.replace(kernel, {21, 5, 6}, H5T_IEEE_F32LE);
        DOCTEST_CHECK(holds(file.refusal(), "has 5 channels"));
    }
    {
        ChangedFile file;
        file.replace("model_weights/wo_bias_bpnet_2conv/wo_bias_bpnet_2conv/kernel:0", {3, 6, 6},
                     H5T_IEEE_F32LE);
        DOCTEST_CHECK(file.read().parts[0].weights.at("layers.1.weight").values ==
                      std::vector<float>(3 * 6 * 6, 0.0F));
    }
}

DOCTEST_TEST_CASE("keras_file: layers that compute otherwise") {
    const auto refused = [](const std::string& layer, const std::string& key, const Json& value,
                            const std::string& fixture = "chrombpnet_nobias.h5") {
        ChangedFile file(fixture);
        file.set(layer, key, value);
        return file.refusal();
    };
    const std::string second = "wo_bias_bpnet_2conv";
    DOCTEST_CHECK(holds(refused(second, "dilation_rate", {2}), "dilation_rate [2]"));
    DOCTEST_CHECK(holds(refused(second, "activation", "elu"), "activation \"elu\""));
    DOCTEST_CHECK(holds(refused(second, "padding", "same"), "padding \"same\""));
    DOCTEST_CHECK(holds(refused(second, "strides", {2}), "strides"));
    DOCTEST_CHECK(holds(refused(second, "dtype", "float16"), "float16"));
    DOCTEST_CHECK(holds(refused(second, "kernel_size", {5}), "kernel_size"));
    DOCTEST_CHECK(holds(refused(second, "class_name", "SeparableConv1D"), "SeparableConv1D"));
    DOCTEST_CHECK(holds(refused("gap", "class_name", "GlobalMaxPooling1D"), "average"));
    DOCTEST_CHECK(holds(refused("wo_bias_bpnet_logcount_predictions", "activation", "relu"), "activation"));
    DOCTEST_CHECK(holds(refused("wo_bias_bpnet_logitt_before_flatten", "cropping", {1, 2}), "unequal"));
    DOCTEST_CHECK(holds(refused("wo_bias_bpnet_logitt_before_flatten", "cropping", {100, 100}), "middle"));
    DOCTEST_CHECK(holds(refused("sequence", "batch_input_shape", {nullptr, nullptr, 4}), "how many bases"));
    DOCTEST_CHECK(holds(refused("sequence", "batch_input_shape", {nullptr, 1 << 21, 4}), "input"));
    DOCTEST_CHECK(holds(refused("logcount_predictions", "class_name", "Add", "chrombpnet.h5"), "Lambda"));
    DOCTEST_CHECK(holds(refused("main_conv_0", "activation", "relu", "bpnet.h5"), "activation"));
}

DOCTEST_TEST_CASE("keras_file: descriptions that are none") {
    ChangedFile broken, deep, list;
    broken.set_config("{\"class_name\": ");
    DOCTEST_CHECK(holds(broken.refusal(), "model_config"));
    deep.set_config(std::string(100'000, '['));
    DOCTEST_CHECK(holds(deep.refusal(), "model_config"));
    list.set_config("[1]");  // describes nothing, as a file without a description
    DOCTEST_CHECK(list.read().parts[0].shape.input == 2114);
}

DOCTEST_TEST_CASE("keras_file: weights in other types, through filters, and elsewhere") {
    {
        ChangedFile file;
        file.replace(kernel, stem_shape, H5T_IEEE_F64LE);
        DOCTEST_CHECK(holds(file.refusal(), "another type than float32"));
    }
    {
        ChangedFile file;
        const hid_t half = H5Tcopy(H5T_IEEE_F32LE);
        H5Tset_fields(half, 15, 10, 5, 0, 10);
        H5Tset_size(half, 2);
        file.replace(kernel, stem_shape, half);
        H5Tclose(half);
        DOCTEST_CHECK(holds(file.refusal(), "another type than float32"));
    }
    const auto with = [](const std::function<void(hid_t)>& change) {
        ChangedFile file;
        const hid_t properties = H5Pcreate(H5P_DATASET_CREATE);
        const hsize_t chunk[] = {21, 4, 6};
        H5Pset_chunk(properties, 3, chunk);
        change(properties);
        file.replace(kernel, stem_shape, H5T_IEEE_F32LE, properties);
        H5Pclose(properties);
        file.read();
    };
    with([](hid_t properties) {
        H5Pset_shuffle(properties);
        H5Pset_deflate(properties, 1);
    });
    DOCTEST_CHECK(
        holds(message_of<InputError>([&] { with([](hid_t properties) { H5Pset_fletcher32(properties); }); }),
              "HDF5 filter"));
    DOCTEST_CHECK(holds(message_of<InputError>([&] {
                            with([](hid_t properties) {
                                H5Pset_layout(properties, H5D_CONTIGUOUS);
                                H5Pset_external(properties, "/etc/hostname", 0, H5F_UNLIMITED);
                            });
                        }),
                        "outside of itself"));
}

DOCTEST_TEST_CASE("keras_file: weights that are no numbers, and names that are no text") {
    ChangedFile file;
    const hid_t properties = H5Pcreate(H5P_DATASET_CREATE);
    const float nan = std::numeric_limits<float>::quiet_NaN();
    H5Pset_fill_value(properties, H5T_NATIVE_FLOAT, &nan);
    file.replace(bias, {6}, H5T_IEEE_F32LE, properties);
    H5Pclose(properties);
    DOCTEST_CHECK(holds(file.refusal(), "weights that are NaN or infinite (stem.bias)"));
    const TempDir folder;
    const fs::path path = folder / "x.h5";
    const hid_t made = H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    H5Gclose(H5Gcreate2(made, "a\nb\x1b[2J", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    H5Fclose(made);
    DOCTEST_CHECK(holds(message_of<InputError>([&] { read_profile_model(path); }), "'a?b?[2J'"));
}

DOCTEST_TEST_CASE("keras_file: links that lead elsewhere") {
    {
        ChangedFile file;
        file.remove(kernel);
        DOCTEST_REQUIRE(H5Lcreate_external("/etc/passwd", "/x", file.file(), kernel.c_str(), H5P_DEFAULT,
                                           H5P_DEFAULT) >= 0);
        DOCTEST_CHECK(holds(file.refusal(), "link to data elsewhere, at 'kernel:0'"));
    }
    {
        ChangedFile file;
        DOCTEST_REQUIRE(H5Lmove(file.file(), first.c_str(), file.file(), "moved", H5P_DEFAULT, H5P_DEFAULT) >=
                        0);
        DOCTEST_REQUIRE(H5Lcreate_soft("/moved", file.file(), first.c_str(), H5P_DEFAULT, H5P_DEFAULT) >= 0);
        DOCTEST_CHECK(holds(file.refusal(), "link to data elsewhere, at 'wo_bias_bpnet_1st_conv'"));
    }
}

DOCTEST_TEST_CASE("keras_file: shapes beyond the file") {
    for (const std::vector<hsize_t>& shape : std::initializer_list<std::vector<hsize_t>>{
             {1'000'000, 1'000'000, 1'000'000}, {hsize_t{1} << 62U, 16, 16}, {50'000, 4, 6}}) {
        ChangedFile file;
        file.replace(kernel, shape, H5T_IEEE_F32LE);
        DOCTEST_CHECK(holds(file.refusal(), "does not fit into the file"));
    }
}

DOCTEST_TEST_CASE("keras_file: a file that is cut short, or no HDF5 behind its first bytes") {
    const TempDir folder;
    const std::string whole = read_file(test_data("models/profiles/chrombpnet.h5"));
    for (const std::size_t size : {std::size_t{8}, std::size_t{100}, whole.size() / 2, whole.size() - 1}) {
        write_file(folder / "cut.h5", whole.substr(0, size));
        message_of<InputError>([&] { read_profile_model(folder / "cut.h5"); });
    }
}

DOCTEST_TEST_CASE("keras_file: a file in which bytes are wrong is read or refused") {
    const TempDir folder;
    const std::string whole = read_file(test_data("models/profiles/chrombpnet_nobias.h5"));
    std::uint64_t place = 67;
    int refused = 0;
    for (int i = 0; i < 40; ++i) {
        std::string changed = whole;
        for (int byte = 0; byte < 8; ++byte) {
            place = place * 6364136223846793005U + 1442695040888963407U;
            changed[(place >> 20U) % changed.size()] = static_cast<char>(place >> 56U);
        }
        write_file(folder / "x.h5", changed);
        try {
            read_profile_model(folder / "x.h5");
        } catch (const InputError&) {
            ++refused;
        }
    }
    DOCTEST_CHECK(refused > 0);
}
