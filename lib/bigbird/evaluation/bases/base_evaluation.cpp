// SPDX-License-Identifier: Apache-2.0
#include "bigbird/evaluation/bases/base_evaluation.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/formats/json_file.hpp"
#include "bigbird/core/log.hpp"
#include "bigbird/evaluation/bases/weighted_ranking.hpp"
#include "bigbird/evaluation/metrics.hpp"
#include "bigbird/examples/base_labels.hpp"
#include "bigbird/genome/regions/interval_set.hpp"
#include "bigbird/genome/text/text_output.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace bigbird::evaluation {
namespace fs = std::filesystem;

namespace {

/// Bases of equal scores and one label.
struct Runs {
    std::vector<float> scores;  ///< (runs, columns)
    std::vector<std::size_t> truth;
    std::vector<std::int64_t> bases;
    std::int64_t not_scored = 0;
};

std::int64_t whole_number(const std::string& text, const fs::path& file, std::int64_t line) {
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size()) {
        throw InputError("'" + text + "' is no coordinate", file, line);
    }
    return value;
}

genome::Interval place_of(const rows::ScoreRow& row, const genome::ReferenceGenome& reference,
                          const fs::path& file, std::int64_t line) {
    genome::Interval where{row.contig, whole_number(row.begin, file, line),
                           whole_number(row.end, file, line)};
    if (where.end < where.begin || genome::place(where, reference) != genome::Fit::inside) {
        throw InputError(genome::to_string(where) + " does not lie on the reference", file, line);
    }
    return where;
}

std::string list_of(const std::vector<std::string>& names) {
    std::string text;
    for (const std::string& name : names)
        text += (text.empty() ? "" : ", ") + name;
    return text;
}

/// The column of each label of the BED.
std::vector<std::size_t> columns_of(const examples::BaseLabels& labels,
                                    const std::vector<std::string>& columns,
                                    const BaseEvaluationRequest& request) {
    std::vector<std::size_t> places;
    for (std::size_t label = 0; label < labels.names().size(); ++label) {
        const std::string& name = labels.names()[label];
        const auto found = std::ranges::find(columns, name);
        const std::string what = "'" + name + "' is none of the labels that " + request.scores.string() +
                                 " has scores of: " + list_of(columns);
        if (found == columns.end() && label == 0) throw ConfigError("--none-label " + what);
        if (found == columns.end()) {
            throw InputError("label " + what, request.labels, labels.first_line(label));
        }
        places.push_back(static_cast<std::size_t>(found - columns.begin()));
    }
    return places;
}

