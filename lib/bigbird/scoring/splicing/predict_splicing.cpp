// SPDX-License-Identifier: Apache-2.0
#include "bigbird/scoring/splicing/predict_splicing.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/formats/checksum.hpp"
#include "bigbird/core/log.hpp"
#include "bigbird/core/parallel.hpp"
#include "bigbird/core/parts/shard.hpp"
#include "bigbird/core/progress.hpp"
#include "bigbird/core/system/trial.hpp"
#include "bigbird/core/words.hpp"
#include "bigbird/genome/regions/assembly_fit.hpp"
#include "bigbird/outputs/outputs.hpp"
#include "bigbird/outputs/variant_sink.hpp"
#include "bigbird/rows/variant_rows.hpp"
#include "bigbird/scoring/splicing/splice_text.hpp"

#include <algorithm>
#include <optional>
#include <utility>

namespace bigbird::splicing {

namespace {

constexpr std::size_t records_per_chunk = 1024;

/// Reads the records of a run, or those of a part.
class SpliceSource {
public:
    SpliceSource(const tasks::VariantSpec& spec, const std::optional<Shard>& shard) : reader_(spec.variants) {
        if (shard) segments_.emplace(rows::count_variant_rows(spec.variants), *shard);
    }
    genome::VariantReader& reader() { return reader_; }
    std::optional<SpliceRecord> next() {
        while (auto variant = reader_.next()) {
            SpliceRecord record{.variant = std::move(*variant)};
            if (!segments_) return record;
            const std::int64_t alleles = std::max<std::int64_t>(1, std::ssize(record.variant.alts));
            record.segment = segments_->next(false, alleles);
            if (segments_->is_mine(record.segment)) return record;
        }
        return std::nullopt;
    }

private:
    genome::VariantReader reader_;
    std::optional<SegmentCounter> segments_;
};

/// Reference, genes and scorer of a run.
struct SpliceWork {
    SpliceWork(const tasks::VariantSpec& spec, const SpliceModel& model)
        : reference(genome::open_references(spec.references)),
          genes(spec.annotation, *reference, spec.skip_invalid),
          run{.pangolin = model.channels() != 3,
              .writes_status = spec.quantities == "status",
              .options = {spec.mode, spec.distance, spec.mask.value_or(model.channels() != 3)},
              .family = model.family(),
              .weights_sha256 = model.sha256(),
              .annotation_sha256 = sha256_of_file(spec.annotation)},
          scorer(model, *reference, genes, run.options),
          threads(resolve_threads(spec.threads)) {}

    std::unique_ptr<genome::ReferenceGenome> reference;
    rows::SpliceGenes genes;
    SpliceRun run;
    SpliceScorer scorer;
    int threads;
};

/// Counts records for the report, and whether they are of the reference's assembly.
class SpliceCounts {
public:
    void add(const SpliceRecord& record, const genome::ReferenceGenome& reference) {
        const genome::Variant& variant = record.variant;
        const std::int64_t end = variant.position + std::ssize(variant.ref);
        const auto index = reference.find(variant.contig);
        const bool past = index && (variant.position < 0 || end > reference.contigs()[*index].length);
        fit_.add({variant.contig, variant.position, end},
                 !index ? genome::Fit::unknown_contig
                 : past ? genome::Fit::past_end
                        : genome::Fit::inside,
                 reference, variant.line);
        fit_.ref_mismatch += !past && record.alleles.front().status == SpliceStatus::ref_mismatch ? 1 : 0;
        ++report.records;
        report.repeats += record.repeats ? 1 : 0;
        for (const SpliceAllele& allele : record.alleles) {
            ++report.alleles;
            report.scored += allele.status == SpliceStatus::ok ? 1 : 0;
            ++report.statuses[static_cast<std::size_t>(allele.status)];
        }
    }
    /// Throws InputError if records are of another assembly.
    void require_assembly(const tasks::VariantSpec& spec, const genome::ReferenceGenome& reference) const {
        constexpr std::int64_t few = 10;  // too few to judge by
        const std::string path = spec.variants.string();
        if (report.records == 0) log_warning("{}: holds no variants; the output holds none either", path);
        const std::int64_t misfits = fit_.off_reference() + fit_.ref_mismatch;
        if (misfits == 0) return;
        log_warning("{}: {} of {} do not fit the reference: {}", path, misfits,
                    counted(report.records, "record"), fit_.misfits());
        if (misfits >= few && !spec.outputs.shard)
            genome::require_assembly(fit_, reference, path, "variants", spec.skip_invalid);
    }

