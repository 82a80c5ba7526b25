// SPDX-License-Identifier: Apache-2.0
#include "support/temp_dir.hpp"
#include "support/testing.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/networks/files/profile_model.hpp"

#include <filesystem>

using namespace bigbird;
using namespace bigbird::testing;
using networks::ProfileModel;
using networks::ProfileShape;
namespace fs = std::filesystem;

namespace {

const char* const folder_of_files = "models/profiles/";

ProfileModel read_torch(const char* file) {
    return networks::read_profile_model(test_data(std::string(folder_of_files) + file));
}

/// A fixture in which a text is replaced by one of the same length.
std::string refusal_with(const char* file, const std::string& from, const std::string& to) {
    DOCTEST_REQUIRE(from.size() == to.size());
    const TempDir folder;
    std::string content = read_file(test_data(std::string(folder_of_files) + file));
    const std::size_t at = content.find(from);
    DOCTEST_REQUIRE(at != std::string::npos);
    content.replace(at, from.size(), to);
    write_file(folder / "x.torch", content);
    return message_of<InputError>([&] { networks::read_profile_model(folder / "x.torch"); });
}

}  // namespace

DOCTEST_TEST_CASE("torch_models: the sizes of each fixture, from its tensors and attributes") {
    DOCTEST_CHECK(
        read_torch("bpnetlite.torch").parts[0].shape ==
        ProfileShape{.filters = 5, .layers = 3, .input = 2114, .output = 70, .counts = 144, .groups = {2}});
    const ProfileModel joined = read_torch("bpnetlite_chrombpnet.torch");
    DOCTEST_CHECK(joined.parts[0].shape ==
                  ProfileShape{.filters = 4, .layers = 2, .input = 2114, .output = 70, .counts = 144});
    DOCTEST_CHECK(joined.parts[1].shape ==
                  ProfileShape{.filters = 3, .layers = 1, .input = 2114, .output = 70, .counts = 2090});
    DOCTEST_CHECK(read_torch("cherimoya_groups.torch").parts[0].shape ==
                  ProfileShape{.trunk = networks::Trunk::cherimoya,
                               .filters = 6,
                               .layers = 2,
                               .head = 1,
                               .input = 2114,
                               .output = 70,
                               .counts = 70,
                               .groups = {1, 2},
                               .residual_scale = 0.2,
                               .expansion = 3});
    DOCTEST_CHECK(read_torch("cherimoya_groups.torch").source["control_tracks"] == 3);
    DOCTEST_CHECK(read_torch("basepairnet.torch").source["class"] == "bpnetlite.bpnet.BasePairNet");
}

DOCTEST_TEST_CASE("torch_models: biases that a file lacks are zero") {
    const ProfileModel joined = read_torch("bpnetlite_chrombpnet.torch");
    DOCTEST_CHECK(joined.parts[0].weights.at("profile.bias").values == std::vector<float>{0});
    DOCTEST_CHECK(joined.parts[1].weights.at("profile.bias").values[0] != 0);
}

DOCTEST_TEST_CASE("torch_models: networks that see their padding, or whose parts contradict each other") {
    // 49 positions are what one layer reaches: 37 + 10 + 2. K precedes a number of one byte, M of two.
    DOCTEST_CHECK(holds(refusal_with("bpnetlite_chrombpnet.torch", "K\x31X\x11", "K\x30X\x11"),
                        "trims 48 positions, less than the 49"));
    DOCTEST_CHECK(holds(refusal_with("cherimoya.torch", "M\xfe\x03X", "M\x21\x04X"), "trims 1057 positions"));
    DOCTEST_CHECK(holds(refusal_with("cherimoya.torch", "K\x03X\x0d", "K\x04X\x0d"), "weights of 3 blocks"));
    DOCTEST_CHECK(holds(refusal_with("cherimoya.torch",
                                     "K\x01"
                                     "aX",
                                     "K\x02"
                                     "aX"),
                        "groups of columns"));
    DOCTEST_CHECK(
        holds(refusal_with("cherimoya.torch", "linear.weight", "linear.weighs"), "lacks the weights"));
    DOCTEST_CHECK(holds(refusal_with("bpnetlite.torch", "bpnetlite.bpnet\nBPNet", "bpnetlite.bpnet\nOther"),
                        "bpnetlite.bpnet.Other"));
}

DOCTEST_TEST_CASE("torch_models: Cherimoya without its configuration has the package's defaults") {
    const TempDir folder;
    std::string content = read_file(test_data("models/profiles/cherimoya.torch"));
    content.replace(content.find("config"), 6, "confix");
    write_file(folder / "x.torch", content);
    const ProfileShape shape = networks::read_profile_model(folder / "x.torch").parts[0].shape;
    DOCTEST_CHECK(shape.output == 2114 - 2 * (46 + 1 + 2 + 4));
    DOCTEST_CHECK(shape.residual_scale == 0.15);
}
