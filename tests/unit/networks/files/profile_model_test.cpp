// SPDX-License-Identifier: Apache-2.0
#include "bigbird/networks/files/profile_model.hpp"

#include "slow_forward.hpp"
#include "support/testing.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/formats/checksum.hpp"

#include <cmath>

using namespace bigbird;
using namespace bigbird::testing;
using networks::Component;
using networks::ProfileModel;
using networks::ProfilePart;
using networks::ProfileShape;

namespace {

ProfileModel read_fixture(const std::string& name) {
    return networks::read_profile_model(test_data("models/profiles/" + name));
}

/// Of one part, or of two that are joined.
SlowHeads heads_of(const ProfileModel& model, const std::string& window) {
    SlowHeads heads = SlowForward(model.parts[0])(window);
    if (model.parts.size() == 1) return heads;
    const SlowHeads other = SlowForward(model.parts[1])(window);
    for (std::size_t i = 0; i < heads.logits.size(); ++i)
        heads.logits[i] += other.logits[i];
    for (std::size_t i = 0; i < heads.log_counts.size(); ++i)
        heads.log_counts[i] = std::log(std::exp(heads.log_counts[i]) + std::exp(other.log_counts[i]));
    return heads;
}

double largest_difference(const std::vector<double>& found, const Json& wanted) {
    DOCTEST_REQUIRE(found.size() == wanted.size());
    double largest = 0;
    for (std::size_t i = 0; i < found.size(); ++i)
        largest = std::max(largest, std::abs(found[i] - wanted[i].get<double>()));
    return largest;
}

ProfileShape some_shape() {
    return {.filters = 4, .layers = 8, .input = 2114, .output = 1000, .counts = 1074};
}

}  // namespace

DOCTEST_TEST_CASE("profile_model: each form of file gives the predictions of float64 formulas") {
    const Json expected = read_json(test_data("models/profiles/expected.json"));
    for (const auto& [file, components] : expected["files"].items()) {
        for (const auto& [component, results] : components.items()) {
            if (component == "windows") continue;
            DOCTEST_CAPTURE(file);
            DOCTEST_CAPTURE(component);
            const auto path = test_data("models/profiles/" + file);
            const ProfileModel model =
                component.empty()
                    ? read_fixture(file)
                    : networks::chosen(read_fixture(file),
                                       parse_choice(networks::component_words, "", component), path);
            DOCTEST_CHECK(model.component() == component);
            for (std::size_t i = 0; i < components["windows"].size(); ++i) {
                const SlowHeads heads = heads_of(model, components["windows"][i]);
                DOCTEST_CHECK(largest_difference(heads.logits, results["logits"][i]) < 1e-5);
                DOCTEST_CHECK(largest_difference(heads.log_counts, results["log_counts"][i]) < 1e-5);
            }
        }
    }
}

DOCTEST_TEST_CASE("profile_model: families, offsets of counts, bias and checksum") {
    struct Row {
        const char *file, *family, *bias;
        double offset;
        std::vector<std::int64_t> groups;
    };
    for (const Row& row :
         std::initializer_list<Row>{{"chrombpnet_nobias.h5", "ChromBPNet", "no", 1, {1}},
                                    {"bias.h5", "ChromBPNet", "only", 1, {1}},
                                    {"chrombpnet.h5", "ChromBPNet", "yes", 1, {1}},
                                    {"keras3.h5", "ChromBPNet", "no", 1, {1}},
                                    {"bpnet.h5", "BPNet", "unknown", 2, {2}},
                                    {"bpnet_plain.h5", "BPNet", "unknown", 2, {2}},
                                    {"bpnet_one_strand.h5", "BPNet", "unknown", 1, {1}},
                                    {"bpnetlite.torch", "bpnet-lite", "unknown", 1, {2}},
                                    {"bpnetlite_chrombpnet.torch", "bpnet-lite", "yes", 1, {1}},
                                    {"basepairnet.torch", "bpnet-lite", "unknown", 2, {2}},
                                    {"cherimoya.torch", "Cherimoya", "yes", 1, {1}},
                                    {"cherimoya_groups.torch", "Cherimoya", "yes", 1, {1, 2}},
                                    {"cherimoya_old.torch", "Cherimoya", "yes", 1, {1, 1}}}) {
        DOCTEST_CAPTURE(row.file);
        const ProfileModel model = read_fixture(row.file);
        DOCTEST_CHECK(model.family == row.family);
        DOCTEST_CHECK(model.bias() == row.bias);
        DOCTEST_CHECK(model.parts[0].shape.count_offset == row.offset);
        DOCTEST_CHECK(model.parts[0].shape.groups == row.groups);
        DOCTEST_CHECK(model.sha256 == sha256_of_file(test_data(std::string("models/profiles/") + row.file)));
    }
}

