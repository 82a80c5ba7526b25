// SPDX-License-Identifier: Apache-2.0
#include "bigbird/training/state/run_state.hpp"

#include "support/temp_dir.hpp"
#include "support/testing.hpp"

#include "bigbird/core/error.hpp"

using namespace bigbird;
using namespace bigbird::training;
namespace fs = std::filesystem;

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
        DOCTEST_CHECK(testing::message_of<InputError>([&] { position_of(Json::parse(text), "run"); }) ==
                      "run/training_state/state.json: is damaged: it does not say how far the run was");
    }
}

namespace {

std::string refusal(const fs::path& checkpoint) {
    return testing::message_of<InputError>([&] { check_sums(checkpoint); });
}

}  // namespace

DOCTEST_TEST_CASE("state_folder: the state and the checksums of all files are read back") {
    const testing::TempDir folder;
    testing::write_file(folder / "model.safetensors", "weights");
    write_state(folder.path(), {{"step", 5}, {"note", "x"}});
    write_sums(folder.path());
    check_sums(folder.path());
    DOCTEST_CHECK(read_state(folder.path()) == Json{{"step", 5}, {"note", "x"}});
    testing::write_file(folder / "model.safetensors", "weightz");
    DOCTEST_CHECK(refusal(folder.path()) == (folder / "model.safetensors").string() +
                                                ": is damaged: its checksum is not the one that was written");
}

DOCTEST_TEST_CASE("state_folder: the list of checksums cannot name files elsewhere") {
    const testing::TempDir folder;
    fs::create_directories(folder / "training_state");
    const fs::path list = folder / "training_state/sha256.txt";
    for (const char* name : {"/etc/passwd", "../../../x", "training_state/../../x", ""}) {
        testing::write_file(list, std::string("0  ") + name + "\n");
        DOCTEST_CHECK(refusal(folder.path()) == list.string() + ": names a file outside its folder");
    }
    testing::write_file(list, "0 x\n");
    DOCTEST_CHECK(refusal(folder.path()) == list.string() + ": is damaged");
    testing::write_file(list, "");
    DOCTEST_CHECK(refusal(folder.path()) == list.string() + ": is empty");
}

DOCTEST_TEST_CASE("state_folder: a state without a step is refused") {
    const testing::TempDir folder;
    fs::create_directories(folder / "training_state");
    const fs::path file = folder / "training_state/state.json";
    for (const char* text : {"{}", "7", "[]", "null", R"({"step": -1})", R"({"step": 0.5})"}) {
        DOCTEST_CAPTURE(text);
        testing::write_file(file, text);
        DOCTEST_CHECK(testing::message_of<InputError>([&] { read_state(folder.path()); }) ==
                      file.string() + ": names no step");
    }
}
