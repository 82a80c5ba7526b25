// SPDX-License-Identifier: Apache-2.0
#include "bigbird/model/weights.hpp"

#include "support/temp_dir.hpp"
#include "support/tensors.hpp"
#include "support/testing.hpp"
#include "unit/model/small_model.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/formats/checksum.hpp"
#include "bigbird/model/bigbird.hpp"
#include "bigbird/model/files/safetensors_header.hpp"
#include "bigbird/model/safetensors.hpp"

using namespace bigbird::model;
using namespace bigbird::testing;
using bigbird::InputError;

namespace {

TensorMap random_weights(std::uint64_t seed) {
    PreTrainingModel model(small_config());
    initialise(*model, small_config(), seed);
    return parameters_of(*model);
}

/// The parameters of a network filled from `tensors`, or the error's text.
TensorMap filled(const TensorMap& tensors, const LoadRules& rules = {}) {
    PreTrainingModel model(small_config());
    fill_parameters(*model, tensors, rules, "model.safetensors");
    return parameters_of(*model);
}

std::string load_refusal(const TensorMap& tensors, const LoadRules& rules = {}) {
    return message_of<InputError>([&] { filled(tensors, rules); });
}

void check_same(const TensorMap& a, const TensorMap& b) {
    DOCTEST_REQUIRE(a.size() == b.size());
    for (const auto& [key, tensor] : a)
        DOCTEST_CHECK(identical(tensor, b.at(key)));
}

const std::string words = "bert.embeddings.word_embeddings.weight",
                  decoder = "cls.predictions.decoder.weight";
const std::string decoder_bias = "cls.predictions.decoder.bias", head_bias = "cls.predictions.bias";

}  // namespace

DOCTEST_TEST_CASE("weights: files with and without the tied decoder fill the same network") {
    const TensorMap weights = random_weights(1);
    check_same(filled(weights), weights);
    TensorMap with = weights;
    with[decoder] = weights.at(words).clone();
    with[decoder_bias] = weights.at(head_bias).clone();
    with["bert.embeddings.position_ids"] = at::arange(128).unsqueeze(0);
    check_same(filled(with), weights);
    with.erase(head_bias);
    check_same(filled(with), weights);
}

DOCTEST_TEST_CASE("weights: other floating types are converted") {
    TensorMap weights = random_weights(1);
    for (auto& item : weights)
        item.second = item.second.to(at::kDouble);
    const TensorMap single = filled(weights);
    DOCTEST_CHECK((single.at(words).scalar_type() == at::kFloat));
    DOCTEST_CHECK(difference(single.at(words), weights.at(words)) == 0);
}

DOCTEST_TEST_CASE("weights: a bare encoder's keys get their prefix") {
    const TensorMap weights = random_weights(1);
    TensorMap bare;
    for (const auto& [key, tensor] : weights)
        if (key.starts_with("bert.")) bare[key.substr(5)] = tensor;
    const TensorMap result = filled(bare, {.optional_prefix = {}, .only_prefix = "bert."});
    DOCTEST_CHECK(identical(result.at(words), weights.at(words)));
    DOCTEST_CHECK(load_refusal(bare).starts_with(
        "model.safetensors: tensor 'cls.predictions.bias' is missing; tensor 'cls.predictions.transform."));
}

