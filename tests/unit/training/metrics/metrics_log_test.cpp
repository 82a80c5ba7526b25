// SPDX-License-Identifier: Apache-2.0
#include "bigbird/training/metrics/metrics_log.hpp"

#include "support/temp_dir.hpp"
#include "support/testing.hpp"

using namespace bigbird;
using bigbird::training::MetricsLog;

namespace {

const std::string first_two =
    "{\"step\":1,\"loss\":2.5}\n{\"step\":2,\"loss\":2.25}\n{\"step\":2,\"eval_loss\":3.0}\n";

}  // namespace

DOCTEST_TEST_CASE("metrics_log: lines are there as soon as they are written") {
    const testing::TempDir folder;
    MetricsLog log(folder.path(), 0);
    log.append({{"step", 1}, {"loss", 2.5}});
    log.append({{"step", 2}, {"loss", 2.25}});
    log.append({{"step", 2}, {"eval_loss", 3.0}});
    DOCTEST_CHECK(testing::read_file(folder / "metrics.jsonl") == first_two);
    const std::string events = testing::read_file(folder / "tensorboard/events.out.tfevents.0000000001");
    DOCTEST_CHECK(events.find("training/loss") != std::string::npos);
    DOCTEST_CHECK(events.find("evaluation/eval_loss") != std::string::npos);
}

DOCTEST_TEST_CASE("metrics_log: going on drops later steps and a line that a crash cut short") {
    const testing::TempDir folder;
    testing::write_file(folder / "metrics.jsonl", first_two + "{\"step\":3,\"loss\":2.0}\n{\"step\":1");
    MetricsLog log(folder.path(), 2);
    log.append({{"step", 3}, {"loss", 1.5}});
    DOCTEST_CHECK(testing::read_file(folder / "metrics.jsonl") == first_two + "{\"step\":3,\"loss\":1.5}\n");
    DOCTEST_CHECK(std::filesystem::exists(folder / "tensorboard/events.out.tfevents.0000000003"));
}

DOCTEST_TEST_CASE("metrics_log: a fresh start empties the file") {
    const testing::TempDir folder;
    testing::write_file(folder / "metrics.jsonl", first_two);
    const MetricsLog log(folder.path(), 0);
    DOCTEST_CHECK(testing::read_file(folder / "metrics.jsonl").empty());
}
