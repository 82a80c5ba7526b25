// SPDX-License-Identifier: Apache-2.0
#include "bigbird/model/files/model_card.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/files.hpp"
#include "bigbird/core/formats/mapped_file.hpp"
#include "bigbird/core/version.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <map>

namespace bigbird::model {
namespace fs = std::filesystem;

namespace {

// Markers that with_result() searches for. The first kind are comments in YAML, the second in Markdown.
constexpr const char* yaml_begin = "      # {}: figures\n";
constexpr const char* yaml_end = "      # {}: end\n";
constexpr const char* text_begin = "<!-- {} -->\n";
constexpr const char* text_end = "<!-- end of {} -->\n";

constexpr std::string_view with_results = "    results:\n", no_results = "    results: []\n";
const char* const splits[] = {"validation", "test"};

/// A YAML string in double quotes, as JSON writes it.
std::string quoted(const std::string& text) {
    return Json(text).dump();
}

std::string marked(const char* begin, const char* end, const std::string& split, const std::string& text) {
    return fmt::format(fmt::runtime(begin), split) + text + fmt::format(fmt::runtime(end), split);
}

std::string yaml_of(const CardResult& result) {
    std::string text = fmt::format(
        "      - task: {{type: {}, name: {}}}\n        dataset: {{type: own, name: {}, split: {}}}\n        "
        "metrics:\n",
        result.task.type, quoted(result.task.title), quoted(result.data), result.split);
    for (const CardMetric& metric : result.metrics) {
        text += fmt::format("          - {{type: {}, name: {}, value: {:.6g}}}\n", metric.type,
                            quoted(metric.name), metric.value);
    }
    return text;
}

std::string markdown_of(const CardResult& result) {
    std::vector<std::pair<std::string, std::string>> rows;
    for (const CardMetric& metric : result.metrics)
        rows.emplace_back(metric.name, fmt::format("{:.4g}", metric.value));
    return "On " + result.data + ":\n\n" + card_table("figure", "value", rows);
}

bool has_figures(const CardResult& result) {
    return !result.metrics.empty();
}

/// Whether the card has places for the results of a split.
bool has_places(const ModelCard& card, const std::string& split) {
    return split != "test" || !card.test_advice.empty();
}

/// The metadata, without results.
std::string metadata_of(const ModelCard& card) {
    std::string tags = "genomics, dna";
    for (const std::string& tag : card.tags)
        tags += ", " + tag;
    std::string text = "---\nlibrary_name: bigbird-dna\ntags: [" + tags + "]\n";
    if (std::ranges::none_of(card.results, has_figures) && card.test_advice.empty()) return text + "---\n";
    text += "model-index:\n  - name: " + quoted(card.name) + '\n' + std::string(no_results);
    for (const char* split : splits)
        if (has_places(card, split)) text += marked(yaml_begin, yaml_end, split, "");
    return text + "---\n";
}

/// The section of results, without them.
std::string results_of(const ModelCard& card) {
    if (card.results.empty() && card.test_advice.empty()) return "";
    std::string text = "\n## Accuracy\n";
    for (const std::string split : splits) {
        if (!has_places(card, split)) continue;
        const std::string none = split == "test" ? card.test_advice : "There were none.";
        text += fmt::format("\n### Rows of {}\n\n", split) + marked(text_begin, text_end, split, none + "\n");
    }
    return text;
}

std::string sections(const std::vector<std::pair<std::string, std::string>>& all) {
    std::string text;
    for (const auto& [title, body] : all)
        text += "\n## " + title + "\n\n" + body + (body.ends_with('\n') ? "" : "\n");
    return text;
}

/// Writes `text` between the two markers of a split.
void replace_marked(std::string& card, const char* begin, const char* end, const std::string& split,
                    const std::string& text) {
    const std::string first = fmt::format(fmt::runtime(begin), split),
                      last = fmt::format(fmt::runtime(end), split);
    const std::size_t from = card.find(first), to = card.find(last, from);
    if (from == std::string::npos || to == std::string::npos)
        throw ConfigError("is no model card with a place for the rows of " + split);
    card.replace(from + first.size(), to - from - first.size(), text);
}

}  // namespace

std::string card_table(const std::string& left, const std::string& right,
                       const std::vector<std::pair<std::string, std::string>>& rows) {
    std::string text = "| " + left + " | " + right + " |\n|---|---|\n";
    for (const auto& [key, value] : rows)
        text += "| " + key + " | " + value + " |\n";
    return text;
}

std::vector<CardMetric> card_metrics(const Json& evaluation) {
    struct Known {
        const char *key, *type, *name;
    };
    constexpr Known known[] = {{"eval_auroc", "roc_auc", "Mean AUROC"},
                               {"eval_auprc", "average_precision", "Mean AUPRC"},
                               {"eval_f1", "f1", "Mean F1"},
                               {"eval_mcc", "matthews_correlation", "MCC"},
                               {"eval_accuracy", "accuracy", "Accuracy"},
                               {"eval_pearson", "pearsonr", "Mean Pearson r"},
                               {"eval_r2", "r_squared", "Mean R2"},
                               {"eval_mlm_accuracy", "accuracy", "Accuracy of masked tokens"},
                               {"eval_bits_per_character", "bits_per_character", "Bits a base"},
                               {"eval_loss", "loss", "Loss"}};
    std::vector<CardMetric> metrics;
    for (const Known& one : known) {
        const Json value = evaluation.value(one.key, Json());
        if (value.is_number()) metrics.push_back({one.type, one.name, value.get<double>()});
    }
    return metrics;
}

std::vector<std::pair<std::string, std::string>> card_options(const Json& options) {
    std::vector<std::pair<std::string, std::string>> rows;
    for (const auto& item : options.items()) {
        const Json& value = item.value();
        if (value.is_object()) continue;
        rows.emplace_back('`' + item.key() + '`',
                          value.is_string() ? value.get<std::string>() : value.dump());
    }
    return rows;
}

CardTask card_task(std::string_view task) {
    static const std::map<std::string_view, CardTask> tasks = {
        {"promoter", {"text-classification", "Promoter regions"}},
        {"chromatin", {"multi-label-classification", "Chromatin profiles"}},
        {"coverage", {"regression", "Coverage of bins"}},
        {"tokens", {"token-classification", "Labels of bases"}},
        {"sequences", {"text-classification", "Labelled sequences"}},
        {"pretraining", {"fill-mask", "Masked tokens of DNA"}}};
    const auto found = tasks.find(task);
    if (found == tasks.end()) throw ConfigError("no model card is written for " + std::string(task));
    return found->second;
}

std::string to_text(const ModelCard& card) {
    std::string text = metadata_of(card) + "# " + card.name + "\n\n" + card.summary + "\n" +
                       sections(card.before) + results_of(card) + sections(card.after) +
                       "\nMade by bigbird-dna " + std::string(version()) + ".\n";
    for (const CardResult& result : card.results)
        if (has_figures(result)) text = with_result(text, result);
    return text;
}

std::string with_result(const std::string& card, const CardResult& result) {
    std::string text = card;
    const std::size_t none = text.find(no_results);
    if (none != std::string::npos) text.replace(none, no_results.size(), with_results);
    replace_marked(text, yaml_begin, yaml_end, result.split, yaml_of(result));
    replace_marked(text, text_begin, text_end, result.split, markdown_of(result));
    return text;
}

void add_to_card(const fs::path& model_folder, const CardResult& result) {
    const fs::path file = model_folder / card_file;
    std::error_code error;
    if (!fs::exists(file, error)) throw InputError("there is no model card; finetune-* writes one", file);
    std::string changed;
    try {
        changed = with_result(read_whole_file(file), result);
    } catch (const ConfigError& no_card) {
        throw InputError(no_card.what(), file);
    }
    write_atomically(file, Overwrite::allow, [&](std::ostream& out) { out << changed; });
}

}  // namespace bigbird::model
