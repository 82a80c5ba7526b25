// SPDX-License-Identifier: Apache-2.0
#include "bigbird/tasks/bigbird_network.hpp"

#include "bigbird/core/check.hpp"
#include "bigbird/core/error.hpp"
#include "bigbird/core/formats/checksum.hpp"
#include "bigbird/genome/reference/sequence.hpp"
#include "bigbird/model/adapter.hpp"
#include "bigbird/model/device/device.hpp"
#include "bigbird/model/model_directory.hpp"
#include "bigbird/model/weights.hpp"
#include "bigbird/tasks/model_folder.hpp"

#include <algorithm>
#include <limits>

namespace bigbird::tasks {

namespace {

constexpr std::int64_t anchor_reach =
    100;  // bases on each side of base 0; together DeepSEA's bin of 200 bases

/// Means over the tokens that `mask` selects: (batch, length, hidden) -> (batch, 1, hidden).
at::Tensor mean_over(const at::Tensor& hidden, const at::Tensor& mask) {
    const at::Tensor weights = mask.unsqueeze(2).to(hidden.scalar_type());  // (batch, length, 1)
    return (hidden * weights).sum(1, true) / weights.sum(1, true);
}

/// (batch, length, hidden) float32.
at::Tensor hidden_of(model::SequenceClassifier network, const model::EncoderInput& input,
                     const model::DropoutKey& key, training::ComputeType compute) {
    const training::Autocast autocast(compute, input.input_ids.device());
    return network->encode(input, false, key).hidden;
}

/// The common part of BigBird's three heads.
template <typename Network>
class BigBirdNetwork : public Network, public TokenVectors {
public:
    BigBirdNetwork(model::SequenceClassifier network, tokenizer::DnaTokenizer tokenizer,
                   const ComputeOptions& computing, const char* bias)
        : network_(std::move(network)),
          tokenizer_(std::move(tokenizer)),
          computing_(computing),
          bias_(network_->named_parameters()[bias]),
          max_tokens_(max_tokens(network_->config())) {}
    std::shared_ptr<torch::nn::Module> module() const override { return network_.ptr(); }
    std::vector<at::Tensor> trained_parameters() const override {
        return network_.ptr()->trained_parameters();
    }
    at::Tensor output_bias() const override { return bias_; }
    EncodedWindow encode(std::string_view dna, bool reverse) const override {
        EncodedWindow window = read(reverse ? genome::reverse_complement(dna) : std::string(dna));
        if (!window.all_n()) return window;
        window.ids = {tokenizer_.special_ids().cls};
        if (tokenizer_.frame() > 1) window.ids.push_back(tokenizer_.special_ids().sep);
        return window;
    }
    std::string encoding_key() const override {
        return "tokens " + std::to_string(max_tokens_) + ' ' + sha256_of_text(tokenizer_.serialized());
    }
    bool reads_tokens() const override { return true; }
    std::vector<TokenSpan> spans(const EncodedWindow& window) const override {
        return token_spans(window, tokenizer_);
    }
    at::Tensor word_vectors(const EncodedWindow& window) const override {
        const std::vector<std::int64_t> ids(window.ids.begin(), window.ids.end());
        const at::Tensor words = network_.ptr()->named_parameters()["bert.embeddings.word_embeddings.weight"];
        return words.detach().index_select(0, at::tensor(ids, at::kLong).to(words.device())).to(at::kFloat);
    }
    at::Tensor vector_logits(const EncodedWindow& window, const at::Tensor& vectors) const override {
        const std::vector<std::size_t> group(static_cast<std::size_t>(vectors.size(0)), 0);
        const std::int64_t length = input_of({&window, 1}, {group.data(), 1}).input_ids.size(1);
        const model::WordVectors words(at::constant_pad_nd(vectors, {0, 0, 0, length - vectors.size(1)}));
        return this->logits({&window, 1}, group);
    }
    std::vector<std::vector<std::size_t>> group(std::span<const EncodedWindow> windows,
                                                std::int64_t batch_tokens,
                                                model::GroupSizes sizes) const override {
        std::vector<std::int64_t> lengths;
        for (const EncodedWindow& window : windows)
            lengths.push_back(std::ssize(window.ids));
        return model::group_by_blocks(lengths, config().pattern.block_size, batch_tokens, sizes);
    }
    void write(const TaskInfo& info, const std::filesystem::path& directory) const override {
        model::write_model(network_, &tokenizer_, directory, {{"task_model", to_json(info)}});
    }

protected:
    const model::BigBirdConfig& config() const { return network_.ptr()->config(); }
    EncodedWindow read(std::string_view dna) const { return encode_window(dna, tokenizer_, max_tokens_); }
    /// Requires windows with equal block counts.
    model::EncoderInput input_of(std::span<const EncodedWindow> windows,
                                 std::span<const std::size_t> group) const {
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
        return model::make_input(sequences, config(), this->device());
    }

