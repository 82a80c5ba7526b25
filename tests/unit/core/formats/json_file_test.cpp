// SPDX-License-Identifier: Apache-2.0
#include "bigbird/core/formats/json_file.hpp"

#include "support/temp_dir.hpp"
#include "support/testing.hpp"

#include "bigbird/core/error.hpp"

#include <cstdint>
#include <string>

using namespace bigbird;

DOCTEST_TEST_CASE("json_file: what is written is read back in the same order") {
    const testing::TempDir folder;
    write_json(folder / "a.json", Json{{"z", 1}, {"a", {1.5, "x"}}}, Overwrite::refuse);
    DOCTEST_CHECK(testing::read_file(folder / "a.json").find("\"z\"") <
                  testing::read_file(folder / "a.json").find("\"a\""));
    DOCTEST_CHECK(read_json(folder / "a.json")["a"][1] == "x");
}

DOCTEST_TEST_CASE("json_file: a syntax error names its line") {
    const testing::TempDir folder;
    testing::write_file(folder / "bad.json", "{\n\"a\": 1,\n oops\n}");
    const std::string message = testing::message_of<InputError>([&] { read_json(folder / "bad.json"); });
    DOCTEST_CHECK(message == (folder / "bad.json").string() + ":3: is not valid JSON");
}

DOCTEST_TEST_CASE("json_file: a number beyond what a double holds is an error of the file") {
    const testing::TempDir folder;
    testing::write_file(folder / "bad.json", "{\"a\": 1e999}");
    const std::string message = testing::message_of<InputError>([&] { read_json(folder / "bad.json"); });
    DOCTEST_CHECK(message == (folder / "bad.json").string() + ": is not valid JSON: a number is too large");
}

DOCTEST_TEST_CASE("json_file: the bytes that are written") {
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
        return std::stoi(what.substr(begin.size()));
    };
    DOCTEST_CHECK(line_of("") == 1);
    DOCTEST_CHECK(line_of("{\"a\": 1") == 1);
    DOCTEST_CHECK(line_of("{\n\"a\": 1,\n\n}") == 4);
    DOCTEST_CHECK(line_of("{}\n{}") == 2);
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
