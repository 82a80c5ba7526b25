// SPDX-License-Identifier: Apache-2.0
#include "bigbird/model/weights.hpp"

#include "bigbird/core/check.hpp"
#include "bigbird/core/error.hpp"
#include "bigbird/core/formats/checksum.hpp"
#include "bigbird/core/formats/file_name.hpp"
#include "bigbird/core/formats/is_there.hpp"
#include "bigbird/core/formats/json_file.hpp"
#include "bigbird/core/log.hpp"
#include "bigbird/model/files/longformer.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

namespace bigbird::model {
namespace fs = std::filesystem;

namespace {

constexpr std::array<const char*, 2> buffers{"bert.embeddings.position_ids",
                                             "bert.embeddings.token_type_ids"};

/// The name without prefixes of wrappers (DataParallel's "module.", torch.compile's "_orig_mod."), and with
/// today's names for the two weights of a LayerNorm.
std::string present_name(std::string name) {
    constexpr std::string_view wrapper = "module.", compiled = "_orig_mod.";
    for (std::size_t at = name.find(compiled); at != std::string::npos; at = name.find(compiled))
        name.erase(at, compiled.size());
    while (name.starts_with(wrapper))
        name.erase(0, wrapper.size());
    constexpr std::string_view gamma = "LayerNorm.gamma", beta = "LayerNorm.beta";
    if (name.ends_with(gamma)) name.replace(name.size() - 5, 5, "weight");
    if (name.ends_with(beta)) name.replace(name.size() - 4, 4, "bias");
    return name;
}

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
void take_tied_decoder(TensorMap& tensors, const fs::path& where) {
    const std::pair<std::string, std::string> tied[] = {
        {"cls.predictions.decoder.weight", "bert.embeddings.word_embeddings.weight"},
        {"cls.predictions.decoder.bias", "cls.predictions.bias"}};
    for (const auto& [decoder, source] : tied) {
        const auto found = tensors.find(decoder), origin = tensors.find(source);
        if (found == tensors.end()) continue;
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

/// Names of the files in a model directory that hold its tensors.
std::set<std::string> weight_files(const fs::path& directory) {
    const fs::path whole = directory / "model.safetensors",
                   index = directory / "model.safetensors.index.json";
    if (is_there(whole) || !is_there(index)) {
        if (!is_there(whole) && is_there(directory / "pytorch_model.bin")) {
            throw InputError(
                "holds only pytorch_model.bin; scripts/convert-checkpoint makes model.safetensors of it",
                directory);
        }
        return {whole.filename().string()};
    }
    const Json json = read_json(index);
    if (!json.contains("weight_map") || !json.at("weight_map").is_object())
        throw InputError("has no weight_map", index);
    std::set<std::string> parts;
    for (const auto& [key, part] : json.at("weight_map").items()) {
        const std::string name = part.is_string() ? part.get<std::string>() : "";
        if (!is_file_name(name)) throw InputError("names no file beside it for '" + key + "'", index);
        parts.insert(name);
    }
    return parts;
}

}  // namespace

TensorMap read_weights(const fs::path& directory) {
    TensorMap tensors;
    for (const std::string& part : weight_files(directory))
        tensors.merge(read_safetensors(directory / part));
    const std::size_t count = tensors.size();
    tensors = renamed(std::move(tensors), present_name);
    if (tensors.size() < count) {
        throw InputError(
            "names a tensor twice, with and without 'module.' or '_orig_mod.', or by an old name", directory);
    }
    return is_longformer(tensors) ? renamed(std::move(tensors), name_of_longformer) : tensors;
}

std::string weights_checksum(const fs::path& directory) {
    const std::set<std::string> files = weight_files(directory);
    if (files.size() == 1) return sha256_of_file(directory / *files.begin());
    std::string list;
    for (const std::string& part : files)
        list += sha256_of_file(directory / part) + ' ' + part + '\n';
    return sha256_of_text(list);
}

bool fill_parameters(torch::nn::Module& module, TensorMap tensors, const LoadRules& rules,
                     const fs::path& where) {
    const at::NoGradGuard no_gradient;
    add_prefix_of_bare_model(tensors);
    take_tied_decoder(tensors, where);
    for (const char* buffer : buffers)
        tensors.erase(buffer);
    bool complete = true;
    std::vector<std::string> problems;
    auto parameters = module.named_parameters();
    const bool longformer = std::ranges::any_of(
        parameters.keys(), [](const auto& key) { return is_longformer_name(key); });
    const auto shown = [&](const std::string& key) { return longformer ? longformer_name(key) : key; };
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
