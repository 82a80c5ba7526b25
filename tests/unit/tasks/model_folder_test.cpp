// SPDX-License-Identifier: Apache-2.0
#include "bigbird/tasks/model_folder.hpp"

#include "support/captured_log.hpp"
#include "support/temp_dir.hpp"
#include "support/testing.hpp"
#include "unit/tasks/labelled_genome.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/formats/json_file.hpp"
#include "bigbird/model/device/device.hpp"
#include "bigbird/model/model_directory.hpp"

#include <filesystem>

using namespace bigbird;
using namespace bigbird::testing;
using namespace bigbird::tasks;
namespace fs = std::filesystem;

namespace {

/// What bf16 is computed in on this processor.
const training::ComputeType bf16_here =
    model::computes_bf16(at::kCPU) ? training::ComputeType::bf16 : training::ComputeType::fp32;

TaskInfo promoter_info() {
    TaskInfo info;
    info.task = examples::Task::promoter;
    info.window = {-120, 80};
    info.negatives = "permuted";
    info.pooling = Pooling::mean;
    info.contigs = {{"22", 1000}, {"21", 900}};
    info.training = Json{{"--seed", 3}};
    return info;
}

std::string refusal(const fs::path& model, examples::Task task) {
    return message_of<InputError>([&] { open_model(model, task, at::kCPU); });
}

void write_labeller(const fs::path& directory, std::int64_t window, std::int64_t margin) {
    fs::create_directories(directory);
    tiny_labeller(3)->write(bases_info(window, margin, {{"c", 10}}), directory);
    write_labels(tiny_labels(), directory);
}

}  // namespace

DOCTEST_TEST_CASE("model_folder: what config.json says comes back") {
    const TempDir folder;
    write_tiny_task_model(folder / "model", promoter_info(), 1, 1);
    const auto model = open_model(folder / "model", examples::Task::promoter, at::kCPU);
    DOCTEST_CHECK(model.info.task == examples::Task::promoter);
    DOCTEST_CHECK(model.info.window == rows::WindowBounds{-120, 80});
    DOCTEST_CHECK(model.info.negatives == "permuted");
    DOCTEST_CHECK(model.info.pooling == Pooling::mean);
    DOCTEST_REQUIRE(model.info.contigs.size() == 2);
    DOCTEST_CHECK(model.info.contigs[1].name == "21");
    DOCTEST_CHECK(model.info.contigs[1].length == 900);
    DOCTEST_CHECK(model.info.training == Json{{"--seed", 3}});
    DOCTEST_CHECK(model.labels.size() == 1);
    DOCTEST_CHECK(model.sha256.size() == 64);
    DOCTEST_CHECK_FALSE(model.network->module()->is_training());
    const auto link_with = [&](const Json& word) {
        Json config = read_json(folder / "model/config.json");
        Json& task = config["bigbird_dna"]["task_model"];
        DOCTEST_CHECK(task.contains("link"));
        task["link"] = word;
        write_json(folder / "model/config.json", config, Overwrite::allow);
        return open_model(folder / "model", examples::Task::promoter, at::kCPU).calibration.link;
    };
    DOCTEST_CHECK(link_with("softplus") == LinkFunction::softplus);  // the folder's word, not a rule
    DOCTEST_CHECK(link_with(Json()) == LinkFunction::logistic);      // as folders that have none
}

DOCTEST_TEST_CASE("model_folder: models that are not what is asked for") {
    const TempDir folder;
    write_tiny_task_model(folder / "model", promoter_info(), 1, 1);
    DOCTEST_CHECK(refusal(folder / "model", examples::Task::chromatin) ==
                  (folder / "model").string() + ": is a promoter model; use predict-promoter");
    write_tiny_pretrained(folder / "pretrained", 1);
    DOCTEST_CHECK(refusal(folder / "pretrained", examples::Task::chromatin) ==
                  (folder / "pretrained/config.json").string() +
                      ": is no model for a task: finetune makes one");
    write_tiny_task_model(folder / "two", promoter_info(), 2, 1);
    write_file(folder / "two/labels.tsv", "index\tgroup\tname\tpositives\n0\tTF\tx\t1\n");
    DOCTEST_CHECK(refusal(folder / "two", examples::Task::promoter) ==
                  (folder / "two/labels.tsv").string() +
                      ": has 1 label, but the network gives 2; restore the file that belongs to it");
}

DOCTEST_TEST_CASE("model_folder: damaged and newer descriptions") {
    const TempDir folder;
    write_tiny_task_model(folder / "model", promoter_info(), 1, 1);
    const fs::path file = folder / "model/config.json";
    const auto with = [&](const std::string& key, const Json& value) {
        Json json = read_json(file);
        json["bigbird_dna"]["task_model"][key] = value;
        write_json(file, json, Overwrite::allow);
        return refusal(folder / "model", examples::Task::promoter);
    };
    DOCTEST_CHECK(holds(with("window", "80:-120"), "bigbird_dna.task_model, is damaged: "));
    DOCTEST_CHECK(holds(with("window", 7), "bigbird_dna.task_model, is damaged: "));
    DOCTEST_CHECK(with("format", 2) ==
                  file.string() + ": was written by another bigbird-dna (" +
                      read_json(file)["bigbird_dna"]["task_model"]["version"].get<std::string>() + ")");
}

