// SPDX-License-Identifier: Apache-2.0
#include "bigbird/model/files/describe.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/formats/checksum.hpp"
#include "bigbird/core/formats/is_there.hpp"
#include "bigbird/core/formats/mapped_file.hpp"
#include "bigbird/model/files/config.hpp"
#include "bigbird/model/files/safetensors_header.hpp"
#include "bigbird/model/files/weight_files.hpp"
#include "bigbird/networks/files/torch_file.hpp"
#include "bigbird/tokenizer/tokenizer.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <set>
#include <span>
#include <vector>

namespace bigbird::model {

namespace fs = std::filesystem;

namespace {

/// Elements whose exponent bits are all set: NaN and infinities.
template <typename Bits>
std::int64_t count_not_finite(std::span<const std::byte> data, Bits exponent) {
    std::int64_t count = 0;
    for (std::size_t i = 0; i + sizeof(Bits) <= data.size(); i += sizeof(Bits)) {
        Bits bits;
        std::memcpy(&bits, data.data() + i, sizeof bits);
        count += (bits & exponent) == exponent ? 1 : 0;
    }
    return count;
}

std::int64_t not_finite(const TensorEntry& entry, std::span<const std::byte> data) {
    if (entry.type == "F64") return count_not_finite<std::uint64_t>(data, 0x7FF0000000000000ULL);
    if (entry.type == "F32") return count_not_finite<std::uint32_t>(data, 0x7F800000U);
    if (entry.type == "BF16") return count_not_finite<std::uint16_t>(data, 0x7F80);
    if (entry.type == "F16") return count_not_finite<std::uint16_t>(data, 0x7C00);
    return 0;
}

/// Adds a file's count to `numbers` and its findings to `findings`.
void check_file(const fs::path& file, std::int64_t& numbers, std::string& findings) {
    const SafetensorsHeader header = read_safetensors_header(file);
    const MappedFile mapped(file);
    for (const auto& [name, entry] : header.tensors) {
        numbers += entry.elements();
        const std::int64_t wrong =
            not_finite(entry, mapped.bytes().subspan(entry.begin, entry.end - entry.begin));
        if (wrong > 0) {
            findings += (findings.empty() ? "" : ", ") + name + " (" + std::to_string(wrong) + " of " +
                        std::to_string(entry.elements()) + ")";
        }
    }
}

struct WeightCounts {
    std::size_t tensors = 0;
    std::int64_t parameters = 0;
    std::set<std::string> types{};

