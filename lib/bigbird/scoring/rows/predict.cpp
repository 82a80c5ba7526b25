// SPDX-License-Identifier: Apache-2.0
#include "bigbird/scoring/rows/predict.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/formats/checksum.hpp"
#include "bigbird/core/log.hpp"
#include "bigbird/core/progress.hpp"
#include "bigbird/core/version.hpp"
#include "bigbird/examples/labelled_bins.hpp"
#include "bigbird/genome/reference/region_text.hpp"
#include "bigbird/genome/reference/sequence.hpp"
#include "bigbird/outputs/outputs.hpp"
#include "bigbird/outputs/sinks.hpp"
#include "bigbird/rows/region_rows.hpp"
#include "bigbird/scoring/rows/forecast.hpp"
#include "bigbird/scoring/score_rows.hpp"
#include "bigbird/scoring/scorers.hpp"
#include "bigbird/tasks/profile_network.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace bigbird::tasks {
namespace fs = std::filesystem;

namespace {

constexpr std::int64_t most_chunk_bases = std::int64_t{1} << 26;  ///< bases of a chunk's sequences
constexpr std::int64_t cores_per_chunk = 128;  ///< of a model that labels bases, as bases of a chunk

struct Chunk {
    std::vector<rows::RegionRow> rows;
    PreparedRows prepared;

    bool empty() const { return rows.empty(); }
};

/// The tracks of models that give profiles, where tracks are asked for.
class ProfileTracks {
public:
    ProfileTracks(const PredictSpec& spec, const RowScorer& scorer, std::span<const std::size_t> chosen,
                  std::span<const genome::Contig> contigs) {
        const auto network = profile_network(scorer.models().front());
        if (!network || !spec.writes_tracks()) return;
        shape_ = network->shape();
        const outputs::OutputSpec output = spec.output_spec();
        const outputs::TableSchema schema{{}, columns_of(scorer.labels(), chosen)};
        for (const fs::path& path : output.paths) {
            if (!outputs::is_track(*outputs::kind_of(path, output.stream))) continue;
            const std::vector<fs::path> names = outputs::paths_of_labels(path, schema);
            for (std::size_t i = 0; i < names.size(); ++i) {
                tracks_.push_back(
                    {outputs::profile_track(names[i], output.overwrite, *outputs::kind_of(path), contigs),
                     names[i], columns_[i]});
            }
        }
    }
    /// The outputs that are not these tracks.
    outputs::OutputSpec without_tracks(outputs::OutputSpec output) const {
        if (!tracks_.empty()) {
            std::erase_if(
                output.paths,
                [&](const fs::path& path) {
                    return outputs::is_track(*outputs::kind_of(path, output.stream));
                });
        }
        return output;
    }
    void adopt_by(outputs::Outputs& outputs) {
        for (Track& track : tracks_) {
            track.sink = track.owned.get();
            outputs.adopt(std::move(track.owned), track.path);
        }
    }
    /// `values`: RowScorer's of a row that is scored.
    void add(const rows::RegionRow& row, std::span<const float> values) {
        std::vector<float> bases(static_cast<std::size_t>(shape_.output));
        const std::int64_t begin = row.window.begin + (shape_.input - shape_.output) / 2;
        for (const Track& track : tracks_) {
            const auto [first, step] = track.column;
            for (std::size_t i = 0; i < bases.size(); ++i)
                bases[i] = values[first + i * step];
            track.sink->add({row.window.contig, begin, begin + shape_.output}, bases);
        }
    }

private:
    /// Where a column of the profile is in a row's values.
    struct Place {
        std::size_t first, step;
    };
    struct Track {
        std::unique_ptr<outputs::ProfileTrack> owned;
        fs::path path;
        Place column;
        outputs::ProfileTrack* sink = nullptr;
    };
    /// A column for each strand of the chosen groups.
    std::vector<outputs::Column> columns_of(const rows::LabelTable& labels,
                                            std::span<const std::size_t> chosen) {
        std::vector<outputs::Column> columns;
        std::size_t first = labels.size();
        for (std::size_t group = 0; group < labels.size(); ++group) {
            const auto names = profile_column_names(labels[group].name, shape_.groups[group]);
            const std::size_t strands = names.size();
            for (std::size_t i = 0; std::ranges::count(chosen, group) > 0 && i < strands; ++i) {
                columns.push_back({names[i], std::ssize(columns), ".", names[i], names[i]});
                columns_.push_back({first + i, strands});
            }
            first += static_cast<std::size_t>(shape_.output) * strands;
        }
        return columns;
    }

