// SPDX-License-Identifier: Apache-2.0
#include "bigbird/model/files/published.hpp"

#include "bigbird/model/files/config.hpp"
#include "bigbird/model/files/config_keys.hpp"

#include <spdlog/fmt/ranges.h>

#include <array>
#include <optional>
#include <span>

namespace bigbird::model {

namespace {

/// Beginnings of names. Layers need the tensors of a row, unless `optional`.
struct Renaming {
    std::string_view own, theirs;
    bool optional = false;
};

constexpr std::array<Renaming, 11> modernbert_parts{
    {{"bert.embeddings.word_embeddings.", "embeddings.tok_embeddings."},
     {"bert.embeddings.LayerNorm.", "embeddings.norm."},
     {"bert.encoder.LayerNorm.", "final_norm."},
     {"cls.predictions.transform.dense.", "head.dense."},
     {"cls.predictions.transform.LayerNorm.", "head.norm."},
     {"cls.predictions.decoder.weight", "decoder.weight"},
     {"cls.predictions.bias", "decoder.bias"},
     {"classifier.dense.", "head.dense."},  // of a classifier
     {"classifier.LayerNorm.", "head.norm."},
     {"classifier.out_proj.", "classifier."},
     {"", "embeddings.position_ids"}}};
constexpr std::array<Renaming, 6> modernbert_layer{
    {{"attention.output.LayerNorm.", "attn_norm.", true},  // the first layer has none
     {"attention.self.query_key_value.", "attn.Wqkv."},
     {"attention.output.dense.", "attn.Wo."},
     {"output.LayerNorm.", "mlp_norm."},
     {"intermediate.dense.", "mlp.Wi."},
     {"output.dense.", "mlp.Wo."}}};

constexpr std::array<Renaming, 12> esm_parts{{{"", "embeddings.position_ids"},
                                              {"", "contact_head."},
                                              {"bert.embeddings.LayerNorm.", "embeddings.layer_norm."},
                                              {"bert.embeddings.", "embeddings."},
                                              {"bert.encoder.LayerNorm.", "encoder.emb_layer_norm_after."},
                                              {"bert.pooler.", "pooler.dense."},
                                              {"cls.predictions.transform.dense.", "lm_head.dense."},
                                              {"cls.predictions.transform.LayerNorm.", "lm_head.layer_norm."},
                                              {"cls.predictions.decoder.", "lm_head.decoder."},
                                              {"cls.predictions.bias", "lm_head.bias"},
                                              {"classifier.", "classifier."},
                                              {"", "encoder.rotary_embeddings."}}};
constexpr std::array<Renaming, 9> esm_layer{{{"attention.self.query.", "attention.self.query."},
                                             {"attention.self.key.", "attention.self.key."},
                                             {"attention.self.value.", "attention.self.value."},
                                             {"attention.output.dense.", "attention.output.dense."},
                                             {"attention.output.LayerNorm.", "attention.LayerNorm."},
                                             {"intermediate.dense.", "intermediate.dense."},
                                             {"output.dense.", "output.dense."},
                                             {"output.LayerNorm.", "LayerNorm."},
                                             {"", "attention.self.rotary_embeddings.", true}}};

constexpr std::array<Renaming, 7> bert_parts{{{"", "embeddings.position_ids"},
                                              {"", "embeddings.token_type_ids"},
                                              {"bert.embeddings.", "embeddings."},
                                              {"bert.encoder.LayerNorm.", "encoder.last_layer_ln."},
                                              {"bert.pooler.", "pooler.dense."},
                                              {"classifier.out_proj.", "classifier."},
                                              {"cls.", "cls."}}};
constexpr std::array<Renaming, 6> alibi_layer{{{"attention.self.query_key_value.", "attention.self.Wqkv."},
                                               {"attention.output.dense.", "attention.output.dense."},
                                               {"attention.output.LayerNorm.", "attention.output.LayerNorm."},
                                               {"intermediate.dense.", "mlp.gated_layers."},
                                               {"output.dense.", "mlp.wo."},
                                               {"output.LayerNorm.", "mlp.layernorm."}}};
constexpr std::array<Renaming, 8> pre_norm_layer{{{"attention.self.query.", "attention.self.query."},
                                                  {"attention.self.key.", "attention.self.key."},
                                                  {"attention.self.value.", "attention.self.value."},
                                                  {"attention.output.dense.", "attention.output.dense."},
                                                  {"attention.output.LayerNorm.", "pre_attention_ln."},
                                                  {"intermediate.dense.", "intermediate.dense."},
                                                  {"output.dense.", "output.dense."},
                                                  {"output.LayerNorm.", "post_attention_ln."}}};
constexpr std::array<Renaming, 8> bert_layer{{{"attention.self.query.", "attention.self.query."},
                                              {"attention.self.key.", "attention.self.key."},
                                              {"attention.self.value.", "attention.self.value."},
                                              {"attention.output.dense.", "attention.output.dense."},
                                              {"attention.output.LayerNorm.", "attention.output.LayerNorm."},
                                              {"intermediate.dense.", "intermediate.dense."},
                                              {"output.dense.", "output.dense."},
                                              {"output.LayerNorm.", "output.LayerNorm."}}};

struct Family {
    std::string_view name, title;
    std::string_view base;    ///< prefix of the encoder's tensors, which folders of AutoModel lack
    std::string_view layers;  ///< of layers' tensors, behind the base
    std::span<const Renaming> parts, layer;
};
// The plain form is the last one that fits as well as another.
constexpr std::array<Family, 5> families{
    {{"modernbert", "ModernBERT", "model.", "layers.", modernbert_parts, modernbert_layer},
     {"esm", "ESM", "esm.", "encoder.layer.", esm_parts, esm_layer},
     {"bert-alibi", "BERT with ALiBi", "bert.", "encoder.layer.", bert_parts, alibi_layer},
     {"bert-pre-norm", "BERT with norms before blocks", "bert.", "encoder.layer.", bert_parts,
      pre_norm_layer},
     {"bert", "BERT", "bert.", "encoder.layer.", bert_parts, bert_layer}}};

constexpr std::string_view own_layers = "bert.encoder.layer.";

const Family& family_named(std::string_view name) {
    return *std::ranges::find(families, name, &Family::name);
}

/// What follows `prefix` in `text`, or all of it.
std::string_view without(std::string_view text, std::string_view prefix) {
    return text.starts_with(prefix) ? text.substr(prefix.size()) : text;
}

std::string joined(std::string_view a, std::string_view b, std::string_view c = {}) {
    return std::string(a).append(b).append(c);
}

/// The names of a file.
class Names {
public:
    template <typename All>
    explicit Names(const All& all) {
        for (const auto& name : all)
            names_.emplace_back(name);
    }
    bool has(const Family& family, std::string_view name) const {
        return std::ranges::any_of(
            names_,
            [&](const std::string& known) {
                return known == name || (known.starts_with(family.base) &&
                                         std::string_view(known).substr(family.base.size()) == name);
            });
    }
    /// Names of the first layer's tensors that the form needs and the file lacks.
    std::vector<std::string> lacking(const Family& family) const {
        std::vector<std::string> missing;
        for (const Renaming& row : family.layer) {
            const std::string name = joined(family.layers, "0.", row.theirs) + "weight";
            if (!row.optional && !has(family, name)) missing.push_back(joined(family.base, name));
        }
        return missing;
    }

private:
    std::vector<std::string> names_;
};

std::vector<std::string> keys_of(const WeightShapes& shapes) {
    std::vector<std::string> names;
    for (const auto& item : shapes)
        names.push_back(item.first);
    return names;
}

constexpr const char* all_forms =
    "those of big_bird, longformer, ModernBERT, ESM (Nucleotide Transformer), BERT with ALiBi (DNABERT-2), "
    "GENA-LM's BERT and BERT";

/// The family whose layers the file has. Throws InputError with the one that it resembles.
const Family& fitting_family(const WeightShapes& shapes, const std::filesystem::path& where) {
    const Names names(keys_of(shapes));
    const Family* nearest = nullptr;
    double share = 0;
    std::vector<std::string> lacking;
    for (const Family& family : families) {
        std::vector<std::string> missing = names.lacking(family);
        if (missing.empty()) return family;
        const double present =
            1 - static_cast<double>(missing.size()) / static_cast<double>(family.layer.size());
        if (present >= share) {
            nearest = &family;
            share = present;
            lacking = std::move(missing);
        }
    }
    const std::filesystem::path folder = where.parent_path();
    constexpr double resembles = 0.3;
    if (share < resembles)
        throw InputError(std::string("its weights fit none of the forms that can be opened: ") + all_forms,
                         folder);
    throw InputError(fmt::format("its weights resemble the form of {}, but lack {}", nearest->title,
                                 fmt::join(lacking, ", ")),
                     folder);
}

/// Reads one folder's config.json and shapes.
class FolderReader {
public:
    FolderReader(const Json& json, const WeightShapes& shapes, const std::filesystem::path& where)
        : keys_(json, where),
          where_(where),
          shapes_(shapes),
          names_(keys_of(shapes)),
          family_(fitting_family(shapes, where)) {}

