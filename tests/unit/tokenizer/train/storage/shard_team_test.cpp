// SPDX-License-Identifier: Apache-2.0
#include "bigbird/tokenizer/train/storage/shard_team.hpp"

#include "support/testing.hpp"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <set>
#include <stdexcept>
#include <thread>
#include <vector>

using bigbird::tokenizer::ShardTeam;

DOCTEST_TEST_CASE("tokenizer/shard_team: every member works in every round") {
    for (const std::size_t members : {1U, 2U, 5U}) {
        ShardTeam team(members);
        std::vector<int> rounds(members);
        for (int round = 0; round < 200; ++round) {
            team.run([&](std::size_t member) { ++rounds[member]; });
        }
        team.run_alone([&](std::size_t member) { ++rounds[member]; });
        DOCTEST_CHECK(rounds == std::vector<int>(members, 201));
    }
}

DOCTEST_TEST_CASE("tokenizer/shard_team: an exception comes through and the team goes on") {
    ShardTeam team(3);
    for (const std::size_t thrower : {0U, 2U}) {
        DOCTEST_CHECK_THROWS_AS(team.run([&](std::size_t member) {
            if (member == thrower) {
                throw std::runtime_error("no");
            }
        }),
                                std::runtime_error);
    }
    std::vector<int> done(3);
    team.run([&](std::size_t member) { done[member] = 1; });
    DOCTEST_CHECK(done == std::vector<int>{1, 1, 1});
}

DOCTEST_TEST_CASE("tokenizer/shard_team: all members are at work at once, the caller as the first of them") {
    constexpr std::size_t members = 3;
    ShardTeam team(members);
    DOCTEST_CHECK(team.size() == members);
    std::atomic<std::size_t> inside{0};
    std::vector<std::thread::id> ids(members);
    team.run([&](std::size_t member) {
        ids[member] = std::this_thread::get_id();
        ++inside;
        const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
        while (inside < members && std::chrono::steady_clock::now() < deadline) {
            std::this_thread::yield();
        }
    });
    DOCTEST_CHECK(inside == members);
    DOCTEST_CHECK(ids[0] == std::this_thread::get_id());
    DOCTEST_CHECK(std::set<std::thread::id>(ids.begin(), ids.end()).size() == members);
}

DOCTEST_TEST_CASE("tokenizer/shard_team: a round begins after the one before has ended for all") {
    ShardTeam team(4);
    std::vector<std::uint64_t> sums(4, 1);
    for (int round = 0; round < 3000; ++round) {
        const std::vector<std::uint64_t> before = sums;
        team.run([&](std::size_t member) { sums[member] += before[(member + 1) % 4]; });
    }
    std::vector<std::uint64_t> plain(4, 1);
    for (int round = 0; round < 3000; ++round) {
        const std::vector<std::uint64_t> before = plain;
        for (std::size_t member = 0; member < 4; ++member) {
            plain[member] += before[(member + 1) % 4];
        }
    }
    DOCTEST_CHECK(sums == plain);
}

DOCTEST_TEST_CASE("tokenizer/shard_team: members that fell asleep wake up, for work and to go home") {
    for (int repetition = 0; repetition < 3; ++repetition) {
        ShardTeam team(3);
        std::atomic<int> done{0};
        for (int round = 0; round < 3; ++round) {
            std::this_thread::sleep_for(std::chrono::milliseconds(20));
            team.run([&](std::size_t member) {
                if (member == 1) std::this_thread::sleep_for(std::chrono::milliseconds(5));
                ++done;
            });
            DOCTEST_CHECK(done == 3 * (round + 1));
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
}

DOCTEST_TEST_CASE(
    "tokenizer/shard_team: the calling thread falls asleep while another works, and is woken up") {
    ShardTeam team(2);
    std::atomic<bool> begun{false};
    bool done = false;
    team.run([&](std::size_t member) {
        if (member == 1) {
            begun = true;  // on a thread of the team: the calling one is held up below
            std::this_thread::sleep_for(std::chrono::milliseconds(20));
            done = true;
        } else {
            while (!begun)
                std::this_thread::yield();
        }
    });
    DOCTEST_CHECK(done);
}

DOCTEST_TEST_CASE("tokenizer/shard_team: where all fail one exception comes out, once") {
    ShardTeam team(3);
    DOCTEST_CHECK_THROWS_AS(team.run([](std::size_t) { throw std::runtime_error("no"); }),
                            std::runtime_error);
    DOCTEST_CHECK_NOTHROW(team.run([](std::size_t) {}));
    int calls = 0;
    DOCTEST_CHECK_THROWS_AS(team.run_alone([&](std::size_t member) {
        ++calls;
        if (member == 1) throw std::runtime_error("no");
    }),
                            std::runtime_error);
    DOCTEST_CHECK(calls == 2);
}
