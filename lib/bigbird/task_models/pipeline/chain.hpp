// SPDX-License-Identifier: Apache-2.0
// The steps of train that depend on its inputs: peaks, coverage, or labeled sequences.
#pragma once

#include "bigbird/core/formats/json_file.hpp"
#include "bigbird/evaluation/evaluate_scores.hpp"
#include "bigbird/examples/examples.hpp"
#include "bigbird/genome/text/text_output.hpp"
#include "bigbird/model/files/model_card.hpp"
#include "bigbird/task_models/specs/finetune_spec.hpp"
#include "bigbird/task_models/specs/score_specs.hpp"

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace bigbird::task_models {

/// Folders that train makes in its output folder.
inline constexpr const char *examples_folder = "examples", *run_folder = "run";

/// The evaluation of the model, compared with the linear baseline (the floor).
struct Judgement {
    std::vector<std::string> lines{};                  ///< for people
    std::unique_ptr<genome::TextOutput> evaluation{};  ///< written, not committed
    std::string page{};                                ///< HTML
    model::CardResult card{};
};

class Chain {
public:
    virtual ~Chain() = default;
    /// Options that determine the examples, and the model besides length and seed, by name.
    virtual Json options() const = 0;
    /// Makes examples in the empty `folder`.
    virtual void build(const std::filesystem::path& folder) const = 0;
    /// Throws InputError if these examples, in `folder`, could not evaluate a model.
    virtual void check(const examples::ExampleSet& set, const std::filesystem::path& folder) const = 0;
    /// The linear baseline to compare with; its folders and seed are not set.
    virtual FinetuneSpec floor() const = 0;
    virtual Strands strands() const = 0;  ///< strands of scoring
    /// Evaluates the score files of `request`: the floor's and the model's. `folder`: train's output folder;
    /// `output`: the file of the evaluation.
    virtual Judgement judge(const evaluation::EvaluationRequest& request, const std::filesystem::path& folder,
                            const std::filesystem::path& output) const = 0;
    /// The size of the examples for forecasts, shown after unit(): "4,492 of 200 bp, 3 labels".
    virtual std::string told(const examples::ExampleSet& set) const = 0;
    virtual const char* unit() const = 0;  ///< "bins"
};

std::unique_ptr<Chain> peaks_chain(const TrainSpec& spec);
std::unique_ptr<Chain> sequences_chain(const TrainSpec& spec);
std::unique_ptr<Chain> tracks_chain(const TrainSpec& spec);
/// Returns the chain for `spec`, whose model it validates.
std::unique_ptr<Chain> chain_of(const TrainSpec& spec);

/// SHA-256 of an input that is read again when the command resumes. Throws ConfigError for a pipe.
std::string input_checksum(const std::filesystem::path& path);

/// The options of the model's training in train's folder.
FinetuneSpec model_spec(const TrainSpec& spec, const std::filesystem::path& folder);
/// Makes the examples if they are missing.
void build_examples(const Chain& chain, const std::filesystem::path& folder);

/// Chain::options() of a chain with bins of a genome, except peaks and signal.
Json genome_options(const TrainSpec& spec);
/// "test 22:1-200 (1 bins)".
std::string held_out_text(const examples::ExampleSet& set, examples::Split split);

/// The text of a report page, besides figures.
struct PageWords {
    std::string title, examples, floor;  ///< examples: their number and kind
    std::string sections{};              ///< HTML after the figures
};
/// Chain::judge() of sequences and of numbers of bins.
Judgement judge_numbers(const evaluation::EvaluationRequest& request, const std::filesystem::path& output,
                        const PageWords& words);

/// "<ul>…" of the lines, then `floor`, a sentence about the floor.
std::string pages_lead(const std::vector<std::string>& lines, const std::string& floor);
/// "AUROC    model 0.9; floor 0.8; difference 0.1".
std::string compared(const std::string& name, const evaluation::Figure& model,
                     const evaluation::Figure& floor, const evaluation::Figure& difference);

}  // namespace bigbird::task_models
