// SPDX-License-Identifier: Apache-2.0
#include "bigbird/core/error.hpp"
#include "bigbird/core/interrupt.hpp"
#include "bigbird/core/parallel.hpp"
#include "bigbird/core/progress.hpp"
#include "bigbird/core/version.hpp"
#include "bigbird/genome/reference/reference_genome.hpp"
#include "bigbird/model/model_directory.hpp"
#include "bigbird/model/weights.hpp"
#include "bigbird/outputs/outputs.hpp"
#include "bigbird/rows/region_rows.hpp"
#include "bigbird/scoring/rows/predict.hpp"
#include "bigbird/scoring/score_rows.hpp"
#include "bigbird/scoring/scorers.hpp"
#include "bigbird/tasks/bases_network.hpp"
#include "bigbird/tasks/model_folder.hpp"
#include "bigbird/tasks/specs/score_specs.hpp"
#include "bigbird/training/checkpoint_store.hpp"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace bigbird::tasks {

namespace fs = std::filesystem;

namespace {

/// The vectors of a row.
struct RowVectors {
    /// A token of the window, and its bases.
    struct Token {
        std::int64_t begin = 0, end = 0;
        std::string piece;
    };
    at::Tensor vectors;         ///< (1 or tokens, hidden) float32 on the CPU; undefined: the row has none
    std::vector<Token> tokens;  ///< with EmbedPooling::token
};

/// The interface between embed() and models: rows in, vectors out.
class RowEmbedder {
public:
    virtual ~RowEmbedder() = default;
    /// Whether a row is computed together with the row before it. A job in parts then puts them into the same
    /// part.
    virtual bool together(const rows::RegionRow&, const rows::RegionRow&) const { return false; }
    /// The vectors of filled rows, in order. May change their statuses to truncated.
    virtual std::vector<RowVectors> embed(std::span<rows::RegionRow> rows) = 0;

