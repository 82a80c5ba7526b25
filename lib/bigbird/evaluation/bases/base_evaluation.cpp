// SPDX-License-Identifier: Apache-2.0
#include "bigbird/evaluation/bases/base_evaluation.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/interrupt.hpp"
#include "bigbird/core/log.hpp"
#include "bigbird/core/parallel.hpp"
#include "bigbird/core/parse_number.hpp"
#include "bigbird/examples/base_labels.hpp"
#include "bigbird/genome/regions/interval_set.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <utility>

namespace bigbird::evaluation {

WeightedRanking::WeightedRanking(std::vector<WeightedRow> rows) : rows_(std::move(rows)) {
    std::ranges::sort(rows_, std::greater(), &WeightedRow::score);
}

Areas WeightedRanking::areas(std::span<const std::uint32_t> weights) const {
    const auto times = [weights](const WeightedRow& row) {
        const double weight = weights.empty() ? 1.0 : static_cast<double>(weights[row.block]);
        return static_cast<double>(row.times) * weight;
    };
    double ones = 0, zeros = 0, pairs = 0, precision = 0;
    for (std::size_t begin = 0, end = 0; begin < rows_.size(); begin = end) {
        double more_ones = 0, more_zeros = 0;  // sums over equal scores
        for (end = begin; end < rows_.size() && rows_[end].score == rows_[begin].score; ++end)
            (rows_[end].positive ? more_ones : more_zeros) += times(rows_[end]);
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
struct Runs {
    std::vector<float> scores;  ///< (runs, columns)
    std::vector<std::size_t> truth;
    std::vector<std::int64_t> bases;
    std::vector<std::uint32_t> block;  ///< block of genome where the run's row begins
    std::int64_t not_scored = 0;
};

/// Counts the bases that rows have in common with earlier ones.
class RepeatedBases {
public:
    void add(const genome::Interval& where) { rows_[where.contig].push_back({where.begin, where.end}); }
    std::int64_t count() {
        std::int64_t repeated = 0;
        for (auto& [contig, rows] : rows_) {
            std::ranges::sort(rows, {}, &genome::Span::begin);
            std::int64_t end = 0;  // end of the previous rows
            for (const genome::Span& row : rows) {
                repeated += std::clamp<std::int64_t>(end - row.begin, 0, row.end - row.begin);
                end = std::max(end, row.end);
            }
        }
        return repeated;
    }

private:
    std::map<std::string, std::vector<genome::Span>> rows_;
};

std::int64_t whole_number(const std::string& text, const fs::path& file, std::int64_t line) {
    const auto value = parse_number<std::int64_t>(text);
    if (!value) throw InputError("'" + text + "' is no coordinate", file, line);
    return *value;
}

genome::Interval place_of(const rows::ScoreRow& row, const genome::ReferenceGenome& reference,
                          const fs::path& file, std::int64_t line) {
    genome::Interval where{row.contig, whole_number(row.begin, file, line),
                           whole_number(row.end, file, line)};
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
                                             request.scores.string(), fmt::join(columns, ", "));
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
    for (std::size_t label = 0; label < counts.size(); ++label) {
        if (counts[label] == 0) continue;
        runs.scores.insert(runs.scores.end(), values.begin(), values.end());
        runs.truth.push_back(columns[label]);
        runs.bases.push_back(counts[label]);
        runs.block.push_back(block);
    }
}

/// The most probable column of each run.
std::vector<std::size_t> calls_of(const Runs& runs, std::size_t columns) {
    std::vector<std::size_t> calls;
    for (std::size_t run = 0; run < runs.truth.size(); ++run) {
        const auto begin = runs.scores.begin() + static_cast<std::ptrdiff_t>(run * columns);
        calls.push_back(static_cast<std::size_t>(
            std::max_element(begin, begin + static_cast<std::ptrdiff_t>(columns)) - begin));
    }
    return calls;
}

/// One label, with figures for any weights of blocks.
class LabelFiguresOf {
public:
    static constexpr std::size_t count = 5;

    LabelFiguresOf(const Runs& runs, const std::vector<std::size_t>& calls, std::size_t column,
                   std::size_t columns, std::size_t blocks)
        : confusion_(blocks), ranking_(rows_of(runs, column, columns)) {
        for (std::size_t run = 0; run < runs.truth.size(); ++run) {
            confusion_[runs.block[run]].count(runs.truth[run] == column, calls[run] == column,
                                              runs.bases[run]);
        }
    }
    Confusion confusion(std::span<const std::uint32_t> weights) const {
        Confusion sum;
        for (std::size_t block = 0; block < confusion_.size(); ++block) {
            const std::int64_t weight = weights.empty() ? 1 : weights[block];
            sum.true_positives += weight * confusion_[block].true_positives;
            sum.false_positives += weight * confusion_[block].false_positives;
            sum.false_negatives += weight * confusion_[block].false_negatives;
            sum.true_negatives += weight * confusion_[block].true_negatives;
        }
        return sum;
    }
    /// AUROC, AUPRC, precision, recall, F1; no weights: each block once.
    void append(std::span<const std::uint32_t> weights, FigureValues& values) const {
        const Areas areas = ranking_.areas(weights);
        const Confusion counts = confusion(weights);
        values.insert(values.end(), {areas.roc_auc, areas.average_precision, counts.precision(),
                                     counts.recall(), counts.f1()});
    }

private:
    static std::vector<WeightedRow> rows_of(const Runs& runs, std::size_t column, std::size_t columns) {
        std::vector<WeightedRow> rows;
        for (std::size_t run = 0; run < runs.truth.size(); ++run) {
            rows.push_back({runs.scores[run * columns + column], runs.truth[run] == column, runs.bases[run],
                            runs.block[run]});
        }
        return rows;
    }

    std::vector<Confusion> confusion_;  ///< by block
    WeightedRanking ranking_;
};

/// All figures in one row: five per label, then accuracy and the means of AUROC, AUPRC and F1.
class AllFigures {
public:
    AllFigures(const Runs& runs, const std::vector<std::size_t>& calls,
               const std::vector<std::string>& columns, const std::string& none, std::size_t blocks) {
        for (std::size_t column = 0; column < columns.size(); ++column) {
            labels_.emplace_back(runs, calls, column, columns.size(), blocks);
            const Confusion counts = labels_.back().confusion({});
            if (columns[column] != none && counts.true_positives + counts.false_negatives > 0)
                summarised_.push_back(column);
        }
    }
    const LabelFiguresOf& label(std::size_t column) const { return labels_[column]; }

    FigureValues figures(std::span<const std::uint32_t> weights) const {
        FigureValues values;
        double right = 0, all = 0;
        for (const LabelFiguresOf& label : labels_) {
            label.append(weights, values);
            const Confusion counts = label.confusion(weights);
            right += static_cast<double>(counts.true_positives);
            all += static_cast<double>(counts.true_positives + counts.false_negatives);
        }
        const auto mean = [&](std::size_t which) {
            FigureValues some;
            for (const std::size_t column : summarised_)
                some.push_back(values[column * LabelFiguresOf::count + which]);
            return summarise(some).mean;
        };
        const FigureValues means{mean(0), mean(1), mean(4)};
        values.push_back(all > 0 ? std::optional(right / all) : std::nullopt);
        values.insert(values.end(), means.begin(), means.end());
        return values;
    }

private:
    std::vector<LabelFiguresOf> labels_;
    std::vector<std::size_t> summarised_;
};

std::vector<Figure> figures_of(const AllFigures& all, std::size_t blocks, const EvaluationOptions& options) {
    const std::int64_t count = blocks > 1 ? options.resamples : 0;
    ResampledFigures figures{all.figures({}), std::vector<FigureValues>(static_cast<std::size_t>(count))};
    const Rng stream = Rng(options.seed).split("bases");
    parallel_for(count, options.threads, [&](std::int64_t index) {
        stop_if_asked();
        figures.resampled[static_cast<std::size_t>(index)] = all.figures(draw_blocks(stream, index, blocks));
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
    rows::ScoreReader reader(request.scores);
    const std::vector<std::string>& columns = reader.columns();
    const std::vector<std::size_t> column_of = columns_of(labels, columns, request);
    Runs runs;
    RepeatedBases repeated;
    GenomeBlocks blocks(request.options.block_size);
    rows::ScoreRow row;
    std::vector<float> values;
    while (reader.next(row, values)) {
        const genome::Interval where = place_of(row, *reference, request.scores, reader.line_number());
        repeated.add(where);
        add_row(runs, where, values, labels, column_of, blocks);
    }
    if (const std::int64_t bases = repeated.count(); bases > 0) {
        log_warning("{}: {} bases are scored by more than one row, and count once for each",
                    request.scores.string(), bases);
    }
    if (runs.truth.empty()) throw InputError("holds no base with scores", request.scores);
    const AllFigures all(runs, calls_of(runs, columns.size()), columns, request.none_label, blocks.count());
    const std::vector<Figure> figures = figures_of(all, blocks.count(), request.options);
    BaseEvaluation evaluation;
    evaluation.blocks = blocks.count();
    evaluation.not_scored = runs.not_scored;
    evaluation.provenance = reader.provenance();
    std::int64_t most = 0;
    for (std::size_t column = 0; column < columns.size(); ++column) {
        const Confusion counts = all.label(column).confusion({});
        const Figure* of = &figures[column * LabelFiguresOf::count];
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
    const Figure* of_all = &figures[columns.size() * LabelFiguresOf::count];
    evaluation.accuracy = of_all[0];
    evaluation.mean_auroc = of_all[1];
    evaluation.mean_auprc = of_all[2];
    evaluation.mean_f1 = of_all[3];
    evaluation.majority = static_cast<double>(most) / static_cast<double>(evaluation.bases);
    return evaluation;
}

std::vector<std::string> to_lines(const BaseEvaluation& evaluation) {
    std::vector<std::string> lines{fmt::format(
        "{} bases, {} without scores, {} blocks; accuracy {} ({:.3f} by calling all the same); means: AUROC "
        "{}, "
        "AUPRC {}, F1 {}",
        evaluation.bases, evaluation.not_scored, evaluation.blocks, brief(evaluation.accuracy),
        evaluation.majority.value_or(0), brief(evaluation.mean_auroc), brief(evaluation.mean_auprc),
        brief(evaluation.mean_f1))};
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