    networks::ProfileShape shape_;
    std::vector<Place> columns_;
    std::vector<Track> tracks_;
};

/// Writes the chosen scores to the outputs: of rows, or of regions from their tiles.
class RowWriter {
public:
    RowWriter(const PredictSpec& spec, const RowScorer& scorer, const rows::Provenance& provenance,
              std::span<const genome::Contig> contigs, int threads)
        : pool_(spec.tile_pool()),
          by_records_(spec.by_records()),
          classes_(scorer.info().target == examples::TargetKind::classes ? scorer.labels()
                                                                         : rows::LabelTable()),
          chosen_(scorer.labels().select(spec.labels)),
          offset_(count_offset(scorer.models().front().calibration.link)),
          profiles_(spec, scorer, chosen_, contigs),
          outputs_(profiles_.without_tracks(spec.output_spec()),
                   {by_records_ ? outputs::record_head(classes_.size() > 0) : outputs::region_head(),
                    columns_of(scorer.labels()), provenance},
                   contigs, threads) {
        profiles_.adopt_by(outputs_);
    }

    /// `scores`: one per label of the model, and the profile if there are tracks of profiles; or none.
    void write(const rows::RegionRow& row, std::span<const float> scores) {
        outputs_.begin_segment(row.segment);
        values_.clear();
        for (std::size_t i = 0; !scores.empty() && i < chosen_.size(); ++i)
            values_.push_back(scores[chosen_[i]]);
        if (!scores.empty()) profiles_.add(row, scores);
        if (by_records_)
            write_record(row.head, scores);
        else if (pool_ == Pool::none)
            write_values(rows::fields_of(row.head), values_);
        else
            add_tile(row);
    }
    void commit() { outputs_.commit(); }

private:
    /// A column per label and, where they are reads, one of their log counts.
    std::vector<outputs::Column> columns_of(const rows::LabelTable& labels) const {
        std::vector<outputs::Column> columns = outputs::label_columns(labels, chosen_);
        for (std::size_t i = 0; offset_ > 0 && i < chosen_.size(); ++i) {
            outputs::Column log = columns[i];
            log.name = log.label = log.id = "log_" + log.name;
            columns.push_back(std::move(log));
        }
        return columns;
    }
    void write_values(std::span<const rows::Field> fields, std::span<const float> values) {
        if (offset_ == 0) return outputs_.write(fields, values);
        std::vector<float> with_logs(values.begin(), values.end());
        for (const float value : values)
            with_logs.push_back(static_cast<float>(std::log(static_cast<double>(value) + offset_)));
        outputs_.write(fields, with_logs);
    }
    void write_record(const rows::Row& head, std::span<const float> scores) {
        const auto fields = rows::record_fields_of(head);
        std::vector<rows::Field> with_class(fields.begin(), fields.end());
        if (classes_.size() > 0) {
            const auto best = static_cast<std::size_t>(std::ranges::max_element(scores) - scores.begin());
            with_class.emplace_back(scores.empty() ? std::string_view()
                                                   : std::string_view(classes_[best].name));
        }
        write_values(with_class, values_);
    }
    void add_tile(const rows::RegionRow& row) {
        if (tiles_ == 0) {
            head_ = row.head;
            head_.status = rows::RowStatus::ok;
            head_.n_fraction = 0;
            scored_tiles_ = 0;
            sums_.assign(chosen_.size(), 0);
            best_.assign(chosen_.size(), -std::numeric_limits<float>::infinity());
        }
        ++tiles_;
        head_.where.end = row.head.where.end;
        if (head_.strand != row.head.strand)
            head_.strand = genome::Strand::none;  // a region without a strand
        head_.n_fraction += row.head.n_fraction;
        // A tile that is all N does not make the region all N.
        const rows::RowStatus status = row.head.status;
        head_.status =
            std::min(head_.status, status == rows::RowStatus::all_n ? rows::RowStatus::has_n : status);
        for (std::size_t i = 0; i < values_.size(); ++i) {
            sums_[i] += static_cast<double>(values_[i]);
            best_[i] = std::max(best_[i], values_[i]);
        }
        scored_tiles_ += values_.empty() ? 0 : 1;
        if (row.last_of_line) finish_region();
    }
    void finish_region() {
        head_.n_fraction /= static_cast<double>(tiles_);
        if (scored_tiles_ == 0) head_.status = std::min(head_.status, rows::RowStatus::all_n);
        for (std::size_t i = 0; i < best_.size() && pool_ == Pool::mean; ++i) {
            best_[i] =
                static_cast<float>(sums_[i] / static_cast<double>(std::max<std::int64_t>(1, scored_tiles_)));
        }
        write_values(rows::fields_of(head_),
                     scored_tiles_ > 0 ? std::span<const float>(best_) : std::span<const float>());
        tiles_ = 0;
    }

