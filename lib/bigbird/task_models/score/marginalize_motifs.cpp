// SPDX-License-Identifier: Apache-2.0
#include "bigbird/core/error.hpp"
#include "bigbird/core/interrupt.hpp"
#include "bigbird/core/log.hpp"
#include "bigbird/core/progress.hpp"
#include "bigbird/genome/reference/dinucleotide_shuffle.hpp"
#include "bigbird/genome/reference/sequence.hpp"
#include "bigbird/genome/regions/bed.hpp"
#include "bigbird/genome/text/text_output.hpp"
#include "bigbird/motifs/motif_files.hpp"
#include "bigbird/task_models/network/sequence_network.hpp"
#include "bigbird/task_models/score/edited_windows.hpp"
#include "bigbird/task_models/score/motif_runs.hpp"
#include "bigbird/task_models/score/scorers.hpp"
#include "bigbird/training/find_model.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

namespace bigbird::task_models {

namespace {

constexpr std::int64_t shuffled_count = 100, tries = 50, record_length = 1000;

/// What a model scores.
struct Scorer {
    TaskInfo info;
    rows::LabelTable labels;
    std::int64_t length = 0;  ///< bases that it reads, of a record without a row of its own too
    std::int64_t middle = 0;  ///< the motif's middle in them; of a record its own middle
    bool reads_rows = false;  ///< a row is the record
    /// (labels) probabilities, or numbers, of each sequence.
    std::function<std::vector<double>(const std::vector<std::string>&)> score;
};

Scorer bin_scorer(const ModelFolder& model) {
    const bins::Grid grid = model.bins()->grid();
    const std::int64_t bin = grid.window_bins / 2;
    const auto windows = std::make_shared<EditedWindows>(std::vector{model}, Strands::average);
    const auto score = [windows, bin](const std::vector<std::string>& sequences) {
        std::vector<double> scores;
        for (const std::string& dna : sequences) {
            const at::Tensor all = windows->open(dna).reference()[bin].contiguous();
            scores.insert(scores.end(), all.const_data_ptr<double>(),
                          all.const_data_ptr<double>() + all.numel());
        }
        return scores;
    };
    return {model.info, model.labels, grid.window_bases(), bin * grid.bin + grid.bin / 2, false, score};
}

Scorer open_scorer(const MarginalizeSpec& spec) {
    const Job job = open_job(spec);
    const TaskInfo info = read_task_info(training::find_model(spec.model));
    const ModelFolder model = open_model(spec.model, info.task, job.device, job.computing);
    if (model.bins()) return bin_scorer(model);
    const auto predictor = std::make_shared<Predictor>(std::vector{model}, Strands::none, job.batch_tokens);
    const std::int64_t length = reads_records(info) ? record_length : info.window.size();
    return {info,
            model.labels,
            length,
            length / 2,
            reads_records(info),
            [predictor, job](const std::vector<std::string>& sequences) {
                return predictor->score(predictor->encode(sequences, job.threads));
            }};
}

std::vector<std::string> rows_of(const MarginalizeSpec& spec, const genome::ReferenceGenome& reference,
                                 const Scorer& scorer) {
    std::vector<std::string> backgrounds;
    for (const genome::BedRecord& row : genome::read_bed(spec.backgrounds)) {
        const genome::Interval& where = row.where;
        if (!reference.find(where.contig))
            throw InputError("the contig '" + where.contig + "' is not in the reference", spec.backgrounds,
                             row.line);
        const std::int64_t begin = where.begin + where.size() / 2 - scorer.middle;
        backgrounds.push_back(reference.fetch(
            scorer.reads_rows ? where : genome::Interval{where.contig, begin, begin + scorer.length}));
        if (backgrounds.back().find_first_not_of('N') == std::string::npos)
            throw InputError("the reference has no letters but N here", spec.backgrounds, row.line);
    }
    if (backgrounds.empty()) throw InputError("has no rows", spec.backgrounds);
    return backgrounds;
}

/// Drawn from the reference, where it has no N, their dinucleotides shuffled.
std::vector<std::string> shuffled(const genome::ReferenceGenome& reference, std::int64_t length) {
    std::int64_t bases = 0;
    for (const genome::Contig& contig : reference.contigs())
        bases += contig.length;
    std::vector<std::string> backgrounds;
    Rng rng = Rng(0).split("backgrounds");
    for (std::int64_t i = 0; i < shuffled_count * tries && std::ssize(backgrounds) < shuffled_count; ++i) {
        std::int64_t start = rng.between(0, bases - 1);
        auto contig = reference.contigs().begin();
        for (; start >= contig->length; ++contig)
            start -= contig->length;
        const std::string dna = reference.fetch({contig->name, start, start + length});
        if (genome::n_fraction(dna) == 0) backgrounds.push_back(genome::dinucleotide_shuffle(dna, rng));
    }
    if (!backgrounds.empty()) return backgrounds;
    throw ConfigError(
        fmt::format("the reference has no {} bases without N; give a BED as --backgrounds", length));
}

std::string with_motif(std::string dna, const motifs::Motif& motif, const Scorer& scorer) {
    std::string site;
    for (const motifs::Shares& column : motif.shares)
        site += "ACGT"[std::ranges::max_element(column) - column.begin()];
    const std::int64_t middle = scorer.reads_rows ? std::ssize(dna) / 2 : scorer.middle;
    if (site.size() > dna.size())
        throw ConfigError(fmt::format("the motif '{}' is longer than a background, which has {} bases",
                                      motif.id, dna.size()));
    return dna.replace(static_cast<std::size_t>(middle) - site.size() / 2, site.size(), site);
}

void write_effects(const motifs::Motif& motif, const std::vector<std::vector<double>>& effects,
                   const rows::LabelTable& labels, genome::TextOutput& output) {
    const auto count = static_cast<double>(effects.size());
    for (std::size_t label = 0; label < labels.size(); ++label) {
        double sum = 0, squares = 0;
        for (const std::vector<double>& of_background : effects)
            sum += of_background[label];
        for (const std::vector<double>& of_background : effects)
            squares += (of_background[label] - sum / count) * (of_background[label] - sum / count);
        output.write(fmt::format(
            "{}\t{}\t{}\t{:.5g}\t{}\t{}\n", motif.id, motif.name.empty() ? "." : motif.name,
            labels.column_name(label), sum / count,
            count > 1 ? fmt::format("{:.4g}", std::sqrt(squares / (count - 1) / count)) : "NA", count));
    }
}

}  // namespace

std::int64_t marginalize_motifs(const MarginalizeSpec& spec) {
    const motifs::MotifSet set = motifs::read_motifs(spec.motifs);
    const auto reference = genome::open_references(spec.references);
    genome::TextOutput output(spec.output, spec.overwrite);
    const Scorer scorer = open_scorer(spec);
    const std::vector<std::string> backgrounds = spec.backgrounds == shuffled_backgrounds
                                                     ? shuffled(*reference, scorer.length)
                                                     : rows_of(spec, *reference, scorer);
    std::vector<std::vector<std::vector<double>>> effects(set.motifs.size());  // background, label
    Progress progress("Scoring", "backgrounds", std::ssize(backgrounds));
    for (const std::string& background : backgrounds) {
        stop_if_asked();
        std::vector<std::string> sequences{background};
        for (const motifs::Motif& motif : set.motifs)
            sequences.push_back(with_motif(background, motif, scorer));
        std::vector<double> values = scorer.score(sequences);
        for (double& value : values)
            value = additive(value, scorer.info.link());
        const std::size_t labels = scorer.labels.size();
        for (std::size_t motif = 0; motif < effects.size(); ++motif) {
            std::vector<double>& of_background = effects[motif].emplace_back();
            for (std::size_t label = 0; label < labels; ++label)
                of_background.push_back(values[(motif + 1) * labels + label] - values[label]);
        }
        progress.update(std::ssize(effects.front()));
    }
    progress.finish();
    output.write("#motif\tname\tlabel\teffect\tse\tbackgrounds\n");
    for (std::size_t motif = 0; motif < effects.size(); ++motif)
        write_effects(set.motifs[motif], effects[motif], scorer.labels, output);
    output.commit();
    return std::ssize(backgrounds);
}

}  // namespace bigbird::task_models