    template <typename Tensors>
    void add(const Tensors& all) {
        for (const auto& [name, tensor] : all) {
            ++tensors;
            parameters += tensor.elements();
            types.insert(tensor.type);
        }
    }
};

void count_weights(const fs::path& file, WeightCounts& counts) {
    if (is_torch_file(file))
        counts.add(networks::TorchFile(file).tensors());
    else
        counts.add(read_safetensors_header(file).tensors);
}

Json describe_weights(const fs::path& file) {
    WeightCounts counts;
    count_weights(file, counts);
    return {{"file", file.filename().string()}, {"tensors", counts.tensors},
            {"parameters", counts.parameters},  {"type", fmt::format("{}", fmt::join(counts.types, ", "))},
            {"bytes", fs::file_size(file)},     {"sha256", sha256_of_file(file)}};
}

/// Of all files of a folder.
Json describe_all_weights(const fs::path& directory) {
    const std::vector<std::string> files = weight_files(directory);
    if (files.size() == 1) return describe_weights(directory / files.front());
    WeightCounts counts;
    std::uintmax_t bytes = 0;
    for (const std::string& file : files) {
        count_weights(directory / file, counts);
        bytes += fs::file_size(directory / file);
    }
    return {{"files", fmt::format("{}", fmt::join(files, ", "))},
            {"tensors", counts.tensors},
            {"parameters", counts.parameters},
            {"type", fmt::format("{}", fmt::join(counts.types, ", "))},
            {"bytes", bytes},
            {"sha256", weights_checksum(directory)}};
}

std::string type_of(const tokenizer::DnaTokenizer& tokenizer) {
    if (const std::optional<int> k = tokenizer::kmer_length(tokenizer))
        return *k == 1 ? "single bases" : "k-mers of " + std::to_string(*k) + " letters that do not overlap";
    if (tokenizer.file_name() == std::string("vocab.txt"))
        return tokenizer.special_ids().sep < 0 ? "k-mers of a vocabulary, cut from the left (vocab.txt)"
                                               : "k-mers of a vocabulary that overlap (vocab.txt)";
    const bool own = tokenizer.file_name() == std::string("tokenizer.model");
    return std::string("byte-pair encoding of A C G T N (") +
           (own ? "SentencePiece model)" : "tokenizer.json)");
}

Json describe_tokenizer(const fs::path& file) {
    const auto tokenizer = tokenizer::DnaTokenizer::load(file);
    std::int64_t bases = 0;
    std::int32_t longest = 0, with_n = 0, ordinary = 0;
    for (std::int32_t id = 0; id < tokenizer.vocab_size(); ++id) {
        if (tokenizer.piece_length(id) == 0) continue;
        ++ordinary;
        bases += tokenizer.piece_length(id);
        longest = std::max(longest, tokenizer.piece_length(id));
        with_n += tokenizer.has_n(id) ? 1 : 0;
    }
    return {{"file", file.filename().string()},
            {"type", type_of(tokenizer)},
            {"pieces", tokenizer.vocab_size()},
            {"special_pieces", tokenizer.vocab_size() - ordinary},
            {"pieces_with_n", with_n},
            {"longest_piece", longest},
            {"mean_piece_length",
             ordinary > 0 ? std::round(100.0 * static_cast<double>(bases) / ordinary) / 100.0 : 0.0},
            {"sha256", sha256_of_file(file)}};
}

/// One number if all are equal, else all numbers.
template <typename Number>
Json brief(const std::vector<Number>& numbers) {
    const bool equal =
        std::ranges::all_of(numbers, [&](const Number& number) { return number == numbers.front(); });
    return equal ? Json(numbers.front()) : Json(numbers);
}

Json describe_longformer(const BigBirdConfig& config) {
    const LongformerForm& form = *config.longformer;
    Json json{{"type", "longformer (windows and global tokens)"},
              {"block_size", config.pattern.block_size},
              {"attention_window", brief(form.windows)}};
    if (form.is_dilated()) json["attention_dilation"] = form.dilations;
    json["global_tokens"] =
        form.global_tokens ? Json(*form.global_tokens) : Json("0 unless a global_attention_mask is given");
    return json;
}

Json describe_attention(const BigBirdConfig& config) {
    if (config.performer) {
        Json json{{"type", "performer (random features)"}};
        json.update(performer_json(*config.performer));
        return json;
    }
    if (config.longformer) return describe_longformer(config);
    const PublishedForm& form = config.form.published;
    if (form.alibi) return {{"type", "full, with ALiBi"}};
    if (!form.windowed_layers.empty()) {
        return {{"type", fmt::format("full; in {} of {} layers windows", form.windowed_layers.size(),
                                     config.num_hidden_layers)},
                {"window_tokens_each_side", form.window}};
    }
    const attention::PatternSpec& pattern = config.pattern;
    if (pattern.full) return {{"type", "full"}};
    if (pattern.kind == attention::PatternKind::longformer) {
        return {{"type", "longformer"},
                {"block_size", pattern.block_size},
                {"window_tokens_each_side", pattern.window_tokens},
                {"dilation", pattern.dilation},
                {"global_tokens", pattern.global_tokens}};
    }
    constexpr std::array<const char*, 4> sources{
        "uniform", "hf (transformers: none in evaluation, block 0 counted more; seeded in training)",
        "seeded (transformers to 4.28)", "google (the authors' code)"};
    Json json = {{"type", "block sparse"},
                 {"block_size", pattern.block_size},
                 {"global_blocks",
                  std::to_string(pattern.global_blocks) +
                      (pattern.globals == attention::GlobalPlacement::ends ? " at the ends" : " first")},
                 {"window_blocks", pattern.window_blocks},
                 {"random_blocks", pattern.random_blocks},
                 {"random_blocks_source", sources[static_cast<std::size_t>(pattern.random_source)]}};
    if (pattern.random_source == attention::RandomSource::uniform)
        json["random_blocks_seed"] = pattern.random_seed;
    if (config.extra_global_tokens > 0) json["extra_global_tokens"] = config.extra_global_tokens;
    json["full_up_to_tokens"] = std::max<std::int64_t>(
        0, std::int64_t{pattern.full_up_to_blocks()} * pattern.block_size - config.front_tokens());
    return json;
}

/// "not named" where config.json names none.
Json architecture_of(const Json& file) {
    const Json names = file.value("architectures", Json());
    return names.is_array() && !names.empty() ? names.front() : Json("not named");
}

/// Describes a bin model (bigbird/bins) or one of the paper's baselines (bigbird/baselines), as written by
/// finetune-*.
Json describe_baseline(const fs::path& directory, const Json& file) {
    Json json = {{"kind", "model"},
                 {"architecture", architecture_of(file)},
                 {"labels", file.value("num_labels", Json())}};
    if (is_there(directory / "model.safetensors"))
        json["weights"] = describe_weights(directory / "model.safetensors");
    json["bigbird_dna"] = file.value("bigbird_dna", Json::object());
    return json;
}

Json describe_model(const fs::path& directory) {
    const Json file = read_json(directory / "config.json");
    const Json type = file.is_object() ? file.value("model_type", Json()) : Json();
    if (type.is_string() && type.get<std::string>().starts_with("bigbird_dna_"))
        return describe_baseline(directory, file);
    const BigBirdConfig config = config_of_folder(directory);
    Json json = {{"kind", "model"}, {"architecture", architecture_of(file)}};
    if (config.is_published())
        json["form"] = std::string(title_of_family(config.form.published.family)) +
                       (is_own_config(file) ? "" : ", as its weights show");
    json.update({{"layers", config.num_hidden_layers},
                 {"hidden_size", config.hidden_size},
                 {"heads", config.num_attention_heads},
                 {"intermediate_size", config.intermediate_size},
                 {"activation", config.hidden_act},
                 {"positions", config.positions()},
                 {"vocab_size", config.vocab_size}});
    if (config.num_labels > 0) {
        json["labels"] = config.num_labels;
        json["head"] = config.classifier_head;
    }
    json["attention"] = describe_attention(config);
    if (is_there(weight_file(directory))) json["weights"] = describe_all_weights(directory);
    for (const char* name : {"tokenizer.model", "tokenizer.json", "vocab.txt"})
        if (!json.contains("tokenizer") && is_there(directory / name))
            json["tokenizer"] = describe_tokenizer(directory / name);
    if (fs::is_directory(directory / "training_state"))
        json["training_state"] = "there: pretrain and finetune can go on from here";
    if (!config.extra.empty()) json["bigbird_dna"] = config.extra;
    return json;
}

Json describe_safetensors(const fs::path& file) {
    const SafetensorsHeader header = read_safetensors_header(file);
    Json json = {{"kind", "safetensors"}};
    json.update(describe_weights(file));
    json["metadata"] = header.metadata;
    for (const auto& [key, entry] : header.tensors)
        json["contents"][key] =
            entry.type + " " +
            (entry.shape.empty() ? "scalar" : fmt::format("{}", fmt::join(entry.shape, "x")));
    return json;
}

std::size_t key_width(const Json& json) {
    std::size_t width = 0;
    for (const auto& item : json.items())
        width = std::max(width, item.value().is_object() ? 0 : item.key().size());
    return width;
}

void append_text(const Json& json, const std::string& indent, std::string& text) {
    const std::size_t width = key_width(json);
    for (const auto& [key, value] : json.items()) {
        text += indent + key;
        if (value.is_object()) {
            text += '\n';
            append_text(value, indent + "  ", text);
            continue;
        }
        text += std::string(width - key.size() + 2, ' ') +
                (value.is_string() ? value.get<std::string>() : value.dump()) + '\n';
    }
}

}  // namespace

Json check_weights(const fs::path& path) {
    std::vector<fs::path> files;
    std::error_code ignored;
    if (fs::is_directory(path, ignored)) {
        for (const auto& item : fs::directory_iterator(path))
            if (item.path().extension() == ".safetensors") files.push_back(item.path());
        std::ranges::sort(files);
    } else {
        files.push_back(path);
    }
    if (files.empty()) throw InputError("holds no .safetensors file to check", path);
    std::int64_t numbers = 0;
    std::string findings;
    for (const fs::path& file : files)
        check_file(file, numbers, findings);
    if (!findings.empty()) {
        throw InputError("holds numbers that are NaN or infinite, in " + findings +
                             ": the training that made it went wrong, or the file is damaged",
                         path);
    }
    return {{"numbers", numbers}, {"finite", true}};
}

Json describe(const fs::path& path) {
    std::error_code error;
    if (fs::is_directory(path, error)) return describe_model(path);
    require_readable(path);
    if (path.extension() == ".safetensors") return describe_safetensors(path);
    if (path.extension() == ".model" || path.extension() == ".json") {
        Json json = {{"kind", "tokenizer"}};
        json.update(describe_tokenizer(path));
        return json;
    }
    throw InputError("is neither a model folder nor a .model, tokenizer.json or .safetensors file", path);
}

std::string description_text(const Json& description) {
    std::string text;
    append_text(description, "", text);
    return text;
}

}  // namespace bigbird::model