DOCTEST_TEST_CASE("profile_model: a component is chosen, nobias by default") {
    const std::filesystem::path path = "x.h5";
    const ProfileModel joined = read_fixture("chrombpnet.h5"), bias = read_fixture("bias.h5"),
                       plain = read_fixture("bpnet.h5");
    DOCTEST_CHECK(networks::chosen(joined, std::nullopt, path).component() == "nobias");
    DOCTEST_CHECK(networks::chosen(joined, Component::bias, path).component() == "bias");
    DOCTEST_CHECK(networks::chosen(joined, Component::joined, path).component() == "joined");
    DOCTEST_CHECK(networks::chosen(bias, std::nullopt, path).component() == "bias");
    DOCTEST_CHECK(networks::chosen(plain, std::nullopt, path).component().empty());
    DOCTEST_CHECK(message_of<ConfigError>([&] { networks::chosen(bias, Component::nobias, path); }) ==
                  "--component nobias: x.h5 has bias only");
    DOCTEST_CHECK(message_of<ConfigError>([&] { networks::chosen(plain, Component::joined, path); }) ==
                  "--component joined: x.h5 has no components: leave the option out");
}

DOCTEST_TEST_CASE("profile_model: positions of the trunk, of ChromBPNet's published sizes") {
    ProfileShape shape = some_shape();
    DOCTEST_CHECK(shape.trunk_positions(0) == 2094);
    DOCTEST_CHECK(shape.trunk_positions(8) == 1074);
    DOCTEST_CHECK(shape.dilation(0) == 2);
    shape.validate();
    shape.layers = 4;  // the bias model
    shape.counts = 2034;
    DOCTEST_CHECK(shape.trunk_positions(4) == 2034);
    shape.validate();
    shape.trunk = networks::Trunk::cherimoya;
    DOCTEST_CHECK(shape.dilation(0) == 1);
    DOCTEST_CHECK(shape.trunk_positions(4) == 2114);
    shape.groups = {1, 2};
    DOCTEST_CHECK(shape.columns() == 3);
    shape.validate();
}

DOCTEST_TEST_CASE("profile_model: ranges and numbers that do not fit are refused") {
    const auto refused = [](void (*change)(ProfileShape&)) {
        ProfileShape shape = some_shape();
        change(shape);
        return message_of<ConfigError>([&] { shape.validate(); });
    };
    DOCTEST_CHECK(holds(refused([](ProfileShape& s) { s.output = 1001; }), "1001 positions"));
    DOCTEST_CHECK(holds(refused([](ProfileShape& s) { s.output = 1002; }), "profile"));
    DOCTEST_CHECK(holds(refused([](ProfileShape& s) { s.output = 0; }), "profile"));
    DOCTEST_CHECK(holds(refused([](ProfileShape& s) { s.counts = 1076; }), "counts"));
    DOCTEST_CHECK(holds(refused([](ProfileShape& s) { s.counts = 1073; }), "counts"));
    DOCTEST_CHECK(holds(refused([](ProfileShape& s) { s.filters = 4097; }), "4097 filters"));
    DOCTEST_CHECK(holds(refused([](ProfileShape& s) { s.layers = 17; }), "17 dilated layers"));
    DOCTEST_CHECK(holds(refused([](ProfileShape& s) { s.input = (1 << 20) + 1; }), "input"));
    DOCTEST_CHECK(holds(refused([](ProfileShape& s) { s.stem = 20; }), "even width"));
    DOCTEST_CHECK(holds(refused([](ProfileShape& s) { s.groups = {}; }), "groups"));
    DOCTEST_CHECK(holds(refused([](ProfileShape& s) { s.groups = {1, 0}; }), "columns in a group"));
    DOCTEST_CHECK(holds(refused([](ProfileShape& s) { s.count_offset = NAN; }), "finite"));
}

DOCTEST_TEST_CASE("profile_model: a shape comes back from JSON") {
    for (const char* file : {"bpnet.h5", "cherimoya_groups.torch"}) {
        const ProfileShape shape = read_fixture(file).parts[0].shape;
        DOCTEST_CHECK(networks::shape_from_json(to_json(shape), "x") == shape);
    }
    Json json = to_json(some_shape());
    json["layers"] = 1.5;
    DOCTEST_CHECK(holds(message_of<InputError>([&] { networks::shape_from_json(json, "x"); }), "'layers'"));
    json["layers"] = 12;
    DOCTEST_CHECK(holds(message_of<InputError>([&] { networks::shape_from_json(json, "x"); }), "middle"));
    json.erase("trunk");
    DOCTEST_CHECK(holds(message_of<InputError>([&] { networks::shape_from_json(json, "x"); }), "trunk"));
}
