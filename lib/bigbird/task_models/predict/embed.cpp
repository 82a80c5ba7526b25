// SPDX-License-Identifier: Apache-2.0
#include "bigbird/task_models/predict/embed.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/interrupt.hpp"
#include "bigbird/core/log.hpp"
#include "bigbird/core/parallel.hpp"
#include "bigbird/core/progress.hpp"
#include "bigbird/core/version.hpp"
#include "bigbird/genome/reference/sequence.hpp"
#include "bigbird/model/device/device.hpp"
#include "bigbird/model/model_directory.hpp"
#include "bigbird/model/weights.hpp"
#include "bigbird/rows/region_rows.hpp"
#include "bigbird/task_models/batched_logits.hpp"
#include "bigbird/task_models/predict/predictor.hpp"
#include "bigbird/task_models/task_model.hpp"
#include "bigbird/task_models/window_encoder.hpp"
#include "bigbird/training/find_model.hpp"

#include <chrono>

namespace bigbird::task_models {
namespace fs = std::filesystem;

namespace {

constexpr std::size_t rows_a_chunk = 256;

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
    for (const auto& group : model::group_by_blocks(sequences, encoder.config().pattern.block_size,
                                                    batch_tokens, model::GroupSizes::few)) {
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

/// The records of a FASTA, each as it is.
class SequenceSource : public rows::RowSource {
public:
    explicit SequenceSource(const fs::path& fasta) : path_(fasta), genome_(genome::open_reference(fasta)) {}
    std::optional<rows::RegionRow> next() override {
        if (next_ >= genome_->contigs().size()) return std::nullopt;
        const genome::Contig& contig = genome_->contigs()[next_++];
        rows::RegionRow row;
        row.window = {contig.name, 0, contig.length};
        row.head.where = row.window;
        return row;
    }
    void fill(rows::RegionRow& row) const override {
        row.sequence = genome_->fetch(row.window);
        row.head.n_fraction = genome::n_fraction(row.sequence);
        row.head.status = rows::status_of(row.sequence);
    }
    void report() const override {}
    std::int64_t total() const override { return std::ssize(genome_->contigs()); }

private:
    fs::path path_;
    std::unique_ptr<genome::ReferenceGenome> genome_;
    std::size_t next_ = 0;
};

outputs::Layout layout_of(const EmbedSpec& spec, std::int64_t layer, std::int64_t hidden,
                          const std::string& sha256) {
    outputs::Layout layout;
    layout.head = outputs::region_head();
    if (spec.pooling == EmbedPooling::token) {
        for (const char* name : {"token", "token_start", "token_end"}) {
            layout.head.push_back({name, outputs::FieldKind::integer});
        }
        layout.head.push_back({"piece", outputs::FieldKind::text});
    }
    for (std::int64_t i = 0; i < hidden; ++i) {
        const std::string name = fmt::format("d{}", i);
        layout.columns.push_back({name, i, ".", name, name});
    }
    layout.provenance = {{"bigbird-dna", std::string(version())},
                         {"model_sha256", sha256},
                         {"pooling", std::string(word_of(embed_pooling_choices, spec.pooling))},
                         {"layer", std::to_string(layer)}};
    if (spec.window > 0) layout.provenance.emplace_back("window", std::to_string(spec.window));
    return layout;
}

/// Behind a region's fields: token, token_start, token_end and piece.
std::vector<rows::Field> token_fields(const rows::RegionFields& region, std::int64_t token,
                                      std::int64_t begin, std::int64_t end, std::string_view piece) {
    std::vector<rows::Field> fields(region.begin(), region.end());
    fields.insert(fields.end(), {token, begin, end, piece});
    return fields;
}

class Embedder {
public:
    Embedder(const EmbedSpec& spec, Encoder& encoder, tokenizer::DnaTokenizer tokenizer, std::int64_t layer,
             outputs::Outputs& outputs, int threads)
        : spec_(spec),
          encoder_(encoder),
          tokenizer_(std::move(tokenizer)),
          layer_(layer),
          outputs_(outputs),
          threads_(threads),
          batch_tokens_(batch_tokens_on(encoder.device(), spec.batch_tokens)) {}

    EmbedReport run(rows::RowSource& source) {
        Progress progress("Embedding", "rows", source.total());
        std::vector<rows::RegionRow> rows;
        do {
            stop_if_asked();
            rows.clear();
            while (rows.size() < rows_a_chunk) {
                std::optional<rows::RegionRow> row = source.next();
                if (!row) break;
                rows.push_back(std::move(*row));
            }
            embed_rows(source, rows);
            progress.update(report_.rows);
        } while (!rows.empty());
        progress.finish();
        return report_;
    }

private:
    void embed_rows(const rows::RowSource& source, std::vector<rows::RegionRow>& rows) {
        std::vector<EncodedWindow> windows(rows.size());
        const std::int64_t most = max_tokens(encoder_.config());
        parallel_for(std::ssize(rows), threads_, [&](std::int64_t i) {
            const auto index = static_cast<std::size_t>(i);
            source.fill(rows[index]);
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
                ++report_.truncated;
            }
            ++report_.rows;
            if (windows[i].all_n()) {
                write_empty(rows[i]);
            } else {
                write(rows[i], windows[i], vectors[next++]);
                ++report_.embedded;
            }
        }
    }
    void write_empty(const rows::RegionRow& row) {
        if (spec_.pooling == EmbedPooling::token) {
            outputs_.write(token_fields(rows::fields_of(row.head), 0, 0, 0, "."), {});
        } else {
            outputs_.write(rows::fields_of(row.head), {});
        }
    }
    void write(const rows::RegionRow& row, const EncodedWindow& window, const at::Tensor& vectors) {
        const rows::RegionFields fields = rows::fields_of(row.head);
        const auto hidden = static_cast<std::size_t>(vectors.size(1));
        const float* values = vectors.const_data_ptr<float>();
        if (spec_.pooling != EmbedPooling::token) {
            outputs_.write(fields, {values, hidden});
            return;
        }
        std::int64_t begin = window.first_base;
        for (std::size_t token = 1; token + 1 < window.ids.size(); ++token, values += hidden) {
            const std::int32_t id = window.ids[token];
            const std::int64_t end = begin + tokenizer_.piece_length(id);
            const std::string piece = tokenizer_.piece(id);
            outputs_.write(token_fields(fields, static_cast<std::int64_t>(token), begin, end, piece),
                           {values, hidden});
            begin = end;
        }
    }

    const EmbedSpec& spec_;
    Encoder& encoder_;
    tokenizer::DnaTokenizer tokenizer_;
    std::int64_t layer_;
    outputs::Outputs& outputs_;
    int threads_;
    std::int64_t batch_tokens_;
    EmbedReport report_;
};

std::int64_t chosen_layer(const EmbedSpec& spec, const model::BigBirdConfig& config) {
    if (spec.layer > config.num_hidden_layers || spec.layer < -1) {
        throw ConfigError("--layer is 0 (embeddings) to " + std::to_string(config.num_hidden_layers) +
                          " for this model, or -1 for the last, not " + std::to_string(spec.layer));
    }
    return spec.layer < 0 ? config.num_hidden_layers : spec.layer;
}

}  // namespace

EmbedReport embed(const EmbedSpec& spec) {
    spec.validate();
    const auto start = std::chrono::steady_clock::now();
    outputs::prepare_outputs(spec.outputs);
    const int threads = resolve_threads(spec.threads);
    std::unique_ptr<genome::ReferenceGenome> reference;
    if (spec.sequences.empty()) {
        require_readable(spec.regions);
        reference = genome::open_references(spec.references);
    }
    const at::Device device = model::open_device(spec.device);
    model::set_compute_threads(spec.threads);
    const fs::path directory = training::find_model(spec.model);
    Encoder encoder(directory, device, parse_computing(spec.dtype, spec.attention, device));
    const std::int64_t layer = chosen_layer(spec, encoder.config());
    std::unique_ptr<rows::RowSource> source;
    if (reference) {
        rows::RegionOptions options;
        options.anchor = spec.window > 0 ? rows::Anchor::centre : rows::Anchor::itself;
        options.bounds = {-(spec.window / 2), spec.window - spec.window / 2};
        options.use_strand = spec.use_strand;
        options.skip_invalid = spec.skip_invalid;
        source = std::make_unique<rows::RegionReader>(spec.regions, *reference, options);
    } else {
        source = std::make_unique<SequenceSource>(spec.sequences);
    }
    outputs::Outputs outputs(
        spec.outputs,
        layout_of(spec, layer, encoder.config().hidden_size, model::weights_checksum(directory)), {}, {},
        threads);
    Embedder embedder(spec, encoder, model::read_tokenizer(directory, encoder.config()), layer, outputs,
                      threads);
    EmbedReport report = embedder.run(*source);
    source->report();
    outputs.commit();
    report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return report;
}

}  // namespace bigbird::task_models
