// SPDX-License-Identifier: Apache-2.0
#include "bigbird/networks/files/profile_model.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/networks/files/file_kind.hpp"
#include "bigbird/networks/files/keras_models.hpp"
#include "bigbird/networks/files/torch_models.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace bigbird::networks {

std::string ProfileModel::bias() const {
    if (parts.size() > 1) return "yes";
    if (parts.front().name == word_of(component_words, Component::bias)) return "only";
    if (parts.front().name == word_of(component_words, Component::nobias)) return "no";
    // Cherimoya knows no model of an enzyme's bias; ours has a named part where it was trained with one.
    return family == "Cherimoya" || family == trained_family ? "yes" : "unknown";
}

ProfileModel chosen(ProfileModel model, std::optional<Component> component,
                    const std::filesystem::path& path) {
    const auto has = [&](Component one) {
        return std::ranges::find(model.parts, word_of(component_words, one), &ProfilePart::name) !=
               model.parts.end();
    };
    if (!component && (model.parts.size() == 1 || !has(Component::nobias))) return model;
    const Component wanted = component.value_or(Component::nobias);
    if (wanted == Component::joined ? model.parts.size() < 2 : !has(wanted)) {
        const std::string held = model.component();
        throw ConfigError("--component " + std::string(word_of(component_words, wanted)) + ": " +
                          path.string() +
                          (held.empty() ? " has no components: leave the option out"
                                        : " has " + (model.parts.size() > 1 ? "others" : held) + " only"));
    }
    if (wanted != Component::joined)
        std::erase_if(model.parts,
                      [&](const ProfilePart& part) { return part.name != word_of(component_words, wanted); });
    return model;
}

bool is_model_file(const std::filesystem::path& path) {
    std::error_code ignored;
    return std::filesystem::is_regular_file(path, ignored);
}

namespace {

void require_finite(const ProfileModel& model, const std::filesystem::path& path) {
    for (const ProfilePart& part : model.parts)
        for (const auto& [name, tensor] : part.weights)
            if (!std::ranges::all_of(tensor.values, [](float value) { return std::isfinite(value); }))
                throw InputError("holds weights that are NaN or infinite (" + name +
                                     "): the training that made it went wrong, or the file is damaged",
                                 path);
}

}  // namespace

ProfileModel read_profile_model(const std::filesystem::path& path) {
    ProfileModel model =
        kind_of_file(path) == FileKind::hdf5 ? read_keras_model(path) : read_torch_model(path);
    require_finite(model, path);
    return model;
}

}  // namespace bigbird::networks