DOCTEST_TEST_CASE("model_folder: another build of the genome is told by its contigs") {
    const TaskInfo info = promoter_info();
    const CapturedLog log;  // a model's names of contigs are no file of the user's
    const auto same = genome::in_memory_genome({{"chr22", std::string(1000, 'A')}, {"X", "ACGT"}});
    DOCTEST_CHECK_FALSE(other_build(info, *same).has_value());
    const auto unrelated = genome::in_memory_genome({{"I", "ACGT"}});
    DOCTEST_CHECK_FALSE(other_build(info, *unrelated).has_value());
    const auto other = genome::in_memory_genome({{"chr22", std::string(1000, 'A')}, {"chr21", "ACGT"}});
    DOCTEST_CHECK(
        other_build(info, *other) ==
        "contig chr21 has 4 bases in --reference, but 900 in the genome that the model was trained on: "
        "is it another build?");
    DOCTEST_CHECK(log.text().empty());
}

DOCTEST_TEST_CASE("model_folder: a model of bases is opened with its windows and labels") {
    const TempDir folder;
    write_labeller(folder / "m", 200, 25);
    const ModelFolder model = open_model(folder / "m", examples::Task::tokens, at::kCPU);
    DOCTEST_CHECK(model.info.traits().labels_bases);
    DOCTEST_CHECK(model.info.base_grid().core_bins() == 150);
    DOCTEST_CHECK(model.info.contigs.size() == 1);
    DOCTEST_CHECK(model.labels[1].name == "motif");
    DOCTEST_CHECK(model.network->labels() == 3);
    DOCTEST_CHECK((model.network->segments() == Segments::tokens));
    DOCTEST_CHECK(model::read_architecture(folder / "m") == "BigBirdForTokenClassification");
    DOCTEST_CHECK(refusal(folder / "m", examples::Task::chromatin) ==
                  (folder / "m").string() + ": is a tokens model; use predict-tokens");
    DOCTEST_CHECK(message_of<InputError>([&] { open_model(folder / "m", std::nullopt, at::kCPU); }) ==
                  (folder / "m").string() + ": is a tokens model; use predict-tokens");
}

DOCTEST_TEST_CASE("model_folder: what is no model of bases is refused") {
    const TempDir folder;
    const auto refused = [&](const char* name) { return refusal(folder / name, examples::Task::tokens); };
    write_tiny_pretrained(folder / "p", 1);
    DOCTEST_CHECK(refused("p") ==
                  (folder / "p/config.json").string() + ": is no model for a task: finetune makes one");
    const std::int64_t huge = std::int64_t{1} << 62;
    for (const std::int64_t margin : {std::int64_t{100}, std::int64_t{-1}, huge}) {
        DOCTEST_CAPTURE(margin);
        write_labeller(folder / "m", 200, margin);
        DOCTEST_CHECK(refused("m") == (folder / "m/config.json").string() + ": has a window without bases");
    }
    write_labeller(folder / "m", std::int64_t{1} << 40, 10);
    DOCTEST_CHECK(refused("m").ends_with(": has a window of more than 2^24 bases"));
    write_labeller(folder / "n", 200, 10);
    write_labels(rows::LabelTable({{".", "none", -1}}), folder / "n");
    DOCTEST_CHECK(refused("n") ==
                  (folder / "n/labels.tsv").string() +
                      ": has 1 label, but the network gives 3; restore the file that belongs to it");
}

DOCTEST_TEST_CASE("job: the type from its word") {
    DOCTEST_CHECK(parse_compute_options("bf16", at::kCPU).type == bf16_here);
    DOCTEST_CHECK(parse_compute_options("auto", at::kCPU).type == training::ComputeType::fp32);
    DOCTEST_CHECK_THROWS_AS(parse_compute_options("fp16", at::kCPU), ConfigError);
}

DOCTEST_TEST_CASE("job: batches are as large as asked for, else as the device's memory allows") {
    DOCTEST_CHECK(batch_tokens_on(at::kCPU, 300) == 300);
    DOCTEST_CHECK(batch_tokens_on(at::kCPU, 0) == 16'384);
    DOCTEST_CHECK(batch_tokens_on(at::kCUDA, 0) == 262'144);
    DOCTEST_CHECK(batch_tokens_on(at::kCUDA, 0, true) == 131'072);
}

DOCTEST_TEST_CASE("job: what a verb computes with, from its options") {
    const Job job = open_job({.batch_tokens = 300, .device = "cpu", .dtype = "bf16", .threads = 2});
    DOCTEST_CHECK(job.device.is_cpu());
    DOCTEST_CHECK(job.computing.type == bf16_here);
    DOCTEST_CHECK(job.batch_tokens == 300);
    DOCTEST_CHECK(job.threads == 2);
}
