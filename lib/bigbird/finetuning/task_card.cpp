// SPDX-License-Identifier: Apache-2.0
#include "bigbird/core/formats/checksum.hpp"
#include "bigbird/core/formats/json_file.hpp"
#include "bigbird/core/words.hpp"
#include "bigbird/finetuning/run_plan.hpp"
#include "bigbird/tasks/files/task_files.hpp"
#include "bigbird/tasks/target.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <map>

namespace bigbird::tasks {
namespace fs = std::filesystem;

namespace {

std::string use_of(examples::Task task) {
    const std::string command = traits_of(task).has_records
                                    ? "predict --model . --sequences records.fa"
                                    : "predict-" + std::string(to_string(task)) +
                                          " --model . --reference genome.fa --regions "
                                          "regions.bed";
    return "    bigbird-dna " + command +
           " --output scores.tsv\n\n`labels.tsv` names the columns, `config.json` holds the network's shape.";
}

std::string given_by(const CardFacts& facts) {
    if (traits_of(facts.task).about_tss) return "the probability of a promoter";
    if (facts.target == examples::TargetKind::numbers)
        return facts.labels == 1 ? "a number" : fmt::format("{} numbers", facts.labels);
    return facts.target == examples::TargetKind::classes ? "the probability of each class"
                                                         : "the probability of each label";
}

std::string calibration_of(const fs::path& folder, const CardFacts& facts) {
    if (facts.target == examples::TargetKind::numbers)
        return "Scores are numbers of the examples' own scale.";
    if (!fs::exists(folder / calibration_file)) {
        const bool none = facts.options.is_object() && facts.options.contains("--calibration");
        const bool too_few = !facts.validation.empty() && !none;
        return "Scores are the network's own: they were not calibrated" +
               (too_few ? ", since " + too_few_to_calibrate() : "") +
               ". Rank by them rather than take them for probabilities.";
    }
    const Json json = read_json(folder / calibration_file);
    const auto biases = json.at("biases").get<std::vector<double>>();
    const auto unbiased = std::ranges::count(biases, 0.0);
    const std::string fitted_on = traits_of(facts.task).labels_bases ? "bases" : "rows";
    return fmt::format(
        "A temperature of {:.4g} and a bias for each label make scores probabilities (`calibration.json`). "
        "They were fitted on {} {} of validation, whose mean cross entropy they change from {:.4g} to "
        "{:.4g}.{}",
        json.at("temperature").get<double>(),
        with_commas(json.at(fitted_on + "_of_validation").get<std::int64_t>()), fitted_on,
        json.at("cross_entropy_before").get<double>(), json.at("cross_entropy_after").get<double>(),
        unbiased == 0 ? ""
                      : fmt::format(" {} of {} have fewer than {} positives there, and a bias of 0.",
                                    unbiased, counted(biases.size(), "label"), fewest_to_calibrate));
}

/// The checksums of the examples' inputs; for many files of one role, the checksum of their list.
void add_inputs(const Json& inputs, CardFacts& facts) {
    constexpr std::size_t most_listed = 3;
    std::map<std::string, std::vector<std::string>> by_role;
    for (const Json& input : inputs) {
        if (!input.is_object()) continue;
        const Json role = input.value("role", Json()), sum = input.value("sha256", Json());
        if (role.is_string() && sum.is_string())
            by_role[role.get<std::string>()].push_back(sum.get<std::string>());
    }
    for (const auto& [role, sums] : by_role) {
        if (sums.size() > most_listed) {
            std::string list;
            for (const std::string& sum : sums)
                list += sum + '\n';
            facts.data.emplace_back(
                fmt::format("{}, {}, SHA-256 of the list of theirs", role, counted(sums.size(), "file")),
                sha256_of_text(list));
            continue;
        }
        for (const std::string& sum : sums)
            facts.data.emplace_back(role + ", SHA-256", sum);
    }
}

constexpr const char* limits =
    "- Scores hold for sequence of the kind that was trained on: the same organism, and an assembly whose "
    "letters agree.\n"
    "- The figures are of the regions held out, and of these labels. Other cell types and other experiments "
    "may differ.\n"
    "- A score says what the sequence looks like to the network. It is no measurement, and not meant for "
    "decisions about patients.";

}  // namespace

std::string with_commas(std::int64_t number) {
    std::string text = std::to_string(number);
    const std::size_t sign = number < 0 ? 1 : 0;
    for (std::size_t end = text.size(); end > sign + 3; end -= 3)
        text.insert(end - 3, 1, ',');
    return text;
}

CardFacts facts_of(const examples::ExampleSet& examples) {
    CardFacts facts;
    facts.task = examples.task();
    facts.target = examples.target();
    facts.labels = examples.label_table().size();
    facts.reads = "a window of " + with_commas(examples.bounds().size()) + " bases";
    const std::size_t validation = examples.rows(examples::Split::validation).size();
    if (validation > 0) facts.validation = with_commas(static_cast<std::int64_t>(validation)) + " rows";
    for (const examples::Split split : examples::all_splits) {
        facts.data.emplace_back("rows of " + std::string(to_string(split)),
                                with_commas(static_cast<std::int64_t>(examples.rows(split).size())));
    }
    add_inputs(examples.manifest().value("inputs", Json::array()), facts);
    return facts;
}

model::ModelCard task_card(const CardFacts& facts, const training::TrainedModel& model) {
    model::ModelCard card;
    const std::string task(to_string(facts.task));
    card.name = fmt::format("{} for {}, {}", facts.architecture, task, counted(facts.labels, "label"));
    card.summary = fmt::format("This model gives, for {}, {}.", facts.reads, given_by(facts));
    card.tags = {task, facts.architecture};
    const bool coverage = traits_of(facts.task).has_bins && facts.target == examples::TargetKind::numbers;
    card.results = {{.task = model::card_task(coverage ? "coverage" : task),
                     .split = "validation",
                     .data = facts.validation + " held out to choose the step",
                     .metrics = model::card_metrics(model.evaluation)}};
    if (facts.validation.empty()) card.results.clear();
    if (!traits_of(facts.task).labels_bases) {
        card.test_advice = fmt::format(
            "Not looked at yet. `bigbird-dna predict-{0} --examples … --split test` scores them; "
            "`evaluate-{0} --model-card FOLDER` writes the figures here.",
            task);
    }
    std::vector<std::pair<std::string, std::string>> data = facts.data;
    data.emplace_back("weights, model.safetensors, SHA-256",
                      sha256_of_file(model.folder / "model.safetensors"));
    card.before = {{"Use", use_of(facts.task)}, {"Data", model::card_table("what", "value", data)}};
    card.after = {
        {"Calibration", calibration_of(model.folder, facts)},
        {"Training", fmt::format("The weights are those of step {}.{}\n\n", model.step,
                                 facts.chosen_by.empty() ? "" : " It has " + facts.chosen_by + ".") +
                         model::card_table("option", "value", model::card_options(facts.options))},
        {"Limits", limits}};
    return card;
}

}  // namespace bigbird::tasks
