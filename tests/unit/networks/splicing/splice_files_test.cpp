// SPDX-License-Identifier: Apache-2.0
#include "bigbird/networks/splicing/splice_files.hpp"

#include "support/temp_dir.hpp"
#include "support/testing.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/networks/splicing/splice_folder.hpp"
#include "bigbird/networks/splicing/splice_network.hpp"

#include <hdf5.h>

#include <algorithm>
#include <array>
#include <limits>
#include <string>
#include <vector>

using namespace bigbird;
using namespace bigbird::networks;
using bigbird::testing::holds;
using bigbird::testing::message_of;
using bigbird::testing::read_file;
using bigbird::testing::TempDir;
using bigbird::testing::test_data;
using bigbird::testing::write_file;

namespace fs = std::filesystem;

namespace {

const fs::path& spliced_models() {
    static const fs::path folder = test_data("models/splicing");
    return folder;
}

template <typename E = InputError>
std::string refusal(const std::vector<fs::path>& paths) {
    return message_of<E>([&] { read_splice_model(paths); });
}

std::string replaced(std::string text, const std::string& from, const std::string& to, bool all = false) {
    std::size_t at = text.find(from);
    DOCTEST_REQUIRE(at != std::string::npos);
    for (; at != std::string::npos; at = all ? text.find(from, at + to.size()) : std::string::npos)
        text.replace(at, from.size(), to);
    return text;
}

/// A copy of the Keras file whose model_config differs.
fs::path keras_with(const TempDir& folder, const std::string& from, const std::string& to, bool all = false) {
    const fs::path path = folder / "changed.h5";
    fs::copy_file(spliced_models() / "keras/splice1.h5", path, fs::copy_options::overwrite_existing);
    const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT),
                old = H5Aopen(file, "model_config", H5P_DEFAULT), type = H5Aget_type(old);
    char* text = nullptr;
    DOCTEST_REQUIRE(H5Aread(old, type, static_cast<void*>(&text)) >= 0);
    const std::string changed = replaced(text, from, to, all);
    const char* const pointer = changed.c_str();
    DOCTEST_REQUIRE(H5Awrite(old, type, static_cast<const void*>(&pointer)) >= 0);
    H5free_memory(text);
    H5Tclose(type);
    H5Aclose(old);
    H5Fclose(file);
    return path;
}

/// A copy of a file, under another name, with bytes replaced by as many.
fs::path torch_with(const TempDir& folder, const fs::path& source, const std::string& name,
                    const std::string& from, const std::string& to) {
    DOCTEST_REQUIRE(from.size() == to.size());
    const fs::path path = folder / name;
    write_file(path, from.empty() ? read_file(source) : replaced(read_file(source), from, to));
    return path;
}

}  // namespace

DOCTEST_TEST_CASE("splice_files: Keras graphs of other forms are refused with what differs") {
    const TempDir folder;
    struct Row {
        std::string from, to, why;
        bool all = false;
    };
    const std::vector<Row> rows{
        {R"("activation": "softmax")", R"("activation": "sigmoid")",
         "has activation \"sigmoid\", not \"softmax\""},
        {R"("activation": "relu")", R"("activation": "tanh")", "has activation \"tanh\", not \"relu\""},
        {R"("cropping": [40, 40])", R"("cropping": [40, 41])", "it crops unequal ends"},
        {R"("cropping": [40, 40])", R"("cropping": [50, 50])",
         "it crops 50 positions at each end, where its convolutions reach 40"},
        {R"("dilation_rate": [4])", R"("dilation_rate": [8])", "has dilation_rate [8], not [4]"},
        {R"("kernel_size": [5])", R"("kernel_size": [7])", "has kernel_size [7], not [5]"},
        {R"("padding": "same")", R"("padding": "causal")", "has padding \"causal\", not \"same\"", true},
        {R"("strides": [1])", R"("strides": [2])", "has strides [2], not [1]", true},
        {R"("use_bias": true)", R"("use_bias": false)", "has use_bias false, not true", true},
        {R"("epsilon": 0.001)", R"("epsilon": "no")", "has no epsilon"},
        {R"("class_name": "Cropping1D")", R"("class_name": "Flatten")", "its sums are not cropped"},
        {R"("class_name": "BatchNormalization")", R"("class_name": "LayerNormalization")",
         "is LayerNormalization, not BatchNormalization"},
        {R"("class_name": "InputLayer")", R"("class_name": "Embedding")", "is Embedding, not InputLayer"},
        {R"("output_layers": [[)", R"("output_layers": [["add_1_41", 0, 0], [)",
         "it has several outputs, or none"},
        {R"(["conv1d_1_41", 0, 0, {}])", R"(["conv1d_77", 0, 0, {}])", "it lacks the layer 'conv1d_77'",
         true},
        {R"(["conv1d_3_41", 0, 0, {}])", R"(["add_4_41", 0, 0, {}])", "is no network of SpliceAI's form",
         true},
        {R"("layers")", R"("lagers")", "does not describe its network"}};
    for (const Row& row : rows) {
        DOCTEST_CAPTURE(row.from);
        const fs::path path = keras_with(folder, row.from, row.to, row.all);
        const std::string message = refusal({path});
        DOCTEST_CAPTURE(message);
        DOCTEST_CHECK(message.starts_with(path.string() + ": "));
        DOCTEST_CHECK(holds(message, row.why));
    }
    DOCTEST_CHECK(
        holds(refusal({test_data("models/profiles/bpnet_plain.h5")}), "is no network of SpliceAI's form"));
}

