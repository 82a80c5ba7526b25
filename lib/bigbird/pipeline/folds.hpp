// SPDX-License-Identifier: Apache-2.0
// Cross-validation of train: a model per fold of the genome, and each bin scored by the one that did not see
// it.
#pragma once

#include "bigbird/tasks/specs/finetune_spec.hpp"

#include <filesystem>
#include <functional>
#include <string>

namespace bigbird::tasks {

/// The options of train for one fold, in FOLDER/folds/NUMBER; `number` is from 1.
TrainSpec fold_spec(const TrainSpec& spec, int number);

/// Runs train() for each fold; `hours_left` asks what is left of --max-hours. Then makes in train's folder
/// examples/, in which all bins are test, and scores/, which have each bin's scores by its fold. Keeps what
/// is there. Throws what train() throws.
void train_folds(const TrainSpec& spec, const std::function<double()>& hours_left);

/// Copies the folds' models into `model`: the first, and the others into model/folds/2 … (open_models()).
void copy_fold_models(const TrainSpec& spec, const std::filesystem::path& model);

/// A section of the page in train's folder: links to the folds' pages, which have curves and motifs.
std::string fold_links(int folds);

}  // namespace bigbird::tasks