    BigBirdConfig config() {
        form().family = family_.name;
        config_.hidden_act = "gelu";
        config_.max_position_embeddings = 512;
        config_.pattern.full = true;
        config_.vocab_size = 30'522;
        read_sizes();
        if (family_.name == "modernbert") read_modernbert();
        if (family_.name == "esm") read_esm();
        if (family_.name.starts_with("bert")) read_bert();
        read_biases();
        bool tied = true;
        keys_("tie_word_embeddings", tied);
        form().tied_decoder = tied || !has_shape("cls.predictions.decoder.weight");
        form().token_types = has_shape("bert.embeddings.token_type_embeddings.weight");
        if (!form().token_types) config_.type_vocab_size = 1;
        form().embedding_norm = has_shape("bert.embeddings.LayerNorm.weight");
        read_classifier();
        return config_;
    }

private:
    PublishedForm& form() { return config_.form.published; }
    [[noreturn]] void refuse(const std::string& why) const { throw InputError(why, where_); }

    /// The shape of a tensor by its name here; empty if there is none.
    std::vector<std::int64_t> shape(std::string_view own) const {
        const std::string theirs = published_name(family_.name, own);
        for (const std::string& name : {theirs, std::string(without(theirs, family_.base))})
            if (const auto found = shapes_.find(name); found != shapes_.end()) return found->second;
        return {};
    }
    bool has_shape(std::string_view own) const { return !shape(own).empty(); }
    /// Whether the last layer has a tensor.
    bool layer_has(std::string_view name) const {
        return has_shape(joined(own_layers, std::to_string(config_.num_hidden_layers - 1) + ".", name));
    }

