// SPDX-License-Identifier: Apache-2.0
#include "bigbird/model/forward_tensors.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/log.hpp"
#include "bigbird/model/device/device.hpp"
#include "bigbird/model/model_directory.hpp"
#include "bigbird/model/weights.hpp"

#include <algorithm>
#include <optional>

namespace bigbird::model {
namespace fs = std::filesystem;

namespace {

at::ScalarType scalar_type(const std::string& name) {
    if (name == "fp64") return at::kDouble;
    if (name == "fp32") return at::kFloat;
    if (name == "bf16") return at::kBFloat16;
    throw ConfigError("no number type is named '" + name + "': choose fp64, fp32 or bf16");
}

void require(bool condition, const std::string& message) {
    if (!condition) throw InputError(message);
}

/// Further requirements of an architecture on its input.
struct InputForm {
    bool choices = false;                                  ///< tensors are (batch, choices, length)
    std::optional<std::int64_t> separator = std::nullopt;  ///< a question reaches up to it
};

/// One input as int64, (batch, choices, length) if `choices` is set.
at::Tensor whole_numbers(const TensorMap& inputs, const std::string& key, bool choices) {
    const auto found = inputs.find(key);
    require(found != inputs.end(), "tensor '" + key + "' is missing from the input");
    const at::Tensor& tensor = found->second;
    require(!tensor.is_floating_point(), "tensor '" + key + "' must hold whole numbers (I64, I32 or BOOL)");
    require(tensor.dim() == (choices ? 3 : 2) && tensor.numel() > 0,
            "tensor '" + key + "' must have the shape " +
                (choices ? "(batch, choices, length)" : "(batch, length)"));
    return tensor.to(at::kLong);
}

/// The same, with the shape of `like`; `otherwise` if it is not given.
at::Tensor whole_numbers(const TensorMap& inputs, const std::string& key, const at::Tensor& like,
                         const at::Tensor& otherwise) {
    if (!inputs.contains(key)) return otherwise;
    at::Tensor tensor = whole_numbers(inputs, key, like.dim() == 3);
    require(tensor.sizes() == like.sizes(), "tensor '" + key + "' differs in shape from input_ids");
    return tensor;
}

void require_below(const at::Tensor& tensor, const std::string& key, std::int64_t limit,
                   const std::string& what) {
    const auto low = tensor.min().item<std::int64_t>(), high = tensor.max().item<std::int64_t>();
    const std::int64_t wrong = low < 0 ? low : high;
    require(low >= 0 && high < limit, "tensor '" + key + "' holds " + std::to_string(wrong) +
                                          ", the model has " + std::to_string(limit) + " " + what);
}

constexpr const char* global_mask = "global_attention_mask";

void require_mask(const at::Tensor& mask, const std::string& key) {
    require(((mask == 0) | (mask == 1)).all().item<bool>(), "tensor '" + key + "' must hold only 0 and 1");
}

void warn_of_unused(const TensorMap& inputs, const BigBirdConfig& config, const InputForm& form) {
    for (const auto& item : inputs) {
        const std::string& key = item.first;
        const bool is_used = key == "input_ids" || key == "attention_mask" || key == "token_type_ids" ||
                             (key == "question_lengths" && form.separator) ||
                             (key == global_mask && config.longformer);
        if (!is_used) log_warning("tensor '{}' of the input is not used", key);
    }
}

/// 1 for each token of its row's question, which reaches up to the first separator, or is one token without.
/// (batch, length)
at::Tensor question_of(const TensorMap& inputs, const at::Tensor& ids, std::int64_t separator) {
    at::Tensor lengths = at::argmax(ids.eq(separator).to(at::kInt), 1, true) + 1;
    if (inputs.contains("question_lengths")) {
        lengths = whole_numbers(inputs, "question_lengths", false);
        require(lengths.size(0) == ids.size(0) && lengths.size(1) == 1,
                "tensor 'question_lengths' must have the shape (batch, 1)");
    }
    return at::arange(ids.size(1), lengths.options()).unsqueeze(0).lt(lengths).to(at::kLong);
}

struct Prepared {
    EncoderInput input;
    at::Tensor question;  ///< question_of()'s mask; undefined if there is none
    std::int64_t length = 0, choices = 1;
};

Prepared prepare(const TensorMap& inputs, const BigBirdConfig& config, const InputForm& form) {
    warn_of_unused(inputs, config, form);
    at::Tensor ids = whole_numbers(inputs, "input_ids", form.choices),
               mask = whole_numbers(inputs, "attention_mask", ids, at::ones_like(ids)), question;
    if (form.separator) question = question_of(inputs, ids, *form.separator);
    const bool two_types = form.separator && config.type_vocab_size > 1;
    at::Tensor types =
        whole_numbers(inputs, "token_type_ids", ids, two_types ? 1 - question : at::zeros_like(ids));
    const std::int64_t choices = form.choices ? ids.size(1) : 1;
    if (form.choices)
        for (at::Tensor* tensor : {&ids, &mask, &types})
            *tensor = tensor->flatten(0, 1);
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
        const at::Tensor global = whole_numbers(inputs, global_mask, ids, at::zeros_like(ids));
        require_mask(global, global_mask);
        input.global_attention_mask = padded(global, 0).to(at::kBool);
    }
    return {input, question, length, choices};
}

EncoderInput rows(const EncoderInput& input, std::int64_t begin, std::int64_t count,
                  const at::Device& device) {
    const auto cut = [&](const at::Tensor& x) { return x.narrow(0, begin, count).to(device); };
    return {cut(input.input_ids), cut(input.token_type_ids), cut(input.attention_mask),
            input.global_attention_mask.defined() ? cut(input.global_attention_mask) : at::Tensor()};
}

/// The heads' input for some rows.
struct HeadInput {
    at::Tensor hidden;    ///< (rows, padded length, hidden) of the last layer
    at::Tensor question;  ///< (rows, length), or undefined
    std::int64_t length;  ///< without padding
};

/// The outputs of a pretraining model or of a bare encoder. `masked`: transformers' BigBirdForMaskedLM, which
/// calls them logits.
void add_heads(const LoadedEncoder& loaded, bool masked, const HeadInput& input, TensorMap& out) {
    PreTrainingModel model = loaded.model;
    if (!loaded.has_predictions) {
        if (loaded.has_pooler) out["pooler_output"] = model->pool(input.hidden);
        return;
    }
    const PreTrainingOutput predicted = model->predict(input.hidden);
    out["prediction_logits"] = predicted.prediction_logits.narrow(1, 0, input.length);
    if (masked) out["logits"] = out["prediction_logits"];
    if (loaded.has_seq_relationship) out["seq_relationship_logits"] = predicted.seq_relationship_logits;
}

/// A few thousand tokens at a time, so that memory does not grow with the batch. `heads(head_input, out)`
/// adds to the hidden states.
template <typename Model, typename Heads>
TensorMap run(Model model, const Heads& heads, const InputForm& form, const TensorMap& inputs,
              const ForwardSpec& spec, const at::Device& device) {
    const at::NoGradGuard no_gradient;
    const at::ScalarType type = scalar_type(spec.type);
    model->to(arithmetic_type(type, device));
    model->set_attention_backend(spec.backend);
    const Prepared prepared = prepare(inputs, model->config(), form);
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
        heads(HeadInput{.hidden = encoded.hidden,
                        .question = prepared.question.defined()
                                        ? prepared.question.narrow(0, begin, encoded.hidden.size(0))
                                        : at::Tensor(),
                        .length = prepared.length},
              out);
        for (const auto& [key, tensor] : out)
            parts[key].push_back(tensor.to(at::kCPU, type));
    }
    TensorMap whole;
    for (const auto& [key, tensors] : parts)
        whole[key] = at::cat(tensors, 0);
    if (form.choices) whole["logits"] = whole["logits"].view({-1, prepared.choices});
    return whole;
}