    Pool pool_;
    bool by_records_;
    rows::LabelTable classes_;         ///< empty if there are none
    std::vector<std::size_t> chosen_;  ///< labels
    std::vector<float> values_;
    double offset_;  ///< count_offset()
    ProfileTracks profiles_;
    outputs::Outputs outputs_;
    // state of the region whose tiles are being processed
    rows::Row head_;  // n_fraction: the sum of the tiles'
    std::int64_t tiles_ = 0, scored_tiles_ = 0;
    std::vector<double> sums_;
    std::vector<float> best_;
};

/// Calls `put` with each run of a row's bases with equal scores, and these; without them where the model
/// reads none of the bases. `scores`: (bases, labels).
template <typename Put>
void for_each_run(const rows::RegionRow& row, std::span<const float> scores, std::size_t labels,
                  const Put& put) {
    const auto of_base = [&](std::size_t base) { return scores.subspan(base * labels, labels); };
    const auto same = [](float a, float b) { return a == b || (std::isnan(a) && std::isnan(b)); };
    rows::RegionRow run{.head = row.head, .segment = row.segment};
    const std::int64_t first = row.head.where.begin;
    for (std::size_t begin = 0, end = 0; begin < row.sequence.size(); begin = end) {
        do
            ++end;
        while (end < row.sequence.size() && std::ranges::equal(of_base(begin), of_base(end), same));
        const std::string_view dna = std::string_view(row.sequence).substr(begin, end - begin);
        run.head.where.begin = first + static_cast<std::int64_t>(begin);
        run.head.where.end = first + static_cast<std::int64_t>(end);
        run.head.n_fraction = genome::n_fraction(dna);
        run.head.status = rows::status_of(dna);
        const bool has_letters = rows::is_scored(run.head.status), is_read = !std::isnan(of_base(begin)[0]);
        if (has_letters && !is_read) run.head.status = rows::RowStatus::truncated;
        put(run, has_letters && is_read ? of_base(begin) : std::span<const float>());
    }
}

void write_chunk(Chunk& chunk, std::span<const float> scores, const RowScorer& scorer, RowWriter& writer,
                 PredictReport& report) {
    const std::size_t labels = scorer.labels().size();
    const Placement& placement = scorer.placement();
    const std::int64_t bin =
        placement.by_bins() ? placement.grid().bin : std::numeric_limits<std::int64_t>::max();
    const auto write = [&](const rows::RegionRow& row, std::span<const float> values) {
        report.truncated += row.head.status == rows::RowStatus::truncated ? 1 : 0;
        report.not_numbers += std::ranges::all_of(values, [](float x) { return std::isfinite(x); }) ? 0 : 1;
        writer.write(row, values);
        ++report.rows;
        report.scored += values.empty() ? 0 : 1;
        report.longer += !values.empty() && row.window.size() > bin ? 1 : 0;
    };
    std::size_t next = 0;
    for (std::size_t i = 0; i < chunk.rows.size(); ++i) {
        rows::RegionRow& row = chunk.rows[i];
        if (chunk.prepared.truncated[i]) row.head.status = rows::RowStatus::truncated;
        const std::size_t count = scorer.values_of(row);
        const bool scored = rows::is_scored(row.head.status);
        const auto values = scored ? scores.subspan(next, count) : std::span<const float>();
        next += count;
        if (scored && placement.by_bases())
            for_each_run(row, values, labels, write);
        else
            write(row, values);
    }
}

rows::Provenance provenance_of(const PredictSpec& spec, const RowScorer& predictor,
                               const genome::ReferenceGenome* reference) {
    rows::Provenance provenance = {{"bigbird-dna", std::string(version())},
                                   {"task", std::string(to_string(spec.task))}};
    for (const ModelFolder& model : predictor.models())
        provenance.emplace_back("model_sha256", model.sha256);
    const TaskInfo& info = predictor.info();
    const Placement& placement = predictor.placement();
    provenance.emplace_back(
        "window", placement.by_bases() ? std::to_string(info.window.size()) : to_string(info.window));
    if (placement.by_bases()) provenance.emplace_back("margin", std::to_string(*info.margin));
    if (placement.by_bins()) {
        provenance.emplace_back("bin", std::to_string(placement.grid().bin));
        provenance.emplace_back("margin_bins", std::to_string(placement.grid().margin_bins));
    }
    if (const auto component = component_of(info)) provenance.emplace_back("component", *component);
    provenance.emplace_back("reverse_complement", word_of(strand_choices, spec.strands));
    if (spec.tile > 0) {
        provenance.emplace_back("tile", std::to_string(spec.tile));
        provenance.emplace_back("pool", word_of(pool_choices, std::optional(spec.tile_pool())));
    } else if (placement.by_bins()) {
        provenance.emplace_back("pool", word_of(pool_choices, std::optional(spec.pool.value_or(Pool::mean))));
    }
    if (!info.negatives.empty()) provenance.emplace_back("negatives", info.negatives);
    if (!spec.sequences.empty()) {
        provenance.emplace_back("rows", "sequences");
    } else if (reference != nullptr) {
        provenance.emplace_back("contigs_sha256", contigs_checksum(*reference));
    } else {
        provenance.emplace_back("examples_sha256", sha256_of_file(spec.examples / "manifest.json"));
        provenance.emplace_back("split", word_of(split_choices, spec.split));
    }
    return provenance;
}

/// The models, scorer and source of a prediction.
struct PredictWork {
    const PredictSpec& spec;
    std::unique_ptr<genome::ReferenceGenome> reference;
    std::optional<examples::ExampleSet> examples;
    std::optional<examples::LabelledBins> bins;  ///< if bin models score examples
    std::vector<genome::Contig> contigs;
    Job job;
    std::unique_ptr<RowScorer> scorer;
    std::unique_ptr<rows::RowSource> source;