    void read_sizes() {
        bool decoder = false;
        keys_("is_decoder", decoder);
        if (decoder) refuse("is the configuration of a decoder; only encoders can be used");
        keys_("vocab_size", config_.vocab_size);
        keys_("hidden_size", config_.hidden_size);
        keys_("num_hidden_layers", config_.num_hidden_layers);
        keys_("num_attention_heads", config_.num_attention_heads);
        keys_("intermediate_size", config_.intermediate_size);
        keys_("max_position_embeddings", config_.max_position_embeddings);
        keys_("pad_token_id", config_.pad_token_id);
        keys_("type_vocab_size", config_.type_vocab_size);
        keys_("hidden_dropout_prob", config_.hidden_dropout_prob);
        keys_("attention_probs_dropout_prob", config_.attention_probs_dropout_prob);
        keys_("classifier_dropout", config_.classifier_dropout);
        keys_("initializer_range", config_.initializer_range);
        keys_("layer_norm_eps", config_.layer_norm_eps);
    }

    void read_biases() {
        const bool joined_ones = form().joined_projections;
        config_.use_bias =
            layer_has(joined_ones ? "attention.self.query_key_value.bias" : "attention.self.query.bias");
        form().output_bias = layer_has("attention.output.dense.bias");
        form().inner_bias = layer_has("intermediate.dense.bias");
        form().outer_bias = layer_has("output.dense.bias");
        form().norm_bias = layer_has("output.LayerNorm.bias");
        form().head_bias = !has_shape("cls.predictions.transform.dense.weight") ||
                           has_shape("cls.predictions.transform.dense.bias");
    }