    model::SequenceClassifier network_;
    tokenizer::DnaTokenizer tokenizer_;
    ComputeOptions computing_;
    at::Tensor bias_;
    std::int64_t max_tokens_;
};

class WindowHead : public BigBirdNetwork<TaskNetwork> {
public:
    WindowHead(model::SequenceClassifier network, tokenizer::DnaTokenizer tokenizer, Pooling pooling,
               const rows::WindowBounds& window, const ComputeOptions& computing)
        : BigBirdNetwork(std::move(network), std::move(tokenizer), computing, "classifier.out_proj.bias"),
          pooling_(pooling),
          window_(window) {}
    EncodedWindow encode(std::string_view dna, bool reverse) const override {
        EncodedWindow window = read(reverse ? genome::reverse_complement(dna) : std::string(dna));
        if (pooling_ == Pooling::centre) {
            const auto size = static_cast<std::int64_t>(dna.size());
            const std::int64_t begin = std::max<std::int64_t>(0, -window_.begin - anchor_reach);
            const std::int64_t end = std::min(size, -window_.begin + anchor_reach);
            mark_anchor(window, tokenizer_, reverse ? size - end : begin, reverse ? size - begin : end);
        }
        return window;
    }
    std::string encoding_key() const override {
        return BigBirdNetwork::encoding_key() + (pooling_ == Pooling::centre ? " anchor" : "");
    }
    at::Tensor logits(std::span<const EncodedWindow> windows, std::span<const std::size_t> group,
                      const model::DropoutKey& key) const override {
        return pooled_logits(network_, input_of(windows, group), pooling_, key, computing_.type).unsqueeze(1);
    }

private:
    Pooling pooling_;
    rows::WindowBounds window_;
};

class BinHead : public BigBirdNetwork<BinNetwork> {
public:
    BinHead(model::SequenceClassifier network, tokenizer::DnaTokenizer tokenizer, const bins::Grid& grid,
            const ComputeOptions& computing)
        : BigBirdNetwork(std::move(network), std::move(tokenizer), computing, "classifier.out_proj.bias"),
          grid_(grid) {
        grid_.validate();
    }
    std::vector<std::vector<std::size_t>> group(std::span<const EncodedWindow> windows,
                                                std::int64_t batch_tokens,
                                                model::GroupSizes sizes) const override {
        return BinNetwork::group(windows, batch_tokens, sizes);
    }
    std::int64_t hidden_size() const override { return config().hidden_size; }
    bins::Grid grid() const override { return grid_; }
    std::int64_t window_positions() const override { return max_tokens_; }
    at::Tensor features(std::span<const EncodedWindow> windows, const model::DropoutKey& key) const override {
        std::vector<at::Tensor> parts;
        std::vector<std::int64_t> order;
        // Rounding of products depends on the number of windows, so scores on a CPU use one window at a time.
        // Given vectors are those of all windows.
        const bool scores =
            device().is_cpu() && !at::GradMode::is_enabled() && !model::WordVectors::current().defined();
        const std::int64_t most = scores ? 1 : std::numeric_limits<std::int64_t>::max();
        for (const auto& same : BigBirdNetwork::group(windows, most, model::GroupSizes::any)) {
            parts.push_back(features_of(windows, same, key));
            order.insert(order.end(), same.begin(), same.end());
        }
        if (parts.size() == 1) return parts.front();
        return at::cat(parts).index_select(0, at::argsort(at::tensor(order, at::kLong)).to(device()));
    }
    at::Tensor predict(const at::Tensor& features, const model::DropoutKey& key) const override {
        return network_.ptr()->predict(features, key);
    }
    std::shared_ptr<TaskNetwork> twin() const override {
        return bigbird_bins(model::copy_of(*network_), tokenizer_, grid_, computing_);
    }
    void write(const TaskInfo& info, const std::filesystem::path& directory) const override {
        TaskInfo written = info;
        written.network = bins::to_json(grid_);
        BigBirdNetwork::write(written, directory);
    }

private:
    /// Requires windows with equal block counts.
    at::Tensor features_of(std::span<const EncodedWindow> windows, std::span<const std::size_t> same,
                           const model::DropoutKey& key) const {
        const model::EncoderInput input = input_of(windows, same);
        std::vector<at::Tensor> weights;
        model::DropoutKey own{.seed = key.seed, .step = key.step};
        for (const std::size_t index : same) {
            weights.push_back(
                bin_weights(token_spans(windows[index], tokenizer_), grid_, input.input_ids.size(1)));
            if (!key.samples.empty()) own.samples.push_back(key.samples[index]);
        }
        const at::Tensor shares = model::copy_to_device(at::stack(weights), device());
        return at::bmm(shares, hidden_of(network_, input, own, computing_.type).to(at::kFloat));
    }

