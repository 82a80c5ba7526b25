// SPDX-License-Identifier: Apache-2.0
#include "bigbird/evaluation/bases/base_evaluation.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/interrupt.hpp"
#include "bigbird/core/log.hpp"
#include "bigbird/core/parallel.hpp"
#include "bigbird/core/parse_number.hpp"
#include "bigbird/core/words.hpp"
#include "bigbird/examples/base_labels.hpp"
#include "bigbird/genome/regions/interval_set.hpp"
#include "bigbird/outputs/merge/merge_scores.hpp"
#include "bigbird/rows/row.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <utility>

namespace bigbird::evaluation {

Areas areas_of(std::span<const WeightedRow> rows, std::span<const std::uint32_t> weights) {
    const auto times = [weights](const WeightedRow& row) {
        const double weight = weights.empty() ? 1.0 : static_cast<double>(weights[row.block]);
        return static_cast<double>(row.times) * weight;
    };
    double ones = 0, zeros = 0, pairs = 0, precision = 0;
    for (std::size_t begin = 0, end = 0; begin < rows.size(); begin = end) {
        double more_ones = 0, more_zeros = 0;  // sums over equal scores
        for (end = begin; end < rows.size() && rows[end].score == rows[begin].score; ++end)
            (rows[end].positive ? more_ones : more_zeros) += times(rows[end]);
        pairs += more_zeros * (ones + more_ones / 2);
        ones += more_ones;
        zeros += more_zeros;
        if (more_ones > 0) precision += more_ones * ones / (ones + zeros);
    }
    Areas areas;
    if (ones > 0 && zeros > 0) areas.roc_auc = pairs / (ones * zeros);
    if (ones > 0) areas.average_precision = precision / ones;
    return areas;
}

namespace fs = std::filesystem;

namespace {

/// Bases of equal scores and one label.
struct Run {
    std::size_t truth = 0, called = 0;  ///< columns; called: the most probable one
    std::int64_t bases = 0;
    std::uint32_t block = 0;  ///< block of genome where the run's row begins
};

struct Runs {
    std::vector<Run> all;
    std::vector<float> scores;  ///< (runs, columns)
    std::int64_t not_scored = 0;
};

/// How many bases rows have in common with earlier ones of their contig.
std::int64_t repeated_bases(std::map<std::string, std::vector<genome::Span>>& by_contig) {
    std::int64_t repeated = 0;
    for (auto& [contig, rows] : by_contig) {
        std::ranges::sort(rows, {}, &genome::Span::begin);
        std::int64_t end = 0;  // end of the previous rows
        for (const genome::Span& row : rows) {
            repeated += std::clamp<std::int64_t>(end - row.begin, 0, row.end - row.begin);
            end = std::max(end, row.end);
        }
    }
    return repeated;
}

/// Whether the row is no place on the reference, as predict-tokens --skip-invalid found.
bool is_invalid(const rows::ScoreRow& row) {
    constexpr rows::RowStatus invalid[] = {rows::RowStatus::malformed, rows::RowStatus::no_contig,
                                           rows::RowStatus::bad_interval};
    return std::ranges::any_of(invalid, [&](rows::RowStatus s) { return row.status == to_string(s); });
}

genome::Interval place_of(const rows::ScoreRow& row, const genome::ReferenceGenome& reference,
                          const fs::path& file, std::int64_t line) {
    const auto number = [&](const std::string& text) {
        const auto value = parse_number<std::int64_t>(text);
        if (!value) throw InputError("'" + shortened(text) + "' is no coordinate", file, line);
        return *value;
    };
    genome::Interval where{row.contig, number(row.begin), number(row.end)};
    if (where.end < where.begin || genome::place(where, reference) != genome::Fit::inside)
        throw InputError(genome::to_string(where) + " does not lie on the reference", file, line);
    return where;
}

/// The column of each label of the BED.
std::vector<std::size_t> columns_of(const examples::BaseLabels& labels,
                                    const std::vector<std::string>& columns,
                                    const BaseEvaluationRequest& request) {
    std::vector<std::size_t> places;
    for (std::size_t label = 0; label < labels.names().size(); ++label) {
        const std::string& name = labels.names()[label];
        const auto found = std::ranges::find(columns, name);
        const std::string what = fmt::format("'{}' is none of the labels that {} has scores of: {}", name,
                                             request.scores.string(), listed(columns, ""));
        if (found == columns.end() && label == 0) throw ConfigError("--none-label " + what);
        if (found == columns.end())
            throw InputError("label " + what, request.labels, labels.first_line(label));
        places.push_back(static_cast<std::size_t>(found - columns.begin()));
    }
    return places;
}

void add_row(Runs& runs, const genome::Interval& where, const std::vector<float>& values,
             const examples::BaseLabels& labels, const std::vector<std::size_t>& columns,
             GenomeBlocks& blocks) {
    if (values.empty() || std::ranges::any_of(values, [](float x) { return std::isnan(x); })) {
        runs.not_scored += where.size();
        return;
    }
    const std::vector<std::int64_t> counts = labels.counts(where);
    const std::uint32_t block = blocks.of(where);
    const auto called = static_cast<std::size_t>(std::ranges::max_element(values) - values.begin());
    for (std::size_t label = 0; label < counts.size(); ++label) {
        if (counts[label] == 0) continue;
        runs.scores.insert(runs.scores.end(), values.begin(), values.end());
        runs.all.push_back({columns[label], called, counts[label], block});
    }
}

/// The bases of one label, by block and by score.
struct LabelBases {
    bool summarised = false;  ///< counts in the means
    std::vector<Confusion> by_block;
    std::vector<WeightedRow> by_score{};  ///< descending