    /// A classifier of sequences, which transformers fine-tuned.
    void read_classifier() {
        const Json names = keys_.has("architectures") ? keys_.at("architectures") : Json::array();
        const bool is_one = names.is_array() && !names.empty() && names[0].is_string() &&
                            names[0].get<std::string>().ends_with("ForSequenceClassification");
        if (!is_one) return;
        config_.num_labels = 2;  // transformers' default
        if (keys_.has("id2label")) {
            keys_.require(keys_.at("id2label").is_object(), "id2label", "an object");
            config_.num_labels = static_cast<std::int64_t>(keys_.at("id2label").size());
        }
        keys_("num_labels", config_.num_labels);
        const bool modernbert = family_.name == "modernbert";
        config_.classifier_head = modernbert              ? "prediction"
                                  : family_.name == "esm" ? "classification"
                                                          : "linear";
    }

    /// The base of one kind of layers, in the new spelling {kind: {"rope_theta": …}} or as a key.
    double theta_of(const char* kind, const char* key, double usual) const {
        if (!keys_.has("rope_parameters")) {
            keys_(key, usual);
            return usual;
        }
        const Json& all = keys_.at("rope_parameters");
        keys_.require(all.is_object(), "rope_parameters", "an object");
        const Json of_kind = all.value(kind, Json());
        const Keys inner(of_kind.is_object() ? of_kind : all, where_);
        std::string type = "default";
        inner("rope_type", type);
        if (type != "default")
            refuse("key 'rope_parameters' has the rope_type '" + type + "'; only default can be used");
        inner("rope_theta", usual);
        return usual;
    }

