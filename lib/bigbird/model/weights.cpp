// SPDX-License-Identifier: Apache-2.0
#include "bigbird/model/weights.hpp"

#include "bigbird/core/check.hpp"
#include "bigbird/core/error.hpp"
#include "bigbird/core/formats/is_there.hpp"
#include "bigbird/core/formats/json_file.hpp"
#include "bigbird/core/log.hpp"
#include "bigbird/model/adapter.hpp"
#include "bigbird/model/files/config.hpp"
#include "bigbird/networks/files/file_kind.hpp"
#include "bigbird/networks/files/torch_file.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

namespace bigbird::model {
namespace fs = std::filesystem;

namespace {

constexpr std::array<const char*, 2> buffers{"bert.embeddings.position_ids",
                                             "bert.embeddings.token_type_ids"};

constexpr const char* position_weights = "bert.embeddings.position_embeddings.weight";
constexpr const char* untied_decoder = "cls.predictions.decoder.weight";

bool is_longformer(const TensorMap& tensors) {
    return std::ranges::any_of(
        tensors, [](const auto& item) { return is_longformer_name(item.first); });
}

template <typename Rename>
TensorMap renamed(TensorMap tensors, const Rename& name) {
    TensorMap result;
    for (auto& [key, tensor] : tensors)
        result.emplace(name(key), std::move(tensor));
    return result;
}

void add_prefix_of_bare_model(TensorMap& tensors) {
    if (!tensors.contains("embeddings.word_embeddings.weight")) return;
    tensors = renamed(std::move(tensors), [](const std::string& key) { return "bert." + key; });
}

/// transformers ties the decoder to the word embeddings and writes it only in some versions.
void take_tied_decoder(TensorMap& tensors, bool has_own_decoder, const fs::path& where) {
    const std::pair<std::string, std::string> tied[] = {
        {untied_decoder, "bert.embeddings.word_embeddings.weight"},
        {"cls.predictions.decoder.bias", "cls.predictions.bias"}};
    for (const auto& [decoder, source] : tied) {
        const auto found = tensors.find(decoder), origin = tensors.find(source);
        if (found == tensors.end() || (has_own_decoder && decoder == untied_decoder)) continue;
        if (origin != tensors.end() && !at::equal(found->second, origin->second))
            throw InputError("tensor '" + decoder + "' differs from '" + source +
                                 "': models without tied weights cannot be used",
                             where);
        if (origin == tensors.end()) tensors.emplace(source, found->second);
        tensors.erase(decoder);
    }
}

/// Whether a tensor contains a model's positions, but fewer than config.json requires.
bool is_shorter_positions(const std::string& key, const at::Tensor& parameter, const at::Tensor& tensor) {
    return key.ends_with("position_embeddings.weight") && tensor.dim() == 2 && tensor.size(0) > 0 &&
           tensor.size(0) < parameter.size(0) && tensor.size(1) == parameter.size(1);
}

/// Fills the parameter and returns "", or returns what is wrong.
std::string fill_one(const std::string& key, at::Tensor& parameter, const at::Tensor& tensor,
                     const fs::path& where) {
    if (!tensor.is_floating_point()) {
        return "tensor '" + key + "' holds " + at::toString(tensor.scalar_type()) +
               " numbers, weights are expected";
    }
    if (!std::isfinite(tensor.sum(at::kDouble).item<double>()))
        return "tensor '" + key + "' holds numbers that are not finite (NaN or infinite)";
    if (is_shorter_positions(key, parameter, tensor)) {
        log_warning("{}: has {} positions, config.json asks for {}: they are repeated for the others",
                    where.string(), tensor.size(0), parameter.size(0));
        for (std::int64_t begin = 0; begin < parameter.size(0); begin += tensor.size(0)) {
            const std::int64_t count = std::min(tensor.size(0), parameter.size(0) - begin);
            parameter.narrow(0, begin, count).copy_(tensor.narrow(0, 0, count));
        }
        return {};
    }
    if (tensor.sizes() != parameter.sizes()) {
        return "tensor '" + key + "' has the shape " + c10::str(tensor.sizes()) + ", config.json asks for " +
               c10::str(parameter.sizes());
    }
    parameter.copy_(tensor);
    return {};
}

/// A head of another task: tensors beside the network's own parts ("bert", "cls").
bool is_of_another_head(const std::string& key, const std::vector<std::string>& parameters) {
    const std::string part = key.substr(0, key.find('.') + 1);
    return std::ranges::none_of(parameters, [&](const std::string& name) { return name.starts_with(part); });
}

bool begins_with(const std::string& key, const std::string& prefix) {
    return !prefix.empty() && key.starts_with(prefix);
}

/// Everything that is wrong in one sentence.
void refuse(const std::vector<std::string>& problems, const fs::path& where) {
    constexpr std::size_t named = 64;
    std::string text;
    for (std::size_t i = 0; i < std::min(problems.size(), named); ++i)
        text += (text.empty() ? "" : "; ") + problems[i];
    if (problems.size() > named) text += "; and " + std::to_string(problems.size() - named) + " more";
    if (!text.empty()) throw InputError(text, where);
}

TensorMap read_torch_file(const fs::path& file) {
    networks::kind_of_file(file);  // says what else it may be
    const networks::TorchFile torch(file);
    TensorMap tensors;
    for (const auto& [name, stored] : torch.tensors()) {
        const at::ScalarType type = tensor_type(stored.type);
        const auto* const first =
            stored.storage.data() + stored.offset * static_cast<std::int64_t>(at::elementSize(type));
        tensors.emplace(
            name, at::from_blob(const_cast<std::byte*>(first), stored.shape, stored.strides, type).clone());
    }
    return tensors;
}

/// Of ESM, whose rotary embeddings are in the file: throws InputError unless they have the base 10,000.
void require_usual_angles(const TensorMap& tensors, const fs::path& directory) {
    for (const auto& [name, found] : tensors) {
        if (!name.ends_with("rotary_embeddings.inv_freq")) continue;
        const at::Tensor pairs = at::arange(found.numel(), at::kDouble) / static_cast<double>(found.numel());
        const at::Tensor usual = at::pow(RotaryForm{}.theta, -pairs);
        constexpr double rounding = 1e-2;  // of float16
        if (!at::allclose(found.to(at::kDouble).flatten(), usual, rounding, 0))
            throw InputError("tensor '" + name + "' has other angles than those of the base 10,000",
                             directory);
    }
}

/// With the names of this program, and without the tensors that it does not use.
TensorMap renamed_from_family(TensorMap tensors, const fs::path& directory) {
    std::vector<std::string> names;
    for (const auto& item : tensors)
        names.push_back(item.first);
    const std::string_view family = family_of(names);
    if (family.empty()) return tensors;
    require_usual_angles(tensors, directory);
    const bool classifier = tensors.contains("classifier.weight");
    TensorMap result;
    for (auto& [name, tensor] : tensors)
        if (std::string own = own_name(family, name, classifier); !own.empty())
            result.emplace(std::move(own), std::move(tensor));
    return result;
}

/// Whether transformers or this program wrote a folder of BigBird's names.
bool has_own_names(const fs::path& directory) {
    return !is_there(directory / "config.json") || is_own_config(read_json(directory / "config.json"));
}

}  // namespace

TensorMap read_weights(const fs::path& directory) {
    if (const fs::path base = base_of_adapter(directory); base != directory)
        return with_adapter(read_weights(base), directory);
    TensorMap tensors;
    for (const std::string& part : weight_files(directory))
        tensors.merge(is_torch_file(part) ? read_torch_file(directory / part)
                                          : read_safetensors(directory / part));
    const std::size_t count = tensors.size();
    tensors = renamed(std::move(tensors), present_name);
    if (tensors.size() < count) {
        throw InputError(
            "names a tensor twice, with and without 'module.' or '_orig_mod.', or by an old name", directory);
    }
    if (!has_own_names(directory)) return renamed_from_family(std::move(tensors), directory);
    return is_longformer(tensors) ? renamed(std::move(tensors), name_of_longformer) : tensors;
}

bool fill_parameters(torch::nn::Module& module, TensorMap tensors, const LoadRules& rules,
                     const fs::path& where) {
    const at::NoGradGuard no_gradient;
    add_prefix_of_bare_model(tensors);
    for (const char* buffer : buffers)
        tensors.erase(buffer);
    bool complete = true;
    std::vector<std::string> problems;
    auto parameters = module.named_parameters();
    // A classifier has no use for the decoder of a published encoder, which may not be tied.
    if (!rules.family.empty() && !parameters.contains("cls.predictions.bias")) tensors.erase(untied_decoder);
    take_tied_decoder(tensors, parameters.contains(untied_decoder), where);
    if (!rules.family.empty() && !parameters.contains(position_weights))
        tensors.erase(position_weights);  // Nucleotide Transformer v2 has some beside its rotary ones
    const bool longformer =
        std::ranges::any_of(parameters.keys(), [](const auto& key) { return is_longformer_name(key); });
    const auto shown = [&](const std::string& key) {
        if (!rules.family.empty()) return published_name(rules.family, key);
        return longformer ? longformer_name(key) : key;
    };
    for (auto& item : parameters) {
        const std::string& key = item.key();
        if (!key.starts_with(rules.only_prefix)) continue;
        const auto found = tensors.find(key);
        if (found != tensors.end()) {
            std::string problem = fill_one(shown(key), item.value(), found->second, where);
            if (!problem.empty()) problems.push_back(std::move(problem));
            tensors.erase(found);
        } else if (begins_with(key, rules.optional_prefix)) {
            complete = false;
        } else if (!begins_with(key, rules.also_optional)) {
            problems.push_back("tensor '" + shown(key) + "' is missing");
        }
    }
    if (rules.only_prefix.empty()) {
        std::set<std::string> heads;
        for (const auto& item : tensors)
            if (is_of_another_head(item.first, parameters.keys()))
                heads.insert(item.first.substr(0, item.first.find('.')));
            else
                problems.push_back("tensor '" + shown(item.first) + "' has no place in this model");
        for (const std::string& head : heads)
            log_warning("{}: its head '{}' is of another task and is ignored", where.string(), head);
    }
    refuse(problems, where);
    return complete;
}

void copy_parameters(torch::nn::Module& to, const torch::nn::Module& from) {
    const at::NoGradGuard no_gradients;
    const auto source = from.parameters();
    auto target = to.parameters();
    BIGBIRD_EXPECTS(source.size() == target.size(), "modules of the same parameters");
    for (std::size_t i = 0; i < target.size(); ++i)
        target[i].copy_(source[i]);
}

TensorMap parameters_of(const torch::nn::Module& module) {
    TensorMap tensors;
    for (const auto& item : module.named_parameters())
        tensors.emplace(item.key(), item.value().detach());
    return tensors;
}

TensorMap named_for_file(TensorMap parameters) {
    return is_longformer(parameters) ? renamed(std::move(parameters), longformer_name) : parameters;
}

}  // namespace bigbird::model
