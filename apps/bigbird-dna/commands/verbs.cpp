// SPDX-License-Identifier: Apache-2.0
// finetune, predict and evaluate, which get the task from the example folder or model folder.
#include "commands/commands.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/formats/is_there.hpp"
#include "bigbird/examples/examples.hpp"
#include "bigbird/tasks/files/task_files.hpp"

#include <filesystem>
#include <string>

namespace bigbird::cli {

namespace fs = std::filesystem;

namespace {

/// The first value of an optional option.
std::string value_of(const CLI::App& command, const std::string& name) {
    const auto found =
        command.get_options([&](const CLI::Option* option) { return option->check_name(name); });
    return found.empty() || found.front()->count() == 0 ? std::string() : found.front()->results().front();
}

std::string task_in(const Json& json, const fs::path& file) {
    const Json task = json.is_object() ? json.value("task", Json()) : Json();
    if (!task.is_string()) throw InputError("does not say which task it is for", file);
    return task.get<std::string>();
}

std::string task_of_examples(const fs::path& folder) {
    const fs::path manifest = folder / "manifest.json";
    if (!is_there(manifest)) examples::ExampleSet::load(folder);  // throws what is wrong
    return task_in(read_json(manifest), manifest);
}

/// Returns "chromatin" without a model; the chromatin command then reports the error.
std::string task_of_model(const CLI::App& command) {
    const fs::path path = value_of(command, "--model");
    const fs::path model = is_there(path / "config.json") ? path : path / "model";
    if (!is_there(model / "config.json")) return "chromatin";
    const Json task = tasks::task_description(model);
    if (task.is_null())
        throw ConfigError(path.string() +
                          " was trained for no task: fine-tune it, or use embed or predict-variants");
    return task_in(task, model / "config.json");
}

/// `labels` names the bases of a BED, which have no folder of examples.
auto by_examples_or(const char* labels) {
    return [labels](const CLI::App& command) -> std::string {
        if (!value_of(command, labels).empty()) return "tokens";
        const std::string examples = value_of(command, "--examples");
        if (!examples.empty()) return task_of_examples(examples);
        throw ConfigError(std::string("--examples, a folder of build-chromatin, build-tracks, "
                                      "build-promoters or build-sequences, or ") +
                          labels + ", a BED that names bases, is needed");
    };
}

/// Adds the command NAME, whose doors are NAME-TASK. `by`: "examples determine".
void add_verb(Program& program, const std::string& name, const std::string& summary, const std::string& by,
              std::function<std::string(const CLI::App&)> task_of, std::vector<Example> examples) {
    program.add_verb(
        name, summary + "\nThe " + by + " the task; " + name + "-TASK --help describes each task.",
        std::move(examples), {"chromatin", "promoter", "sequences", "tokens"}, std::move(task_of));
}

}  // namespace

void setup_finetune_verb(Program& program) {
    add_verb(program, "finetune", "Train a model on labeled examples.", "examples determine",
             by_examples_or("--annotations"),
             {{"A bin model of the demo's chromatin examples",
               "--examples chromatin/examples --output my-chromatin"},
              {"A promoter model, from a pretrained one",
               "--examples promoter/examples --model pretrained --output my-promoter"}});
}

void setup_predict_verb(Program& program) {
    add_verb(program, "predict", "Score BED rows, sequences or examples with a trained model.",
             "model determines", task_of_model,
             {{"Chromatin scores of the rows of a BED",
               "--model chromatin/run --reference ../test_data/genome/22.fa.gz --regions test.bed --output "
               "scores.tsv.gz"},
              {"Scores of held-out promoter examples",
               "--model promoter/run --examples promoter/examples --split test --output promoters.tsv.gz"}});
}

void setup_evaluate_verb(Program& program) {
    add_verb(program, "evaluate", "Compare scores with labels: AUROC, AUPRC, MCC and more.",
             "examples determine", by_examples_or("--labels"),
             {{"AUROC and AUPRC of each label, as a table",
               "--scores chromatin/scores.tsv.gz --examples chromatin/examples --output chromatin.tsv"},
              {"Figures of held-out promoters, as a page for browsers",
               "--scores promoter/held_out.tsv.gz --examples promoter/examples --output promoter.html"}});
}

}  // namespace bigbird::cli
