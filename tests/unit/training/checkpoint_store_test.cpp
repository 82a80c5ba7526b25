// SPDX-License-Identifier: Apache-2.0
#include "bigbird/training/checkpoint_store.hpp"

#include "support/temp_dir.hpp"
#include "support/testing.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/formats/checksum.hpp"
#include "bigbird/core/system/child_process.hpp"

#include <ATen/ATen.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>

using namespace bigbird;
using namespace bigbird::testing;
using namespace bigbird::training;
namespace fs = std::filesystem;

namespace {

void write_step(CheckpointStore& store, std::int64_t step) {
    const auto number = static_cast<double>(step);
    store.write(step, {{"note", "at " + std::to_string(step)}}, {{"moment", at::full({3}, number)}},
                [&](const fs::path& directory) {
                    write_file(directory / "model.safetensors", "weights " + std::to_string(step));
                });
}

std::vector<std::int64_t> list(std::initializer_list<std::int64_t> steps) {
    return steps;
}

}  // namespace

DOCTEST_TEST_CASE("checkpoint_store: what was written is read back, checked by sha256sum's own list") {
    const TempDir folder;
    CheckpointStore store(folder.path(), 3);
    DOCTEST_CHECK_FALSE(store.latest().has_value());
    write_step(store, 1000);
    const fs::path directory = folder / "checkpoints/step-00001000";
    const auto found = store.latest();
    DOCTEST_REQUIRE(found.has_value());
    DOCTEST_CHECK(found->directory == directory);
    DOCTEST_CHECK(found->step == 1000);
    DOCTEST_CHECK(found->state["note"] == "at 1000");
    DOCTEST_CHECK(at::equal(found->optimizer.at("moment"), at::full({3}, 1000.0)));
    const std::string command =
        "cd '" + directory.string() + "' && sha256sum --quiet --strict -c training_state/sha256.txt";
    DOCTEST_CHECK(std::system(command.c_str()) == 0);
}

DOCTEST_TEST_CASE("checkpoint_store: the newest ones and the protected one are kept") {
    const TempDir folder;
    CheckpointStore store(folder.path(), 2);
    write_step(store, 10);
    store.protect(10);
    for (const std::int64_t step : {20, 30, 40})
        write_step(store, step);
    DOCTEST_CHECK(store.steps() == list({10, 30, 40}));
    store.protect(40);
    write_step(store, 50);
    DOCTEST_CHECK(store.steps() == list({30, 40, 50}));
    store.drop_after(30);
    DOCTEST_CHECK(store.steps() == list({30}));
}

DOCTEST_TEST_CASE("checkpoint_store: a damaged checkpoint is passed over for the one before") {
    const TempDir folder;
    CheckpointStore store(folder.path(), 5);
    for (const std::int64_t step : {1, 2, 3, 4})
        write_step(store, step);
    write_file(store.directory_of(4) / "model.safetensors", "weights 5");
    fs::remove(store.directory_of(3) / "training_state/optimizer.safetensors");
    write_file(store.directory_of(2) / "training_state/sha256.txt", "");
    DOCTEST_CHECK(store.latest()->step == 1);
    const std::string message = message_of<InputError>([&] { CheckpointStore::open(store.directory_of(4)); });
    DOCTEST_CHECK(message == (store.directory_of(4) / "model.safetensors").string() +
                                 ": is damaged: its checksum is not the one that was written");
    fs::create_directories(folder / "model");
    DOCTEST_CHECK(message_of<InputError>([&] { CheckpointStore::open(folder / "model"); }) ==
                  (folder / "model").string() + ": is no checkpoint: it has no training_state/");
    write_file(store.directory_of(1) / "training_state/state.json", "{}");
    DOCTEST_CHECK(
        holds(message_of<InputError>([&] { store.latest(); }), "none of the checkpoints is complete"));
}

DOCTEST_TEST_CASE("checkpoint_store: what cannot be read is an error, not a damaged checkpoint or none") {
    if (::geteuid() != 0) return;  // only root can give its rights away
    const TempDir folder;
    CheckpointStore store(folder.path(), 3);
    write_step(store, 10);
    write_step(store, 20);
    fs::permissions(folder.path(), fs::perms{0755});
    const fs::path newest = folder / "checkpoints/step-00000020";
    const auto said_by_others = [&] {
        return run_child(
            [&] {
                if (::setuid(65534) != 0) return 1;
                std::puts(message_of<ReadError>([&] { store.latest(); }).c_str());
                return 0;
            },
            std::chrono::seconds(60));
    };
    fs::permissions(newest / "training_state/state.json", fs::perms{0});
    DOCTEST_CHECK(holds(said_by_others().out, "state.json: cannot be read: Permission denied"));
    fs::permissions(folder / "checkpoints", fs::perms{0});
    DOCTEST_CHECK(said_by_others().out ==
                  (folder / "checkpoints").string() + ": cannot be looked into: Permission denied\n");
    fs::permissions(folder / "checkpoints", fs::perms{0755});
    DOCTEST_CHECK(store.latest()->step == 20);
}

