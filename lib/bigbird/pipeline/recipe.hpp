// SPDX-License-Identifier: Apache-2.0
// The steps of train that depend on its inputs: peaks, coverage, or labeled sequences.
#pragma once

#include "bigbird/evaluation/evaluation_report.hpp"
#include "bigbird/examples/examples.hpp"
#include "bigbird/genome/text/text_output.hpp"
#include "bigbird/model/files/model_card.hpp"
#include "bigbird/tasks/specs/finetune_spec.hpp"

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace bigbird::tasks {

/// Folders that train makes in its output folder.
inline constexpr const char *examples_folder = "examples", *run_folder = "run", *page_file = "report.html",
                            *scores_folder = "scores";

/// The evaluation of the model, compared with the linear baseline (the floor).
struct Judgement {
    std::vector<std::string> lines{};                  ///< for people
    std::unique_ptr<genome::TextOutput> evaluation{};  ///< written, not committed
    std::string page{};                                ///< HTML
    model::CardResult card{};
};

/// A column of the labels: "label", "class", "number", or "track" of coverage.
std::string_view noun_of(const examples::ExampleSet& set);

class Recipe {
public:
    /// `spec` must outlive this.
    explicit Recipe(const TrainSpec& spec) : spec_(spec) {}
    virtual ~Recipe() = default;
    /// Options that determine the examples, and the model besides length and seed, by name.
    virtual Json options() const = 0;
    /// Makes examples in the empty `folder`.
    virtual void build(const std::filesystem::path& folder) const = 0;
    /// Throws InputError if these examples, in `folder`, could not evaluate a model.
    virtual void check(const examples::ExampleSet& set, const std::filesystem::path& folder) const;
    /// EvaluationOptions::min_positives for the examples in `folder`.
    virtual std::int64_t min_positives(const std::filesystem::path& /*folder*/) const {
        return spec_.min_positives;
    }
    /// The linear baseline to compare with; its folders and seed are not set.
    virtual FinetuneSpec floor() const = 0;
    /// Evaluates the score files of `request`: the floor's and the model's. `page`: the name of the folder as
    /// title, the sections and inputs of every page. `output`: the file of the evaluation.
    virtual Judgement judge(const evaluation::EvaluationRequest& request, evaluation::PageAdditions page,
                            const std::filesystem::path& output) const = 0;

protected:
    const TrainSpec& spec_;
};

// Checksums of inputs, to detect that they have changed. Throw ConfigError for a pipe, InputError.
/// Recipe::options() of what reads bins of a genome, except peaks and signal.
Json genome_options(const TrainSpec& spec);
/// Of the sheet, where there is one, and of all files that it names.
Json signal_checksum(const std::vector<std::filesystem::path>& signals);
Json peaks_checksum(const std::vector<std::filesystem::path>& peaks);

/// Returns the recipe for `spec`, whose model it validates.
std::unique_ptr<Recipe> recipe_of(const TrainSpec& spec);

}  // namespace bigbird::tasks
