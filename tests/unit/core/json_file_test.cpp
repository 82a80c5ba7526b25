// SPDX-License-Identifier: Apache-2.0
#include "bigbird/core/json_file.hpp"

#include "support/temp_dir.hpp"
#include "support/testing.hpp"

#include "bigbird/core/error.hpp"

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