/// BigBirdForSequenceClassification and BigBirdForTokenClassification.
TensorMap forward_classifier(const fs::path& directory, const TensorMap& inputs, const ForwardSpec& spec,
                             const at::Device& device) {
    SequenceClassifier model = load_classifier(directory, device);
    const auto logits = [&](const HeadInput& input, TensorMap& out) {
        out["logits"] = model->predict(input.hidden.narrow(1, 0, input.length));
    };
    return run(model, logits, {}, inputs, spec, device);
}

/// transformers assumes 66 where config.json has none.
std::int64_t separator_of(const fs::path& directory) {
    const Json json = read_json(directory / "config.json");
    const auto found = json.find("sep_token_id");
    if (found == json.end()) return 66;
    if (!found->is_number_integer()) {
        throw InputError("key 'sep_token_id' must be a whole number, not " + found->dump(),
                         directory / "config.json");
    }
    return found->get<std::int64_t>();
}

/// Fills parameters whose names begin with `prefix`.
void load_head(torch::nn::Module& head, const std::string& prefix, const fs::path& directory,
               const at::Device& device, at::ScalarType type) {
    fill_parameters(head, read_weights(directory), {.optional_prefix = {}, .only_prefix = prefix},
                    directory / "model.safetensors");
    head.to(device, arithmetic_type(type, device));
    head.eval();
}