    SpliceReport report;

private:
    genome::AssemblyFit fit_;
};

/// The outputs of a run.
class SpliceWriter {
public:
    SpliceWriter(const outputs::OutputSpec& spec, const SpliceWork& work, genome::VariantReader& reader)
        : run_(work.run),
          genes_(work.genes.genes()),
          outputs_(spec, schema_of(work.run), work.reference->contigs(), work.threads) {
        const auto paths = outputs::variant_paths(spec);
        if (!paths.empty()) header_ = reader.keep_records(header_lines(run_));
        for (const auto& path : paths)
            files_.push_back(&outputs::adopt_variants(outputs_, path, spec.overwrite, header_, work.threads));
    }
    void write(const SpliceRecord& record) {
        outputs_.begin_segment(record.segment);
        for (const SpliceAllele& allele : record.alleles) {
            for (const GeneEffect& effect : allele.genes)
                outputs_.write(fields_of(record, allele, &genes_[effect.gene]), values_of(allele, effect));
            if (allele.genes.empty()) outputs_.write(fields_of(record, allele, nullptr), {});
        }
        if (files_.empty()) return;
        std::vector<genome::VariantField> fields{{run_.info_name(), info_of(record, genes_)}};
        if (run_.writes_status) fields.push_back({run_.status_name(), statuses_of(record)});
        genome::set_info(record.variant, *header_, fields);
        for (outputs::VariantSink* file : files_)
            file->write(record.variant);
    }
    void commit() { outputs_.commit(); }

private:
    const SpliceRun& run_;
    const std::vector<rows::SpliceGene>& genes_;
    outputs::Outputs outputs_;
    std::shared_ptr<genome::VariantHeader> header_;
    std::vector<outputs::VariantSink*> files_;
};

std::vector<SpliceRecord> next_chunk(SpliceSource& source, const SpliceWork& work) {
    std::vector<SpliceRecord> records;
    while (records.size() < records_per_chunk) {
        auto record = source.next();
        if (!record) break;
        records.push_back(std::move(*record));
    }
    parallel_for(std::ssize(records), work.threads,
                 [&](std::int64_t i) { work.scorer.prepare(records[static_cast<std::size_t>(i)]); });
    return records;
}

std::int64_t pairs_of(const SpliceRecord& record) {
    std::int64_t pairs = 0;
    for (const SpliceAllele& allele : record.alleles)
        pairs += allele.status == SpliceStatus::ok ? std::ssize(allele.genes) : 0;
    return pairs;
}

std::unique_ptr<SpliceModel> open_model(const tasks::VariantSpec& spec) {
    return model_of(networks::SpliceNetwork::open(spec.models));
}

}  // namespace

SpliceReport predict_splicing(const tasks::VariantSpec& spec) {
    spec.validate();
    const outputs::OutputSpec output = spec.output_spec();
    outputs::prepare_outputs_with_variants(output);
    require_readable(spec.variants);
    return predict_splicing(spec, *open_model(spec));
}

SpliceReport predict_splicing(const tasks::VariantSpec& spec, const SpliceModel& model) {
    const outputs::OutputSpec output = spec.output_spec();
    SpliceWork work(spec, model);
    SpliceSource source(spec, output.shard);
    SpliceWriter writer(output, work, source.reader());
    SpliceCounts counts;
    Progress progress("Scoring", "alleles in genes", 0);
    std::int64_t before = 0;
    for (auto records = next_chunk(source, work); !records.empty(); records = next_chunk(source, work)) {
        work.scorer.score(records, work.threads, [&](std::int64_t done) { progress.update(before + done); });
        for (const SpliceRecord& record : records) {
            before += pairs_of(record);
            counts.add(record, *work.reference);
            writer.write(record);
        }
    }
    progress.finish();
    counts.require_assembly(spec, *work.reference);
    writer.commit();
    return counts.report;
}

std::string describe(const SpliceReport& report) {
    std::string text = fmt::format("{} of {} scored", report.scored, counted(report.alleles, "allele"));
    std::string_view separator = "; ";
    for (std::size_t i = 0; i < report.statuses.size(); ++i) {
        const auto status = static_cast<SpliceStatus>(i);
        if (status == SpliceStatus::ok || report.statuses[i] == 0) continue;
        text += fmt::format("{}{} {}", std::exchange(separator, ", "), word_of(splice_statuses, status),
                            report.statuses[i]);
    }
    return text;
}

double seconds_of_job(const SpliceEffort& job, const SpliceEffort& few, const SpliceEffort& many) {
    const auto number = [](std::int64_t count) { return static_cast<double>(count); };
    if (many.pairs == 0) return 0;
    const double determinant = number(few.passes * many.pairs - many.passes * few.pairs);
    const double of_pass = few.seconds * number(many.pairs) - many.seconds * number(few.pairs),
                 of_allele = many.seconds * number(few.passes) - few.seconds * number(many.passes);
    if (determinant > 0 && of_pass > 0 && of_allele > 0)
        return (of_pass * number(job.passes) + of_allele * number(job.pairs)) / determinant;
    return many.seconds / number(many.pairs) * number(job.pairs);
}

SpliceForecast forecast_splicing(const tasks::VariantSpec& spec, double seconds_of_trial) {
    spec.validate();
    if (spec.variants == "-")
        throw ConfigError("--dry-run reads the variants twice: give --variants as a file");
    return forecast_splicing(spec, *open_model(spec), seconds_of_trial);
}

SpliceForecast forecast_splicing(const tasks::VariantSpec& spec, const SpliceModel& model,
                                 double seconds_of_trial) {
    constexpr std::int64_t records_per_run = 32;
    SpliceWork work(spec, model);
    SpliceSource source(spec, spec.outputs.shard);
    SpliceForecast forecast;
    const std::int64_t stride =
        std::max(records_per_run, rows::count_variant_rows(spec.variants) / trial_runs);
    std::vector<std::vector<SpliceRecord>> kept;
    SpliceEffort job, few, many;
    std::int64_t number = 0;
    for (auto records = next_chunk(source, work); !records.empty(); records = next_chunk(source, work)) {
        job.passes += work.scorer.passes_of(records);
        for (SpliceRecord& record : records) {
            forecast.alleles += std::ssize(record.alleles);
            job.pairs += pairs_of(record);
            if (number % stride == 0) kept.emplace_back();
            if (number++ % stride < records_per_run) kept.back().push_back(std::move(record));
        }
    }
    const auto try_run = [&](std::span<SpliceRecord> run, SpliceEffort& effort) {
        effort.passes += work.scorer.passes_of(run);
        for (const SpliceRecord& record : run)
            effort.pairs += pairs_of(record);
        effort.seconds += seconds_of([&] { work.scorer.score(run, work.threads); });
    };
    for (const std::size_t index : spread_order(kept.size())) {
        if (few.seconds + many.seconds > seconds_of_trial) break;
        try_run(std::span(kept[index]).first(1), few);
        try_run(kept[index], many);
    }
    forecast.pairs = job.pairs;
    forecast.tried = many.pairs;
    forecast.seconds = seconds_of_job(job, few, many);
    forecast.memory = most_memory();
    return forecast;
}

std::string describe(const SpliceForecast& forecast) {
    return fmt::format(
        "alleles           {} ({} scores of alleles in genes, of which {} were tried)\n"
        "seconds           {:.1f} ({}; {:.0f} scores per hour)\n"
        "memory            {:.0f} MB, whatever the number of variants\n",
        forecast.alleles, forecast.pairs, forecast.tried, forecast.seconds,
        Progress::duration(forecast.seconds),
        forecast.seconds > 0 ? 3600 * static_cast<double>(forecast.pairs) / forecast.seconds : 0,
        static_cast<double>(forecast.memory) / 1e6);
}

}  // namespace bigbird::splicing
