// SPDX-License-Identifier: Apache-2.0
#include "bigbird/task_models/score/embedders.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/interrupt.hpp"
#include "bigbird/core/parallel.hpp"
#include "bigbird/model/model_directory.hpp"
#include "bigbird/task_models/network/model_folder.hpp"
#include "bigbird/task_models/score/grid_rows.hpp"

#include <algorithm>

namespace bigbird::task_models {
namespace fs = std::filesystem;

namespace {

/// The encoder of any network.
class Encoder {
public:
    Encoder(const fs::path& directory, const Job& job)
        : model_(model::load_encoder(directory, job.device).model),
          device_(job.device),
          compute_(job.computing.type) {
        model_->set_attention_backend(job.computing.attention);
    }
    const model::BigBirdConfig& config() const { return model_->config(); }
    const at::Device& device() const { return device_; }
    /// (batch, length, hidden) of a layer
    at::Tensor hidden(const model::EncoderInput& input, std::int64_t layer) {
        const training::Autocast autocast(compute_, device_);
        const bool last = layer == config().num_hidden_layers;
        const model::EncoderOutput output = model_->encode(input, !last);
        return last ? output.hidden : output.hidden_states[static_cast<std::size_t>(layer)];
    }

private:
    model::PreTrainingModel model_;
    at::Device device_;
    training::ComputeType compute_;
};

/// (tokens or 1, hidden) float32 on the CPU for each sequence.
std::vector<at::Tensor> vectors_of(Encoder& encoder, std::span<const model::TokenSequence> sequences,
                                   EmbedPooling pooling, std::int64_t layer, std::int64_t batch_tokens) {
    const at::NoGradGuard no_gradients;
    std::vector<at::Tensor> vectors(sequences.size());
    for (const auto& group :
         model::group_by_blocks(sequences, encoder.config().pattern.block_size, batch_tokens,
                                model::sizes_for_scores(encoder.device()))) {
        stop_if_asked();
        const at::Tensor hidden =  // (batch, length, hidden)
            encoder.hidden(gather_input(sequences, group, encoder.config(), encoder.device()), layer)
                .to(at::kCPU, at::kFloat);
        for (std::size_t row = 0; row < group.size(); ++row) {
            const auto tokens = std::ssize(sequences[group[row]].ids);
            const at::Tensor one = hidden[static_cast<std::int64_t>(row)];  // (length, hidden)
            at::Tensor& vector = vectors[group[row]];
            if (pooling == EmbedPooling::cls) {
                vector = one.slice(0, 0, 1);
            } else {
                vector = one.slice(0, 1, tokens - 1);  // without [CLS] and [SEP]
                if (pooling == EmbedPooling::mean) vector = vector.mean(0, true);
            }
            vector = vector.contiguous();
        }
    }
    return vectors;
}

std::int64_t chosen_layer(const EmbedSpec& spec, const model::BigBirdConfig& config) {
    if (spec.layer > config.num_hidden_layers || spec.layer < -1) {
        throw ConfigError("--layer is 0 (embeddings) to " + std::to_string(config.num_hidden_layers) +
                          " for this model, or -1 for the last, not " + std::to_string(spec.layer));
    }
    return spec.layer < 0 ? config.num_hidden_layers : spec.layer;
}

class TokenEmbedder : public RowEmbedder {
public:
    TokenEmbedder(const EmbedSpec& spec, const fs::path& directory, const Job& job)
        : spec_(spec),
          job_(job),
          encoder_(directory, job),
          tokenizer_(model::read_tokenizer(directory, encoder_.config())),
          layer_(chosen_layer(spec, encoder_.config())) {}
    std::int64_t hidden_size() const override { return encoder_.config().hidden_size; }
    std::string layer() const override { return std::to_string(layer_); }
    std::vector<RowVectors> embed(std::span<rows::RegionRow> rows) override {
        std::vector<EncodedWindow> windows(rows.size());
        const std::int64_t most = max_tokens(encoder_.config());
        parallel_for(std::ssize(rows), job_.threads, [&](std::int64_t i) {
            const auto index = static_cast<std::size_t>(i);
            if (rows::is_scored(rows[index].head.status))
                windows[index] = encode_window(rows[index].sequence, tokenizer_, most);
        });
        std::vector<model::TokenSequence> sequences;
        for (const EncodedWindow& window : windows)
            if (!window.all_n()) sequences.push_back({window.ids, {}});
        const std::vector<at::Tensor> vectors =
            vectors_of(encoder_, sequences, spec_.pooling, layer_, job_.batch_tokens);
        std::vector<RowVectors> all(rows.size());
        for (std::size_t i = 0, next = 0; i < rows.size(); ++i) {
            if (windows[i].truncated) rows[i].head.status = rows::RowStatus::truncated;
            if (windows[i].all_n()) continue;
            all[i].vectors = vectors[next++];
            if (spec_.pooling == EmbedPooling::token) all[i].tokens = tokens_of(windows[i]);
        }
        return all;
    }

private:
    std::vector<RowVectors::Token> tokens_of(const EncodedWindow& window) const {
        const std::vector<TokenSpan> spans = token_spans(window, tokenizer_);
        std::vector<RowVectors::Token> tokens;
        for (std::size_t i = 1; i + 1 < spans.size(); ++i)
            tokens.push_back({spans[i].begin, spans[i].end, tokenizer_.piece(window.ids[i])});
        return tokens;
    }

