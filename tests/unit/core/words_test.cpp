// SPDX-License-Identifier: Apache-2.0
#include "bigbird/core/words.hpp"

#include "support/testing.hpp"

#include <vector>

using namespace bigbird;

DOCTEST_TEST_CASE("words: counts have the plural of their noun") {
    DOCTEST_CHECK(counted(1, "label") == "1 label");
    DOCTEST_CHECK(counted(0, "label") == "0 labels");
    DOCTEST_CHECK(counted(2U, "class") == "2 classes");
    DOCTEST_CHECK(counted(3, "stretch") == "3 stretches");
}

DOCTEST_TEST_CASE("words: rows and lists of inputs are cut, between letters and names") {
    DOCTEST_CHECK(shortened(std::string(160, 'A')) == std::string(160, 'A'));
    DOCTEST_CHECK(shortened(std::string(1801, 'A')) == std::string(160, 'A') + "… (1801 bytes)");
    DOCTEST_CHECK(shortened("x" + std::string(80, '\xC3') + std::string(90, '\xA9')).size() < 200);
    DOCTEST_CHECK(shortened(std::string(159, 'A') + "éé") == std::string(159, 'A') + "… (163 bytes)");
    const std::vector<std::string> names(920, "column");
    DOCTEST_CHECK(listed(std::vector<std::string>{"a", "b"}) == "'a', 'b'");
    DOCTEST_CHECK(listed(names).ends_with("'column', 'column' and 904 more"));
    DOCTEST_CHECK(listed(names).size() < 200);
    DOCTEST_CHECK(listed(std::vector<std::string>{}) == "");
}
