// SPDX-License-Identifier: Apache-2.0
#include "bigbird/model/forward_tensors.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/log.hpp"
#include "bigbird/model/device/arithmetic.hpp"
#include "bigbird/model/model_directory.hpp"

#include <algorithm>

namespace bigbird::model {

namespace {

at::ScalarType scalar_type(const std::string& name) {
    if (name == "fp64") return at::kDouble;
    if (name == "fp32") return at::kFloat;
    if (name == "bf16") return at::kBFloat16;
    throw ConfigError("no number type is named '" + name + "': choose fp64, fp32 or bf16");
}

void require(bool condition, const std::string& message) {
    if (!condition) {
        throw InputError(message);
    }
}

/// One input as int64, checked against `like` where that is defined.
at::Tensor whole_numbers(const TensorMap& inputs, const std::string& key, const at::Tensor& like,
                         std::int64_t filler) {
    const auto found = inputs.find(key);
    if (found == inputs.end()) {
        require(like.defined(), "tensor '" + key + "' is missing from the input");
        return at::full_like(like, filler);
    }
    const at::Tensor& tensor = found->second;
    require(!tensor.is_floating_point(), "tensor '" + key + "' must hold whole numbers (I64, I32 or BOOL)");
    require(tensor.dim() == 2 && tensor.numel() > 0,
            "tensor '" + key + "' must have the shape (batch, length)");
    require(!like.defined() || tensor.sizes() == like.sizes(),
            "tensor '" + key + "' differs in shape from input_ids");
    return tensor.to(at::kLong);
}

void require_below(const at::Tensor& tensor, const std::string& key, std::int64_t limit,
                   const std::string& what) {
    const auto low = tensor.min().item<std::int64_t>(), high = tensor.max().item<std::int64_t>();
    const std::int64_t wrong = low < 0 ? low : high;
    require(low >= 0 && high < limit, "tensor '" + key + "' holds " + std::to_string(wrong) +
                                          ", the model has " + std::to_string(limit) + " " + what);
}

struct Prepared {
    EncoderInput input;
    std::int64_t length = 0;
};

constexpr const char* global_mask = "global_attention_mask";

void require_mask(const at::Tensor& mask, const std::string& key) {
    require(((mask == 0) | (mask == 1)).all().item<bool>(), "tensor '" + key + "' must hold 0 and 1 alone");
}

Prepared prepare(const TensorMap& inputs, const BigBirdConfig& config) {
    for (const auto& item : inputs) {
        const std::string& key = item.first;
        const bool is_used = key == "input_ids" || key == "attention_mask" || key == "token_type_ids" ||
                             (key == global_mask && config.longformer);
        if (!is_used) {
            log_warning("tensor '{}' of the input is not used", key);
        }
    }
    const at::Tensor ids = whole_numbers(inputs, "input_ids", {}, 0),
                     mask = whole_numbers(inputs, "attention_mask", ids, 1),
                     types = whole_numbers(inputs, "token_type_ids", ids, 0);
    require_below(ids, "input_ids", config.vocab_size, "pieces");
    require_below(types, "token_type_ids", config.type_vocab_size, "token types");
    require_mask(mask, "attention_mask");
    const std::int64_t length = ids.size(1), block = config.pattern.block_size;
    require(length <= config.positions(), "tensor 'input_ids' holds sequences of " + std::to_string(length) +
                                              " tokens, the model has " + std::to_string(config.positions()) +
                                              " positions");
    const auto padded = [&](const at::Tensor& x, std::int64_t value) {
        return at::constant_pad_nd(x, {0, (block - length % block) % block}, value);
    };
    EncoderInput input{padded(ids, config.pad_token_id), padded(types, 0), padded(mask, 0).to(at::kBool)};
    if (config.longformer && inputs.contains(global_mask)) {
        const at::Tensor global = whole_numbers(inputs, global_mask, ids, 0);
        require_mask(global, global_mask);
        input.global_attention_mask = padded(global, 0).to(at::kBool);
    }
    return {input, length};
}

EncoderInput rows(const EncoderInput& input, std::int64_t begin, std::int64_t count,
                  const at::Device& device) {
    const auto cut = [&](const at::Tensor& x) { return x.narrow(0, begin, count).to(device); };
    return {cut(input.input_ids), cut(input.token_type_ids), cut(input.attention_mask),
            input.global_attention_mask.defined() ? cut(input.global_attention_mask) : at::Tensor()};
}

/// The heads' outputs from hidden (batch, length, hidden); `length` without what was padded.
void add_heads(const LoadedEncoder& loaded, const at::Tensor& hidden, std::int64_t length, TensorMap& out) {
    PreTrainingModel model = loaded.model;
    if (!loaded.has_predictions) {
        if (loaded.has_pooler) out["pooler_output"] = model->pool(hidden);
        return;
    }
    const PreTrainingOutput predicted = model->predict(hidden);
    out["prediction_logits"] = predicted.prediction_logits.narrow(1, 0, length);
    if (loaded.has_seq_relationship) out["seq_relationship_logits"] = predicted.seq_relationship_logits;
}

/// A few thousand tokens at a time, so that memory does not grow with the batch. `heads(hidden, length, out)`
/// adds to the hidden states.
template <typename Model, typename Heads>
TensorMap run(Model model, const Heads& heads, const TensorMap& inputs, const ForwardSpec& spec,
              const at::Device& device) {
    const at::NoGradGuard no_gradient;
    const at::ScalarType type = scalar_type(spec.type);
    model->to(arithmetic_type(type, device));
    model->set_attention_backend(spec.backend);
    const Prepared prepared = prepare(inputs, model->config());
    const std::int64_t batch = prepared.input.input_ids.size(0),
                       at_once = std::max<std::int64_t>(1, 8192 / prepared.input.input_ids.size(1));
    std::map<std::string, std::vector<at::Tensor>> parts;
    for (std::int64_t begin = 0; begin < batch; begin += at_once) {
        const EncoderInput input = rows(prepared.input, begin, std::min(at_once, batch - begin), device);
        const EncoderOutput encoded = model->encode(input, true);
        TensorMap out;
        for (std::size_t layer = 0; layer < encoded.hidden_states.size(); ++layer) {
            out["hidden_states." + std::to_string(layer)] =
                encoded.hidden_states[layer].narrow(1, 0, prepared.length);
        }
        heads(encoded.hidden, prepared.length, out);
        for (const auto& [key, tensor] : out) {
            parts[key].push_back(tensor.to(at::kCPU, type));
        }
    }
    TensorMap whole;
    for (const auto& [key, tensors] : parts) {
        whole[key] = at::cat(tensors, 0);
    }
    return whole;
}

}  // namespace

TensorMap forward_tensors(const std::filesystem::path& directory, const TensorMap& inputs,
                          const ForwardSpec& spec, const at::Device& device) {
    scalar_type(spec.type);
    const std::string architecture = read_architecture(directory);
    if (architecture == "BigBirdForSequenceClassification" ||
        architecture == "LongformerForSequenceClassification") {
        SequenceClassifier model = load_classifier(directory, device);
        const auto logits = [&](const at::Tensor& hidden, std::int64_t, TensorMap& out) {
            out["logits"] = model->predict(hidden);
        };
        return run(model, logits, inputs, spec, device);
    }
    const LoadedEncoder loaded = load_encoder(directory, device);
    if (!loaded.has_predictions && architecture != "BigBirdModel" && architecture != "LongformerModel") {
        log_warning("{}: heads of {} are not computed, the encoder alone is", directory.string(),
                    architecture.empty() ? "an architecture without name" : architecture);
    }
    const auto heads = [&](const at::Tensor& hidden, std::int64_t length, TensorMap& out) {
        add_heads(loaded, hidden, length, out);
    };
    return run(loaded.model, heads, inputs, spec, device);
}

}  // namespace bigbird::model
