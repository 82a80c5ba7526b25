// SPDX-License-Identifier: Apache-2.0
#include "bigbird/task_models/token_bins.hpp"

#include "bigbird/core/check.hpp"
#include "bigbird/core/error.hpp"
#include "bigbird/core/formats/checksum.hpp"
#include "bigbird/model/batching.hpp"
#include "bigbird/model/device/device.hpp"
#include "bigbird/model/model_directory.hpp"
#include "bigbird/model/weights.hpp"
#include "bigbird/task_models/task_model.hpp"

#include <algorithm>
#include <limits>

namespace bigbird::task_models {

namespace {

class TokenBins : public BinNetwork {
public:
    TokenBins(model::SequenceClassifier network, tokenizer::DnaTokenizer tokenizer, const bins::Grid& grid,
              const Computing& computing)
        : network_(std::move(network)),
          tokenizer_(std::move(tokenizer)),
          grid_(grid),
          computing_(computing),
          device_(output_bias().device()) {
        grid_.validate();
        network_->set_attention_backend(computing.attention);
    }
    std::shared_ptr<torch::nn::Module> module() const override { return network_.ptr(); }
    std::vector<at::Tensor> trained_parameters() const override { return network_->trained_parameters(); }
    at::Tensor output_bias() const override {
        return network_->named_parameters()["classifier.out_proj.bias"];
    }
    std::int64_t labels() const override { return network_->config().num_labels; }
    std::int64_t hidden_size() const override { return network_->config().hidden_size; }
    at::Device device() const override { return device_; }
    bins::Grid grid() const override { return grid_; }
    std::int64_t window_positions() const override { return max_tokens(network_->config()); }
    EncodedWindow encode(std::string_view dna) const override {
        EncodedWindow window = encode_window(dna, tokenizer_, window_positions());
        if (window.all_n()) window.ids = {tokenizer_.special_ids().cls, tokenizer_.special_ids().sep};
        return window;
    }
    std::string encoding_key() const override {
        return "tokens " + std::to_string(window_positions()) + ' ' + sha256_of_text(tokenizer_.serialized());
    }
    at::Tensor features(std::span<const EncodedWindow> windows, const model::DropoutKey& key) const override {
        std::vector<std::int64_t> lengths, order;
        for (const EncodedWindow& window : windows)
            lengths.push_back(std::ssize(window.ids));
        std::vector<at::Tensor> parts;
        for (const auto& group :
             model::group_by_blocks(lengths, network_->config().pattern.block_size,
                                    std::numeric_limits<std::int64_t>::max(), model::GroupSizes::any)) {
            parts.push_back(features_of(windows, group, key));
            order.insert(order.end(), group.begin(), group.end());
        }
        if (parts.size() == 1) return parts.front();
        return at::cat(parts).index_select(0, at::argsort(at::tensor(order, at::kLong)).to(device_));
    }
    at::Tensor predict(const at::Tensor& features, const model::DropoutKey& key) const override {
        return network_.ptr()->predict(features, key);
    }
    std::shared_ptr<BinNetwork> copy() const override {
        model::SequenceClassifier other(network_->config());
        other->to(device_);
        model::copy_parameters(*other, *network_);
        return token_bins(std::move(other), tokenizer_, grid_, computing_);
    }
    void write(const TaskInfo& info, const std::filesystem::path& directory) const override {
        TaskInfo written = info;
        written.network = bins::to_json(grid_);
        model::write_model(network_, &tokenizer_, directory, {{"task_model", to_json(written)}});
    }

private:
    /// Of windows of equal block counts.
    at::Tensor features_of(std::span<const EncodedWindow> windows, std::span<const std::size_t> group,
                           const model::DropoutKey& key) const {
        std::vector<model::TokenSequence> sequences;
        std::vector<at::Tensor> weights;
        model::DropoutKey own{.seed = key.seed, .step = key.step};
        for (const std::size_t index : group) {
            sequences.push_back({windows[index].ids, {}});
            if (!key.samples.empty()) own.samples.push_back(key.samples[index]);
        }
        const model::EncoderInput input = model::make_input(sequences, network_->config(), device_);
        for (const std::size_t index : group)
            weights.push_back(bin_weights(windows[index], tokenizer_, grid_, input.input_ids.size(1)));
        const at::Tensor shares = model::copy_to_device(at::stack(weights), device_);
        at::Tensor hidden;  // (group, length, hidden)
        {
            const training::Autocast autocast(computing_.type, device_);
            hidden = network_.ptr()->encode(input, false, own).hidden;
        }
        return at::bmm(shares, hidden.to(at::kFloat));
    }

    model::SequenceClassifier network_;
    tokenizer::DnaTokenizer tokenizer_;
    bins::Grid grid_;
    Computing computing_;
    at::Device device_;
};

}  // namespace

at::Tensor bin_weights(const EncodedWindow& window, const tokenizer::DnaTokenizer& tokenizer,
                       const bins::Grid& grid, std::int64_t length) {
    BIGBIRD_EXPECTS(length >= std::ssize(window.ids), "room for every id");
    at::Tensor weights = at::zeros({grid.window_bins, length});
    float* const values = weights.mutable_data_ptr<float>();
    std::int64_t begin = window.first_base;
    for (std::int64_t i = 0; i < std::ssize(window.ids); ++i) {
        const std::int64_t end = begin + tokenizer.piece_length(window.ids[static_cast<std::size_t>(i)]);
        for (std::int64_t bin = begin / grid.bin; bin < grid.window_bins && bin * grid.bin < end; ++bin) {
            const std::int64_t shared = std::min(end, (bin + 1) * grid.bin) - std::max(begin, bin * grid.bin);
            values[bin * length + i] += static_cast<float>(shared);
        }
        begin = end;
    }
    return weights.div_(weights.sum(1, true).clamp_min_(1));
}

std::shared_ptr<BinNetwork> token_bins(model::SequenceClassifier network, tokenizer::DnaTokenizer tokenizer,
                                       const bins::Grid& grid, const Computing& computing) {
    return std::make_shared<TokenBins>(std::move(network), std::move(tokenizer), grid, computing);
}

std::shared_ptr<BinNetwork> load_token_bins(const std::filesystem::path& directory, const TaskInfo& info,
                                            const at::Device& device, const Computing& computing) {
    model::SequenceClassifier network = model::load_classifier(directory, device);
    tokenizer::DnaTokenizer tokenizer = model::read_tokenizer(directory, network->config());
    return token_bins(std::move(network), std::move(tokenizer),
                      bins::grid_from_json(info.network, directory / "config.json"), computing);
}

std::int64_t fitting_bins(std::span<const std::string> samples, const tokenizer::DnaTokenizer& tokenizer,
                          std::int64_t bin, std::int64_t positions) {
    if (samples.empty()) throw InputError("--examples has no base of train that is not N");
    double densest = 0;  // tokens a base
    for (const std::string& dna : samples) {
        densest = std::max(
            densest, static_cast<double>(tokenizer.encode(dna).size()) / static_cast<double>(dna.size()));
    }
    const auto bins =
        static_cast<std::int64_t>(static_cast<double>(positions - 2) / densest / static_cast<double>(bin));
    if (bins < 1) {
        throw ConfigError("--head bins: the model's " + std::to_string(positions) +
                          " positions do not hold the tokens of one bin of " + std::to_string(bin) +
                          " bases");
    }
    return bins;
}

}  // namespace bigbird::task_models
