// SPDX-License-Identifier: Apache-2.0
#include "commands/commands.hpp"
#include "commands/info_program.hpp"
#include "options/option_groups.hpp"
#include "support/help_notes.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/formats/is_there.hpp"
#include "bigbird/core/parallel.hpp"
#include "bigbird/corpus/tokens/token_shards.hpp"
#include "bigbird/model/files/describe.hpp"
#include "bigbird/rows/deepsea_labels.hpp"
#include "bigbird/task_models/files/task_files.hpp"

#include <cstdio>
#include <optional>

namespace bigbird::cli {
namespace fs = std::filesystem;

namespace {

Json describe_corpus(const InfoOptions& options) {
    const corpus::TokenShards shards(options.path);
    if (options.verify) shards.verify(resolve_threads(0));
    return corpus::describe(shards, options.verify);
}

/// A run's model is in its model/.
fs::path with_model(const fs::path& path, const char* file) {
    return !is_there(path / file) && is_there(path / "model" / file) ? path / "model" : path;
}

std::string labels_text(const fs::path& path) {
    if (path == "deepsea") return rows::label_listing(rows::deepsea_labels());
    std::error_code ignored;
    const fs::path file =
        fs::is_directory(path, ignored) ? with_model(path, "labels.tsv") / "labels.tsv" : path;
    return rows::label_listing(rows::LabelTable::read(file));
}

/// The labels of a task model.
std::optional<rows::LabelTable> labels_of(const fs::path& model) {
    if (!is_there(model / "config.json") || !is_there(model / "labels.tsv")) return std::nullopt;
    return rows::LabelTable::read(model / "labels.tsv");
}

Json to_json(const rows::LabelTable& labels) {
    Json json = Json::array();
    for (std::size_t i = 0; i < labels.size(); ++i) {
        Json label{{"index", i}, {"group", labels[i].group}, {"name", labels[i].name}};
        if (labels[i].positives >= 0) label["positives"] = labels[i].positives;
        json.push_back(std::move(label));
    }
    return json;
}

/// How many labels, then a line per label: its name, and its positive examples where they are known.
std::string short_listing(const rows::LabelTable& labels) {
    std::string text = std::to_string(labels.size()) + (labels.size() == 1 ? " label:\n" : " labels:\n");
    for (std::size_t i = 0; i < labels.size(); ++i) {
        text += "  " + std::to_string(i) + "  " + labels[i].name;
        if (labels[i].positives >= 0) text += "  (" + std::to_string(labels[i].positives) + " positives)";
        text += "\n";
    }
    return text + "\n";
}

std::string description_text(const InfoOptions& options) {
    const bool is_corpus = corpus::is_token_corpus(options.path);
    const fs::path model = with_model(options.path, "config.json");
    Json description = is_corpus ? describe_corpus(options) : model::describe(model);
    if (options.verify && !is_corpus) {
        description["check"] = model::check_weights(model);
        if (fs::is_directory(model)) task_models::check_task_files(model);
    }
    const std::optional<rows::LabelTable> labels = labels_of(model);
    if (labels) description["label_table"] = to_json(*labels);
    if (options.json) return description.dump(2) + "\n";
    description.erase("label_table");
    return (labels ? short_listing(*labels) : "") + model::description_text(description);
}

constexpr Examples examples{{{"Describe a model", "bigbird-dna info pretrained/model"},
                             {"What the program can use on this machine", "bigbird-dna info --program"}}};

}  // namespace

void setup_info(Program& program, Runner<InfoOptions> run) {
    const auto options = std::make_shared<InfoOptions>();
    CLI::App& command = program.add("info", "Tools",
                                    "Describe a model directory, token shards, a tokenizer or a safetensors "
                                    "file, or what this program can use on this machine",
                                    options, std::move(run));
    add_value(command, "path", "PATH", options->path,
              "Model directory or run folder, folder of token shards, .model or .safetensors file; with "
              "--labels an example folder, a labels.tsv, or the word deepsea");
    command.add_flag("--json", options->json, "Print JSON");
    command.add_flag("--labels", options->labels,
                     "Print the labels that a --labels option can select; with PATH deepsea: DeepSEA's 919");
    command.add_flag(
        "--program", options->program,
        "Print what the program can use here: processor, LibTorch, GPUs, CUDA libraries; for bug reports");
    command.add_flag(
        "--check,--verify", options->verify,
        "Read everything: weights must be finite, a task model's labels and calibration must fit it, "
        "token shards must have their checksums");
    add_examples(command, examples);
}

int run(const InfoOptions& options) {
    if (options.program != options.path.empty())
        throw ConfigError("info takes a PATH or --program; see 'bigbird-dna info --help'");
    if (options.program) return run_info_program(options);
    const std::string text = options.labels ? labels_text(options.path) : description_text(options);
    std::fwrite(text.data(), 1, text.size(), stdout);
    return 0;
}

}  // namespace bigbird::cli
