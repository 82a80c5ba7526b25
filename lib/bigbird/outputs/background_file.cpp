// SPDX-License-Identifier: Apache-2.0
#include "bigbird/core/error.hpp"
#include "bigbird/core/formats/json_file.hpp"
#include "bigbird/core/system/child_process.hpp"
#include "bigbird/core/version.hpp"
#include "bigbird/outputs/effect_background.hpp"
#include "bigbird/outputs/hdf5_writer.hpp"

#include <algorithm>
#include <cmath>

namespace bigbird::outputs {
namespace fs = std::filesystem;

namespace {

constexpr const char* format_name = "bigbird-dna background";
constexpr hsize_t most_labels = 1'000'000, most_levels = 100'000;

/// Everything but the numbers, for the attribute `bigbird`.
Json description_of(const EffectBackground& background) {
    Json run = Json::array();
    for (const auto& [key, value] : background.run)
        run.push_back({key, value});
    return {{"format", format_name},
            {"format_version", 1},
            {"version", version()},
            {"run", run},
            {"labels", background.labels},
            {"variants", background.variants},
            {"shuffled", background.shuffled},
            {"seed", background.seed}};
}

InputError no_background(const fs::path& path) {
    return {"is no background of effects, or damaged; build-background makes one", path};
}

std::string attribute_of(hid_t file, const fs::path& path) {
    if (H5Aexists(file, "bigbird") <= 0) throw no_background(path);
    const Hdf5Handle attribute(H5Aopen(file, "bigbird", H5P_DEFAULT), H5Aclose);
    const Hdf5Types types(Precision::float32);
    char* text = nullptr;
    if (H5Aread(attribute, types.text(), &text) < 0 || text == nullptr) throw no_background(path);
    std::string value = text;
    H5free_memory(text);
    return value;
}

template <typename Number>
std::vector<Number> read_dataset(hid_t file, const char* name, hid_t type, const fs::path& path) {
    const Hdf5Handle dataset(H5Dopen2(file, name, H5P_DEFAULT), H5Dclose);
    const Hdf5Handle space(dataset < 0 ? -1 : H5Dget_space(dataset), H5Sclose);
    hsize_t shape[2] = {0, 1};
    const int rank = space < 0 ? 0 : H5Sget_simple_extent_ndims(space);
    if (rank < 1 || rank > 2 || H5Sget_simple_extent_dims(space, shape, nullptr) < 0 ||
        shape[0] > most_labels || shape[1] > most_levels)
        throw no_background(path);
    std::vector<Number> numbers(shape[0] * shape[1]);
    if (H5Dread(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, numbers.data()) < 0) throw no_background(path);
    return numbers;
}

/// Runs in the child process.
void send_background(const fs::path& path, const ChildReader::Send& send) {
    start_hdf5();
    const Hdf5Handle file(open_unlocked_hdf5(path.c_str()), H5Fclose);
    if (file < 0) throw no_background(path);
    send(attribute_of(file, path));
    send(ChildReader::bytes_of(read_dataset<double>(file, "levels", H5T_NATIVE_DOUBLE, path)));
    for (const char* name : {"variants", "shuffled"})
        send(ChildReader::bytes_of(read_dataset<float>(file, name, H5T_NATIVE_FLOAT, path)));
}

/// Whether each label's quantiles are ascending, or all NaN.
bool are_quantiles(std::span<const float> quantiles, std::size_t levels) {
    for (std::size_t i = 0; i < quantiles.size(); i += levels) {
        const auto some = quantiles.subspan(i, levels);
        if (!std::ranges::all_of(some, [](float value) { return std::isnan(value); }) &&
            (std::ranges::any_of(some, [](float value) { return !std::isfinite(value); }) ||
             !std::ranges::is_sorted(some)))
            return false;
    }
    return true;
}

}  // namespace

void write_background(const fs::path& path, Overwrite overwrite, const EffectBackground& background) {
    PendingOutput pending(path, overwrite);
    start_hdf5();
    const Hdf5Types types(Precision::float32);
    Hdf5Handle file = create_unlocked_hdf5(pending.path().c_str());
    Hdf5Writer writer{file};
    writer.attribute("bigbird", description_of(background).dump(), types.text());
    const std::vector<hsize_t> levels{background.levels.size()},
        all{background.labels.size(), background.levels.size()};
    writer.dataset(file, "levels", H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, levels, background.levels.data());
    writer.dataset(file, "variants", H5T_IEEE_F32LE, H5T_NATIVE_FLOAT, all, background.of_variants.data());
    writer.dataset(file, "shuffled", H5T_IEEE_F32LE, H5T_NATIVE_FLOAT, all, background.of_shuffled.data());
    if (!writer.fine || !file.close())
        throw WriteError(path.string() + ": writing HDF5 failed: is the disk full?");
    pending.commit();
}

EffectBackground read_background(const fs::path& path) {
    require_readable(path);
    ChildReader reader(path, [&](const ChildReader::Send& send) { send_background(path, send); });
    EffectBackground background;
    try {
        const Json json = Json::parse(reader.next());
        if (json.at("format") != format_name || json.at("format_version") != 1) throw no_background(path);
        for (const Json& entry : json.at("run"))
            background.run.emplace_back(entry.at(0), entry.at(1));
        background.labels = json.at("labels").get<std::vector<std::string>>();
        background.variants = json.at("variants");
        background.shuffled = json.at("shuffled");
        background.seed = json.at("seed");
    } catch (const nlohmann::json::exception&) {
        throw no_background(path);
    }
    background.levels = reader.next_numbers<double>();
    background.of_variants = reader.next_numbers<float>();
    background.of_shuffled = reader.next_numbers<float>();
    const std::size_t levels = background.levels.size(), all = background.labels.size() * levels;
    if (levels < 2 || background.levels.front() != 0 || background.levels.back() != 1 ||
        !std::ranges::is_sorted(background.levels) || background.of_variants.size() != all ||
        background.of_shuffled.size() != all || !are_quantiles(background.of_variants, levels) ||
        !are_quantiles(background.of_shuffled, levels))
        throw no_background(path);
    return background;
}

}  // namespace bigbird::outputs
