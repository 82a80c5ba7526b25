// SPDX-License-Identifier: Apache-2.0
#include "bigbird/task_models/embed/embed.hpp"

#include "bigbird/core/interrupt.hpp"
#include "bigbird/core/parallel.hpp"
#include "bigbird/core/progress.hpp"
#include "bigbird/core/version.hpp"
#include "bigbird/genome/reference/sequence.hpp"
#include "bigbird/model/device/device.hpp"
#include "bigbird/model/weights.hpp"
#include "bigbird/task_models/base_bins.hpp"
#include "bigbird/task_models/embed/row_embedder.hpp"
#include "bigbird/task_models/predict/shard_rows.hpp"
#include "bigbird/task_models/task_model.hpp"
#include "bigbird/training/find_model.hpp"

#include <chrono>

namespace bigbird::task_models {
namespace fs = std::filesystem;

namespace {

constexpr std::size_t rows_a_chunk = 256;

/// The records of a FASTA, each as it is.
class SequenceSource : public rows::RowSource {
public:
    explicit SequenceSource(const genome::ReferenceGenome& genome) : genome_(genome) {}
    std::optional<rows::RegionRow> next() override {
        if (next_ >= genome_.contigs().size()) return std::nullopt;
        const genome::Contig& contig = genome_.contigs()[next_++];
        rows::RegionRow row;
        row.window = {contig.name, 0, contig.length};
        row.head.where = row.window;
        return row;
    }
    void fill(rows::RegionRow& row) const override {
        row.sequence = genome_.fetch(row.window);
        row.head.n_fraction = genome::n_fraction(row.sequence);
        row.head.status = rows::status_of(row.sequence);
    }
    void report() const override {}
    std::int64_t total() const override { return std::ssize(genome_.contigs()); }

private:
    const genome::ReferenceGenome& genome_;
    std::size_t next_ = 0;
};

std::unique_ptr<rows::RowSource> source_of(const EmbedSpec& spec, const genome::ReferenceGenome& genome) {
    if (!spec.sequences.empty()) return std::make_unique<SequenceSource>(genome);
    rows::RegionOptions options;
    options.anchor = spec.window > 0 ? rows::Anchor::centre : rows::Anchor::itself;
    options.bounds = {-(spec.window / 2), spec.window - spec.window / 2};
    options.use_strand = spec.use_strand;
    options.skip_invalid = spec.skip_invalid;
    return std::make_unique<rows::RegionReader>(spec.regions, genome, options);
}

bool reads_bases(const fs::path& directory) {
    return is_task_model(directory) && read_task_info(directory).architecture == bins_architecture;
}

outputs::Layout layout_of(const EmbedSpec& spec, const std::string& layer, std::int64_t hidden,
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
                         {"layer", layer}};
    if (spec.window > 0) layout.provenance.emplace_back("window", std::to_string(spec.window));
    return layout;
}

outputs::OutputSpec output_spec(const EmbedSpec& spec) {
    outputs::OutputSpec outputs = spec.outputs;
    if (spec.sequences.empty()) outputs.inputs = {{"regions", spec.regions}};
    if (!spec.sequences.empty()) outputs.inputs = {{"sequences", spec.sequences}};
    outputs.options = {
        {"dtype", spec.dtype}, {"attention", spec.attention}, {"strand", spec.use_strand ? "yes" : "no"}};
    return outputs;
}

EmbedReport embed_rows(rows::RowSource& source, RowEmbedder& embedder, outputs::Outputs& outputs,
                       int threads) {
    EmbedReport report;
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
        parallel_for(std::ssize(rows), threads,
                     [&](std::int64_t i) { source.fill(rows[static_cast<std::size_t>(i)]); });
        embedder.embed(rows, outputs, report);
        progress.update(report.rows);
    } while (!rows.empty());
    progress.finish();
    return report;
}

}  // namespace

EmbedReport embed(const EmbedSpec& spec) {
    spec.validate();
    const auto start = std::chrono::steady_clock::now();
    outputs::prepare_outputs(output_spec(spec));
    const int threads = resolve_threads(spec.threads);
    const bool by_regions = spec.sequences.empty();
    if (by_regions) require_readable(spec.regions);
    const std::unique_ptr<genome::ReferenceGenome> genome =
        by_regions ? genome::open_references(spec.references) : genome::open_reference(spec.sequences);
    const at::Device device = model::open_device(spec.device);
    model::set_compute_threads(spec.threads);
    const fs::path directory = training::find_model(spec.model);
    const Computing computing = parse_computing(spec.dtype, spec.attention, device);
    const std::unique_ptr<RowEmbedder> embedder =
        reads_bases(directory) ? bin_embedder(spec, directory, *genome, device, computing)
                               : token_embedder(spec, directory, device, computing, threads);
    std::unique_ptr<rows::RowSource> source = source_of(spec, *genome);
    if (spec.outputs.shard) {
        source = shard_rows(std::move(source), *spec.outputs.shard,
                            [&embedder](const rows::RegionRow& before, const rows::RegionRow& row) {
                                return embedder->together(before, row);
                            });
    }
    outputs::Outputs outputs(
        output_spec(spec),
        layout_of(spec, embedder->layer(), embedder->hidden_size(), model::weights_checksum(directory)), {},
        {}, threads);
    EmbedReport report = embed_rows(*source, *embedder, outputs, threads);
    source->report();
    outputs.commit();
    report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return report;
}

}  // namespace bigbird::task_models
