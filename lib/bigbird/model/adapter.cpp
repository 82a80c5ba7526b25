// SPDX-License-Identifier: Apache-2.0
#include "bigbird/model/adapter.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/formats/is_there.hpp"
#include "bigbird/core/formats/json_file.hpp"
#include "bigbird/core/rng.hpp"
#include "bigbird/model/files/config_keys.hpp"
#include "bigbird/model/weights.hpp"

#include <ATen/ATen.h>
#include <spdlog/fmt/ranges.h>

#include <cmath>
#include <map>
#include <set>

namespace bigbird::model {
namespace fs = std::filesystem;

namespace {

constexpr const char *adapter_config = "adapter_config.json", *adapter_weights = "adapter_model.safetensors";
constexpr std::string_view encoder_layers = "bert.encoder.layer.", peft_prefix = "base_model.model.";
constexpr std::string_view of_a = ".lora_A", of_b = ".lora_B", of_weight = ".weight";

/// Calls visit(name, layer) for each linear layer.
template <typename Visit>
void for_linear_layers(const torch::nn::Module& network, const Visit& visit) {
    for (const auto& item : network.named_modules("", false))
        if (auto* const layer = dynamic_cast<LinearImpl*>(item.value().get())) visit(item.key(), *layer);
}

at::Tensor uniform_matrix(std::int64_t rows, std::int64_t columns, Rng stream) {
    at::Tensor values = at::empty({rows, columns}, at::kFloat);
    auto* const numbers = values.mutable_data_ptr<float>();
    const double bound = 1 / std::sqrt(static_cast<double>(columns));
    for (std::int64_t i = 0; i < values.numel(); ++i)
        numbers[i] = static_cast<float>(bound * (2 * stream.uniform() - 1));
    return values;
}

/// The name that transformers gives to a parameter.
std::string their_name(const BigBirdConfig& config, const std::string& own) {
    if (config.is_published()) return published_name(config.form.published.family, own);
    return config.longformer ? longformer_name(own) : own;
}

/// Whether a parameter of a network with adapters is not trained.
bool is_frozen(std::string_view name) {
    return name.starts_with("bert.") && !name.starts_with("bert.pooler") && !name.ends_with(of_a) &&
           !name.ends_with(of_b);
}

std::string_view without_ending(std::string_view name, std::string_view ending) {
    return name.substr(0, name.size() - ending.size());
}

}  // namespace

void add_adapters(SequenceClassifierImpl& network, const LoraForm& form, std::uint64_t seed) {
    const Rng stream = Rng(seed).split("adapters");
    for (auto& item : network.named_parameters())
        if (is_frozen(item.key())) item.value().set_requires_grad(false);
    std::int64_t site = 0;
    for_linear_layers(network, [&](const std::string& name, LinearImpl& layer) {
        if (!name.starts_with(encoder_layers)) return;
        const std::int64_t out = layer.weight.size(0), in = layer.weight.size(1);
        if (form.rank > std::min(in, out))
            throw ConfigError("--lora " + std::to_string(form.rank) + " is above the " +
                              std::to_string(std::min(in, out)) + " features of the model's layers");
        layer.adapt(form, uniform_matrix(form.rank, in, stream.split(name)).to(layer.weight.device()),
                    site++);
    });
}

bool has_adapters(const torch::nn::Module& network) {
    bool found = false;
    for_linear_layers(network,
                      [&](const std::string&, const LinearImpl& layer) { found |= layer.is_adapted(); });
    return found;
}

TensorMap parameters_without_adapters(const torch::nn::Module& network) {
    TensorMap tensors = parameters_of(network);
    std::erase_if(tensors,
                  [](const auto& item) { return item.first.ends_with(of_a) || item.first.ends_with(of_b); });
    return tensors;
}

Finish merging(const torch::nn::Module& network) {
    std::map<const void*, const LinearImpl*> adapted;
    for_linear_layers(network, [&](const std::string&, const LinearImpl& layer) {
        if (layer.is_adapted()) adapted.emplace(layer.weight.const_data_ptr(), &layer);
    });
    return [adapted](const at::Tensor& weight) {
        const at::NoGradGuard no_gradient;
        const auto found = adapted.find(weight.const_data_ptr());
        return found == adapted.end() ? weight : found->second->merged_weight();
    };
}

TensorMap adapted_parameters(const torch::nn::Module& network) {
    TensorMap tensors = parameters_of(network);
    std::erase_if(tensors, [](const auto& item) { return is_frozen(item.first); });
    return tensors;
}

SequenceClassifier copy_of(const SequenceClassifierImpl& network) {
    const at::NoGradGuard no_gradient;
    SequenceClassifier copy(network.config());
    std::map<std::string, const LinearImpl*> layers;
    for_linear_layers(
        network, [&](const std::string& name, const LinearImpl& layer) { layers.emplace(name, &layer); });
    for_linear_layers(
        *copy, [&](const std::string& name, LinearImpl& layer) { layer.adapt_like(*layers.at(name)); });
    copy->to(network.parameters().front().device());
    const bool shares = has_adapters(network);
    const auto from = network.named_parameters();
    for (auto& item : copy->named_parameters()) {
        const at::Tensor& source = from[item.key()];
        if (shares && is_frozen(item.key()))
            item.value().set_data(source);
        else
            item.value().copy_(source);
    }
    return copy;
}

void write_adapters(const SequenceClassifierImpl& network, const LoraForm& form, const std::string& base,
                    const fs::path& directory) {
    const BigBirdConfig& config = network.config();
    TensorMap tensors;
    std::set<std::string> targets, saved;
    for (const auto& item : network.named_parameters()) {
        const std::string& own = item.key();
        if (is_frozen(own)) continue;
        const bool is_a = own.ends_with(of_a), is_b = own.ends_with(of_b);
        if (is_a || is_b) {
            const std::string theirs =
                their_name(config, std::string(without_ending(own, of_a)) + std::string(of_weight));
            const std::string layer(without_ending(theirs, of_weight));
            tensors.emplace(std::string(peft_prefix) + layer + (is_a ? ".lora_A.weight" : ".lora_B.weight"),
                            item.value().detach());
            targets.insert(layer.substr(layer.rfind('.') + 1));
        } else {
            const std::string theirs = their_name(config, own);
            if (own.starts_with("bert.pooler") && !network.reads_pooler()) continue;
            tensors.emplace(std::string(peft_prefix) + theirs, item.value().detach());
            saved.insert(own.starts_with("bert.pooler") ? "pooler" : theirs.substr(0, theirs.find('.')));
        }
    }
    fs::create_directories(directory);
    write_safetensors(tensors, directory / adapter_weights);
    const bool of_windows = config.classifier_head != "bins" && config.classifier_head != "tokens";
    write_json(directory / adapter_config,
               {{"peft_type", "LORA"},
                {"task_type", of_windows ? "SEQ_CLS" : "TOKEN_CLS"},
                {"base_model_name_or_path", base},
                {"r", form.rank},
                {"lora_alpha", form.alpha},
                {"lora_dropout", form.dropout},
                {"target_modules", fmt::format(R"(.*\.layers?\.[0-9]+\..*\.({}))", fmt::join(targets, "|"))},
                {"modules_to_save", saved},
                {"bias", "none"},
                {"fan_in_fan_out", false},
                {"use_rslora", false},
                {"use_dora", false},
                {"inference_mode", true}},
               Overwrite::allow);
}

fs::path base_of_adapter(const fs::path& directory) {
    const fs::path where = directory / adapter_config;
    if (!is_there(where) || is_there(directory / "config.json")) return directory;
    const Json json = read_json(where);
    const Keys keys(json, where);
    std::string base;
    keys("base_model_name_or_path", base);
    std::error_code ignored;
    for (const fs::path& folder : {directory / base, fs::path(base)})
        if (!base.empty() && is_there(folder / "config.json")) return folder;
    throw InputError("is an adapter of the model '" + base +
                         "', which is no folder here: give the folder's path as base_model_name_or_path",
                     where);
}

namespace {

/// What a merged adapter multiplies B A by: alpha / r, or alpha / sqrt(r). Patterns of layers are refused.
double scale_of_adapter(const Keys& keys, std::int64_t rank) {
    double alpha = 8;
    bool root = false;
    keys("lora_alpha", alpha);
    keys("use_rslora", root);
    const auto r = static_cast<double>(rank);
    return alpha / (root ? std::sqrt(r) : r);
}

void refuse_other_adapters(const Json& json, const fs::path& where) {
    for (const char* key : {"use_dora", "rank_pattern", "alpha_pattern", "trainable_token_indices",
                            "target_parameters", "fan_in_fan_out", "layer_replication", "lora_bias"}) {
        const Json given = json.value(key, Json());
        const bool empty = given.is_null() || given == false || (given.is_structured() && given.empty());
        if (!empty)
            throw InputError(std::string("key '") + key + "' is set: such adapters cannot be merged here",
                             where);
    }
    if (json.value("peft_type", Json()) != "LORA")
        throw InputError("is no LoRA adapter: peft_type must be LORA", where);
    if (const Json bias = json.value("bias", Json("none")); bias != "none")
        throw InputError("key 'bias' must be none, not " + bias.dump(), where);
}

}  // namespace

TensorMap with_adapter(TensorMap base, const fs::path& directory) {
    const at::NoGradGuard no_gradient;
    const fs::path where = directory / adapter_config, file = directory / adapter_weights;
    const Json json = read_json(where);
    const Keys keys(json, where);
    refuse_other_adapters(json, where);
    if (!is_there(file))
        throw InputError("lacks adapter_model.safetensors; .bin files of adapters are not read", directory);
    const BigBirdConfig config = config_of_folder(base_of_adapter(directory));
    const std::string& family = config.form.published.family;
    const TensorMap tensors = read_safetensors(file);
    for (const auto& [name, tensor] : tensors) {
        std::string theirs = name.substr(name.starts_with(peft_prefix) ? peft_prefix.size() : 0);
        constexpr std::string_view a_ending = ".lora_A.weight", b_ending = ".lora_B.weight";
        if (theirs.ends_with(a_ending)) continue;
        const bool is_b = theirs.ends_with(b_ending);
        if (is_b) theirs = std::string(without_ending(theirs, b_ending)) + std::string(of_weight);
        const std::string own = !family.empty()     ? own_name(family, theirs, true)
                                : config.longformer ? name_of_longformer(theirs)
                                                    : theirs;
        if (!is_b) {
            base.insert_or_assign(own, tensor);
            continue;
        }
        const auto a = tensors.find(std::string(without_ending(name, b_ending)) + std::string(a_ending));
        const auto found = base.find(own);
        if (a == tensors.end() || found == base.end() || found->second.dim() != 2 || tensor.dim() != 2 ||
            a->second.dim() != 2 || tensor.size(0) != found->second.size(0) ||
            a->second.size(1) != found->second.size(1) || a->second.size(0) != tensor.size(1))
            throw InputError("tensor '" + name + "' fits no weight of the adapter's base model", file);
        const at::Tensor change = at::mm(tensor.to(at::kFloat), a->second.to(at::kFloat));
        found->second = found->second.to(at::kFloat) + change * scale_of_adapter(keys, tensor.size(1));
    }
    return base;
}

}  // namespace bigbird::model