DOCTEST_TEST_CASE("weights: errors name the tensor and both shapes") {
    const TensorMap weights = random_weights(1);
    TensorMap missing = weights, extra = weights, shape = weights, type = weights, untied = weights;
    for (const float number :
         {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
        TensorMap damaged = weights;
        damaged[words] = weights.at(words).clone();
        damaged[words][7][5] = number;
        DOCTEST_CHECK(load_refusal(damaged) == "model.safetensors: tensor '" + words +
                                                   "' holds numbers that are not finite (NaN or infinite)");
    }
    missing.erase("bert.encoder.layer.1.output.dense.bias");
    DOCTEST_CHECK(load_refusal(missing) ==
                  "model.safetensors: tensor 'bert.encoder.layer.1.output.dense.bias' is missing");
    extra["bert.encoder.layer.2.output.dense.bias"] = at::zeros({32});
    DOCTEST_CHECK(
        load_refusal(extra) ==
        "model.safetensors: tensor 'bert.encoder.layer.2.output.dense.bias' has no place in this model");
    shape[words] = at::zeros({51, 32});
    DOCTEST_CHECK(load_refusal(shape) == "model.safetensors: tensor '" + words +
                                             "' has the shape [51, 32], config.json asks for [50, 32]");
    type[words] = at::zeros({50, 32}, at::kLong);
    DOCTEST_CHECK(load_refusal(type) ==
                  "model.safetensors: tensor '" + words + "' holds Long numbers, weights are expected");
    untied[decoder] = at::ones({50, 32});
    DOCTEST_CHECK(load_refusal(untied) == "model.safetensors: tensor '" + decoder + "' differs from '" +
                                              words + "': models without tied weights cannot be used");
}

DOCTEST_TEST_CASE("weights: what is optional may be missing") {
    TensorMap weights = random_weights(1);
    weights.erase("cls.seq_relationship.weight");
    weights.erase("cls.seq_relationship.bias");
    const TensorMap result = filled(weights, {.optional_prefix = "cls.seq_relationship", .only_prefix = {}});
    DOCTEST_CHECK(result.at("cls.seq_relationship.weight").abs().sum().item<double>() == 0);
    DOCTEST_CHECK(load_refusal(weights) ==
                  "model.safetensors: tensor 'cls.seq_relationship.weight' is missing; tensor "
                  "'cls.seq_relationship.bias' is missing");
}

DOCTEST_TEST_CASE("weights: everything that is wrong is said at once") {
    TensorMap weights = random_weights(1);
    weights.erase("bert.pooler.bias");
    weights["bert.extra"] = at::zeros({1});
    weights[head_bias] = at::zeros({51});
    DOCTEST_CHECK(
        load_refusal(weights) ==
        "model.safetensors: tensor 'bert.pooler.bias' is missing; tensor 'cls.predictions.bias' has the "
        "shape [51], config.json asks for [50]; tensor 'bert.extra' has no place in this model");
}

DOCTEST_TEST_CASE("weights: a longer model repeats the positions of a shorter one") {
    BigBirdConfig longer = small_config();
    longer.max_position_embeddings = 300;
    PreTrainingModel model(longer);
    const TensorMap weights = random_weights(1);
    fill_parameters(*model, weights, {}, "model.safetensors");
    const std::string key = "bert.embeddings.position_embeddings.weight";
    const at::Tensor found = parameters_of(*model).at(key), given = weights.at(key);
    DOCTEST_REQUIRE(given.size(0) == 128);
    DOCTEST_CHECK(identical(found.narrow(0, 0, 128), given));
    DOCTEST_CHECK(identical(found.narrow(0, 128, 128), given));
    DOCTEST_CHECK(identical(found.narrow(0, 256, 44), given.narrow(0, 0, 44)));
    longer.max_position_embeddings = 100;
    PreTrainingModel shorter(longer);
    DOCTEST_CHECK_THROWS_AS(fill_parameters(*shorter, weights, {}, "model.safetensors"), InputError);
}

DOCTEST_TEST_CASE("weights: a file in parts is one") {
    const TempDir folder;
    const TensorMap weights = random_weights(1);
    TensorMap first, second;
    std::string index = R"({"metadata":{},"weight_map":{)";
    for (const auto& [key, tensor] : weights) {
        const bool front = first.size() <= second.size();
        (front ? first : second)[key] = tensor;
        index += "\"" + key + (front ? "\":\"part-1" : "\":\"part-2") + ".safetensors\",";
    }
    index.back() = '}';
    write_safetensors(first, folder / "part-1.safetensors");
    write_safetensors(second, folder / "part-2.safetensors");
    write_file(folder / "model.safetensors.index.json", index + "}");
    check_same(read_weights(folder.path()), weights);
    const auto line = [&](const std::string& part) {
        return bigbird::sha256_of_file(folder / part) + " " + part + "\n";
    };
    DOCTEST_CHECK(weights_checksum(folder.path()) ==
                  bigbird::sha256_of_text(line("part-1.safetensors") + line("part-2.safetensors")));
    write_file(folder / "model.safetensors.index.json", R"({"weight_map":{"a":"part-1.safetensors"}})");
    DOCTEST_CHECK(weights_checksum(folder.path()) == bigbird::sha256_of_file(folder / "part-1.safetensors"));
    write_file(folder / "model.safetensors.index.json", R"({"weight_map":{"a":"../part-1.safetensors"}})");
    DOCTEST_CHECK_THROWS_AS(read_weights(folder.path()), InputError);
    write_file(folder / "model.safetensors.index.json", "{}");
    DOCTEST_CHECK_THROWS_AS(read_weights(folder.path()), InputError);
}

DOCTEST_TEST_CASE("weights: a folder without weights says what is missing, and what to do with a .bin") {
    const TempDir folder;
    DOCTEST_CHECK(message_of<InputError>([&] { read_weights(folder.path()); }) ==
                  (folder / "model.safetensors").string() + ": no such file");
    write_file(folder / "pytorch_model.bin", "\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19.");
    DOCTEST_CHECK(
        message_of<InputError>([&] { read_weights(folder.path()); }) ==
        (folder / "pytorch_model.bin").string() +
            ": was saved by a PyTorch older than 1.6; save it anew: torch.save(torch.load(...), ...)");
}

DOCTEST_TEST_CASE("weights: pytorch_model.bin and its parts are read, whatever views their tensors are") {
    const TempDir folder;
    const std::filesystem::path file = bigbird::testing::test_data("encoders/pytorch_model.bin");
    std::filesystem::copy_file(file, folder / "pytorch_model.bin");
    const at::Tensor matrix = at::arange(12, at::kFloat).view({3, 4});
    const auto check = [&] {
        const TensorMap tensors = read_weights(folder.path());
        DOCTEST_REQUIRE(tensors.size() == 7);
        DOCTEST_CHECK(at::equal(tensors.at("matrix"), matrix));
        DOCTEST_CHECK(at::equal(tensors.at("part"), matrix.narrow(0, 1, 2)));
        DOCTEST_CHECK(at::equal(tensors.at("turned"), matrix.t()));
        DOCTEST_CHECK(at::equal(tensors.at("half"), matrix.to(at::kHalf)));
        DOCTEST_CHECK(at::equal(tensors.at("bfloat"), matrix.to(at::kBFloat16)));
        DOCTEST_CHECK(at::equal(tensors.at("ids"), at::arange(3)));
        DOCTEST_CHECK(at::equal(tensors.at("x.LayerNorm.weight"), at::ones({2})));
        DOCTEST_CHECK(weights_checksum(folder.path()) == bigbird::sha256_of_file(file));
    };
    check();
    std::filesystem::rename(folder / "pytorch_model.bin", folder / "part-1.bin");
    write_file(folder / "pytorch_model.bin.index.json", R"({"weight_map":{"matrix":"part-1.bin"}})");
    check();
}

DOCTEST_TEST_CASE("weights: links to themselves are input errors, of the file and of its index") {
    namespace fs = std::filesystem;
    const auto refusal = [](const TempDir& folder) {
        return message_of<InputError>([&] { read_weights(folder.path()); });
    };
    const std::string why = ": cannot be read: Too many levels of symbolic links";
    const TempDir whole, index;
    fs::create_symlink("model.safetensors", whole / "model.safetensors");
    DOCTEST_CHECK(refusal(whole) == (whole / "model.safetensors").string() + why);
    fs::create_symlink("model.safetensors.index.json", index / "model.safetensors.index.json");
    DOCTEST_CHECK(refusal(index) == (index / "model.safetensors.index.json").string() + why);
}

DOCTEST_TEST_CASE("weights: old names and those of wrappers are today's") {
    const TempDir folder;
    const TensorMap weights = random_weights(1);
    TensorMap old;
    for (const auto& [key, tensor] : weights) {
        std::string name = "module._orig_mod." + key;
        if (key.ends_with("LayerNorm.weight")) name.replace(name.size() - 6, 6, "gamma");
        if (key.ends_with("LayerNorm.bias")) name.replace(name.size() - 4, 4, "beta");
        old[name] = tensor;
    }
    write_safetensors(old, folder / "model.safetensors");
    check_same(read_weights(folder.path()), weights);
    old[words] = weights.at(words).clone();
    write_safetensors(old, folder / "model.safetensors");
    DOCTEST_CHECK(message_of<InputError>([&] {
                      read_weights(folder.path());
                  }).find("names a tensor twice, with and without 'module.'") != std::string::npos);
}

DOCTEST_TEST_CASE("weights: a head of another task is ignored") {
    const TensorMap weights = random_weights(1);
    TensorMap with = weights;
    with["classifier.out_proj.weight"] = at::ones({3, 32});
    with["lm_head.bias"] = at::ones({3});
    check_same(filled(with), weights);
}

DOCTEST_TEST_CASE("safetensors: every type and shape comes back, bit for bit") {
    const TempDir folder;
    TensorMap tensors;
    for (const at::ScalarType type : {at::kDouble, at::kFloat, at::kHalf, at::kBFloat16, at::kLong, at::kInt,
                                      at::kShort, at::kChar, at::kByte})
        tensors[std::string("odd.") + at::toString(type)] = (random_tensor({3, 5}, 1) * 10).abs().to(type);
    tensors["mask"] = random_tensor({7}, 2) > 0;
    tensors["scalar"] = at::scalar_tensor(1.5);
    tensors["empty"] = at::empty({0, 4});
    tensors["view"] = random_tensor({4, 6}, 3).transpose(0, 1);
    write_safetensors(tensors, folder / "t.safetensors", {{"step", "12"}});
    const TensorMap again = read_safetensors(folder / "t.safetensors");
    DOCTEST_REQUIRE(again.size() == tensors.size());
    for (const auto& [key, tensor] : tensors) {
        DOCTEST_CAPTURE(key);
        DOCTEST_CHECK(identical(again.at(key), tensor));
    }
}

DOCTEST_TEST_CASE(
    "safetensors: data stand aligned, keys in byte order, and the same tensors give the same bytes") {
    const TempDir folder;
    const TensorMap tensors{
        {"b", at::ones({3}, at::kByte)}, {"a", at::ones({2}, at::kDouble)}, {"c", at::ones({3}, at::kHalf)}};
    write_safetensors(tensors, folder / "1");
    write_safetensors(tensors, folder / "2");
    const std::string bytes = read_file(folder / "1");
    DOCTEST_CHECK(bytes == read_file(folder / "2"));
    DOCTEST_CHECK(bytes.find("\"a\"") < bytes.find("\"b\""));
    const SafetensorsHeader header = read_safetensors_header(folder / "1");
    DOCTEST_CHECK(header.metadata == std::map<std::string, std::string>{{"format", "pt"}});
    for (const auto& [key, tensor] : tensors)
        DOCTEST_CHECK(header.tensors.at(key).begin % tensor.itemsize() == 0);
}
