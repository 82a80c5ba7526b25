// SPDX-License-Identifier: Apache-2.0
#include "bigbird/sequences/config.hpp"

#include "support/testing.hpp"

#include "bigbird/core/error.hpp"

using namespace bigbird;
using namespace bigbird::testing;
using sequences::Config;

DOCTEST_TEST_CASE("sequences/config: a record is padded by at most a sixteenth and a position") {
    const Config config;
    DOCTEST_CHECK(config.padded(70) == 72);
    DOCTEST_CHECK(config.padded(101) == 104);
    DOCTEST_CHECK(config.padded(1) == 4);
    for (std::int64_t length = 1; length < 20'000; length += 7) {
        const std::int64_t padded = config.padded(length);
        DOCTEST_CHECK(padded >= length);
        DOCTEST_CHECK(padded % config.pool == 0);
        const bool whole_blocks = !config.attends_fully((length + config.pool - 1) / config.pool);
        DOCTEST_CHECK(padded - length < (whole_blocks ? 256 : length / 16 + config.pool));
        DOCTEST_CHECK(config.attends_fully(padded / config.pool) == !whole_blocks);
        if (whole_blocks) DOCTEST_CHECK(padded % 256 == 0);
    }
}

DOCTEST_TEST_CASE("sequences/config: JSON gives back what was written, and errors name the file") {
    Config config{
        .filters = 32, .hidden = 48, .layers = 2, .head_dropout = 0.1, .both_strands = false, .places = 9};
    const Json json = to_json(config);
    DOCTEST_CHECK(to_json(sequences::config_from_json(json, "c.json")) == json);
    Json without = json, odd = json;
    without.erase("hidden");
    odd["hidden"] = 50;
    DOCTEST_CHECK(message_of<InputError>([&] {
                      sequences::config_from_json(without, "c.json");
                  }).starts_with("c.json: the description of a network of sequences is damaged"));
    DOCTEST_CHECK(message_of<InputError>([&] {
                      sequences::config_from_json(odd, "c.json");
                  }).find("an even number of features for each of the heads") != std::string::npos);
}
