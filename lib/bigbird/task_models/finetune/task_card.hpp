// SPDX-License-Identifier: Apache-2.0
// The model cards that finetune-promoter, finetune-chromatin and finetune-tokens write.
#pragma once

#include "bigbird/examples/examples.hpp"
#include "bigbird/model/files/model_card.hpp"
#include "bigbird/training/training_loop.hpp"

#include <string>
#include <utility>
#include <vector>

namespace bigbird::task_models {

/// What a card says that the model's folder does not.
struct CardFacts {
    std::string task;  ///< "promoter", "chromatin" or "tokens": predict-TASK scores, evaluate-TASK evaluates
    std::string architecture;  ///< TaskInfo::architecture
    std::string reads;         ///< what a score is of: "a window of 1,000 bases"
    std::size_t labels = 0;
    std::string validation{};  ///< what was evaluated: "2,500 rows"; empty: nothing
    std::vector<std::pair<std::string, std::string>> data{};  ///< what, and its checksum or count
    Json options;                                             ///< of the training, by name
};

/// Facts of an example folder: task, labels, rows and the checksums of what it was made from.
CardFacts facts_of(const examples::ExampleSet& examples);

/// "12,345,678".
std::string with_commas(std::int64_t number);

/// The card of a model whose folder holds all but it. Throws InputError where a file of it cannot be read.
model::ModelCard task_card(const CardFacts& facts, const training::TrainedModel& model);

}  // namespace bigbird::task_models