    bins::Grid grid_;
};

class TokenHead : public BigBirdNetwork<TaskNetwork> {
public:
    TokenHead(model::SequenceClassifier network, tokenizer::DnaTokenizer tokenizer,
              const ComputeOptions& computing)
        : BigBirdNetwork(std::move(network), std::move(tokenizer), computing, "classifier.bias") {}
    Segments segments() const override { return Segments::tokens; }
    at::Tensor logits(std::span<const EncodedWindow> windows, std::span<const std::size_t> group,
                      const model::DropoutKey& key) const override {
        const at::Tensor hidden = hidden_of(network_, input_of(windows, group), key, computing_.type);
        return network_.ptr()->predict(hidden.to(at::kFloat), key);
    }
};

}  // namespace

at::Tensor pooled_logits(model::SequenceClassifier network, const model::EncoderInput& input, Pooling pooling,
                         const model::DropoutKey& key, training::ComputeType compute) {
    at::Tensor hidden = hidden_of(network, input, key, compute).to(at::kFloat);
    if (pooling == Pooling::mean) hidden = mean_over(hidden, input.attention_mask);
    if (pooling == Pooling::centre)
        hidden = mean_over(hidden, input.attention_mask.logical_and(input.token_type_ids.eq(1)));
    return network->predict(hidden, key);  // the head reads the first position
}

model::EncoderInput gather_input(std::span<const model::TokenSequence> sequences,
                                 std::span<const std::size_t> indices, const model::BigBirdConfig& config,
                                 const at::Device& device) {
    std::vector<model::TokenSequence> chosen;
    chosen.reserve(indices.size());
    for (const std::size_t index : indices)
        chosen.push_back(sequences[index]);
    return model::make_input(chosen, config, device);
}

std::int64_t max_tokens(const model::BigBirdConfig& config) {
    if (config.is_published()) return config.positions();  // the padding of the last block has no position
    return config.positions() / config.pattern.block_size * config.pattern.block_size;
}

at::Tensor bin_weights(std::span<const TokenSpan> spans, const bins::Grid& grid, std::int64_t length) {
    BIGBIRD_EXPECTS(length >= std::ssize(spans), "room for every id");
    at::Tensor weights = at::zeros({grid.window_bins, length});
    float* const values = weights.mutable_data_ptr<float>();
    for (std::int64_t i = 0; i < std::ssize(spans); ++i) {
        const auto [begin, end] = spans[static_cast<std::size_t>(i)];
        for (std::int64_t bin = begin / grid.bin; bin < grid.window_bins && bin * grid.bin < end; ++bin) {
            const std::int64_t shared = std::min(end, (bin + 1) * grid.bin) - std::max(begin, bin * grid.bin);
            values[bin * length + i] += static_cast<float>(shared);
        }
    }
    return weights.div_(weights.sum(1, true).clamp_min_(1));
}

std::int64_t fitting_bins(std::span<const std::string> samples, const tokenizer::DnaTokenizer& tokenizer,
                          std::int64_t bin, std::int64_t positions) {
    if (samples.empty()) throw InputError("--examples has no base of train that is not N");
    double densest = 0;  // tokens per base
    for (const std::string& dna : samples) {
        densest = std::max(
            densest, static_cast<double>(tokenizer.encode(dna).size()) / static_cast<double>(dna.size()));
    }
    const auto bins = static_cast<std::int64_t>(static_cast<double>(positions - tokenizer.frame()) / densest /
                                                static_cast<double>(bin));
    if (bins < 1) {
        throw ConfigError("--head bins: the model's " + std::to_string(positions) +
                          " positions do not hold the tokens of one bin of " + std::to_string(bin) +
                          " bases");
    }
    return bins;
}

std::shared_ptr<TaskNetwork> bigbird_windows(model::SequenceClassifier network,
                                             tokenizer::DnaTokenizer tokenizer, Pooling pooling,
                                             const rows::WindowBounds& window,
                                             const ComputeOptions& computing) {
    if (pooling == Pooling::centre && network->config().type_vocab_size < 2)
        throw ConfigError("--pooling centre needs two token types; the model has type_vocab_size 1");
    return std::make_shared<WindowHead>(std::move(network), std::move(tokenizer), pooling, window, computing);
}

std::shared_ptr<BinNetwork> bigbird_bins(model::SequenceClassifier network, tokenizer::DnaTokenizer tokenizer,
                                         const bins::Grid& grid, const ComputeOptions& computing) {
    return std::make_shared<BinHead>(std::move(network), std::move(tokenizer), grid, computing);
}

std::shared_ptr<TaskNetwork> bigbird_tokens(model::SequenceClassifier network,
                                            tokenizer::DnaTokenizer tokenizer,
                                            const ComputeOptions& computing) {
    return std::make_shared<TokenHead>(std::move(network), std::move(tokenizer), computing);
}

}  // namespace bigbird::tasks