    /// Whether the tiles of a line make one row.
    bool pools() const { return spec.tile_pool() != Pool::none; }
    RowWriter writer(const PredictSpec& of, int threads) const {
        return {of, *scorer, provenance_of(of, *scorer, reference.get()), contigs, threads};
    }

    PredictWork(const PredictWork&) = delete;
    PredictWork& operator=(const PredictWork&) = delete;
    explicit PredictWork(const PredictSpec& given) : spec(given) {
        if (!spec.sequences.empty()) {
            require_readable(spec.sequences);
        } else if (spec.examples.empty()) {
            reference = genome::open_references(spec.references);
            contigs.assign(reference->contigs().begin(), reference->contigs().end());
        } else {
            examples = examples::ExampleSet::load(spec.examples);
            contigs = contigs_of(*examples);
        }
        job = open_job(spec);
        scorer = make_scorer();
        if (examples && examples->task() != spec.task) {
            throw InputError("holds " + std::string(to_string(examples->task())) + " examples, not " +
                                 std::string(to_string(spec.task)),
                             spec.examples);
        }
        source = spec.by_records() ? source_of_records()
                 : examples        ? source_of_examples()
                                   : source_of_regions();
        if (!spec.outputs.shard) return;
        // Rows in one window are computed together, and the tiles of a line may become one row, so these stay
        // in one part.
        source = shard_rows(std::move(source), *spec.outputs.shard,
                            [this](const rows::RegionRow& before, const rows::RegionRow& row) {
                                return pools() ? before.line == row.line
                                               : scorer->placement().together(before, row);
                            });
    }

private:
    std::unique_ptr<RowScorer> make_scorer() {
        std::vector<ModelFolder> models = open_models(spec.models, spec.task, job);
        const Placement placement(models, spec.by_records());
        SequenceOf sequence_of = [this](const genome::Interval& where) {
            return reference ? reference->fetch(where) : bins->sequence(where.contig, where.begin, where.end);
        };
        if (placement.by_bases())
            return bases_scorer(std::move(models), std::move(sequence_of), spec.strands, job.batch_tokens);
        if (placement.by_bins()) {
            if (examples) bins = examples::LabelledBins::load(spec.examples);
            return bins_scorer(std::move(models), spec.by_records() ? SequenceOf() : std::move(sequence_of),
                               {.strands = spec.strands,
                                .batch_tokens = job.batch_tokens,
                                .threads = job.threads,
                                .largest = spec.tile == 0 && spec.pool.value_or(Pool::mean) == Pool::max});
        }
        if (spec.writes_tracks() && profile_network(models.front()))
            return profile_scorer(std::move(models), spec.strands, job.batch_tokens);
        if (spec.tile == 0 && spec.pool) {
            throw ConfigError("--pool " + std::string(word_of(pool_choices, spec.pool)) +
                              " needs tiles for a model that scores one window per row: give --tile");
        }
        return std::make_unique<Predictor>(std::move(models), spec.strands, job.batch_tokens,
                                           spec.by_records());
    }
    std::unique_ptr<rows::RowSource> source_of_regions() const {
        if (const auto warning = other_build(scorer->info(), *reference)) log_warning("{}", *warning);
        const Placement& placement = scorer->placement();
        rows::RegionOptions options = placement.region_options(spec.anchor);
        options.skip_invalid = spec.skip_invalid;
        options.tile = spec.tile;
        auto rows = std::make_unique<rows::RegionReader>(spec.regions, *reference, options);
        if (placement.by_bases()) return core_rows(std::move(rows), placement.grid());
        return rows;
    }
    std::unique_ptr<rows::RowSource> source_of_records() const {
        RecordFit fit = scorer->placement().record_fit();
        fit.skip_invalid = spec.skip_invalid;
        if (!examples)
            return record_source(
                spec.sequences,
                {.sequence = spec.sequence_column, .id = spec.id_column, .header = spec.header}, fit);
        return example_source(*examples, spec.split, {}, fit);
    }
    std::unique_ptr<rows::RowSource> source_of_examples() const {
        const rows::WindowBounds window = scorer->placement().region_options(rows::Anchor::centre).bounds;
        if (window.begin < examples->bounds().begin || window.end > examples->bounds().end) {
            throw InputError("holds windows of " + to_string(examples->bounds()) + ", the model takes " +
                                 to_string(window),
                             spec.examples);
        }
        return example_source(*examples, spec.split, window);
    }
};

PredictReport score_all(const PredictSpec& spec, PredictWork& work, RowWriter& writer) {
    PredictReport report;  // only the writing thread uses it
    rows::RowSource& source = *work.source;
    RowScorer& scorer = *work.scorer;
    const Placement& placement = scorer.placement();
    const bool by_bases = placement.by_bases();
    const std::int64_t most_bases =
        by_bases ? cores_per_chunk * placement.grid().core_bins() : most_chunk_bases;
    Progress progress("Scoring", "rows", source.total());
    const auto read = [&] {
        const auto bases_of = [&](const rows::RegionRow& row) {
            return spec.by_records() || by_bases ? row.window.size() : 0;
        };
        Chunk chunk{read_rows(source, scorer.rows_per_chunk(), work.job.threads, most_bases, bases_of), {}};
        chunk.prepared = scorer.prepare(chunk.rows, work.job.threads);
        return chunk;
    };
    std::int64_t scored = 0;
    const auto score = [&](const Chunk& chunk) {
        const std::int64_t rows = std::ssize(chunk.rows);
        std::vector<float> scores = scorer.score(
            chunk.prepared,
            [&](double part) {
                progress.update(scored + static_cast<std::int64_t>(part * static_cast<double>(rows)));
            });
        progress.update(scored += rows);
        return scores;
    };
    score_rows(read, score, [&](Chunk& chunk, const std::vector<float>& scores) {
        write_chunk(chunk, scores, scorer, writer, report);
    });
    progress.finish();
    return report;
}

}  // namespace