    /// No weights: each block once.
    Confusion confusion(std::span<const std::uint32_t> weights = {}) const {
        Confusion sum;
        for (std::size_t block = 0; block < by_block.size(); ++block) {
            const std::int64_t weight = weights.empty() ? 1 : weights[block];
            sum.true_positives += weight * by_block[block].true_positives;
            sum.false_positives += weight * by_block[block].false_positives;
            sum.false_negatives += weight * by_block[block].false_negatives;
            sum.true_negatives += weight * by_block[block].true_negatives;
        }
        return sum;
    }
};

std::vector<LabelBases> labels_of(const Runs& runs, const std::vector<std::string>& columns,
                                  const std::string& none, std::size_t blocks) {
    std::vector<LabelBases> labels;
    for (std::size_t column = 0; column < columns.size(); ++column) {
        LabelBases& label = labels.emplace_back(LabelBases{.by_block = std::vector<Confusion>(blocks)});
        for (std::size_t i = 0; i < runs.all.size(); ++i) {
            const Run& run = runs.all[i];
            const bool is_label = run.truth == column;
            label.by_block[run.block].count(is_label, run.called == column, run.bases);
            label.by_score.push_back(
                {runs.scores[i * columns.size() + column], is_label, run.bases, run.block});
            label.summarised = label.summarised || (is_label && columns[column] != none);
        }
        std::ranges::sort(label.by_score, std::greater(), &WeightedRow::score);
    }
    return labels;
}

constexpr std::size_t figures_of_label = 5;

/// All figures in one row: AUROC, AUPRC, precision, recall and F1 of each label, then accuracy and the means
/// of AUROC, AUPRC and F1.
FigureValues values_of(const std::vector<LabelBases>& labels, std::span<const std::uint32_t> weights) {
    FigureValues values, means[figures_of_label];
    double right = 0, all = 0;
    for (const LabelBases& label : labels) {
        const Areas areas = areas_of(label.by_score, weights);
        const Confusion counts = label.confusion(weights);
        const FigureValues own{areas.roc_auc, areas.average_precision, counts.precision(), counts.recall(),
                               counts.f1()};
        values.insert(values.end(), own.begin(), own.end());
        for (std::size_t i = 0; label.summarised && i < own.size(); ++i)
            means[i].push_back(own[i]);
        right += static_cast<double>(counts.true_positives);
        all += static_cast<double>(counts.true_positives + counts.false_negatives);
    }
    values.push_back(all > 0 ? std::optional(right / all) : std::nullopt);
    for (const std::size_t figure : {0U, 1U, 4U})
        values.push_back(summarise(means[figure]).mean);
    return values;
}

std::vector<Figure> figures_of(const std::vector<LabelBases>& labels, std::size_t blocks,
                               const EvaluationOptions& options) {
    const std::int64_t count = blocks > 1 ? options.resamples : 0;
    ResampledFigures figures{values_of(labels, {}),
                             std::vector<FigureValues>(static_cast<std::size_t>(count))};
    const Rng stream = Rng(options.seed).split("bases");
    parallel_for(count, options.threads, [&](std::int64_t index) {
        stop_if_asked();
        figures.resampled[static_cast<std::size_t>(index)] =
            values_of(labels, draw_blocks(stream, index, blocks));
    });
    return with_intervals(figures);
}

NamedFigures figures_of(const BaseFigures& label) {
    return {{"auroc", &label.auroc},
            {"auprc", &label.auprc},
            {"precision", &label.precision},
            {"recall", &label.recall},
            {"f1", &label.f1}};
}

std::string text_of(const std::optional<double>& value) {
    return value ? fmt::format("{:.6g}", *value) : "NA";
}

std::string texts_of(const Figure& figure, char separator) {
    return text_of(figure.value) + separator + text_of(figure.low) + separator + text_of(figure.high);
}

}  // namespace

BaseEvaluation evaluate_bases(const BaseEvaluationRequest& request) {
    const auto reference = genome::open_references(request.references);
    const auto labels = examples::BaseLabels::read(*reference, request.labels, request.none_label);
    rows::ScoreReader reader(request.scores, outputs::hdf5_lines(request.scores));
    const std::vector<std::string>& columns = reader.columns();
    const std::vector<std::size_t> column_of = columns_of(labels, columns, request);
    Runs runs;
    std::map<std::string, std::vector<genome::Span>> places;
    GenomeBlocks blocks(request.options.block_size);
    rows::ScoreRow row;
    std::vector<float> values;
    std::int64_t invalid = 0;
    while (reader.next(row, values)) {
        invalid += is_invalid(row) ? 1 : 0;
        if (is_invalid(row)) continue;
        const genome::Interval where = place_of(row, *reference, request.scores, reader.line_number());
        places[where.contig].push_back({where.begin, where.end});
        add_row(runs, where, values, labels, column_of, blocks);
    }
    if (invalid > 0) {
        log_warning("{}: {} rows are malformed or not on the reference, and left out",
                    request.scores.string(), invalid);
    }
    if (const std::int64_t bases = repeated_bases(places); bases > 0) {
        log_warning("{}: {} bases are scored by more than one row, and count once for each",
                    request.scores.string(), bases);
    }
    if (runs.all.empty()) throw InputError("holds no base with scores", request.scores);
    const std::vector<LabelBases> bases = labels_of(runs, columns, request.none_label, blocks.count());
    const std::vector<Figure> figures = figures_of(bases, blocks.count(), request.options);
    BaseEvaluation evaluation;
    evaluation.blocks = blocks.count();
    evaluation.not_scored = runs.not_scored;
    evaluation.provenance = reader.provenance();
    std::int64_t most = 0;
    for (std::size_t column = 0; column < columns.size(); ++column) {
        const Confusion counts = bases[column].confusion();
        const Figure* of = &figures[column * figures_of_label];
        evaluation.labels.push_back({.label = columns[column],
                                     .bases = counts.true_positives + counts.false_negatives,
                                     .called = counts.true_positives + counts.false_positives,
                                     .auroc = of[0],
                                     .auprc = of[1],
                                     .precision = of[2],
                                     .recall = of[3],
                                     .f1 = of[4]});
        evaluation.bases += evaluation.labels.back().bases;
        most = std::max(most, evaluation.labels.back().bases);
    }
    const Figure* of_all = &figures[columns.size() * figures_of_label];
    evaluation.accuracy = of_all[0];
    evaluation.mean_auroc = of_all[1];
    evaluation.mean_auprc = of_all[2];
    evaluation.mean_f1 = of_all[3];
    evaluation.majority = static_cast<double>(most) / static_cast<double>(evaluation.bases);
    return evaluation;
}

std::vector<std::string> to_lines(const BaseEvaluation& evaluation) {
    std::vector<std::string> lines{fmt::format(
        "{}, {} without scores, {}; accuracy {} ({:.3f} by calling all the same); means: AUROC "
        "{}, "
        "AUPRC {}, F1 {}",
        counted(evaluation.bases, "base"), evaluation.not_scored, counted(evaluation.blocks, "block"),
        brief(evaluation.accuracy), evaluation.majority.value_or(0), brief(evaluation.mean_auroc),
        brief(evaluation.mean_auprc), brief(evaluation.mean_f1))};
    for (const BaseFigures& label : evaluation.labels) {
        lines.push_back(fmt::format("label {}: {} bases, AUROC {}, AUPRC {}, F1 {}", label.label, label.bases,
                                    brief(label.auroc), brief(label.auprc), brief(label.f1)));
    }
    return lines;
}

std::string to_tsv(const BaseEvaluation& evaluation) {
    std::string text = rows::provenance_lines(evaluation.provenance);
    const std::pair<const char*, const Figure*> all[] = {{"accuracy", &evaluation.accuracy},
                                                         {"auroc_mean", &evaluation.mean_auroc},
                                                         {"auprc_mean", &evaluation.mean_auprc},
                                                         {"f1_mean", &evaluation.mean_f1}};
    text += fmt::format("##all bases={}\tblocks={}\tmajority_accuracy={}", evaluation.bases,
                        evaluation.blocks, text_of(evaluation.majority));
    for (const auto& [name, figure] : all)
        text += fmt::format("\t{}={}", name, texts_of(*figure, ','));
    text += "\n#label\tbases\tcalled";
    const BaseFigures any;
    for (const auto& [name, figure] : figures_of(any))
        text += fmt::format("\t{0}\t{0}_low\t{0}_high", name);
    text += '\n';
    for (const BaseFigures& label : evaluation.labels) {
        text += fmt::format("{}\t{}\t{}", label.label, label.bases, label.called);
        for (const auto& [name, figure] : figures_of(label))
            text += '\t' + texts_of(*figure, '\t');
        text += '\n';
    }
    return text;
}

Json to_json(const BaseEvaluation& evaluation) {
    Json json{
        {"bases", evaluation.bases}, {"blocks", evaluation.blocks}, {"not_scored", evaluation.not_scored}};
    put(json, "accuracy", evaluation.accuracy);
    json["majority_accuracy"] = number(evaluation.majority);
    put(json, "mean_auroc", evaluation.mean_auroc);
    put(json, "mean_auprc", evaluation.mean_auprc);
    put(json, "mean_f1", evaluation.mean_f1);
    json["labels"] = Json::array();
    for (const BaseFigures& label : evaluation.labels) {
        Json& of_label = json["labels"].emplace_back(
            Json{{"label", label.label}, {"bases", label.bases}, {"called", label.called}});
        for (const auto& [name, figure] : figures_of(label))
            put(of_label, name, *figure);
    }
    json["scores"] = Json::object();
    for (const auto& [key, value] : evaluation.provenance)
        json["scores"][key] = value;
    return json;
}

}  // namespace bigbird::evaluation
