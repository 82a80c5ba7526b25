// SPDX-License-Identifier: Apache-2.0
#include "bigbird/task_models/bigbird_windows.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/formats/checksum.hpp"
#include "bigbird/genome/reference/sequence.hpp"
#include "bigbird/model/model_directory.hpp"

namespace bigbird::task_models {

namespace {

constexpr std::int64_t anchor_reach = 100;  // bases on each side of base 0: a bin of DeepSEA's

/// Means over the tokens that `mask` chooses: (batch, length, hidden) -> (batch, 1, hidden).
at::Tensor mean_over(const at::Tensor& hidden, const at::Tensor& mask) {
    const at::Tensor weights = mask.unsqueeze(2).to(hidden.scalar_type());  // (batch, length, 1)
    return (hidden * weights).sum(1, true) / weights.sum(1, true);
}

class BigBirdWindows : public WindowNetwork {
public:
    BigBirdWindows(model::SequenceClassifier network, tokenizer::DnaTokenizer tokenizer,
                   const BigBirdReading& reading, const at::Device& device)
        : network_(std::move(network)),
          tokenizer_(std::move(tokenizer)),
          how_(reading),
          max_tokens_(max_tokens(network_->config())),
          device_(device) {
        network_->set_attention_backend(how_.computing.attention);
    }

    torch::nn::Module& module() override { return *network_; }
    std::vector<at::Tensor> trained_parameters() override { return network_->trained_parameters(); }
    at::Tensor output_bias() override { return network_->named_parameters()["classifier.out_proj.bias"]; }
    std::int64_t labels() const override { return network_->config().num_labels; }
    at::Device device() const override { return device_; }

    EncodedWindow encode(std::string_view dna, bool reverse) const override {
        const std::string turned = reverse ? genome::reverse_complement(dna) : std::string();
        EncodedWindow window =
            encode_window(reverse ? std::string_view(turned) : dna, tokenizer_, max_tokens_);
        if (how_.pooling == Pooling::centre) {
            const auto size = static_cast<std::int64_t>(dna.size());
            const std::int64_t begin = std::max<std::int64_t>(0, -how_.window.begin - anchor_reach);
            const std::int64_t end = std::min(size, -how_.window.begin + anchor_reach);
            mark_anchor(window, tokenizer_, reverse ? size - end : begin, reverse ? size - begin : end);
        }
        return window;
    }
    std::string encoding_key() const override {
        return "tokens " + std::to_string(max_tokens_) + ' ' + sha256_of_text(tokenizer_.serialized()) +
               (how_.pooling == Pooling::centre ? " anchor" : "");
    }
    std::vector<std::vector<std::size_t>> group(std::span<const EncodedWindow> windows,
                                                std::int64_t batch_tokens,
                                                model::GroupSizes sizes) const override {
        std::vector<std::int64_t> lengths;
        for (const EncodedWindow& window : windows)
            lengths.push_back(std::ssize(window.ids));
        return model::group_by_blocks(lengths, network_->config().pattern.block_size, batch_tokens, sizes);
    }
    at::Tensor logits(std::span<const EncodedWindow> windows, std::span<const std::size_t> group,
                      const model::DropoutKey& key) override {
        std::vector<model::TokenSequence> sequences;
        for (const std::size_t index : group) {
            const EncodedWindow& window = windows[index];
            model::TokenSequence& sequence = sequences.emplace_back();
            sequence.ids = window.ids;
            if (window.marked_end > 0) {
                sequence.types.assign(window.ids.size(), 0);
                std::fill(sequence.types.begin() + window.marked_begin,
                          sequence.types.begin() + window.marked_end, std::uint8_t{1});
            }
        }
        return pooled_logits(network_, model::make_input(sequences, network_->config(), device_),
                             how_.pooling, key, how_.computing.type);
    }
    void write(const std::filesystem::path& directory) const override {
        model::write_model(network_, &tokenizer_, directory);
    }

private:
    model::SequenceClassifier network_;
    tokenizer::DnaTokenizer tokenizer_;
    BigBirdReading how_;
    std::int64_t max_tokens_;
    at::Device device_;
};

}  // namespace

Pooling parse_pooling(const std::string& word) {
    for (const Pooling pooling : {Pooling::cls, Pooling::mean, Pooling::centre}) {
        if (word == to_string(pooling)) return pooling;
    }
    throw ConfigError("--pooling is cls, mean or centre, not '" + word + "'");
}

std::string to_string(Pooling pooling) {
    constexpr const char* words[] = {"cls", "mean", "centre"};
    return words[static_cast<std::size_t>(pooling)];
}

at::Tensor pooled_logits(model::SequenceClassifier& network, const model::EncoderInput& input,
                         Pooling pooling, const model::DropoutKey& key, training::ComputeType compute) {
    at::Tensor hidden;  // (batch, length, hidden)
    {
        const training::Autocast autocast(compute, input.input_ids.device());
        hidden = network->encode(input, false, key).hidden;
    }
    hidden = hidden.to(at::kFloat);
    if (pooling == Pooling::mean) hidden = mean_over(hidden, input.attention_mask);
    if (pooling == Pooling::centre)
        hidden = mean_over(hidden, input.attention_mask.logical_and(input.token_type_ids.eq(1)));
    return network->predict(hidden, key);  // the head takes the first position
}

model::EncoderInput gather_input(std::span<const model::TokenSequence> sequences,
                                 std::span<const std::size_t> indices, const model::BigBirdConfig& config,
                                 const at::Device& device) {
    std::vector<model::TokenSequence> chosen;
    chosen.reserve(indices.size());
    for (const std::size_t index : indices) {
        chosen.push_back(sequences[index]);
    }
    return model::make_input(chosen, config, device);
}

std::int64_t max_tokens(const model::BigBirdConfig& config) {
    return config.positions() / config.pattern.block_size * config.pattern.block_size;
}

std::shared_ptr<WindowNetwork> bigbird_windows(model::SequenceClassifier network,
                                               tokenizer::DnaTokenizer tokenizer,
                                               const BigBirdReading& reading, const at::Device& device) {
    return std::make_shared<BigBirdWindows>(std::move(network), std::move(tokenizer), reading, device);
}

}  // namespace bigbird::task_models
