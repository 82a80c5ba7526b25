// SPDX-License-Identifier: Apache-2.0
#include "bigbird/core/error.hpp"
#include "bigbird/core/interrupt.hpp"
#include "bigbird/core/parallel.hpp"
#include "bigbird/model/model_directory.hpp"
#include "bigbird/task_models/bigbird_windows.hpp"
#include "bigbird/task_models/computing.hpp"
#include "bigbird/task_models/embed/row_embedder.hpp"
#include "bigbird/task_models/windows/batched_logits.hpp"
#include "bigbird/task_models/windows/window_encoder.hpp"

namespace bigbird::task_models {
namespace fs = std::filesystem;

namespace {

/// The encoder of any network.
class Encoder {
public:
    Encoder(const fs::path& directory, const at::Device& device, const Computing& computing)
        : model_(model::load_encoder(directory, device).model), device_(device), compute_(computing.type) {
        model_->set_attention_backend(computing.attention);
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

/// Behind a region's fields: token, token_start, token_end and piece.
std::vector<rows::Field> token_fields(const rows::RegionFields& region, std::int64_t token,
                                      std::int64_t begin, std::int64_t end, std::string_view piece) {
    std::vector<rows::Field> fields(region.begin(), region.end());
    fields.insert(fields.end(), {token, begin, end, piece});
    return fields;
}

class TokenEmbedder : public RowEmbedder {
public:
    TokenEmbedder(const EmbedSpec& spec, const fs::path& directory, const at::Device& device,
                  const Computing& computing, int threads)
        : spec_(spec),
          encoder_(directory, device, computing),
          tokenizer_(model::read_tokenizer(directory, encoder_.config())),
          layer_(chosen_layer(spec, encoder_.config())),
          threads_(threads),
          batch_tokens_(batch_tokens_on(device, spec.batch_tokens)) {}
    std::int64_t hidden_size() const override { return encoder_.config().hidden_size; }
    std::string layer() const override { return std::to_string(layer_); }
    void embed(std::span<rows::RegionRow> rows, outputs::Outputs& outputs, EmbedReport& report) override {
        std::vector<EncodedWindow> windows(rows.size());
        const std::int64_t most = max_tokens(encoder_.config());
        parallel_for(std::ssize(rows), threads_, [&](std::int64_t i) {
            const auto index = static_cast<std::size_t>(i);
            if (rows::is_scored(rows[index].head.status)) {
                windows[index] = encode_window(rows[index].sequence, tokenizer_, most);
            }
        });
        std::vector<model::TokenSequence> sequences;
        for (const EncodedWindow& window : windows) {
            if (!window.all_n()) sequences.push_back({window.ids, {}});
        }
        const std::vector<at::Tensor> vectors =
            vectors_of(encoder_, sequences, spec_.pooling, layer_, batch_tokens_);
        std::size_t next = 0;
        for (std::size_t i = 0; i < rows.size(); ++i) {
            if (windows[i].truncated) {
                rows[i].head.status = rows::RowStatus::truncated;
                ++report.truncated;
            }
            ++report.rows;
            if (windows[i].all_n()) {
                write_empty(rows[i], outputs);
            } else {
                write(rows[i], windows[i], vectors[next++], outputs);
                ++report.embedded;
            }
        }
    }

private:
    void write_empty(const rows::RegionRow& row, outputs::Outputs& outputs) const {
        outputs.begin_segment(row.segment);
        if (spec_.pooling == EmbedPooling::token) {
            outputs.write(token_fields(rows::fields_of(row.head), 0, 0, 0, "."), {});
        } else {
            outputs.write(rows::fields_of(row.head), {});
        }
    }
    void write(const rows::RegionRow& row, const EncodedWindow& window, const at::Tensor& vectors,
               outputs::Outputs& outputs) const {
        outputs.begin_segment(row.segment);
        const rows::RegionFields fields = rows::fields_of(row.head);
        const auto hidden = static_cast<std::size_t>(vectors.size(1));
        const float* values = vectors.const_data_ptr<float>();
        if (spec_.pooling != EmbedPooling::token) {
            outputs.write(fields, {values, hidden});
            return;
        }
        std::int64_t begin = window.first_base;
        for (std::size_t token = 1; token + 1 < window.ids.size(); ++token, values += hidden) {
            const std::int32_t id = window.ids[token];
            const std::int64_t end = begin + tokenizer_.piece_length(id);
            const std::string piece = tokenizer_.piece(id);
            outputs.write(token_fields(fields, static_cast<std::int64_t>(token), begin, end, piece),
                          {values, hidden});
            begin = end;
        }
    }

    const EmbedSpec& spec_;
    Encoder encoder_;
    tokenizer::DnaTokenizer tokenizer_;
    std::int64_t layer_;
    int threads_;
    std::int64_t batch_tokens_;
};

}  // namespace

std::unique_ptr<RowEmbedder> token_embedder(const EmbedSpec& spec, const fs::path& directory,
                                            const at::Device& device, const Computing& computing,
                                            int threads) {
    return std::make_unique<TokenEmbedder>(spec, directory, device, computing, threads);
}

}  // namespace bigbird::task_models
