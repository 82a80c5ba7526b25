// SPDX-License-Identifier: Apache-2.0
#include "bigbird/core/error.hpp"
#include "bigbird/networks/files/profile_model.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace bigbird::networks {

namespace {

constexpr std::int64_t most_filters = 4096, most_layers = 16, most_columns = 4096, widest_filter = 1001,
                       most_expansion = 64, longest_input = std::int64_t{1} << 20;

void require_between(std::string_view what, std::int64_t number, std::int64_t least, std::int64_t most) {
    if (number >= least && number <= most) return;
    throw ConfigError("a network with " + std::to_string(number) + " " + std::string(what) +
                      " is not supported: " + std::to_string(least) + " to " + std::to_string(most) + " are");
}

/// Ranges with one middle differ by an even number of positions.
void require_middle(std::string_view what, std::int64_t part, std::int64_t whole) {
    if (part >= 1 && part <= whole && (whole - part) % 2 == 0) return;
    throw ConfigError("the network's " + std::string(what) + " of " + std::to_string(part) +
                      " positions does not lie in the middle of the " + std::to_string(whole) +
                      " that its layers leave");
}

void require_odd(std::string_view what, std::int64_t width) {
    require_between(what, width, 1, widest_filter);
    if (width % 2 == 0)
        throw ConfigError("the network has filters of an even width, " + std::to_string(width));
}

}  // namespace

std::int64_t ProfileShape::columns() const {
    return std::accumulate(groups.begin(), groups.end(), std::int64_t{0});
}

std::int64_t ProfileShape::trunk_positions(std::int64_t after_layers) const {
    if (pads()) return input;
    std::int64_t positions = input - stem + 1;
    for (std::int64_t layer = 0; layer < after_layers; ++layer)
        positions -= 2 * dilation(layer);
    return positions;
}

void ProfileShape::validate() const {
    require_between("filters", filters, 1, most_filters);
    require_between("dilated layers", layers, 0, most_layers);
    require_between("input bases", input, 1, longest_input);
    require_between("groups of columns", static_cast<std::int64_t>(groups.size()), 1, most_columns);
    for (const std::int64_t group : groups)
        require_between("columns in a group", group, 1, most_columns);
    require_between("columns", columns(), 1, most_columns);
    require_between("times more inner features", expansion, 1, most_expansion);
    require_odd("bases under a filter", stem);
    require_odd("positions under a filter of the profile", head);
    if (!std::isfinite(count_offset) || !std::isfinite(residual_scale))
        throw ConfigError("the network's numbers are not finite");
    const std::int64_t positions = trunk_positions(layers);
    require_middle("profile", output, pads() ? positions : positions - head + 1);
    require_middle("window of counts", counts, positions);
}

Json to_json(const ProfileShape& shape) {
    Json json{{"trunk", word_of(trunk_words, shape.trunk)},
              {"filters", shape.filters},
              {"layers", shape.layers},
              {"stem", shape.stem},
              {"head", shape.head},
              {"input", shape.input},
              {"output", shape.output},
              {"counts", shape.counts},
              {"groups", shape.groups},
              {"count_offset", shape.count_offset}};
    if (shape.pads()) {
        json["residual_scale"] = shape.residual_scale;
        json["expansion"] = shape.expansion;
    }
    return json;
}

ProfileShape shape_from_json(const Json& json, const std::filesystem::path& where) {
    ProfileShape shape;
    try {
        shape.trunk = parse_choice(trunk_words, "trunk", json.at("trunk").get<std::string>());
        shape.filters = whole_number(json, "filters");
        shape.layers = whole_number(json, "layers");
        shape.stem = whole_number(json, "stem");
        shape.head = whole_number(json, "head");
        shape.input = whole_number(json, "input");
        shape.output = whole_number(json, "output");
        shape.counts = whole_number(json, "counts");
        shape.groups.clear();
        for (const Json& group : json.at("groups")) {
            if (!is_whole_number<std::int64_t>(group)) throw ConfigError("'groups' must be whole numbers");
            shape.groups.push_back(group.get<std::int64_t>());
        }
        shape.count_offset = json.at("count_offset").get<double>();
        if (shape.pads()) {
            shape.residual_scale = json.at("residual_scale").get<double>();
            shape.expansion = whole_number(json, "expansion");
        }
        shape.validate();
    } catch (const Json::exception& error) {
        throw InputError("does not describe a profile network: " + std::string(error.what()), where);
    } catch (const ConfigError& error) {
        throw InputError("does not describe a profile network: " + std::string(error.what()), where);
    }
    return shape;
}

}  // namespace bigbird::networks