DOCTEST_TEST_CASE("splice_files: epsilon is each file's own") {
    const TempDir folder;
    const auto scale = [](const fs::path& path) {
        return read_splice_model(std::array{path}).members.front().units.front().norm.scale;
    };
    DOCTEST_CHECK(scale(keras_with(folder, R"("epsilon": 0.001)", R"("epsilon": 0.1)", true)) !=
                  scale(spliced_models() / "keras/splice1.h5"));
}

DOCTEST_TEST_CASE("splice_files: damaged and foreign files of torch.save() are refused") {
    const TempDir folder;
    const fs::path open = spliced_models() / "open/model_1.pt",
                   pangolin = spliced_models() / "pangolin/final.1.0.3.v2";
    struct Row {
        std::string from, to, why;
    };
    for (const Row& row :
         std::vector<Row>{{"initial_conv.weight", "initial_conw.weight",
                           "is no splicing network of OpenSpliceAI or Pangolin"},
                          {"final_conv.bias", "final_conv.bios", "lacks the weights 'final_conv.bias'"},
                          {"residual_units.8.conv2.weight", "residual_units.8.conx2.weight",
                           "lacks the weights 'residual_units.8.conv2.weight'"},
                          {"residual_units.9.conv.weight", "residual_units.q.conv.weight",
                           "has weights that splicing networks do not have"},
                          {"batchnorm2.running_var", "batchnorm2.running_vor", "lacks the weights"}}) {
        DOCTEST_CAPTURE(row.from);
        const std::string message = refusal({torch_with(folder, open, "changed.pt", row.from, row.to)});
        DOCTEST_CAPTURE(message);
        DOCTEST_CHECK(holds(message, row.why));
    }
    const std::string bytes = read_file(open);
    for (const std::size_t size : {std::size_t{0}, std::size_t{100}, bytes.size() / 2, bytes.size() - 10}) {
        write_file(folder / "cut.pt", bytes.substr(0, size));
        refusal({folder / "cut.pt"});
    }
    DOCTEST_CHECK(holds(refusal({torch_with(folder, pangolin, "final.1.1.3", "", "")}),
                        "is no file of Pangolin that scores splice sites"));
    DOCTEST_CHECK(holds(refusal({torch_with(folder, pangolin, "other.pt", "", "")}),
                        "is no file of Pangolin that scores splice sites"));
    DOCTEST_CHECK(holds(refusal({test_data("models/profiles/bpnetlite.torch")}),
                        "is no splicing network of OpenSpliceAI or Pangolin"));
    DOCTEST_CHECK(holds(refusal({folder / "nothing.pt"}), "no such file"));
}

