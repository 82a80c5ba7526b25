// SPDX-License-Identifier: Apache-2.0
#include "bigbird/training/run_lock.hpp"

#include "support/temp_dir.hpp"
#include "support/testing.hpp"

#include "bigbird/core/error.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

using namespace bigbird;
using bigbird::training::RunLock;

DOCTEST_TEST_CASE("run_lock: a second run in the same folder is refused, a later one is not") {
    const testing::TempDir folder;
    {
        const RunLock first(folder / "run");
        const std::string message = testing::message_of<ConfigError>([&] { RunLock second(folder / "run"); });
        DOCTEST_CHECK(message.find("another process is training in this folder") != std::string::npos);
        const RunLock other(folder / "other");
    }
    const RunLock again(folder / "run");
}

DOCTEST_TEST_CASE("run_lock: where nothing was put into the folder, nothing is left") {
    const testing::TempDir folder;
    { const RunLock lock(folder / "made"); }
    DOCTEST_CHECK_FALSE(std::filesystem::exists(folder / "made"));
    std::filesystem::create_directory(folder / "there");
    { const RunLock lock(folder / "there"); }
    DOCTEST_CHECK(std::filesystem::is_empty(folder / "there"));
    {
        const RunLock lock(folder / "used");
        testing::write_file(folder / "used/metrics.jsonl", "");
    }
    DOCTEST_CHECK(std::filesystem::exists(folder / "used/lock"));
}

DOCTEST_TEST_CASE("run_lock: the lock dies with its process, however it ends") {
    const testing::TempDir folder;
    int ready[2];
    DOCTEST_REQUIRE(::pipe(ready) == 0);
    const pid_t child = ::fork();
    DOCTEST_REQUIRE(child >= 0);
    if (child == 0) {
        const RunLock held(folder / "run");
        const char byte = 1;
        if (::write(ready[1], &byte, 1) != 1) ::_exit(1);
        ::pause();
        ::_exit(0);
    }
    char byte = 0;
    DOCTEST_REQUIRE(::read(ready[0], &byte, 1) == 1);
    DOCTEST_CHECK_THROWS_AS(RunLock(folder / "run"), ConfigError);
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    const RunLock mine(folder / "run");
    ::close(ready[0]);
    ::close(ready[1]);
}

DOCTEST_TEST_CASE("run_lock: a folder that cannot be made is named") {
    const testing::TempDir folder;
    testing::write_file(folder / "file", "");
    const std::string message = testing::message_of<ConfigError>([&] { RunLock lock(folder / "file/run"); });
    DOCTEST_CHECK(message.find("file/run: this run folder cannot be made or written to") !=
                  std::string::npos);
}
