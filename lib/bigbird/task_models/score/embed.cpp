// SPDX-License-Identifier: Apache-2.0
#include "bigbird/core/progress.hpp"
#include "bigbird/core/version.hpp"
#include "bigbird/model/weights.hpp"
#include "bigbird/outputs/outputs.hpp"
#include "bigbird/task_models/network/bases_network.hpp"
#include "bigbird/task_models/score/embedders.hpp"
#include "bigbird/task_models/score/score.hpp"
#include "bigbird/task_models/score/score_rows.hpp"
#include "bigbird/task_models/score/sources.hpp"
#include "bigbird/training/find_model.hpp"

#include <chrono>

namespace bigbird::task_models {
namespace fs = std::filesystem;

namespace {

constexpr std::size_t rows_a_chunk = 256;

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

bool reads_bases(const fs::path& directory) {
    return is_task_model(directory) && read_task_info(directory).architecture == bins_architecture;
}

outputs::TableSchema schema_of(const EmbedSpec& spec, const std::string& layer, std::int64_t hidden,
                               const std::string& sha256) {
    outputs::TableSchema schema;
    schema.head = outputs::region_head();
    if (spec.pooling == EmbedPooling::token) {
        for (const char* name : {"token", "token_start", "token_end"})
            schema.head.push_back({name, outputs::FieldKind::integer});
        schema.head.push_back({"piece", outputs::FieldKind::text});
    }
    for (std::int64_t i = 0; i < hidden; ++i) {
        const std::string name = fmt::format("d{}", i);
        schema.columns.push_back({name, i, ".", name, name});
    }
    schema.provenance = {{"bigbird-dna", std::string(version())},
                         {"model_sha256", sha256},
                         {"pooling", std::string(word_of(embed_pooling_choices, spec.pooling))},
                         {"layer", layer}};
    if (spec.window > 0) schema.provenance.emplace_back("window", std::to_string(spec.window));
    return schema;
}

outputs::OutputSpec output_spec(const EmbedSpec& spec) {
    outputs::OutputSpec outputs = spec.outputs;
    if (spec.sequences.empty()) outputs.inputs = {{"regions", spec.regions}};
    if (!spec.sequences.empty()) outputs.inputs = {{"sequences", spec.sequences}};
    outputs.options = {
        {"dtype", spec.dtype}, {"attention", spec.attention}, {"strand", spec.use_strand ? "yes" : "no"}};
    return outputs;
}

/// Writes the vectors of rows to the outputs, and counts them.
class VectorWriter {
public:
    VectorWriter(const EmbedSpec& spec, outputs::Outputs& outputs)
        : by_token_(spec.pooling == EmbedPooling::token), outputs_(outputs) {}

    void write(const rows::RegionRow& row, const RowVectors& of_row) {
        outputs_.begin_segment(row.segment);
        const rows::RegionFields region = rows::fields_of(row.head);
        ++report_.rows;
        report_.truncated += row.head.status == rows::RowStatus::truncated ? 1 : 0;
        if (!of_row.vectors.defined()) return write(region, 0, {.piece = "."}, {});
        ++report_.embedded;
        const auto hidden = static_cast<std::size_t>(of_row.vectors.size(1));
        const float* values = of_row.vectors.const_data_ptr<float>();
        if (!by_token_) return write(region, 0, {}, {values, hidden});
        std::int64_t number = 0;
        for (const RowVectors::Token& token : of_row.tokens) {
            write(region, ++number, token, {values, hidden});
            values += hidden;
        }
    }
    const EmbedReport& report() const { return report_; }

private:
    /// With token pooling, writes token, token_start, token_end and piece after a region's fields.
    void write(const rows::RegionFields& region, std::int64_t number, const RowVectors::Token& token,
               std::span<const float> values) {
        std::vector<rows::Field> fields(region.begin(), region.end());
        if (by_token_)
            fields.insert(fields.end(), {number, token.begin, token.end, std::string_view(token.piece)});
        outputs_.write(fields, values);
    }

    bool by_token_;
    outputs::Outputs& outputs_;
    EmbedReport report_;
};

struct Chunk {
    std::vector<rows::RegionRow> rows;
};

EmbedReport embed_rows(rows::RowSource& source, RowEmbedder& embedder, VectorWriter writer, int threads) {
    Progress progress("Embedding", "rows", source.total());
    std::int64_t embedded = 0;
    const auto score = [&](Chunk& chunk) {
        auto vectors = embedder.embed(chunk.rows);
        progress.update(embedded += std::ssize(chunk.rows));
        return vectors;
    };
    score_rows([&] { return Chunk{read_rows(source, rows_a_chunk, threads)}; }, score,
               [&](const Chunk& chunk, const std::vector<RowVectors>& vectors) {
                   for (std::size_t i = 0; i < chunk.rows.size(); ++i)
                       writer.write(chunk.rows[i], vectors[i]);
               });
    progress.finish();
    return writer.report();
}

}  // namespace

EmbedReport embed(const EmbedSpec& spec) {
    spec.validate();
    const auto start = std::chrono::steady_clock::now();
    outputs::prepare_outputs(output_spec(spec));
    const bool by_regions = spec.sequences.empty();
    if (by_regions) require_readable(spec.regions);
    const std::unique_ptr<genome::ReferenceGenome> genome =
        by_regions ? genome::open_references(spec.references) : genome::open_records(spec.sequences);
    const Job job = open_job(spec);
    const fs::path directory = training::find_model(spec.model);
    const std::unique_ptr<RowEmbedder> embedder = reads_bases(directory)
                                                      ? bin_embedder(spec, directory, *genome, job)
                                                      : token_embedder(spec, directory, job);
    std::unique_ptr<rows::RowSource> source = source_of(spec, *genome, reads_bases(directory));
    if (spec.outputs.shard) {
        source = shard_rows(
            std::move(source), *spec.outputs.shard,
            [&embedder](const rows::RegionRow& before, const rows::RegionRow& row) {
                return embedder->together(before, row);
            });
    }
    outputs::Outputs outputs(
        output_spec(spec),
        schema_of(spec, embedder->layer(), embedder->hidden_size(), model::weights_checksum(directory)), {},
        {}, job.threads);
    EmbedReport report = embed_rows(*source, *embedder, VectorWriter(spec, outputs), job.threads);
    source->report();
    outputs.commit();
    report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return report;
}

}  // namespace bigbird::task_models
