// SPDX-License-Identifier: Apache-2.0
#include "bigbird/training/metrics/metrics_log.hpp"

#include "support/temp_dir.hpp"
#include "support/testing.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/formats/json_file.hpp"

#include <sys/resource.h>

#include <csignal>

using namespace bigbird;
using namespace bigbird::testing;
using bigbird::training::crc32c;
using bigbird::training::EventFile;
using bigbird::training::MetricsLog;

namespace {

const std::string first_two =
    "{\"step\":1,\"loss\":2.5}\n{\"step\":2,\"loss\":2.25}\n{\"step\":2,\"eval_loss\":3.0}\n";

}  // namespace

DOCTEST_TEST_CASE("metrics_log: lines are there as soon as they are written") {
    const TempDir folder;
    MetricsLog log(folder.path(), 0);
    log.append({{"step", 1}, {"loss", 2.5}});
    log.append({{"step", 2}, {"loss", 2.25}});
    log.append({{"step", 2}, {"eval_loss", 3.0}});
    DOCTEST_CHECK(read_file(folder / "metrics.jsonl") == first_two);
    const std::string events = read_file(folder / "tensorboard/events.out.tfevents.0000000001");
    DOCTEST_CHECK(holds(events, "training/loss"));
    DOCTEST_CHECK(holds(events, "evaluation/eval_loss"));
}

DOCTEST_TEST_CASE("metrics_log: going on drops later steps and a line that a crash cut short") {
    const TempDir folder;
    write_file(folder / "metrics.jsonl", first_two + "{\"step\":3,\"loss\":2.0}\n{\"step\":1");
    MetricsLog log(folder.path(), 2);
    log.append({{"step", 3}, {"loss", 1.5}});
    DOCTEST_CHECK(read_file(folder / "metrics.jsonl") == first_two + "{\"step\":3,\"loss\":1.5}\n");
    DOCTEST_CHECK(std::filesystem::exists(folder / "tensorboard/events.out.tfevents.0000000003"));
}

DOCTEST_TEST_CASE("metrics_log: a fresh start empties the file") {
    const TempDir folder;
    write_file(folder / "metrics.jsonl", first_two);
    const MetricsLog log(folder.path(), 0);
    DOCTEST_CHECK(read_file(folder / "metrics.jsonl").empty());
}

namespace {

std::uint32_t fixed32(const std::string& bytes, std::size_t at) {
    std::uint32_t value = 0;
    for (std::size_t i = 0; i < 4; ++i)
        value |= static_cast<std::uint32_t>(static_cast<unsigned char>(bytes.at(at + i))) << (8 * i);
    return value;
}

/// The payloads of a file of records.
std::vector<std::string> records(const std::string& bytes) {
    std::vector<std::string> all;
    for (std::size_t at = 0; at < bytes.size();) {
        const std::uint32_t length = fixed32(bytes, at);
        all.push_back(bytes.substr(at + 12, length));
        at += 12 + length + 4;
    }
    return all;
}

}  // namespace

DOCTEST_TEST_CASE("event_file: CRC-32C of the published check values") {
    DOCTEST_CHECK(crc32c("123456789") == 0xE3069283U);
    DOCTEST_CHECK(crc32c(std::string(32, '\0')) == 0x8A9136AAU);  // RFC 3720, B.4
    DOCTEST_CHECK(crc32c("") == 0);
}

DOCTEST_TEST_CASE("event_file: the bytes are those that TensorBoard's own writer makes") {
    const TempDir folder;
    EventFile events(folder.path(), 5);
    events.add(5, 1700000000.5, {{"training/loss", 2.5}, {"training/learning_rate", 1e-4}});
    events.add(1'000'000, 1700000001.25, {{"evaluation/eval_loss", -0.125}});
    const std::vector<std::string> ours = records(read_file(folder / "events.out.tfevents.0000000005"));
    const std::string stored = read_file(test_data("train/events.bin"));
    const std::vector<std::string> theirs = records(stored);
    DOCTEST_REQUIRE(ours.size() == 4);
    DOCTEST_REQUIRE(theirs.size() == 2);
    DOCTEST_CHECK(holds(ours[0], "brain.Event:2"));
    DOCTEST_CHECK(ours[2] == theirs[0]);
    DOCTEST_CHECK(ours[3] == theirs[1]);
    const std::string whole = read_file(folder / "events.out.tfevents.0000000005");
    DOCTEST_CHECK(whole.ends_with(stored));  // frames and checksums, too
}

DOCTEST_TEST_CASE("event_file: an event that the disk does not take is an error") {
    const TempDir folder;
    EventFile file(folder.path(), 1);
    rlimit before{};
    DOCTEST_REQUIRE(::getrlimit(RLIMIT_FSIZE, &before) == 0);
    ::signal(SIGXFSZ, SIG_IGN);
    rlimit full = before;
    full.rlim_cur = 16;
    ::setrlimit(RLIMIT_FSIZE, &full);
    DOCTEST_CHECK_THROWS_AS(file.add(1, 1.0, {{"loss", 1.0}}), WriteError);
    ::setrlimit(RLIMIT_FSIZE, &before);
}

DOCTEST_TEST_CASE("event_file: a folder that cannot be made is an error") {
    const TempDir folder;
    write_file(folder / "file", "");
    DOCTEST_CHECK_THROWS_AS(EventFile(folder / "file/below", 1), WriteError);
}