/// Loads the encoder and, for BigBirdForPreTraining and BigBirdForMaskedLM, their heads.
LoadedEncoder load_with_heads(const fs::path& directory, const std::string& architecture,
                              const at::Device& device) {
    const bool both = architecture == "BigBirdForPreTraining", masked = architecture == "BigBirdForMaskedLM";
    if (!both && !masked) return load_encoder(directory, device);
    LoadedEncoder loaded{
        .model = PreTrainingModel(read_config(directory)), .has_pooler = true, .has_predictions = true};
    const LoadRules rules{.optional_prefix = both ? "" : "cls.seq_relationship", .only_prefix = {}};
    loaded.has_seq_relationship =
        fill_parameters(*loaded.model, read_weights(directory), rules, directory / "model.safetensors");
    loaded.model->to(device);
    loaded.model->eval();
    return loaded;
}

/// BigBirdForQuestionAnswering's head: a feed-forward layer with its residual and LayerNorm, and a layer of
/// two numbers, a token's scores as the answer's first and as its last.
struct AnswerHead : torch::nn::Module {
    explicit AnswerHead(const BigBirdConfig& config) {
        const std::int64_t hidden = config.hidden_size, wide = config.intermediate_size;
        const auto head = add_group(*this, "qa_classifier");
        expand = add_group(*head, "intermediate")->register_module("dense", Linear(hidden, wide));
        const auto output = add_group(*head, "output");
        contract = output->register_module("dense", Linear(wide, hidden));
        norm = output->register_module("LayerNorm", LayerNorm(hidden, config.layer_norm_eps));
        answers = head->register_module("qa_outputs", Linear(hidden, 2));
    }

    Linear expand{nullptr}, contract{nullptr}, answers{nullptr};
    LayerNorm norm{nullptr};
};

TensorMap forward_question_answering(const fs::path& directory, const TensorMap& inputs,
                                     const ForwardSpec& spec, const at::Device& device) {
    PreTrainingModel model = load_encoder(directory, device).model;
    AnswerHead head(model->config());
    load_head(head, "qa_classifier.", directory, device, scalar_type(spec.type));
    const auto answers = [&](const HeadInput& input, TensorMap& out) {
        constexpr double far_below = 1e6;  // transformers' own number
        const at::Tensor hidden = input.hidden.narrow(1, 0, input.length),
                         wide = activation(model->config().hidden_act, head.expand->forward(hidden));
        // The first token means "no answer"; the question's others cannot be one.
        at::Tensor barred =
            input.question.to(hidden.device(), hidden.scalar_type(), /*non_blocking=*/false, /*copy=*/true);
        barred.select(1, 0).zero_();
        const at::Tensor logits =
            head.answers->forward(head.norm->forward(head.contract->forward(wide) + hidden)) -
            barred.unsqueeze(2) * far_below;
        out["start_logits"] = logits.select(2, 0);
        out["end_logits"] = logits.select(2, 1);
    };
    return run(model, answers, {.separator = separator_of(directory)}, inputs, spec, device);
}

TensorMap forward_multiple_choice(const fs::path& directory, const TensorMap& inputs, const ForwardSpec& spec,
                                  const at::Device& device) {
    const LoadedEncoder loaded = load_encoder(directory, device);
    if (!loaded.has_pooler)
        throw InputError("tensor 'bert.pooler.weight' is missing", directory / "model.safetensors");
    PreTrainingModel model = loaded.model;
    torch::nn::Module own;
    Linear head = own.register_module("classifier", Linear(model->config().hidden_size, 1));
    load_head(own, "classifier.", directory, device, scalar_type(spec.type));
    const auto choices = [&](const HeadInput& input, TensorMap& out) {
        out["logits"] = head->forward(model->pool(input.hidden));
    };
    return run(model, choices, {.choices = true}, inputs, spec, device);
}

}  // namespace

TensorMap forward_tensors(const fs::path& directory, const TensorMap& inputs, const ForwardSpec& spec,
                          const at::Device& device) {
    scalar_type(spec.type);
    const std::string architecture = read_architecture(directory);
    if (architecture == "BigBirdForSequenceClassification" ||
        architecture == "LongformerForSequenceClassification" ||
        architecture == "BigBirdForTokenClassification")
        return forward_classifier(directory, inputs, spec, device);
    if (architecture == "BigBirdForQuestionAnswering")
        return forward_question_answering(directory, inputs, spec, device);
    if (architecture == "BigBirdForMultipleChoice")
        return forward_multiple_choice(directory, inputs, spec, device);
    const LoadedEncoder loaded = load_with_heads(directory, architecture, device);
    if (!loaded.has_predictions && architecture != "BigBirdModel" && architecture != "LongformerModel") {
        log_warning("{}: heads of {} are not computed, only the encoder is", directory.string(),
                    architecture.empty() ? "an architecture without name" : architecture);
    }
    const auto heads = [&](const HeadInput& input, TensorMap& out) {
        add_heads(loaded, architecture.ends_with("ForMaskedLM"), input, out);
    };
    return run(loaded.model, heads, {}, inputs, spec, device);
}

}  // namespace bigbird::model
