// SPDX-License-Identifier: Apache-2.0
#include "bigbird/core/formats/json_file.hpp"

#include "support/temp_dir.hpp"
#include "support/testing.hpp"

#include "bigbird/core/error.hpp"

#include <cstdint>
#include <string>

using namespace bigbird;
using bigbird::deepest_json;
using bigbird::nests_too_deeply;

DOCTEST_TEST_CASE("json_file: a number beyond what a double holds is an error of the file") {
    const testing::TempDir folder;
    testing::write_file(folder / "bad.json", "{\"a\": 1e999}");
    const std::string message = testing::message_of<InputError>([&] { read_json(folder / "bad.json"); });
    DOCTEST_CHECK(message == (folder / "bad.json").string() + ": is not valid JSON: a number is too large");
}

DOCTEST_TEST_CASE("json_file: the bytes that are written, in the order of the keys") {
    const testing::TempDir folder;
    write_json(folder / "a.json", Json{{"steps", 3}, {"list", Json::array()}}, Overwrite::refuse);
    DOCTEST_CHECK(testing::read_file(folder / "a.json") == "{\n  \"steps\": 3,\n  \"list\": []\n}\n");
    DOCTEST_CHECK_THROWS_AS(write_json(folder / "a.json", Json(1), Overwrite::refuse), ConfigError);
    write_json(folder / "a.json", Json(1), Overwrite::allow);
    DOCTEST_CHECK(testing::read_file(folder / "a.json") == "1\n");
}

DOCTEST_TEST_CASE("json_file: numbers come back as they were") {
    const testing::TempDir folder;
    const Json numbers{{"large", INT64_MAX}, {"low", INT64_MIN}, {"seed", UINT64_MAX},
                       {"real", 0.1},        {"tiny", 5e-324},   {"third", 1.0 / 3}};
    write_json(folder / "a.json", numbers, Overwrite::refuse);
    const Json back = read_json(folder / "a.json");
    DOCTEST_CHECK(back == numbers);
    DOCTEST_CHECK(back["seed"].get<std::uint64_t>() == UINT64_MAX);
    DOCTEST_CHECK(back["third"].get<double>() == 1.0 / 3);
}

DOCTEST_TEST_CASE("json_file: damage is told with the line where reading ended") {
    const testing::TempDir folder;
    const auto line_of = [&](const std::string& text) {
        testing::write_file(folder / "bad.json", text);
        const std::string what = testing::message_of<InputError>([&] { read_json(folder / "bad.json"); });
        const std::string begin = (folder / "bad.json").string() + ":";
        DOCTEST_REQUIRE(what.starts_with(begin));
        DOCTEST_CHECK(what.ends_with(": is not valid JSON"));
        return std::stoi(what.substr(begin.size()));
    };
    DOCTEST_CHECK(line_of("") == 1);
    DOCTEST_CHECK(line_of("{\"a\": 1") == 1);
    DOCTEST_CHECK(line_of("{\n\"a\": 1,\n\n}") == 4);
    DOCTEST_CHECK(line_of("{}\n{}") == 2);
    DOCTEST_CHECK(line_of("{\n\"a\": 1,\n oops\n}") == 3);
    DOCTEST_CHECK(testing::message_of<InputError>([&] { read_json(folder / "none.json"); }) ==
                  (folder / "none.json").string() + ": no such file");
}

DOCTEST_TEST_CASE("json_file: a text of too many levels is refused") {
    const testing::TempDir folder;
    const std::string open(128, '['), closed(128, ']');
    testing::write_file(folder / "a.json", open + closed);
    DOCTEST_CHECK(read_json(folder / "a.json").is_array());
    testing::write_file(folder / "a.json", '[' + open + closed + ']');
    DOCTEST_CHECK(testing::message_of<InputError>([&] { read_json(folder / "a.json"); }) ==
                  (folder / "a.json").string() + ": nests lists and objects more deeply than 128 levels");
}

DOCTEST_TEST_CASE("json_file: whole numbers: numbers that the type holds") {
    const Json json = Json::parse(R"({"a": 8, "b": -3, "c": 9223372036854775807, "d": 2147483647})");
    DOCTEST_CHECK(whole_number(json, "a") == 8);
    DOCTEST_CHECK(whole_number<int>(json, "b") == -3);
    DOCTEST_CHECK(whole_number(json, "c") == 9223372036854775807);
    DOCTEST_CHECK(whole_number<int>(json, "d") == 2147483647);
}

DOCTEST_TEST_CASE("json_file: whole numbers: nothing is cut, rounded or made a number") {
    const Json json = Json::parse(
        R"({"cut": 4294967304, "rounded": 8.0, "yes": true, "text": "8", "none": null, "list": [8],
                                      "huge": 1e30, "beyond": 9223372036854775808})");
    for (const auto& item : json.items()) {
        DOCTEST_CAPTURE(item.key());
        DOCTEST_CHECK_THROWS_AS(whole_number<int>(json, item.key().c_str()), Json::type_error);
    }
    DOCTEST_CHECK(whole_number(json, "cut") == 4294967304);
    DOCTEST_CHECK_THROWS_WITH(whole_number(json, "rounded"),
                              doctest::Contains("'rounded' must be a whole number, not 8.0"));
    DOCTEST_CHECK_THROWS_AS(whole_number(json, "beyond"), Json::type_error);
    DOCTEST_CHECK_THROWS_AS(whole_number(json, "missing"), Json::out_of_range);
}

DOCTEST_TEST_CASE("json_file: whole numbers: unsigned types hold no negative number") {
    const Json json = Json::parse(R"({"a": -1, "b": 18446744073709551615})");
    DOCTEST_CHECK_THROWS_AS(whole_number<std::uint64_t>(json, "a"), Json::type_error);
    DOCTEST_CHECK(whole_number<std::uint64_t>(json, "b") == 18446744073709551615U);
}

DOCTEST_TEST_CASE("json_depth: counts levels of lists and objects, those that are open at once") {
    const std::string open(deepest_json, '['), closed(deepest_json, ']');
    DOCTEST_CHECK_FALSE(nests_too_deeply(""));
    DOCTEST_CHECK_FALSE(nests_too_deeply(open + closed + "," + open + closed));
    DOCTEST_CHECK(nests_too_deeply('{' + open + closed + '}'));
}

DOCTEST_TEST_CASE("json_depth: brackets within strings do not count, whatever is escaped there") {
    const std::string many(1000, '[');
    DOCTEST_CHECK_FALSE(nests_too_deeply('"' + many + '"'));
    DOCTEST_CHECK_FALSE(nests_too_deeply("\"\\\"" + many + '"'));
    DOCTEST_CHECK(nests_too_deeply("\"\\\\\"" + many));
}
