// SPDX-License-Identifier: Apache-2.0
#include "bigbird/evaluation/base_evaluation.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/log.hpp"
#include "bigbird/core/parse_number.hpp"
#include "bigbird/core/words.hpp"
#include "bigbird/examples/base_labels.hpp"
#include "bigbird/genome/regions/interval_set.hpp"
#include "bigbird/outputs/merge/merge_scores.hpp"
#include "bigbird/rows/row.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

namespace bigbird::evaluation {

namespace fs = std::filesystem;

namespace {

/// Runs of bases with equal scores and one label.
struct Runs {
    std::vector<std::vector<float>> scores;  ///< by column
    std::vector<std::uint32_t> truth{};      ///< columns
    std::vector<std::int64_t> bases{};
    std::vector<std::uint32_t> blocks{};  ///< block of genome where the run's row begins
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
        if (found == columns.end() && label == 0) {
            throw InputError(
                fmt::format("has no scores of the label '{}', which bases without a row have: give "
                            "scores of predict-tokens",
                            name),
                request.scores);
        }
        if (found == columns.end()) {
            throw InputError(fmt::format("label '{}' is none of the labels that {} has scores of: {}", name,
                                         request.scores.string(), listed(columns, "")),
                             request.labels, labels.first_line(label));
        }
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
        for (std::size_t column = 0; column < values.size(); ++column)
            runs.scores[column].push_back(values[column]);
        runs.truth.push_back(static_cast<std::uint32_t>(columns[label]));
        runs.bases.push_back(counts[label]);
        runs.blocks.push_back(block);
    }
}

/// What measure_classes() has of each column.
struct OfColumn {
    enum Figure : std::uint8_t { bases, precision, recall, f1, auroc, auprc, called };
};

/// The classes' figures; of all together accuracy, and the means of AUROC, AUPRC and F1 over the labels that
/// bases have, but not `none`.
Measure measure_of(const Runs& runs, std::size_t none) {
    Measure measure =
        measure_classes({{runs.scores.begin(), runs.scores.end()}, runs.blocks, {}, runs.bases}, runs.truth);
    std::vector<std::size_t> members;
    for (std::uint32_t column = 0; column < measure.columns; ++column)
        if (column != none && std::ranges::count(runs.truth, column) > 0) members.push_back(column);
    measure.all = [members, classes = measure.all](const std::vector<FigureValues>& each) {
        FigureValues figures{classes(each).front()}, values;
        for (const auto figure : {OfColumn::auroc, OfColumn::auprc, OfColumn::f1}) {
            values.clear();
            for (const std::size_t column : members)
                values.push_back(each[column][figure]);
            figures.push_back(summarise(values).mean);
        }
        return figures;
    };
    return measure;
}

using NamedFigures = std::vector<std::pair<std::string, const Figure*>>;

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
    const auto labels = examples::BaseLabels::read(*reference, request.labels);
    rows::ScoreReader reader(request.scores, outputs::score_lines(request.scores));
    const std::vector<std::string>& columns = reader.columns();
    const std::vector<std::size_t> column_of = columns_of(labels, columns, request);
    Runs runs{.scores = std::vector<std::vector<float>>(columns.size())};
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
    if (runs.truth.empty()) throw InputError("holds no base with scores", request.scores);
    const Figures figures = with_intervals(resample(
        measure_of(runs, column_of.front()), units_of_blocks(blocks.count()), request.options, "bases"));
    BaseEvaluation evaluation{.blocks = blocks.count(),
                              .not_scored = runs.not_scored,
                              .accuracy = figures.all[0],
                              .mean_auroc = figures.all[1],
                              .mean_auprc = figures.all[2],
                              .mean_f1 = figures.all[3],
                              .provenance = reader.provenance()};
    double most = 0;
    for (std::size_t column = 0; column < columns.size(); ++column) {
        const std::vector<Figure>& of = figures.each[column];
        evaluation.labels.push_back({columns[column], static_cast<std::int64_t>(*of[OfColumn::bases].value),
                                     static_cast<std::int64_t>(*of[OfColumn::called].value),
                                     of[OfColumn::auroc], of[OfColumn::auprc], of[OfColumn::precision],
                                     of[OfColumn::recall], of[OfColumn::f1]});
        evaluation.bases += evaluation.labels.back().bases;
        most = std::max(most, *of[OfColumn::bases].value);
    }
    evaluation.majority = most / static_cast<double>(evaluation.bases);
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
