// SPDX-License-Identifier: Apache-2.0
#include "bigbird/pipeline/report_page.hpp"

#include "bigbird/core/formats/is_there.hpp"
#include "bigbird/core/formats/mapped_file.hpp"
#include "bigbird/core/log.hpp"
#include "bigbird/core/version.hpp"
#include "bigbird/evaluation/evaluation_report.hpp"
#include "bigbird/evaluation/plot.hpp"
#include "bigbird/model/files/model_card.hpp"
#include "bigbird/training/run_start.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <sstream>
#include <utility>
#include <vector>

namespace bigbird::tasks {
namespace fs = std::filesystem;

namespace {

using evaluation::PlotLine, evaluation::Range;

/// The curves of a run, and the step of its weights.
struct RunCurves {
    PlotLine loss{}, validation_loss{}, validation{};
    std::string figure{};  ///< of `validation`
    std::optional<std::int64_t> kept{};
    double kmer_share = 0;  ///< of regression on k-mers in the scores of a model with members
};

/// The step in a model's card.
std::optional<std::int64_t> kept_step(const fs::path& card) {
    constexpr std::string_view before = "The weights are those of step ";
    if (!is_there(card)) return std::nullopt;
    const std::string text = read_whole_file(card);
    const std::size_t at = text.find(before);
    return at == std::string::npos ? std::nullopt
                                   : std::optional(std::stoll(text.substr(at + before.size())));
}

void add_point(PlotLine& line, const Json& json, const std::string& key) {
    if (json.contains(key) && json[key].is_number())
        line.emplace_back(json.at("step").get<double>(), json[key].get<double>());
}

RunCurves read_curves(const fs::path& run) {
    constexpr std::array<std::array<const char*, 2>, 3> figures{
        {{"eval_auprc", "AUPRC"}, {"eval_pearson", "Pearson's correlation"}, {"eval_auroc", "AUROC"}}};
    std::string key;
    RunCurves curves{.kept = kept_step(run / training::model_folder / model::card_file)};
    if (!is_there(run / "metrics.jsonl")) return curves;
    std::istringstream lines(read_whole_file(run / "metrics.jsonl"));
    for (std::string line; std::getline(lines, line);) {
        const Json json = Json::parse(line, nullptr, false);
        if (!json.is_object() || !json.contains("step")) continue;
        curves.kmer_share = json.value("kmer_share", curves.kmer_share);
        add_point(curves.loss, json, "loss");
        add_point(curves.validation_loss, json, "eval_loss");
        for (const auto& [name, words] : figures) {
            if (!key.empty() || !json.value(std::string(name), Json()).is_number()) continue;
            key = name;
            curves.figure = words;
        }
        add_point(curves.validation, json, key);
    }
    return curves;
}

/// At most 100 points, each the mean of its neighbors.
PlotLine thinned(const PlotLine& line) {
    const std::size_t count = std::min<std::size_t>(100, line.size());
    PlotLine thin(count);
    for (std::size_t i = 0; i < count; ++i) {
        const std::size_t begin = i * line.size() / count, end = (i + 1) * line.size() / count;
        for (std::size_t j = begin; j < end; ++j) {
            thin[i].first += line[j].first / static_cast<double>(end - begin);
            thin[i].second += line[j].second / static_cast<double>(end - begin);
        }
    }
    return thin;
}

Range range_over(const std::vector<PlotLine>& lines, double std::pair<double, double>::*axis, double margin) {
    double low = 1e300, high = -1e300;
    for (const PlotLine& line : lines) {
        for (const auto& point : line) {
            low = std::min(low, point.*axis);
            high = std::max(high, point.*axis);
        }
    }
    if (high - low < 1e-6) return Range{low - 0.05, high + 0.05}.rounded();
    return Range{low - margin * (high - low), high + margin * (high - low)}.rounded();
}

/// A plot over steps: `grey` lines, then one of each run.
std::string steps_picture(const std::string& caption, const std::string& y,
                          const std::vector<RunCurves>& runs, const std::vector<PlotLine>& grey,
                          PlotLine RunCurves::*strong) {
    std::vector<PlotLine> all = grey;
    for (const RunCurves& run : runs)
        all.push_back(run.*strong);
    Range steps = range_over(all, &std::pair<double, double>::first, 0);
    evaluation::Plot plot(caption, "step", y, steps,
                          range_over(all, &std::pair<double, double>::second, 0.03));
    for (const PlotLine& line : grey)
        plot.line(line, "#aaa");
    for (std::size_t i = 0; i < runs.size(); ++i) {
        const PlotLine& line = runs[i].*strong;
        plot.line(line, evaluation::colour_of(i));
        for (const auto& [step, value] : line)
            plot.point(step, value, evaluation::colour_of(i), fmt::format("step {}: {:.4g}", step, value), 2);
        if (runs[i].kept) plot.upright(static_cast<double>(*runs[i].kept));
    }
    return plot.html();
}

}  // namespace

std::string verdict(const std::string& figure, const evaluation::Figure& difference) {
    const std::string words = evaluation::brief(difference);
    const auto sentence = [&](const char* answer, const std::string& why) {
        return fmt::format("Better than a linear model: {}. {}", answer, why);
    };
    if (!difference.value) return sentence("cannot be told", figure + " is not defined on these rows.");
    if (!difference.low) {
        return sentence("cannot be told",
                        fmt::format("The difference in {}, {}, has no interval: the test rows are too few.",
                                    figure, words));
    }
    if (*difference.low > 0) return sentence("yes", fmt::format("{} is higher by {}.", figure, words));
    if (*difference.high < 0)
        return sentence("no", fmt::format("{} is lower: the difference is {}.", figure, words));
    return sentence("cannot be told",
                    fmt::format("The interval of the difference in {}, {}, includes 0.", figure, words));
}

std::string verdict(const evaluation::EvaluationReport& report) {
    constexpr std::array<std::pair<const char*, const char*>, 3> figures{
        {{"auprc_mean", "AUPRC"}, {"auroc", "AUROC"}, {"pearson", "Pearson's correlation"}}};
    for (const auto& [name, words] : figures) {
        const auto found = std::ranges::find(report.names, name);
        if (found != report.names.end()) {
            return verdict(
                words,
                report.files.back().difference->all[static_cast<std::size_t>(found - report.names.begin())]);
        }
    }
    return "";
}

std::string curves_html(const fs::path& run) {
    std::vector<RunCurves> runs;
    for (int member = 1; is_there(run / "members" / std::to_string(member)); ++member)
        runs.push_back(read_curves(run / "members" / std::to_string(member)));
    const RunCurves whole = read_curves(run);
    if (runs.empty()) runs.push_back(whole);
    std::vector<PlotLine> losses;
    std::string kept;
    bool validates = false, has_figure = true;
    for (const RunCurves& one : runs) {
        if (!one.loss.empty()) losses.push_back(thinned(one.loss));
        if (one.kept) kept += (kept.empty() ? "" : ", ") + std::to_string(*one.kept);
        validates = validates || !one.validation_loss.empty();
        has_figure = has_figure && !one.validation.empty();
    }
    if (losses.empty()) return "";
    const std::string of_members = runs.size() > 1 ? fmt::format(", {} networks", runs.size()) : "";
    const std::string dashes =
        kept.empty() ? "." : ". Dashes: the step whose weights were kept, " + kept + ".";
    std::string html = "<h2>Training</h2><div class=pictures>";
    html += steps_picture(
        fmt::format("Loss of training (grey){}{}{}", validates ? " and validation" : "", of_members, dashes),
        "loss", runs, losses, &RunCurves::validation_loss);
    if (has_figure) {
        html += steps_picture("Validation" + of_members + dashes, runs.front().figure, runs, {},
                              &RunCurves::validation);
    }
    html += "</div>\n";
    if (whole.kmer_share == 0) return html;
    return html +
           fmt::format("<p>Regression on k-mers makes {:.0f} % of the score, the networks the rest.</p>\n",
                       100 * whole.kmer_share);
}

Json made_from(const std::string& command, const Json& options, const examples::ExampleSet& set) {
    Json rows{{"program", "bigbird-dna " + std::string(version())}};
    if (!command.empty()) rows["command"] = command;
    rows["examples"] = "";
    for (const auto& [name, value] : options.items())
        if (!value.empty() && !evaluation::text_of(value).starts_with("sha256:")) rows[name] = value;
    for (const Json& input : set.manifest().value("inputs", Json::array())) {
        if (!input.value("sha256", Json()).is_string()) continue;
        std::string name = "SHA-256 of " + input.value("role", "input");
        if (input.contains("label"))
            name += " of " + set.label_table()[input["label"].get<std::size_t>()].name;
        Json& sums = rows[name];
        sums = (sums.is_string() ? sums.get<std::string>() + ", " : "") + input["sha256"].get<std::string>();
    }
    return rows;
}

}  // namespace bigbird::tasks
