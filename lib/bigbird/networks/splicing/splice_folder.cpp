// SPDX-License-Identifier: Apache-2.0
#include "bigbird/networks/splicing/splice_folder.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/formats/checksum.hpp"
#include "bigbird/core/formats/mapped_file.hpp"
#include "bigbird/core/words.hpp"
#include "bigbird/model/files/safetensors_header.hpp"

#include <cstring>
#include <fstream>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace bigbird::networks {

namespace fs = std::filesystem;

namespace {

constexpr const char *folder_type = "bigbird_dna_splice", *config_key = "splice_model";
constexpr int splice_format = 1;
constexpr std::int64_t most_listed_members = 64, most_listed_units = 64;

/// Calls visit(name, values, shape) for each tensor of a member.
template <typename Member, typename Visit>
void visit_tensors(Member& member, const std::string& prefix, const Visit& visit) {
    using Shape = std::vector<std::int64_t>;
    constexpr std::int64_t c = 32;
    const auto convolution = [&](const std::string& name, auto& layer, std::int64_t taps, std::int64_t in,
                                 std::int64_t out) {
        visit(prefix + name + ".weight", layer.weights, Shape{taps, in, out});
        visit(prefix + name + ".bias", layer.bias, Shape{out});
    };
    convolution("input", member.input, 1, 4, c);
    for (std::size_t i = 0; i < member.units.size(); ++i) {
        auto& unit = member.units[i];
        const std::string name = "units." + std::to_string(i);
        visit(prefix + name + ".scale", unit.norm.scale, Shape{c});
        visit(prefix + name + ".shift", unit.norm.shift, Shape{c});
        convolution(name + ".first", unit.first, unit.taps, c, c);
        convolution(name + ".second", unit.second, unit.taps, c, c);
    }
    for (std::size_t i = 0; i < member.skips.size(); ++i)
        convolution("skips." + std::to_string(i), member.skips[i].convolution, 1, c, c);
    convolution("output", member.output, 1, c, member.outputs());
}

std::string prefix_of_member(std::size_t index) {
    return "members." + std::to_string(index) + ".";
}

Json shape_of_member(const SpliceMember& member) {
    Json units = Json::array(), skips = Json::array();
    for (const SpliceUnit& unit : member.units)
        units.push_back({{"taps", unit.taps}, {"dilation", unit.dilation}});
    for (const SpliceSkip& skip : member.skips)
        skips.push_back(skip.after);
    Json json{{"units", units}, {"skips_after", skips}, {"slope", member.slope}};
    if (member.tissue >= 0) json["tissue"] = member.tissue;
    return json;
}

SpliceMember member_of_shape(const Json& json) {
    SpliceMember member;
    member.slope = json.at("slope").get<float>();
    for (const Json& unit : json.at("units")) {
        member.units.emplace_back();
        member.units.back().taps = whole_number(unit, "taps");
        member.units.back().dilation = whole_number(unit, "dilation");
    }
    for (const Json& after : json.at("skips_after")) {
        if (!is_whole_number<std::int32_t>(after)) throw Json::type_error::create(302, "skips_after", &json);
        member.skips.push_back({after.get<std::int64_t>(), {}});
    }
    if (std::ssize(member.units) > most_listed_units || std::ssize(member.skips) > most_listed_units)
        throw Json::out_of_range::create(401, "too many units", &json);
    if (json.contains("tissue")) member.tissue = whole_number(json, "tissue");
    return member;
}

SpliceModel described_splice_model(const fs::path& directory) {
    const fs::path path = directory / "config.json";
    const Json config = read_json(path);
    SpliceModel model;
    try {
        const Json& described = config.at("bigbird_dna").at(config_key);
        if (whole_number(described, "format") != splice_format)
            throw InputError("describes a splicing network in a newer form than this program knows", path);
        model.family = described.at("family").get<std::string>();
        model.source = described.value("source", Json::object());
        for (const Json& member : described.at("members")) {
            model.members.push_back(member_of_shape(member));
            if (std::ssize(model.members) > most_listed_members)
                throw InputError("lists too many members", path);
        }
    } catch (const Json::exception& error) {
        throw InputError("does not describe a splicing network: " + std::string(error.what()), path);
    }
    return model;
}

void write_text(const fs::path& file, const std::function<void(std::ostream&)>& body) {
    std::ofstream out(file, std::ios::binary);
    body(out);
    if (!out.flush()) throw WriteError(file.string() + ": writing failed");
}

void write_tensors(const SpliceModel& model, std::ostream& out) {
    Json header{{"__metadata__", {{"format", "pt"}}}};
    std::string data;
    for (std::size_t i = 0; i < model.members.size(); ++i)
        visit_tensors(
            model.members[i], prefix_of_member(i),
            [&](const std::string& name, const std::vector<float>& values,
                const std::vector<std::int64_t>& shape) {
                const std::size_t begin = data.size();
                data.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float));
                header[name] = {{"dtype", "F32"}, {"shape", shape}, {"data_offsets", {begin, data.size()}}};
            });
    std::string text = header.dump();
    text.resize((text.size() + 7) / 8 * 8, ' ');
    const std::uint64_t size = text.size();
    out.write(reinterpret_cast<const char*>(&size), sizeof size);
    out << text << data;
}

}  // namespace

bool is_splice_folder(const fs::path& directory) {
    std::error_code ignored;
    if (!fs::is_regular_file(directory / "config.json", ignored)) return false;
    const Json config = read_json(directory / "config.json");
    return config.is_object() && config.value("model_type", Json()) == folder_type;
}

SpliceModel read_splice_folder(const fs::path& directory) {
    SpliceModel model = described_splice_model(directory);
    const fs::path path = directory / "model.safetensors";
    const model::SafetensorsHeader header = model::read_safetensors_header(path);
    const MappedFile file(path);
    std::size_t taken = 0;
    for (std::size_t i = 0; i < model.members.size(); ++i) {
        visit_tensors(
            model.members[i], prefix_of_member(i),
            [&](const std::string& name, std::vector<float>& values, const std::vector<std::int64_t>& shape) {
                const auto found = header.tensors.find(name);
                if (found == header.tensors.end() || found->second.type != "F32" ||
                    found->second.shape != shape)
                    throw InputError("lacks the weights '" + name + "' that config.json describes", path);
                values.resize(static_cast<std::size_t>(found->second.elements()));
                const auto bytes = file.bytes().subspan(found->second.begin, values.size() * sizeof(float));
                std::memcpy(values.data(), bytes.data(), bytes.size());
                ++taken;
            });
        validate(model.members[i], path);
    }
    if (taken != header.tensors.size())
        throw InputError("has weights that config.json does not describe", path);
    model.sha256 = sha256_of_file(path);
    return model;
}

void write_splice_folder(const SpliceModel& model, const fs::path& directory) {
    Json members = Json::array();
    for (const SpliceMember& member : model.members)
        members.push_back(shape_of_member(member));
    const Json config{{"architectures", {"SpliceNetwork"}},
                      {"model_type", folder_type},
                      {"bigbird_dna",
                       {{config_key,
                         {{"format", splice_format},
                          {"family", model.family},
                          {"members", members},
                          {"source", model.source}}}}}};
    write_text(
        directory / "config.json", [&](std::ostream& out) { out << config.dump(2) << '\n'; });
    write_text(directory / "model.safetensors", [&](std::ostream& out) { write_tensors(model, out); });
}

}  // namespace bigbird::networks