    void read_modernbert() {
        config_.form.norm = Norm::pre;
        config_.form.positions = Positions::rotary;
        config_.form.feed_forward = FeedForward::gated;
        form().joined_projections = form().joined_gate = true;
        form().first_norm = has_shape(joined(own_layers, "0.attention.output.LayerNorm.weight"));
        config_.layer_norm_eps = 1e-5;
        keys_("norm_eps", config_.layer_norm_eps);
        keys_("hidden_activation", config_.hidden_act);
        form().head_activation = "gelu";
        keys_("classifier_activation", form().head_activation);
        config_.hidden_dropout_prob = 0;
        keys_("mlp_dropout", config_.hidden_dropout_prob);
        config_.attention_probs_dropout_prob = 0;
        keys_("attention_dropout", config_.attention_probs_dropout_prob);
        std::int64_t window = 128, every = 3;
        keys_("local_attention", window);
        keys_("global_attn_every_n_layers", every);
        keys_.require(window >= 1, "local_attention", "at least 1");
        keys_.require(every >= 1, "global_attn_every_n_layers", "at least 1");
        const std::vector<bool> windowed = windowed_layers(every);
        for (std::int64_t layer = 0; layer < config_.num_hidden_layers; ++layer)
            if (windowed[static_cast<std::size_t>(layer)]) form().windowed_layers.push_back(layer);
        form().window = window / 2;
        config_.form.rotary.theta = theta_of("full_attention", "global_rope_theta", 160'000);
        form().window_theta = theta_of("sliding_attention", "local_rope_theta", 10'000);
    }

    std::vector<bool> windowed_layers(std::int64_t every) const {
        std::vector<bool> windowed;
        for (std::int64_t layer = 0; layer < config_.num_hidden_layers; ++layer)
            windowed.push_back(layer % every != 0);
        if (!keys_.has("layer_types")) return windowed;
        const Json& types = keys_.at("layer_types");
        const auto is_type = [](const Json& type) {
            return type == "full_attention" || type == "sliding_attention";
        };
        keys_.require(
            types.is_array() && types.size() == windowed.size() && std::ranges::all_of(types, is_type),
            "layer_types", "a list of full_attention and sliding_attention, one per layer");
        for (std::size_t layer = 0; layer < windowed.size(); ++layer)
            windowed[layer] = types[layer] == "sliding_attention";
        return windowed;
    }

    void read_esm() {
        if (keys_.has("is_folding_model") && keys_.at("is_folding_model") == true)
            refuse("is an ESMFold model, which folds proteins; only encoders can be used");
        config_.form.norm = Norm::pre;
        std::string positions = "absolute";
        keys_("position_embedding_type", positions);
        keys_.require(positions == "absolute" || positions == "rotary", "position_embedding_type",
                      "absolute or rotary");
        if (positions == "rotary") config_.form.positions = Positions::rotary;
        form().counted_positions = true;
        form().masked_embeddings = true;
        const std::vector<std::int64_t> inner = shape(joined(own_layers, "0.intermediate.dense.weight"));
        if (inner.size() == 2 && inner[0] == 2 * config_.intermediate_size) {
            config_.form.feed_forward = FeedForward::gated;
            form().joined_gate = true;
            config_.hidden_act = "silu";
        }
        form().head_activation = "gelu";
        bool drops = false;
        keys_("token_dropout", drops);
        if (drops) {
            keys_.require(keys_.has("mask_token_id"), "token_dropout", "false without a mask_token_id");
            keys_("mask_token_id", form().dropped_token);
        }
    }

    void read_bert() {
        if (keys_.has("sparse_attention") || keys_.has("sparse_config_cls"))
            refuse(
                "needs DeepSpeed's sparse attention, whose random blocks are drawn anew in each process: its "
                "results "
                "cannot be repeated. gena-lm-bigbird-base-t2t, of the same authors, can be opened");
        keys_("hidden_act", config_.hidden_act);
        std::string positions = "absolute";
        keys_("position_embedding_type", positions);
        keys_.require(positions == "absolute", "position_embedding_type", "absolute");
        if (family_.name == "bert-alibi") {
            // ALiBi has no limit, but windows that nobody chose have as many tokens as fit.
            constexpr std::int64_t usual_tokens = 4096;
            std::int64_t starting_size = 0;
            keys_("alibi_starting_size", starting_size);
            config_.max_position_embeddings = std::max(usual_tokens, starting_size);
            config_.form.positions = Positions::none;
            form().alibi = form().joined_projections = form().joined_gate = true;
            config_.form.feed_forward = FeedForward::gated;
            form().head_activation = std::exchange(config_.hidden_act, "gelu");
            form().head_norm_eps = 1e-12;
        }
        if (family_.name == "bert-pre-norm") {
            config_.form.norm = Norm::pre;
            keys_("last_layer_norm", form().final_norm);
        }
    }

    const Keys keys_;
    const std::filesystem::path& where_;
    const WeightShapes& shapes_;
    Names names_;
    const Family& family_;
    BigBirdConfig config_;
};

/// Calls field(key, value) for each plain field.
template <typename Form, typename Field>
void each_of_published(Form& form, const Field& field) {
    field("family", form.family);
    field("counted_positions", form.counted_positions);
    field("alibi", form.alibi);
    field("joined_projections", form.joined_projections);
    field("joined_gate", form.joined_gate);
    field("token_types", form.token_types);
    field("embedding_norm", form.embedding_norm);
    field("masked_embeddings", form.masked_embeddings);
    field("dropped_token", form.dropped_token);
    field("first_norm", form.first_norm);
    field("final_norm", form.final_norm);
    field("norm_bias", form.norm_bias);
    field("output_bias", form.output_bias);
    field("inner_bias", form.inner_bias);
    field("outer_bias", form.outer_bias);
    field("head_bias", form.head_bias);
    field("tied_decoder", form.tied_decoder);
    field("head_activation", form.head_activation);
    field("head_norm_eps", form.head_norm_eps);
    field("window", form.window);
    field("window_theta", form.window_theta);
}

constexpr const char* form_key = "published_form";

}  // namespace

PublishedForm read_published_form(const Keys& keys) {
    PublishedForm form;
    if (!keys.has(form_key)) return form;
    const Json& json = keys.at(form_key);
    keys.require(json.is_object(), form_key, "an object");
    each_of_published(form, keys.under(form_key));
    keys.require(std::ranges::find(families, form.family, &Family::name) != families.end(), form_key,
                 "of a known family");
    const Json layers = json.value("windowed_layers", Json::array());
    keys.require(
        layers.is_array() &&
            std::ranges::all_of(layers, [](const Json& layer) { return layer.is_number_unsigned(); }),
        form_key, "with a list of layers as windowed_layers");
    form.windowed_layers = layers.get<std::vector<std::int64_t>>();
    return form;
}

void write_published_form(const PublishedForm& form, Json& json) {
    if (form.family.empty()) return;
    each_of_published(form, KeyWriter{json[form_key]});
    json[form_key]["windowed_layers"] = form.windowed_layers;
}

bool is_own_config(const Json& config) {
    const Json type = config.is_object() ? config.value("model_type", Json()) : Json();
    return type == "big_bird" || type == "longformer" ||
           (type.is_string() && type.get<std::string>().starts_with("bigbird_dna")) ||
           (config.is_object() && config.contains("bigbird_dna"));
}

BigBirdConfig published_config(const Json& config, const WeightShapes& shapes,
                               const std::filesystem::path& where) {
    BigBirdConfig found = FolderReader(config, shapes, where).config();
    try {
        found.validate();
    } catch (const ConfigError& error) {
        throw InputError(error.what(), where);
    }
    return found;
}

std::string_view title_of_family(std::string_view family) {
    return family_named(family).title;
}

std::string_view family_of(const std::vector<std::string>& names) {
    const Names all(names);
    for (const Family& family : families)
        if (all.lacking(family).empty()) return family.name;
    return {};
}

std::string own_name(std::string_view name, std::string_view theirs, bool is_classifier) {
    const Family& family = family_named(name);
    std::string_view rest = without(theirs, family.base);
    std::string layer;
    std::span<const Renaming> rows = family.parts;
    if (rest.starts_with(family.layers)) {
        rest.remove_prefix(family.layers.size());
        const std::size_t dot = std::min(rest.find('.'), rest.size() - 1);
        layer = joined(own_layers, rest.substr(0, dot + 1));
        rest.remove_prefix(dot + 1);
        rows = family.layer;
    }
    if (is_classifier && rest.starts_with("head.dense.")) return joined("classifier.dense.", rest.substr(11));
    if (is_classifier && rest.starts_with("head.norm."))
        return joined("classifier.LayerNorm.", rest.substr(10));
    for (const Renaming& row : rows) {
        if (!rest.starts_with(row.theirs)) continue;
        return row.own.empty() ? std::string() : layer + joined(row.own, rest.substr(row.theirs.size()));
    }
    return std::string(theirs);
}

std::string published_name(std::string_view name, std::string_view own) {
    const Family& family = family_named(name);
    std::string_view rest = own;
    std::string before(own.starts_with("bert.") ? family.base : std::string_view());
    std::span<const Renaming> rows = family.parts;
    if (rest.starts_with(own_layers)) {
        rest.remove_prefix(own_layers.size());
        const std::size_t dot = std::min(rest.find('.'), rest.size() - 1);
        before += joined(family.layers, rest.substr(0, dot + 1));
        rest.remove_prefix(dot + 1);
        rows = family.layer;
    }
    for (const Renaming& row : rows)
        if (!row.own.empty() && rest.starts_with(row.own))
            return before + joined(row.theirs, rest.substr(row.own.size()));
    return before + std::string(rest);
}

}  // namespace bigbird::model