void add_row(Runs& runs, const genome::Interval& where, const std::vector<float>& values,
             const examples::BaseLabels& labels, const std::vector<std::size_t>& columns) {
    if (values.empty() || std::ranges::any_of(values, [](float x) { return std::isnan(x); })) {
        runs.not_scored += where.size();
        return;
    }
    const std::vector<std::int64_t> counts = labels.counts(where);
    for (std::size_t label = 0; label < counts.size(); ++label) {
        if (counts[label] == 0) continue;
        runs.scores.insert(runs.scores.end(), values.begin(), values.end());
        runs.truth.push_back(columns[label]);
        runs.bases.push_back(counts[label]);
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

BaseFigures figures_of(const Runs& runs, const std::vector<std::size_t>& calls, std::size_t column,
                       const std::vector<std::string>& columns) {
    BaseFigures figures;
    figures.label = columns[column];
    std::vector<WeightedRow> rows;
    Confusion confusion;
    for (std::size_t run = 0; run < runs.truth.size(); ++run) {
        const bool is = runs.truth[run] == column, called = calls[run] == column;
        rows.push_back({runs.scores[run * columns.size() + column], is, runs.bases[run]});
        confusion.count(is, called, runs.bases[run]);
    }
    figures.bases = confusion.true_positives + confusion.false_negatives;
    figures.called = confusion.true_positives + confusion.false_positives;
    const RankingFigures ranking = weighted_ranking(rows);
    figures.auroc = ranking.auroc;
    figures.auprc = ranking.auprc;
    figures.precision = confusion.precision();
    figures.recall = confusion.recall();
    figures.f1 = confusion.f1();
    return figures;
}

void summarise_into(BaseEvaluation& evaluation, const std::string& none) {
    std::vector<std::optional<double>> auroc, auprc, f1;
    for (const BaseFigures& figures : evaluation.labels) {
        if (figures.label == none || figures.bases == 0) continue;
        auroc.push_back(figures.auroc);
        auprc.push_back(figures.auprc);
        f1.push_back(figures.f1);
    }
    evaluation.mean_auroc = summarise(auroc).mean;
    evaluation.mean_auprc = summarise(auprc).mean;
    evaluation.mean_f1 = summarise(f1).mean;
}

Json json_of(const std::optional<double>& value) {
    return value ? Json(*value) : Json(nullptr);
}

std::string text_of(const std::optional<double>& value) {
    return value ? fmt::format("{:.6g}", *value) : "NA";
}

std::string tsv_of(const BaseEvaluation& evaluation) {
    std::string text = rows::provenance_lines(evaluation.provenance);
    text += "#label\tbases\tcalled\tauroc\tauprc\tprecision\trecall\tf1\n";
    for (const BaseFigures& label : evaluation.labels) {
        text += fmt::format("{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\n", label.label, label.bases, label.called,
                            text_of(label.auroc), text_of(label.auprc), text_of(label.precision),
                            text_of(label.recall), text_of(label.f1));
    }
    return text;
}

Json json_of(const BaseEvaluation& evaluation) {
    Json json{{"bases", evaluation.bases},
              {"not_scored", evaluation.not_scored},
              {"accuracy", json_of(evaluation.accuracy)},
              {"majority_accuracy", json_of(evaluation.majority)},
              {"mean_auroc", json_of(evaluation.mean_auroc)},
              {"mean_auprc", json_of(evaluation.mean_auprc)},
              {"mean_f1", json_of(evaluation.mean_f1)},
              {"labels", Json::array()},
              {"scores", Json::object()}};
    for (const BaseFigures& label : evaluation.labels) {
        json["labels"].push_back({{"label", label.label},
                                  {"bases", label.bases},
                                  {"called", label.called},
                                  {"auroc", json_of(label.auroc)},
                                  {"auprc", json_of(label.auprc)},
                                  {"precision", json_of(label.precision)},
                                  {"recall", json_of(label.recall)},
                                  {"f1", json_of(label.f1)}});
    }
    for (const auto& [key, value] : evaluation.provenance)
        json["scores"][key] = value;
    return json;
}

}  // namespace

BaseEvaluation evaluate_bases(const BaseEvaluationRequest& request) {
    const auto reference = genome::open_references(request.references);
    const auto labels = examples::BaseLabels::read(*reference, request.labels, request.none_label);
    rows::ScoreReader reader(request.scores);
    const std::vector<std::string>& columns = reader.columns();
    const std::vector<std::size_t> column_of = columns_of(labels, columns, request);
    Runs runs;
    rows::ScoreRow row;
    std::vector<float> values;
    while (reader.next(row, values)) {
        add_row(runs, place_of(row, *reference, request.scores, reader.line_number()), values, labels,
                column_of);
    }
    if (runs.truth.empty()) throw InputError("holds no base with scores", request.scores);
    BaseEvaluation evaluation;
    evaluation.not_scored = runs.not_scored;
    evaluation.provenance = reader.provenance();
    const std::vector<std::size_t> calls = calls_of(runs, columns.size());
    double right = 0;
    std::int64_t most = 0;
    for (std::size_t run = 0; run < runs.truth.size(); ++run) {
        evaluation.bases += runs.bases[run];
        right += calls[run] == runs.truth[run] ? static_cast<double>(runs.bases[run]) : 0.0;
    }
    for (std::size_t column = 0; column < columns.size(); ++column) {
        evaluation.labels.push_back(figures_of(runs, calls, column, columns));
        most = std::max(most, evaluation.labels.back().bases);
    }
    const auto all = static_cast<double>(evaluation.bases);
    evaluation.accuracy = right / all;
    evaluation.majority = static_cast<double>(most) / all;
    summarise_into(evaluation, request.none_label);
    return evaluation;
}

std::vector<std::string> to_lines(const BaseEvaluation& evaluation) {
    std::vector<std::string> lines{fmt::format(
        "{} bases, {} without scores; accuracy {} ({} by calling all the same); means: AUROC {}, "
        "AUPRC {}, F1 {}",
        evaluation.bases, evaluation.not_scored, text_of(evaluation.accuracy), text_of(evaluation.majority),
        text_of(evaluation.mean_auroc), text_of(evaluation.mean_auprc), text_of(evaluation.mean_f1))};
    for (const BaseFigures& label : evaluation.labels) {
        lines.push_back(fmt::format("label {}: {} bases, AUROC {}, AUPRC {}, F1 {}", label.label, label.bases,
                                    text_of(label.auroc), text_of(label.auprc), text_of(label.f1)));
    }
    return lines;
}

void write_evaluation(const BaseEvaluation& evaluation, const fs::path& output, Overwrite overwrite) {
    const std::string name = output.string();
    const bool table = name.ends_with(".tsv") || name.ends_with(".tsv.gz");
    const std::string text = table ? tsv_of(evaluation) : json_of(evaluation).dump(2) + "\n";
    genome::TextOutput out(output, overwrite);
    out.write(text);
    out.commit();
}

}  // namespace bigbird::evaluation