    const EmbedSpec& spec_;
    Job job_;
    Encoder encoder_;
    tokenizer::DnaTokenizer tokenizer_;
    std::int64_t layer_;
};

void require_fit(const EmbedSpec& spec, const bins::Grid& grid) {
    const auto refuse = [](bool given, const std::string& option, const std::string& why) {
        if (given) throw ConfigError(option + " is not of models of bins: " + why);
    };
    refuse(spec.pooling != EmbedPooling::mean, "--pooling", "a row gets the mean over its bins");
    refuse(spec.layer != -1, "--layer", "only the last layer is read");
    refuse(spec.use_strand, "--strand", "windows lie on a grid of the reference");
    grid.validate();
}

/// (windows, window_bins, hidden) on the CPU.
at::Tensor features_of(const BinNetwork& network, std::span<const std::string> windows) {
    const at::InferenceMode inference;
    std::vector<EncodedWindow> encoded;
    for (const std::string& window : windows)
        encoded.push_back(network.encode(window));
    return network.features(encoded).narrow(2, 0, network.hidden_size()).to(at::kCPU).contiguous();
}

class BinEmbedder : public RowEmbedder {
public:
    BinEmbedder(std::shared_ptr<BinNetwork> network, const genome::ReferenceGenome& genome,
                std::int64_t batch_tokens)
        : network_(std::move(network)),
          sequence_of_([&genome](const genome::Interval& where) { return genome.fetch(where); }),
          reader_(network_->grid(), sequence_of_, windows_at_once(*network_, batch_tokens),
                  [this](std::span<const std::string> windows) { return features_of(*network_, windows); }) {}
    std::int64_t hidden_size() const override { return network_->hidden_size(); }
    std::string layer() const override { return "last"; }
    bool together(const rows::RegionRow& before, const rows::RegionRow& row) const override {
        return begin_in_one_window(network_->grid(), before.window, row.window);
    }
    std::vector<RowVectors> embed(std::span<rows::RegionRow> rows) override {
        std::vector<GridRow> where;
        for (const rows::RegionRow& row : rows)
            where.push_back({row.window, rows::is_scored(row.head.status)});
        std::vector<double> sums(rows.size() * static_cast<std::size_t>(hidden_size()));
        reader_.add(where, hidden_size(), sums, {});
        const at::Tensor vectors =
            at::tensor(sums, at::kDouble).to(at::kFloat).view({std::ssize(rows), 1, hidden_size()});
        std::vector<RowVectors> all(rows.size());
        for (std::size_t i = 0; i < rows.size(); ++i)
            if (where[i].wanted) all[i].vectors = vectors[static_cast<std::int64_t>(i)];
        return all;
    }

private:
    std::shared_ptr<BinNetwork> network_;
    SequenceOf sequence_of_;
    GridRows reader_;
};

}  // namespace

std::unique_ptr<RowEmbedder> token_embedder(const EmbedSpec& spec, const fs::path& directory,
                                            const Job& job) {
    return std::make_unique<TokenEmbedder>(spec, directory, job);
}

std::unique_ptr<RowEmbedder> bin_embedder(const EmbedSpec& spec, const fs::path& directory,
                                          const genome::ReferenceGenome& genome, const Job& job) {
    const ModelFolder model = open_model(directory, examples::Task::chromatin, job.device, job.computing);
    require_fit(spec, model.bins()->grid());
    return std::make_unique<BinEmbedder>(model.bins(), genome, job.batch_tokens);
}

}  // namespace bigbird::task_models
