// SPDX-License-Identifier: Apache-2.0
#include "bigbird/task_models/tokens/token_labeller.hpp"

#include "bigbird/core/check.hpp"
#include "bigbird/core/error.hpp"
#include "bigbird/core/formats/whole_number.hpp"
#include "bigbird/core/version.hpp"
#include "bigbird/examples/contig_list.hpp"
#include "bigbird/model/batching.hpp"
#include "bigbird/model/model_directory.hpp"
#include "bigbird/model/weights.hpp"
#include "bigbird/rows/window.hpp"
#include "bigbird/task_models/bigbird_windows.hpp"
#include "bigbird/task_models/files/task_files.hpp"
#include "bigbird/training/find_model.hpp"

namespace bigbird::task_models {
namespace fs = std::filesystem;

namespace {

constexpr const char* section = "task_model";  // as task_model.cpp
constexpr int format_version = 1;

TokensInfo info_from(const Json& json) {
    return {.window = whole_number(json, "window"),
            .margin = whole_number(json, "margin"),
            .contigs = examples::contigs_from(json.at("contigs")),
            .training = json.value("training", Json::object())};
}

}  // namespace

Json to_json(const TokensInfo& info) {
    return {{"format", format_version}, {"version", std::string(version())},
            {"task", "tokens"},         {"window", info.window},
            {"margin", info.margin},    {"contigs", examples::contigs_json(info.contigs)},
            {"training", info.training}};
}

TokensInfo read_tokens_info(const fs::path& directory) {
    const fs::path where = directory / "config.json";
    const Json json = model::read_config(directory).extra.value(section, Json());
    if (!json.is_object() || json.value("task", Json()) != "tokens") {
        throw InputError("is no model of tokens: finetune-tokens makes one", where);
    }
    try {
        if (json.at("format") != format_version) {
            throw InputError(
                "was written by another bigbird-dna (" + json.at("version").get<std::string>() + ")", where);
        }
        TokensInfo info = info_from(json);
        if (info.margin < 0 || info.margin > rows::longest_window || info.core() < 1) {
            throw InputError("has a window without bases", where);
        }
        if (info.window > rows::longest_window)
            throw InputError("has a window of more than 2^24 bases", where);
        return info;
    } catch (const Json::exception&) {
        throw InputError("says nothing complete of its windows under bigbird_dna.task_model", where);
    }
}

std::vector<TokenSpan> token_spans(const EncodedWindow& window, const tokenizer::DnaTokenizer& tokenizer) {
    std::vector<TokenSpan> spans;
    std::int64_t begin = window.first_base;
    for (const std::int32_t id : window.ids) {
        spans.push_back({begin, begin + tokenizer.piece_length(id)});
        begin = spans.back().end;
    }
    return spans;
}

at::Tensor label_counts(const EncodedWindow& window, const tokenizer::DnaTokenizer& tokenizer,
                        std::span<const std::int32_t> labels, std::int64_t label_count, std::int64_t length) {
    BIGBIRD_EXPECTS(length >= std::ssize(window.ids), "room for every id");
    at::Tensor counts = at::zeros({length, label_count});
    float* values = counts.mutable_data_ptr<float>();
    for (const TokenSpan& span : token_spans(window, tokenizer)) {
        for (std::int64_t base = span.begin; base < span.end; ++base) {
            const std::int32_t label = labels[static_cast<std::size_t>(base)];
            if (label >= 0) values[label] += 1;
        }
        values += label_count;
    }
    return counts;
}

TokenLabeller::TokenLabeller(model::SequenceClassifier network, tokenizer::DnaTokenizer tokenizer,
                             const Computing& computing)
    : network_(std::move(network)),
      tokenizer_(std::move(tokenizer)),
      computing_(computing),
      device_(output_bias().device()) {
    network_->set_attention_backend(computing.attention);
}

EncodedWindow TokenLabeller::encode(std::string_view dna) const {
    EncodedWindow window = encode_window(dna, tokenizer_, max_tokens(network_->config()));
    if (window.all_n()) window.ids = {tokenizer_.special_ids().cls, tokenizer_.special_ids().sep};
    return window;
}

std::vector<std::vector<std::size_t>> TokenLabeller::group(std::span<const EncodedWindow> windows,
                                                           std::int64_t batch_tokens) const {
    std::vector<std::int64_t> lengths;
    for (const EncodedWindow& window : windows)
        lengths.push_back(std::ssize(window.ids));
    return model::group_by_blocks(lengths, network_->config().pattern.block_size, batch_tokens,
                                  model::GroupSizes::few);
}

at::Tensor TokenLabeller::logits(std::span<const EncodedWindow> windows, std::span<const std::size_t> group,
                                 const model::DropoutKey& key) {
    std::vector<model::TokenSequence> sequences;
    model::DropoutKey own{.seed = key.seed, .step = key.step};
    for (const std::size_t index : group) {
        sequences.push_back({windows[index].ids, {}});
        if (!key.samples.empty()) own.samples.push_back(key.samples[index]);
    }
    const model::EncoderInput input = model::make_input(sequences, network_->config(), device_);
    at::Tensor hidden;
    {
        const training::Autocast autocast(computing_.type, device_);
        hidden = network_->encode(input, false, own).hidden;
    }
    return network_->predict(hidden.to(at::kFloat), own);
}

LoadedLabeller load_labeller(const fs::path& path, const at::Device& device, const Computing& computing) {
    const fs::path directory = training::find_model(path);
    const TokensInfo info = read_tokens_info(directory);
    model::SequenceClassifier network = model::load_classifier(directory, device);
    LoadedLabeller loaded{.info = info,
                          .labels = read_labels(directory, network->config().num_labels),
                          .sha256 = model::weights_checksum(directory)};
    if (const auto calibration = read_calibration(directory, loaded.labels.size(), LinkFunction::softmax)) {
        loaded.calibration = ScoreCalibration(*calibration, device, LinkFunction::softmax);
    }
    tokenizer::DnaTokenizer tokenizer = model::read_tokenizer(directory, network->config());
    loaded.labeller = std::make_unique<TokenLabeller>(std::move(network), std::move(tokenizer), computing);
    return loaded;
}

}  // namespace bigbird::task_models