DOCTEST_TEST_CASE("checkpoint_store: a checkpoint that was renamed is not taken for another step's") {
    const TempDir folder;
    CheckpointStore store(folder.path(), 5);
    write_step(store, 2);
    write_step(store, 4);
    fs::rename(store.directory_of(4), store.directory_of(99));
    DOCTEST_CHECK(message_of<InputError>([&] { CheckpointStore::open(store.directory_of(99)); }) ==
                  store.directory_of(99).string() + ": was renamed: it is of step 4");
    DOCTEST_CHECK(store.latest()->step == 2);
    fs::rename(store.directory_of(99), folder / "a copy");
    DOCTEST_CHECK(CheckpointStore::open(folder / "a copy").step == 4);
}

DOCTEST_TEST_CASE("checkpoint_store: writing that breaks off leaves the earlier ones and nothing half done") {
    const TempDir folder;
    CheckpointStore store(folder.path(), 1);
    write_step(store, 1);
    DOCTEST_CHECK_THROWS_AS(store.write(2, {}, {},
                                        [](const fs::path& directory) {
                                            write_file(directory / "config.json", "{}");
                                            throw WriteError("disk full");
                                        }),
                            WriteError);
    DOCTEST_CHECK(store.steps() == list({1}));
    DOCTEST_CHECK(store.latest()->step == 1);
    const fs::path left = folder / "checkpoints/.step-00000002.tmp.1";  // of a process that was killed
    fs::create_directory(left);
    DOCTEST_CHECK(store.steps() == list({1}));
    store.drop_after(1);
    DOCTEST_CHECK_FALSE(fs::exists(left));
    DOCTEST_CHECK(store.latest()->step == 1);
}

DOCTEST_TEST_CASE("checkpoint_store: the list of checksums cannot name files elsewhere") {
    const TempDir folder;
    fs::create_directories(folder / "training_state");
    const fs::path list = folder / "training_state/sha256.txt";
    for (const auto& [text, refusal] : {std::pair("0  /etc/passwd\n", "names a file outside its folder"),
                                        {"0  ../../../x\n", "names a file outside its folder"},
                                        {"0  training_state/../../x\n", "names a file outside its folder"},
                                        {"0  \n", "names a file outside its folder"},
                                        {"0 x\n", "is damaged"},
                                        {"", "is empty"}}) {
        write_file(list, text);
        DOCTEST_CHECK(message_of<InputError>([&] { CheckpointStore::open(folder.path()); }) ==
                      list.string() + ": " + refusal);
    }
}

DOCTEST_TEST_CASE("checkpoint_store: a state without a step is refused") {
    const TempDir folder;
    const fs::path state = folder / "training_state/state.json";
    fs::create_directories(folder / "training_state");
    for (const char* text : {"{}", "7", "[]", "null", R"({"step": -1})", R"({"step": 0.5})"}) {
        DOCTEST_CAPTURE(text);
        write_file(state, text);
        write_file(folder / "training_state/sha256.txt",
                   sha256_of_file(state) + "  training_state/state.json\n");
        DOCTEST_CHECK(message_of<InputError>([&] { CheckpointStore::open(folder.path()); }) ==
                      state.string() + ": names no step");
    }
}

DOCTEST_TEST_CASE("run_position: what a checkpoint says is what was put into it") {
    const RunPosition position{.step = 7,
                               .skipped = 2,
                               .skipped_in_a_row = 1,
                               .last_loss = 0.5,
                               .best_step = 4,
                               .best_value = 0.25,
                               .evaluations_since_best = 3,
                               .evaluation = {{"loss", 0.25}},
                               .complete = false,
                               .extended = true,
                               .evaluation_due = true};
    const Json state{{"step", 7}, {"progress", position.to_json()}};
    const RunPosition read = position_of(state, "run");
    DOCTEST_CHECK(read.to_json() == position.to_json());
    DOCTEST_CHECK(read.step == 7);
    DOCTEST_CHECK(position_of({{"step", 3}}, "run").to_json() == RunPosition{.step = 3}.to_json());
}

DOCTEST_TEST_CASE("run_position: counts that no run has, and values of another kind, are refused") {
    for (const char* text :
         {R"({"step": 18446744073709551615})", R"({"step": 1000000000000001})", R"({"step": "7"})", R"({})",
          R"([7])", R"({"step": 7, "progress": 7})", R"({"step": 7, "progress": {"skipped_steps": -1}})",
          R"({"step": 7, "progress": {"skipped_in_a_row": 9223372036854775807}})",
          R"({"step": 7, "progress": {"best_step": -1}})", R"({"step": 7, "progress": {"best_step": 1e20}})",
          R"({"step": 7.5})", R"({"step": 7, "progress": {"skipped_steps": null}})",
          R"({"step": 7, "progress": {"complete": "no"}})"}) {
        DOCTEST_CAPTURE(text);
        DOCTEST_CHECK(message_of<InputError>([&] { position_of(Json::parse(text), "run"); }) ==
                      "run/training_state/state.json: is damaged: it does not say how far the run was");
    }
}
