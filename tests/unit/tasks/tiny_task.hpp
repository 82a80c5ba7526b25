// SPDX-License-Identifier: Apache-2.0
// Small made-up genomes, examples and models for the tests of scoring.
#pragma once

#include "support/small_tokenizer.hpp"

#include "bigbird/examples/examples.hpp"
#include "bigbird/model/bigbird.hpp"
#include "bigbird/tasks/model_folder.hpp"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

namespace bigbird::testing {

std::string random_dna(std::int64_t length, std::uint64_t seed);

/// One layer of 32, blocks of 16, at most 512 tokens, for the small tokenizer.
model::BigBirdConfig tiny_config(std::int64_t labels);
/// tiny_config() with two labels of each bin.
model::BigBirdConfig head_of_bins();

/// A network with random weights, in evaluation mode. Larger weights than usual, so that scores differ.
model::SequenceClassifier tiny_network(const model::BigBirdConfig& config, std::uint64_t seed);

/// The same as a network over windows, with the small tokenizer.
std::shared_ptr<tasks::TaskNetwork> tiny_windows(const model::BigBirdConfig& config, std::uint64_t seed,
                                                 tasks::Pooling pooling = tasks::Pooling::cls,
                                                 const rows::WindowBounds& window = {-4000, 4000});

/// A pretrained model folder.
void write_tiny_pretrained(const std::filesystem::path& directory, std::uint64_t seed);

/// A task model folder, as finetune() leaves one, for windows `bounds`.
void write_tiny_task_model(const std::filesystem::path& directory, const tasks::TaskInfo& info,
                           std::int64_t labels, std::uint64_t seed);

/// Examples of `rows` bins on contig "c" (a quarter validation, a quarter test), windows of 200 bases; label
/// 0 is 1 where the window holds GATTACAGATTACA…, which was planted there, label 1, which chromatin alone
/// has, is random.
examples::ExampleSet write_motif_examples(const std::filesystem::path& directory, std::int64_t rows,
                                          std::uint64_t seed,
                                          examples::Task task = examples::Task::chromatin);

}  // namespace bigbird::testing
