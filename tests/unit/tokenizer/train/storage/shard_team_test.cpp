// SPDX-License-Identifier: Apache-2.0
#include "bigbird/tokenizer/train/storage/shard_team.hpp"

#include "support/testing.hpp"

#include <stdexcept>
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
