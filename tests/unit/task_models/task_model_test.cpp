// SPDX-License-Identifier: Apache-2.0
#include "bigbird/task_models/task_model.hpp"

#include "support/temp_dir.hpp"
#include "support/testing.hpp"
#include "unit/task_models/tiny_task.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/formats/json_file.hpp"

#include <filesystem>

using namespace bigbird;
using namespace bigbird::testing;
using task_models::load_task_model;
using task_models::TaskInfo;
namespace fs = std::filesystem;

namespace {

TaskInfo promoter_info() {
    TaskInfo info;
    info.task = examples::Task::promoter;
    info.window = {-120, 80};
    info.negatives = "permuted";
    info.pooling = task_models::Pooling::mean;
    info.contigs = {{"22", 1000}, {"21", 900}};
    info.training = Json{{"--seed", 3}};
    return info;
}

}  // namespace

DOCTEST_TEST_CASE("scoring/task_model: what config.json says comes back") {
    const TempDir folder;
    write_tiny_task_model(folder / "model", promoter_info(), 1, 1);
    const auto model = load_task_model(folder / "model", examples::Task::promoter, at::kCPU);
    DOCTEST_CHECK(model.info.task == examples::Task::promoter);
    DOCTEST_CHECK(model.info.window == rows::WindowBounds{-120, 80});
    DOCTEST_CHECK(model.info.negatives == "permuted");
    DOCTEST_CHECK(model.info.pooling == task_models::Pooling::mean);
    DOCTEST_REQUIRE(model.info.contigs.size() == 2);
    DOCTEST_CHECK(model.info.contigs[1].name == "21");
    DOCTEST_CHECK(model.info.contigs[1].length == 900);
    DOCTEST_CHECK(model.info.training == Json{{"--seed", 3}});
    DOCTEST_CHECK(model.labels.size() == 1);
    DOCTEST_CHECK(model.sha256.size() == 64);
    DOCTEST_CHECK_FALSE(model.network->module().is_training());
}

DOCTEST_TEST_CASE("scoring/task_model: models that are not what is asked for") {
    const TempDir folder;
    write_tiny_task_model(folder / "model", promoter_info(), 1, 1);
    DOCTEST_CHECK(message_of<InputError>([&] {
                      load_task_model(folder / "model", examples::Task::chromatin, at::kCPU);
                  }) == (folder / "model").string() + ": is a promoter model; use predict-promoter");
    write_tiny_pretrained(folder / "pretrained", 1);
    DOCTEST_CHECK(message_of<InputError>([&] {
                      load_task_model(folder / "pretrained", examples::Task::chromatin, at::kCPU);
                  }) == (folder / "pretrained/config.json").string() +
                            ": is no model for a task: finetune-promoter or finetune-chromatin makes one");
    write_tiny_task_model(folder / "two", promoter_info(), 2, 1);
    write_file(folder / "two/labels.tsv", "index\tgroup\tname\tpositives\n0\tTF\tx\t1\n");
    DOCTEST_CHECK(message_of<InputError>([&] {
                      load_task_model(folder / "two", examples::Task::promoter, at::kCPU);
                  }) == (folder / "two/labels.tsv").string() +
                            ": has 1 labels, but the network gives 2; restore the file that belongs to it");
}

DOCTEST_TEST_CASE("scoring/task_model: damaged and newer descriptions") {
    const TempDir folder;
    write_tiny_task_model(folder / "model", promoter_info(), 1, 1);
    const fs::path file = folder / "model/config.json";
    const auto with = [&](const std::string& key, const Json& value) {
        Json json = read_json(file);
        json["bigbird_dna"]["task_model"][key] = value;
        write_json(file, json, Overwrite::allow);
        return message_of<InputError>(
            [&] { load_task_model(folder / "model", examples::Task::promoter, at::kCPU); });
    };
    DOCTEST_CHECK(with("window", "80:-120").find("bigbird_dna.task_model, is damaged: ") !=
                  std::string::npos);
    DOCTEST_CHECK(with("window", 7).find("bigbird_dna.task_model, is damaged: ") != std::string::npos);
    DOCTEST_CHECK(with("format", 2) ==
                  file.string() + ": was written by another bigbird-dna (" +
                      read_json(file)["bigbird_dna"]["task_model"]["version"].get<std::string>() + ")");
}

DOCTEST_TEST_CASE("scoring/task_model: another build of the genome is told by its contigs") {
    const TaskInfo info = promoter_info();
    const auto same = genome::in_memory_genome({{"chr22", std::string(1000, 'A')}, {"X", "ACGT"}});
    DOCTEST_CHECK_FALSE(task_models::other_build(info, *same).has_value());
    const auto unrelated = genome::in_memory_genome({{"I", "ACGT"}});
    DOCTEST_CHECK_FALSE(task_models::other_build(info, *unrelated).has_value());
    const auto other = genome::in_memory_genome({{"chr22", std::string(1000, 'A')}, {"chr21", "ACGT"}});
    DOCTEST_CHECK(
        task_models::other_build(info, *other) ==
        "contig chr21 has 4 bases in --reference, but 900 in the genome that the model was trained on: "
        "is it another build?");
}