    std::int64_t hidden_size = 0;  ///< the length of a vector
    std::string layer;             ///< the layer's name in outputs: "0", the embeddings, "1" …, or "last"
};

std::int64_t chosen_layer(const EmbedSpec& spec, const model::BigBirdConfig& config) {
    if (spec.layer > config.num_hidden_layers || spec.layer < -1) {
        throw ConfigError("--layer is 0 (embeddings) to " + std::to_string(config.num_hidden_layers) +
                          " for this model, or -1 for the last, not " + std::to_string(spec.layer));
    }
    return spec.layer < 0 ? config.num_hidden_layers : spec.layer;
}

/// Embeds rows with the encoder of a token model, pretrained or fine-tuned. `spec` must outlive it. Throws
/// InputError. Throws ConfigError if the model does not have the layer.
class TokenEmbedder : public RowEmbedder {
public:
    TokenEmbedder(const EmbedSpec& spec, const fs::path& directory, const Job& job)
        : spec_(spec),
          job_(job),
          model_(model::load_encoder(directory, job.device).model),
          tokenizer_(model::read_tokenizer(directory, model_->config())),
          layer_(chosen_layer(spec, model_->config())) {
        hidden_size = model_->config().hidden_size;
        layer = std::to_string(layer_);
    }
    std::vector<RowVectors> embed(std::span<rows::RegionRow> rows) override {
        std::vector<EncodedWindow> windows(rows.size());
        const std::int64_t most = max_tokens(model_->config());
        parallel_for(std::ssize(rows), job_.threads, [&](std::int64_t i) {
            const auto index = static_cast<std::size_t>(i);
            if (rows::is_scored(rows[index].head.status))
                windows[index] = encode_window(rows[index].sequence, tokenizer_, most);
        });
        std::vector<model::TokenSequence> sequences;
        for (const EncodedWindow& window : windows)
            if (!window.all_n()) sequences.push_back({window.ids, {}});
        const std::vector<at::Tensor> vectors = vectors_of(sequences);
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
    /// (batch, length, hidden) of the chosen layer.
    at::Tensor hidden(const model::EncoderInput& input) {
        const training::Autocast autocast(job_.computing.type, job_.device);
        const bool last = layer_ == model_->config().num_hidden_layers;
        const model::EncoderOutput output = model_->encode(input, !last);
        return last ? output.hidden : output.hidden_states[static_cast<std::size_t>(layer_)];
    }
    /// (tokens or 1, hidden) float32 on the CPU for each sequence.
    std::vector<at::Tensor> vectors_of(std::span<const model::TokenSequence> sequences) {
        const at::NoGradGuard no_gradients;
        std::vector<at::Tensor> vectors(sequences.size());
        const model::BigBirdConfig& config = model_->config();
        for (const auto& group :
             model::group_by_blocks(sequences, config.pattern.block_size, job_.batch_tokens,
                                    model::sizes_for_scores(job_.device))) {
            stop_if_asked();
            const at::Tensor all =  // (batch, length, hidden)
                hidden(gather_input(sequences, group, config, job_.device)).to(at::kCPU, at::kFloat);
            for (std::size_t row = 0; row < group.size(); ++row) {
                const auto tokens = std::ssize(sequences[group[row]].ids);
                const at::Tensor one = all[static_cast<std::int64_t>(row)];  // (length, hidden)
                at::Tensor& vector = vectors[group[row]];
                if (spec_.pooling == EmbedPooling::cls) {
                    vector = one.slice(0, 0, 1);
                } else if (spec_.pooling == EmbedPooling::mean_special) {
                    vector = one.slice(0, 0, tokens).mean(0, true);
                } else {
                    vector = one.slice(0, 1, tokens + 1 - tokenizer_.frame());  // without [CLS] and [SEP]
                    if (spec_.pooling == EmbedPooling::mean) vector = vector.mean(0, true);
                }
                vector = vector.contiguous();
            }
        }
        return vectors;
    }
    std::vector<RowVectors::Token> tokens_of(const EncodedWindow& window) const {
        const std::vector<TokenSpan> spans = token_spans(window, tokenizer_);
        std::vector<RowVectors::Token> tokens;
        const std::size_t behind = spans.size() + 1 - static_cast<std::size_t>(tokenizer_.frame());
        for (std::size_t i = 1; i < behind; ++i)
            tokens.push_back({spans[i].begin, spans[i].end, tokenizer_.piece(window.ids[i])});
        return tokens;
    }

    const EmbedSpec& spec_;
    Job job_;
    model::PreTrainingModel model_;
    tokenizer::DnaTokenizer tokenizer_;
    std::int64_t layer_;
};

/// (windows, window_bins, hidden) on the CPU.
at::Tensor features_of(const BinNetwork& network, std::span<const std::string> windows) {
    const at::InferenceMode inference;
    std::vector<EncodedWindow> encoded;
    for (const std::string& window : windows)
        encoded.push_back(network.encode(window));
    return network.features(encoded).narrow(2, 0, network.hidden_size()).to(at::kCPU).contiguous();
}

/// Embeds rows with bigbird-bins: the mean of the last layer over the bins that a row overlaps (GridRows).
/// Throws ConfigError if the spec requests layers, tokens or a row's strand, which this network does not
/// support.
class BinEmbedder : public RowEmbedder {
public:
    BinEmbedder(const EmbedSpec& spec, const fs::path& directory, const Job& job,
                const genome::ReferenceGenome& genome)
        : network_(open_model(directory, std::nullopt, job.device, job.computing).bins()),
          sequence_of_([&genome](const genome::Interval& where) { return genome.fetch(where); }),
          reader_(network_->grid(), sequence_of_, windows_at_once(*network_, job.batch_tokens),
                  [this](std::span<const std::string> windows) { return features_of(*network_, windows); }) {
        const auto refuse = [](bool given, const std::string& option, const std::string& why) {
            if (given) throw ConfigError(option + " is not of models of bins: " + why);
        };
        refuse(spec.pooling != EmbedPooling::mean, "--pooling", "a row gets the mean over its bins");
        refuse(spec.layer != -1, "--layer", "only the last layer is read");
        refuse(spec.use_strand, "--strand", "windows lie on a grid of the reference");
        hidden_size = network_->hidden_size();
        layer = "last";
    }
    bool together(const rows::RegionRow& before, const rows::RegionRow& row) const override {
        return begin_in_one_window(network_->grid(), before.window, row.window);
    }
    std::vector<RowVectors> embed(std::span<rows::RegionRow> rows) override {
        std::vector<GridRow> where;
        for (const rows::RegionRow& row : rows)
            where.push_back({row.window, rows::is_scored(row.head.status)});
        std::vector<double> sums(rows.size() * static_cast<std::size_t>(hidden_size));
        reader_.add(where, hidden_size, sums, {});
        const at::Tensor vectors =
            at::tensor(sums, at::kDouble).to(at::kFloat).view({std::ssize(rows), 1, hidden_size});
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

std::unique_ptr<rows::RowSource> source_of(const EmbedSpec& spec, const genome::ReferenceGenome& genome,
                                           bool by_bins) {
    if (!spec.sequences.empty()) return sequence_source(genome);
    rows::RegionOptions options;
    options.anchor = spec.window > 0 ? rows::Anchor::centre : rows::Anchor::itself;
    options.bounds = {-(spec.window / 2), spec.window - spec.window / 2};
    options.use_strand = spec.use_strand;
    options.skip_invalid = spec.skip_invalid;
    options.clip = by_bins;
    return std::make_unique<rows::RegionReader>(spec.regions, genome, options);
}

outputs::TableSchema schema_of(const EmbedSpec& spec, const RowEmbedder& embedder,
                               const std::string& sha256) {
    outputs::TableSchema schema;
    schema.head = outputs::region_head();
    if (spec.pooling == EmbedPooling::token) {
        for (const char* name : {"token", "token_start", "token_end"})
            schema.head.push_back({name, outputs::FieldKind::integer});
        schema.head.push_back({"piece", outputs::FieldKind::text, true});
    }
    for (std::int64_t i = 0; i < embedder.hidden_size; ++i) {
        const std::string name = fmt::format("d{}", i);
        schema.columns.push_back({name, i, ".", name, name});
    }
    schema.provenance = {{"bigbird-dna", std::string(version())},
                         {"model_sha256", sha256},
                         {"pooling", std::string(word_of(embed_pooling_choices, spec.pooling))},
                         {"layer", embedder.layer}};
    if (spec.window > 0) schema.provenance.emplace_back("window", std::to_string(spec.window));
    return schema;
}

outputs::OutputSpec output_spec(const EmbedSpec& spec) {
    outputs::OutputSpec outputs = spec.outputs;
    outputs.inputs = {spec.sequences.empty() ? std::pair("regions", spec.regions)
                                             : std::pair("sequences", spec.sequences)};
    outputs.options = {{"dtype", spec.dtype}, {"strand", spec.use_strand ? "yes" : "no"}};
    return outputs;
}

/// Writes the vectors of a row to the outputs, and counts it.
void write_row(const rows::RegionRow& row, const RowVectors& found, bool by_token, outputs::Outputs& outputs,
               EmbedReport& report) {
    outputs.begin_segment(row.segment);
    const rows::RegionFields region = rows::fields_of(row.head);
    // With token pooling, token, token_start, token_end and piece follow the region's fields.
    const auto write = [&](std::int64_t number, const RowVectors::Token& token,
                           std::span<const float> values) {
        std::vector<rows::Field> fields(region.begin(), region.end());
        if (by_token)
            fields.insert(fields.end(), {number, token.begin, token.end, std::string_view(token.piece)});
        outputs.write(fields, values);
    };
    ++report.rows;
    report.truncated += row.head.status == rows::RowStatus::truncated ? 1 : 0;
    if (!found.vectors.defined()) return write(0, {.piece = "."}, {});
    ++report.embedded;
    const auto hidden = static_cast<std::size_t>(found.vectors.size(1));
    const float* values = found.vectors.const_data_ptr<float>();
    if (!by_token) return write(0, {}, {values, hidden});
    std::int64_t number = 0;
    for (const RowVectors::Token& token : found.tokens) {
        write(++number, token, {values, hidden});
        values += hidden;
    }
}

}  // namespace

EmbedReport embed(const EmbedSpec& spec) {
    spec.validate();
    outputs::prepare_outputs(output_spec(spec));
    const bool by_regions = spec.sequences.empty();
    const std::unique_ptr<genome::ReferenceGenome> genome =
        by_regions ? genome::open_references(spec.references) : genome::open_records(spec.sequences);
    const Job job = open_job(spec);
    refuse_profiles(spec.model, "embed");
    const fs::path directory = training::find_model(spec.model);
    const bool by_bins = is_task_model(directory) && read_task_info(directory).row().scores_bins();
    std::unique_ptr<RowEmbedder> embedder;
    if (by_bins)
        embedder = std::make_unique<BinEmbedder>(spec, directory, job, *genome);
    else
        embedder = std::make_unique<TokenEmbedder>(spec, directory, job);
    std::unique_ptr<rows::RowSource> source = source_of(spec, *genome, by_bins);
    if (spec.outputs.shard) {
        source = shard_rows(
            std::move(source), *spec.outputs.shard,
            [&embedder](const rows::RegionRow& before, const rows::RegionRow& row) {
                return embedder->together(before, row);
            });
    }
    outputs::Outputs outputs(output_spec(spec),
                             schema_of(spec, *embedder, model::weights_checksum(directory)), {}, job.threads);
    EmbedReport report;  // only the writing thread uses it
    Progress progress("Embedding", "rows", source->total());
    std::int64_t embedded = 0;
    const auto score = [&](std::vector<rows::RegionRow>& rows) {
        auto vectors = embedder->embed(rows);
        progress.update(embedded += std::ssize(rows));
        return vectors;
    };
    score_rows([&] { return read_rows(*source, rows_per_chunk, job.threads); }, score,
               [&](const std::vector<rows::RegionRow>& rows, const std::vector<RowVectors>& vectors) {
                   for (std::size_t i = 0; i < rows.size(); ++i)
                       write_row(rows[i], vectors[i], spec.pooling == EmbedPooling::token, outputs, report);
               });
    progress.finish();
    source->report();
    outputs.commit();
    return report;
}

}  // namespace bigbird::tasks
