// SPDX-License-Identifier: Apache-2.0
// README.md of a model folder in the form of Hugging Face's model cards: metadata as YAML between two lines
// of ---, then Markdown (huggingface.co/docs/hub/model-cards).
#pragma once

#include "bigbird/core/formats/json_file.hpp"

#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bigbird::model {

inline constexpr const char* card_file = "README.md";

struct CardMetric {
    std::string type;  ///< as Hugging Face's hub names it: "roc_auc"
    std::string name;  ///< as people read it: "Mean AUROC"
    double value = 0;
};

/// A task's name on Hugging Face's hub and to people.
struct CardTask {
    std::string type;   ///< "multi-label-classification"
    std::string title;  ///< "Chromatin profiles"
};
/// Parses "promoter", "chromatin", "tokens" or "pretraining". Throws ConfigError for another word.
CardTask card_task(std::string_view task);

/// Figures of one split of the data.
struct CardResult {
    CardTask task;
    std::string split;  ///< "validation" or "test"
    std::string data;   ///< what was scored, in a few words
    std::vector<CardMetric> metrics{};
};

struct ModelCard {
    std::string name, summary;        ///< the summary is a sentence
    std::vector<std::string> tags;    ///< besides "genomics" and "dna"
    std::vector<CardResult> results;  ///< at most one of a split
    std::string test_advice;          ///< how to add the results on test; empty: there will be none
    /// Titles and texts in Markdown, before and after the results.
    std::vector<std::pair<std::string, std::string>> before, after;
};

std::string to_text(const ModelCard& card);

/// A Markdown table of two columns, with keys and values unchanged.
std::string card_table(const std::string& left, const std::string& right,
                       const std::vector<std::pair<std::string, std::string>>& rows);
/// The card's metrics of an evaluation during training: "eval_auroc" is "Mean AUROC".
std::vector<CardMetric> card_metrics(const Json& evaluation);
/// Rows of options by name; objects are left out.
std::vector<std::pair<std::string, std::string>> card_options(const Json& options);

/// Returns the card with these results replacing the same split's. Throws ConfigError if the text is not a
/// card of to_text().
std::string with_result(const std::string& card, const CardResult& result);
/// The same in a model folder's file. Throws InputError if there is none, WriteError.
void add_to_card(const std::filesystem::path& model_folder, const CardResult& result);

}  // namespace bigbird::model
