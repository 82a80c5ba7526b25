// SPDX-License-Identifier: Apache-2.0
#include "bigbird/networks/files/profile_folder.hpp"

#include "support/temp_dir.hpp"
#include "support/testing.hpp"

#include "bigbird/core/error.hpp"

#include <cstring>

using namespace bigbird;
using namespace bigbird::testing;
using networks::ProfileModel;

namespace {

ProfileModel model_of(const char* file) {
    return networks::read_profile_model(test_data(std::string("models/profiles/") + file));
}

}  // namespace

DOCTEST_TEST_CASE("profile_folder: labels of counts") {
    DOCTEST_CHECK(networks::profile_labels(1) == std::vector<std::string>{"counts"});
    DOCTEST_CHECK(networks::profile_labels(2) == std::vector<std::string>{"counts_1", "counts_2"});
}

DOCTEST_TEST_CASE("profile_folder: config.json describes the model, and comes back without weights") {
    for (const char* file : {"chrombpnet.h5", "bpnet.h5", "cherimoya_groups.torch", "chrombpnet_other.h5"}) {
        const ProfileModel model = model_of(file);
        const Json config = networks::folder_description(model);
        DOCTEST_CHECK(config["model_type"] == "bigbird_dna_profile");
        DOCTEST_CHECK(config["num_labels"] == model.parts[0].shape.groups.size());
        const Json& task = config["bigbird_dna"]["task_model"];
        const std::int64_t input = model.parts[0].shape.input;
        DOCTEST_CHECK(task["window"] == (input == 331    ? "-165:166"
                                         : input == 2114 ? "-1057:1057"
                                         : input == 266  ? "-133:133"
                                                         : "-105:105"));
        const ProfileModel back = networks::profile_model_from(task, "x");
        DOCTEST_CHECK(back.family == model.family);
        DOCTEST_CHECK(back.sha256 == model.sha256);
        DOCTEST_CHECK(back.source == model.source);
        DOCTEST_REQUIRE(back.parts.size() == model.parts.size());
        for (std::size_t i = 0; i < back.parts.size(); ++i) {
            DOCTEST_CHECK(back.parts[i].name == model.parts[i].name);
            DOCTEST_CHECK(back.parts[i].shape == model.parts[i].shape);
            DOCTEST_CHECK(back.parts[i].weights.empty());
        }
    }
}

DOCTEST_TEST_CASE("profile_folder: descriptions that do not fit") {
    Json task = networks::folder_description(model_of("chrombpnet.h5"))["bigbird_dna"]["task_model"];
    Json other = task;
    other["network"]["parts"]["bias"]["output"] = 88;
    DOCTEST_CHECK(
        holds(message_of<InputError>([&] { networks::profile_model_from(other, "x"); }), "parts do not fit"));
    other = task;
    other["network"]["parts"] = Json::object();
    DOCTEST_CHECK(
        holds(message_of<InputError>([&] { networks::profile_model_from(other, "x"); }), "parts do not fit"));
    other["network"].erase("family");
    DOCTEST_CHECK(holds(message_of<InputError>([&] { networks::profile_model_from(other, "x"); }), "family"));
    DOCTEST_CHECK(
        holds(message_of<InputError>([&] { networks::profile_model_from(Json::array(), "x"); }), "x: "));
}

DOCTEST_TEST_CASE("profile_folder: the folder has each weight, by its part's name, and the labels") {
    const TempDir folder;
    const ProfileModel model = model_of("chrombpnet.h5");
    networks::write_profile_folder(model, folder.path());
    DOCTEST_CHECK(read_file(folder / "labels.tsv") == "index\tgroup\tname\tpositives\n0\t.\tcounts\t.\n");
    DOCTEST_CHECK(read_json(folder / "config.json") == networks::folder_description(model));
    const std::string bytes = read_file(folder / "model.safetensors");
    std::uint64_t size = 0;
    std::memcpy(&size, bytes.data(), sizeof size);
    DOCTEST_CHECK(size % 8 == 0);
    const Json header = Json::parse(bytes.substr(8, size));
    std::size_t tensors = 0;
    for (const networks::ProfilePart& part : model.parts) {
        for (const auto& [name, tensor] : part.weights) {
            const Json& entry = header.at(part.name + "." + name);
            DOCTEST_CHECK(entry["dtype"] == "F32");
            DOCTEST_CHECK(entry["shape"] == Json(tensor.shape));
            const auto begin = entry["data_offsets"][0].get<std::size_t>(),
                       end = entry["data_offsets"][1].get<std::size_t>();
            DOCTEST_REQUIRE(end - begin == tensor.values.size() * 4);
            DOCTEST_CHECK(std::memcmp(bytes.data() + 8 + size + begin, tensor.values.data(), end - begin) ==
                          0);
            ++tensors;
        }
    }
    DOCTEST_CHECK(header.size() == tensors + 1);
}

DOCTEST_TEST_CASE("profile_folder: a description for people says what the numbers are") {
    const Json bias = networks::describe(model_of("bias.h5"));
    DOCTEST_CHECK(holds(bias["about_bias"].get<std::string>(), "scores of the enzyme's bias, no biology"));
    DOCTEST_CHECK(bias["parameters"] == 4 * 4 * 21 + 4 + 2 * (3 * 4 * 4 + 4) + 75 * 4 + 1 + 4 + 1);
    const Json bpnet = networks::describe(model_of("bpnet.h5"));
    DOCTEST_CHECK(bpnet["counts"] == "log counts: reads in the 60 bases are exp(log count) - 2");
    DOCTEST_CHECK(bpnet["profiles"] == "2 (strands)");
    DOCTEST_CHECK(!bpnet.contains("component"));
    const Json groups = networks::describe(model_of("cherimoya_groups.torch"));
    DOCTEST_CHECK(groups["profiles"] == "3 (in groups of 1, 2)");
    DOCTEST_CHECK(groups["groups"] == 2);
    DOCTEST_CHECK(networks::describe(model_of("chrombpnet.h5"))["component"] == "joined");
}
