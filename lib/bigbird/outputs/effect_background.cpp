// SPDX-License-Identifier: Apache-2.0
#include "bigbird/outputs/effect_background.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/formats/json_file.hpp"
#include "bigbird/core/system/child_process.hpp"
#include "bigbird/core/version.hpp"
#include "bigbird/outputs/hdf5_handle.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace bigbird::outputs {

namespace {

constexpr int hundredths = 100, per_decade = 10, decades = 3;

std::span<const float> of_label(const std::vector<float>& quantiles, std::size_t label, std::size_t levels) {
    return std::span(quantiles).subspan(label * levels, levels);
}

/// The p-value of an effect that a share of `count` shuffled variants reaches.
double p_of_share(double share, std::int64_t count) {
    const auto n = static_cast<double>(count);
    return (1 + n * std::min(share, 1.0)) / (1 + n);
}

}  // namespace

std::vector<double> background_levels() {
    std::vector<double> levels{0, 1};
    for (int i = 1; i < hundredths; ++i)
        levels.push_back(i / static_cast<double>(hundredths));
    for (int i = 1; i <= per_decade * decades; ++i) {
        const double tail = std::pow(10, -2 - i / static_cast<double>(per_decade));
        levels.insert(levels.end(), {tail, 1 - tail});
    }
    std::ranges::sort(levels);
    return levels;
}

std::vector<float> quantiles_of(std::vector<float> effects, std::span<const double> levels) {
    std::erase_if(effects, [](float effect) { return std::isnan(effect); });
    std::vector<float> quantiles(levels.size(), std::numeric_limits<float>::quiet_NaN());
    if (effects.empty()) return quantiles;
    std::ranges::sort(effects);
    const auto last = static_cast<double>(effects.size() - 1);
    for (std::size_t i = 0; i < levels.size(); ++i) {
        const double at = levels[i] * last, below = std::floor(at);
        const auto index = static_cast<std::size_t>(below);
        const double low = effects[index], high = effects[std::min(index + 1, effects.size() - 1)];
        quantiles[i] = static_cast<float>(low == high ? low : low + (at - below) * (high - low));
    }
    return quantiles;
}

double share_below(std::span<const float> quantiles, std::span<const double> levels, double value,
                   bool at_most) {
    const auto compared = static_cast<float>(value);
    const auto found = at_most ? std::ranges::upper_bound(quantiles, compared)
                               : std::ranges::lower_bound(quantiles, compared);
    const auto i = static_cast<std::size_t>(found - quantiles.begin());
    if (i == 0) return 0;
    if (i == quantiles.size()) return 1;
    const double low = quantiles[i - 1], high = quantiles[i];
    return levels[i - 1] + (compared - low) / (high - low) * (levels[i] - levels[i - 1]);
}

std::optional<std::size_t> EffectBackground::find(std::string_view label) const {
    const auto found = std::ranges::find(labels, label);
    if (found == labels.end()) return std::nullopt;
    return static_cast<std::size_t>(found - labels.begin());
}

std::int64_t EffectBackground::models() const {
    return std::ranges::count_if(
        run, [](const auto& entry) { return entry.first == "model_sha256"; });
}

std::span<const float> EffectBackground::peaks_of(std::int64_t model, std::size_t label) const {
    const auto each = static_cast<std::size_t>(peaks);
    return std::span(of_peaks).subspan((static_cast<std::size_t>(model) * labels.size() + label) * each,
                                       each);
}

double EffectBackground::quantile(std::size_t label, double effect) const {
    const auto quantiles = of_label(of_variants, label, levels.size());
    if (std::isnan(effect) || std::isnan(quantiles.front())) return std::nan("");
    return (share_below(quantiles, levels, effect, false) + share_below(quantiles, levels, effect, true)) / 2;
}

