// SPDX-License-Identifier: Apache-2.0
#include "bigbird/scoring/predict.hpp"

#include "bigbird/core/checksum.hpp"
#include "bigbird/core/error.hpp"
#include "bigbird/core/interrupt.hpp"
#include "bigbird/core/log.hpp"
#include "bigbird/core/parallel.hpp"
#include "bigbird/core/progress.hpp"
#include "bigbird/core/version.hpp"
#include "bigbird/model/device.hpp"
#include "bigbird/scoring/row_source.hpp"
#include "bigbird/tasks/score_table.hpp"

#include <algorithm>
#include <chrono>
#include <future>
#include <set>

namespace bigbird::scoring {
namespace fs = std::filesystem;

namespace {

constexpr std::int64_t cpu_batch_tokens = 16'384, gpu_batch_tokens = 262'144;
constexpr std::int64_t bases_a_token = 4;  // about: for the size of a chunk alone
constexpr std::int64_t batches_a_chunk = 4;

struct Chunk {
    std::vector<tasks::RegionRow> rows;
    Predictor::Encoded encoded;
};

/// Rows that are read, encoded and scored together: enough to fill batches, few enough to hold.
std::int64_t rows_a_chunk(const Predictor& predictor) {
    const std::int64_t tokens = std::max<std::int64_t>(1, predictor.info().window.size() / bases_a_token);
    return std::clamp<std::int64_t>(batches_a_chunk * predictor.batch_tokens() / tokens, 32, 8192);
}

Chunk read_chunk(RowSource& source, const Predictor& predictor, int threads) {
    Chunk chunk;
    const std::int64_t most = rows_a_chunk(predictor);
    while (static_cast<std::int64_t>(chunk.rows.size()) < most) {
        std::optional<tasks::RegionRow> row = source.next();
        if (!row) break;
        chunk.rows.push_back(std::move(*row));
    }
    parallel_for(static_cast<std::int64_t>(chunk.rows.size()), threads,
                 [&](std::int64_t i) { source.fill(chunk.rows[static_cast<std::size_t>(i)]); });
    std::vector<std::string> sequences;
    for (tasks::RegionRow& row : chunk.rows) {
        sequences.push_back(tasks::is_scored(row.status) ? std::move(row.sequence) : std::string());
        row.sequence.clear();
    }
    chunk.encoded = predictor.encode(sequences, threads);
    return chunk;
}

/// The outputs, each with all rows.
class Tables {
public:
    Tables(const PredictSpec& spec, const Predictor& predictor, const tasks::Provenance& provenance,
           int threads)
        : chosen_(spec.labels.empty() ? std::vector<std::size_t>{} : predictor.labels().select(spec.labels)) {
        if (chosen_.empty()) {
            for (std::size_t label = 0; label < predictor.labels().size(); ++label)
                chosen_.push_back(label);
        }
        std::vector<std::string> columns;
        for (const std::size_t label : chosen_)
            columns.push_back(predictor.labels().column_name(label));
        for (const fs::path& output : spec.outputs) {
            writers_.push_back(
                std::make_unique<tasks::ScoreWriter>(output, spec.overwrite, columns, provenance, threads));
        }
    }
    /// `scores`: one a label of the model, or none.
    void write(const tasks::ScoreRow& row, std::span<const float> scores) {
        values_.clear();
        for (std::size_t i = 0; !scores.empty() && i < chosen_.size(); ++i)
            values_.push_back(scores[chosen_[i]]);
        for (const auto& writer : writers_)
            writer->write(row, values_);
    }
    void commit() {
        for (const auto& writer : writers_)
            writer->commit();
    }

private:
    std::vector<std::size_t> chosen_;
    std::vector<float> values_;
    std::vector<std::unique_ptr<tasks::ScoreWriter>> writers_;
};

void write_chunk(Chunk& chunk, std::span<const float> scores, std::size_t labels, Tables& tables,
                 PredictReport& report) {
    for (std::size_t i = 0; i < chunk.rows.size(); ++i) {
        tasks::RegionRow& row = chunk.rows[i];
        if (chunk.encoded.truncated[i]) {
            row.status = tasks::RowStatus::truncated;
            tasks::set_head(row);
            ++report.truncated;
        }
        const bool scored = tasks::is_scored(row.status);
        tables.write(row.head, scored ? scores.subspan(i * labels, labels) : std::span<const float>());
        ++report.rows;
        report.scored += scored ? 1 : 0;
    }
}

std::string contigs_checksum(const genome::ReferenceGenome& reference) {
    std::string text;
    for (const genome::Contig& contig : reference.contigs()) {
        text += contig.name + "\t" + std::to_string(contig.length) + "\n";
    }
    return sha256_of_text(text);
}

tasks::Provenance provenance_of(const PredictSpec& spec, const Predictor& predictor,
                                const genome::ReferenceGenome* reference) {
    tasks::Provenance provenance = {{"bigbird-dna", std::string(version())},
                                    {"task", std::string(tasks::to_string(spec.task))}};
    for (const TaskModel& model : predictor.models())
        provenance.emplace_back("model_sha256", model.sha256);
    provenance.emplace_back("window", tasks::to_string(predictor.info().window));
    provenance.emplace_back("reverse_complement", to_string(spec.strands));
    if (!predictor.info().negatives.empty()) provenance.emplace_back("negatives", predictor.info().negatives);
    if (reference != nullptr) {
        provenance.emplace_back("contigs_sha256", contigs_checksum(*reference));
    } else {
        provenance.emplace_back("examples_sha256", sha256_of_file(spec.examples / "manifest.json"));
        provenance.emplace_back("split", spec.split ? std::string(tasks::to_string(*spec.split)) : "all");
    }
    return provenance;
}

Predictor load_predictor(const PredictSpec& spec) {
    const at::Device device = model::open_device(spec.device);
    model::set_compute_threads(spec.threads);
    std::vector<TaskModel> models;
    for (const fs::path& path : spec.models)
        models.push_back(load_task_model(path, spec.task, device));
    const std::int64_t fitting = device.is_cuda() ? gpu_batch_tokens : cpu_batch_tokens;
    return {std::move(models), spec.strands, spec.batch_tokens > 0 ? spec.batch_tokens : fitting, device};
}

tasks::RegionOptions region_options(const PredictSpec& spec, const TaskInfo& info) {
    const bool promoter = spec.task == tasks::Task::promoter;
    return {.anchor = promoter ? tasks::Anchor::tss : spec.anchor,
            .bounds = info.window,
            .use_strand = promoter,
            .skip_invalid = spec.skip_invalid};
}

void check_examples(const tasks::ExampleSet& examples, const PredictSpec& spec, const TaskInfo& info) {
    if (examples.task() != spec.task) {
        throw InputError("holds " + std::string(tasks::to_string(examples.task())) + " examples, not " +
                             std::string(tasks::to_string(spec.task)),
                         spec.examples);
    }
    if (examples.bounds() != info.window) {
        throw InputError("holds windows of " + tasks::to_string(examples.bounds()) + ", the model takes " +
                             tasks::to_string(info.window),
                         spec.examples);
    }
}

/// Reads and encodes a chunk while the one before is scored.
PredictReport score_rows(RowSource& source, Predictor& predictor, Tables& tables, int threads) {
    PredictReport report;
    Progress progress("Scoring", "windows", source.total());
    const auto read = [&] { return read_chunk(source, predictor, threads); };
    std::future<Chunk> coming = std::async(std::launch::async, read);
    while (true) {
        Chunk chunk = coming.get();
        if (chunk.rows.empty()) break;
        coming = std::async(std::launch::async, read);
        stop_if_asked();
        const auto rows = static_cast<double>(chunk.rows.size());
        const std::vector<float> scores = predictor.score(chunk.encoded, [&](double part) {
            progress.update(report.rows + static_cast<std::int64_t>(part * rows));
        });
        write_chunk(chunk, scores, predictor.labels().size(), tables, report);
        progress.update(report.rows);
    }
    progress.finish();
    return report;
}

}  // namespace

void check_score_outputs(const std::vector<fs::path>& outputs) {
    std::set<fs::path> seen;
    for (const fs::path& output : outputs) {
        const std::string name = output.filename().string();
        const bool known = output == "-" || name.ends_with(".tsv") || name.ends_with(".tsv.gz") ||
                           name.ends_with(".tsv.bgz");
        if (!known) {
            throw ConfigError(
                output.string() +
                ": scores are written as .tsv or .tsv.gz (bgzip), or to standard output with '-'; "
                "give --output such a name");
        }
        if (!seen.insert(output.lexically_normal()).second) {
            throw ConfigError(output.string() + ": is given twice as --output");
        }
    }
}

PredictReport predict(const PredictSpec& spec) {
    const auto start = std::chrono::steady_clock::now();
    check_score_outputs(spec.outputs);
    for (const fs::path& output : spec.outputs) {
        if (output != "-") prepare_output(output, spec.overwrite);
    }
    const int threads = resolve_threads(spec.threads);
    std::unique_ptr<genome::ReferenceGenome> reference;
    std::optional<tasks::ExampleSet> examples;
    if (spec.examples.empty()) {
        require_readable(spec.regions);
        reference = genome::open_references(spec.references);
    } else {
        examples = tasks::ExampleSet::load(spec.examples);
    }
    Predictor predictor = load_predictor(spec);
    std::unique_ptr<RowSource> source;
    if (examples) {
        check_examples(*examples, spec, predictor.info());
        source = example_source(*examples, spec.split);
    } else {
        if (const auto warning = other_build(predictor.info(), *reference)) log_warning("{}", *warning);
        source = region_source(spec.regions, *reference, region_options(spec, predictor.info()));
    }
    Tables tables(spec, predictor, provenance_of(spec, predictor, reference.get()), threads);
    PredictReport report = score_rows(*source, predictor, tables, threads);
    tables.commit();
    source->report();
    report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return report;
}

}  // namespace bigbird::scoring
