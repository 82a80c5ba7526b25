// SPDX-License-Identifier: Apache-2.0
#include "bigbird/training/find_model.hpp"

#include "support/temp_dir.hpp"
#include "support/testing.hpp"

#include "bigbird/core/error.hpp"

using namespace bigbird;
using bigbird::training::find_model;

DOCTEST_TEST_CASE("find_model: a model folder, a finished run, or a run's newest checkpoint") {
    const testing::TempDir folder;
    const auto make = [&](const std::string& path) {
        std::filesystem::create_directories(folder / path);
        testing::write_file(folder / (path + "/config.json"), "{}");
    };
    make("model_folder");
    DOCTEST_CHECK(find_model(folder / "model_folder") == folder / "model_folder");
    make("run/checkpoints/step-00000010");
    make("run/checkpoints/step-00000009");
    DOCTEST_CHECK(find_model(folder / "run") == folder / "run/checkpoints/step-00000010");
    std::filesystem::create_directories(folder / "run/model");
    DOCTEST_CHECK(find_model(folder / "run") == folder / "run/checkpoints/step-00000010");
    make("run/model");
    DOCTEST_CHECK(find_model(folder / "run") == folder / "run/model");
}

DOCTEST_TEST_CASE("find_model: what is no model is said") {
    const testing::TempDir folder;
    DOCTEST_CHECK(testing::message_of<InputError>([&] { find_model(folder.path()); }) ==
                  folder.path().string() +
                      ": is no model folder: it holds no config.json, model/ or checkpoints/");
    DOCTEST_CHECK(testing::message_of<InputError>([&] { find_model(folder / "none"); }) ==
                  (folder / "none").string() + ": no such model folder");
}