double EffectBackground::p(std::size_t label, double effect) const {
    const auto quantiles = of_label(of_shuffled, label, levels.size());
    if (std::isnan(effect) || std::isnan(quantiles.front())) return std::nan("");
    const double size = std::abs(effect);
    return p_of_share(
        1 - share_below(quantiles, levels, size, false) + share_below(quantiles, levels, -size, true),
        shuffled);
}

double EffectBackground::p_of_model(Figure figure, std::size_t model, std::size_t label,
                                    double effect) const {
    const std::size_t row =
        (static_cast<std::size_t>(figure) * static_cast<std::size_t>(models()) + model) * labels.size() +
        label;
    const auto quantiles = of_label(of_models, row, levels.size());
    if (std::isnan(effect) || std::isnan(quantiles.front())) return std::nan("");
    return p_of_share(1 - share_below(quantiles, levels, std::abs(effect), false), shuffled);
}

double EffectBackground::p_of_largest(double effect) const {
    if (of_largest.empty() || std::isnan(effect) || std::isnan(of_largest.front())) return std::nan("");
    return p_of_share(1 - share_below(of_largest, levels, std::abs(effect), false), shuffled);
}

namespace fs = std::filesystem;

namespace {

constexpr const char* format_name = "bigbird-dna background";
constexpr hsize_t most_rows = 1'000'000, most_columns = 1'000'000, most_numbers = 1'000'000'000;

/// Everything but the numbers, for the attribute `bigbird`.
Json description_of(const EffectBackground& background) {
    Json json = {
        {"format", format_name},           {"format_version", 1},         {"version", version()},
        {"run", background.run},           {"labels", background.labels}, {"variants", background.variants},
        {"shuffled", background.shuffled}, {"seed", background.seed}};
    if (background.peaks > 0) json["peaks"] = background.peaks;
    return json;
}

InputError no_background(const fs::path& path) {
    return {"is no background of effects, or damaged; build-background makes one", path};
}

template <typename Number>
std::vector<Number> read_dataset(hid_t file, const char* name, hid_t type, const fs::path& path) {
    const Hdf5Handle dataset(H5Dopen2(file, name, H5P_DEFAULT), H5Dclose);
    Hdf5Shape shape = shape_of(dataset);
    if (shape.size() == 1) shape.push_back(1);
    if (shape.size() != 2 || shape[0] > most_rows || shape[1] > most_columns ||
        shape[0] * shape[1] > most_numbers)
        throw no_background(path);
    std::vector<Number> numbers(shape[0] * shape[1]);
    if (H5Dread(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, numbers.data()) < 0) throw no_background(path);
    return numbers;
}

/// Runs in the child process.
void send_background(const fs::path& path, const ChildReader::Words&, const ChildReader::Send& send) {
    start_hdf5();
    const Hdf5Handle file = open_unlocked_hdf5(path.c_str());
    const auto description = file < 0 ? std::nullopt : text_attribute(file, "bigbird");
    if (!description) throw no_background(path);
    send(*description);
    send(ChildReader::bytes_of(read_dataset<double>(file, "levels", H5T_NATIVE_DOUBLE, path)));
    for (const char* name : {"variants", "shuffled"})
        send(ChildReader::bytes_of(read_dataset<float>(file, name, H5T_NATIVE_FLOAT, path)));
    for (const char* name : {"largest", "peaks", "models"}) {
        send(H5Lexists(file, name, H5P_DEFAULT) > 0
                 ? ChildReader::bytes_of(read_dataset<float>(file, name, H5T_NATIVE_FLOAT, path))
                 : std::string_view());
    }
}

/// Whether rows of this many numbers are ascending, or all NaN.
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

/// Whether each model and label has the reads of all peaks.
bool has_peaks_of_run(const EffectBackground& background) {
    const std::vector<float>& reads = background.of_peaks;
    if (background.peaks <= 0) return background.peaks == 0 && reads.empty();
    const auto rows = static_cast<std::size_t>(background.models()) * background.labels.size(),
               each = static_cast<std::size_t>(background.peaks);
    return rows > 0 && reads.size() % rows == 0 && reads.size() / rows == each && are_quantiles(reads, each);
}

}  // namespace