DOCTEST_TEST_CASE("splice_files: members must fit together") {
    const TempDir folder;
    const fs::path keras = spliced_models() / "keras", open = spliced_models() / "open",
                   pangolin = spliced_models() / "pangolin";
    DOCTEST_CHECK(holds(refusal<ConfigError>({keras, open}),
                        "is a network of OpenSpliceAI, those before it are of SpliceAI"));
    DOCTEST_CHECK(holds(refusal<ConfigError>({keras, spliced_models() / "keras3"}),
                        "read different contexts: 80 and 16 bases"));
    DOCTEST_CHECK(holds(refusal<ConfigError>({pangolin / "final.1.0.3.v2"}),
                        "Pangolin needs members for all four tissues"));
    DOCTEST_CHECK(holds(refusal<ConfigError>({}), "a splicing network has 1 to 64 members"));
    DOCTEST_CHECK(holds(refusal({folder.path()}), "holds no splicing networks"));
    const SpliceModel model = read_splice_model(std::array{open});
    DOCTEST_CHECK(model.members.size() == 2);
    DOCTEST_CHECK(read_splice_model(std::array{open / "model_2.pt", open / "model_1.pt"}).sha256 !=
                  model.sha256);
    for (const fs::path& entry : fs::directory_iterator(pangolin))
        fs::copy_file(entry, folder / entry.filename().string());
    fs::copy_file(pangolin / "final.1.0.3.v2", folder / "final.1.1.3");
    fs::copy_file(pangolin / "final.1.0.3.v2", folder / "final.1.3.3.v2");  // usage: left out
    DOCTEST_CHECK(read_splice_model(std::array{folder.path()}).members.size() == 4);
}

DOCTEST_TEST_CASE("splice_folder: a model folder gives the same bits") {
    for (const char* const group : {"keras", "open", "pangolin"}) {
        DOCTEST_CAPTURE(group);
        const TempDir folder;
        const SpliceNetwork network = SpliceNetwork::open(std::array{spliced_models() / group});
        network.write(folder.path());
        DOCTEST_CHECK(is_splice_folder(folder.path()));
        const SpliceNetwork again = SpliceNetwork::open(std::array{folder.path()});
        DOCTEST_CHECK(again.family() == network.family());
        std::vector<std::uint8_t> codes(200);
        for (std::size_t i = 0; i < codes.size(); ++i)
            codes[i] = static_cast<std::uint8_t>(i * i % 11 % 5);
        DOCTEST_CHECK(again.probabilities(codes, 1) == network.probabilities(codes, 1));
        DOCTEST_CHECK(holds(refusal<ConfigError>({folder.path(), spliced_models() / group}),
                            "a model folder holds all members"));
    }
}

DOCTEST_TEST_CASE("splice_folder: hostile descriptions and weights are refused") {
    const TempDir folder;
    SpliceModel model = read_splice_model(std::array{spliced_models() / "open/model_1.pt"});
    write_splice_folder(model, folder.path());
    const std::string config = read_file(folder / "config.json");
    struct Row {
        std::string from, to, why;
    };
    for (const Row& row : std::vector<Row>{
             {"\"format\": 1", "\"format\": 2", "in a newer form"},
             {"\"taps\": 3", "\"taps\": 5", "lacks the weights 'members.0.units.0.first.weight'"},
             {"\"taps\": 3", "\"taps\": 3000000000000", "lacks the weights"},
             {"\"taps\": 3", "\"taps\": 3.5", "does not describe a splicing network"},
             {"\"dilation\": 1", "\"dilation\": 0", "unexpected width or dilation in unit 1"},
             {"\"dilation\": 1", "\"dilation\": 100000", "unexpected width or dilation in unit 1"},
             {"\"slope\": ", "\"slope\": \"x\", \"y\": ", "does not describe a splicing network"},
             {"\"family\"", "\"familiar\"", "does not describe a splicing network"},
             {"\"skips_after\": [", "\"skips_after\": [77,", "lacks the weights"},
             {"\"skips_after\"", "\"tissue\": 9, \"skips_after\"",
              "lacks the weights 'members.0.output.weight'"}}) {
        DOCTEST_CAPTURE(row.to);
        write_file(folder / "config.json", replaced(config, row.from, row.to));
        const std::string message = refusal({folder.path()});
        DOCTEST_CAPTURE(message);
        DOCTEST_CHECK(holds(message, row.why));
    }
    model.members.front().units[3].second.bias[7] = std::numeric_limits<float>::quiet_NaN();
    write_splice_folder(model, folder.path());
    DOCTEST_CHECK(holds(refusal({folder.path()}), "has weights that are not finite in unit 4"));
    write_splice_folder(model, folder.path());
    fs::resize_file(folder / "model.safetensors", 1000);
    refusal({folder.path()});
}