PredictReport predict(const PredictSpec& spec) {
    spec.validate();
    outputs::prepare_outputs(spec.output_spec());
    PredictWork work(spec);
    RowWriter writer = work.writer(spec, work.job.threads);
    PredictReport report = score_all(spec, work, writer);
    work.source->report();
    writer.commit();
    if (report.longer > 0 && spec.tile == 0 && !spec.pool) {
        log_info(
            "{} of {} rows are longer than a bin: each gets the mean of the bins that it touches (--pool "
            "max: "
            "the largest score; --tile: a row per tile)",
            report.longer, report.rows);
    }
    return report;
}

PredictForecast forecast_predict(const PredictSpec& spec, double seconds_of_trial) {
    spec.validate();
    if (spec.examples.empty()) {
        const bool sequences = !spec.sequences.empty();
        const fs::path& rows = sequences ? spec.sequences : spec.regions;
        if (sequences) require_readable(rows);
        if (!fs::is_regular_file(rows) && (sequences || !genome::is_region_text(rows))) {
            throw ConfigError(std::string("--dry-run needs ") + (sequences ? "--sequences" : "--regions") +
                              " as a file");
        }
    }
    PredictWork work(spec);
    std::vector<std::string> endings{".tsv", ".tsv.gz", ".npy", ".h5"};
    if (spec.outputs.min_score) endings.emplace_back(".long.tsv.gz");
    // Normally a region's tiles become one row. The tried rows are not complete regions, so here each tile
    // counts as a row.
    PredictSpec trial = spec;
    trial.outputs.shard.reset();
    if (trial.tile > 0) trial.pool = Pool::none;
    trial.outputs.overwrite = Overwrite::allow;
    trial.outputs.many_rows = work.source->total() > outputs::most_rows_of_small_hdf5;
    const WriteOutput write = [&](const fs::path& path, std::span<const rows::RegionRow> rows,
                                  std::span<const float> scores) {
        trial.outputs.paths = {path};
        RowWriter writer = work.writer(trial, 1);
        const std::size_t labels = scores.size() / rows.size();
        for (std::size_t i = 0; i < rows.size(); ++i)
            writer.write(rows[i], scores.subspan(i * labels, labels));
        writer.commit();
    };
    const auto models = std::ssize(work.scorer->models());
    const std::int64_t passes = models * (spec.strands == Strands::average ? 2 : 1);
    return forecast_rows(*work.source, *work.scorer, passes, work.pools(), endings, write, seconds_of_trial,
                         work.job.threads);
}

}  // namespace bigbird::tasks