void write_background(const fs::path& path, Overwrite overwrite, const EffectBackground& background) {
    PendingOutput pending(path, overwrite);
    start_hdf5();
    const Hdf5Types types;
    Hdf5Handle file = create_unlocked_hdf5(pending.path().c_str());
    Hdf5Writer writer{file};
    writer.attribute("bigbird", description_of(background).dump(), types.text());
    const Hdf5Shape levels{background.levels.size()}, all{background.labels.size(), background.levels.size()};
    writer.dataset(file, "levels", H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, levels, background.levels.data());
    writer.dataset(file, "variants", H5T_IEEE_F32LE, H5T_NATIVE_FLOAT, all, background.of_variants.data(),
                   chunk_of(all));
    writer.dataset(file, "shuffled", H5T_IEEE_F32LE, H5T_NATIVE_FLOAT, all, background.of_shuffled.data(),
                   chunk_of(all));
    if (background.peaks > 0) {
        const Hdf5Shape reads{background.of_peaks.size() / static_cast<std::size_t>(background.peaks),
                              static_cast<std::size_t>(background.peaks)};
        writer.dataset(file, "peaks", H5T_IEEE_F32LE, H5T_NATIVE_FLOAT, reads, background.of_peaks.data(),
                       chunk_of(reads));
    }
    if (background.has_models()) {
        const Hdf5Shape figures{background.of_models.size() / background.levels.size(),
                                background.levels.size()};
        writer.dataset(file, "models", H5T_IEEE_F32LE, H5T_NATIVE_FLOAT, figures, background.of_models.data(),
                       chunk_of(figures));
    }
    if (!background.of_largest.empty())
        writer.dataset(file, "largest", H5T_IEEE_F32LE, H5T_NATIVE_FLOAT, levels,
                       background.of_largest.data());
    require_hdf5_written(writer.fine && file.close(), path);
    pending.commit();
}

EffectBackground read_background(const fs::path& path) {
    require_readable(path);
    ChildReader reader(path, send_background);
    EffectBackground background;
    try {
        const Json json = Json::parse(reader.next());
        if (json.at("format") != format_name || json.at("format_version") != 1) throw no_background(path);
        background.run = json.at("run").get<rows::Provenance>();
        background.labels = json.at("labels").get<std::vector<std::string>>();
        background.variants = json.at("variants");
        background.shuffled = json.at("shuffled");
        background.seed = json.at("seed");
        background.peaks = json.value("peaks", std::int64_t{0});
    } catch (const nlohmann::json::exception&) {
        throw no_background(path);
    }
    background.levels = reader.next_numbers<double>();
    background.of_variants = reader.next_numbers<float>();
    background.of_shuffled = reader.next_numbers<float>();
    background.of_largest = reader.next_numbers<float>();
    background.of_peaks = reader.next_numbers<float>();
    background.of_models = reader.next_numbers<float>();
    const std::size_t levels = background.levels.size(), all = background.labels.size() * levels;
    if (levels < 2 || background.levels.front() != 0 || background.levels.back() != 1 ||
        !std::ranges::is_sorted(background.levels) || background.of_variants.size() != all ||
        background.of_shuffled.size() != all || !are_quantiles(background.of_variants, levels) ||
        !are_quantiles(background.of_shuffled, levels) || background.of_largest.size() % levels != 0 ||
        background.of_largest.size() > levels || !are_quantiles(background.of_largest, levels) ||
        !has_peaks_of_run(background) ||
        (background.has_models() &&
         background.of_models.size() != 2 * static_cast<std::size_t>(background.models()) * all) ||
        !are_quantiles(background.of_models, levels))
        throw no_background(path);
    return background;
}

}  // namespace bigbird::outputs
