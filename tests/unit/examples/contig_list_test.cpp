// SPDX-License-Identifier: Apache-2.0
#include "bigbird/examples/contig_list.hpp"

#include "support/testing.hpp"

using namespace bigbird;

DOCTEST_TEST_CASE("contig_list: contigs are read as they were written") {
    const std::vector<genome::Contig> contigs{{"22", 51304566}, {"chr M", 16571}};
    const std::vector<genome::Contig> read =
        examples::contigs_from(Json::parse(examples::contigs_json(contigs).dump()));
    DOCTEST_REQUIRE(read.size() == contigs.size());
    for (std::size_t i = 0; i < contigs.size(); ++i) {
        DOCTEST_CHECK(read[i].name == contigs[i].name);
        DOCTEST_CHECK(read[i].length == contigs[i].length);
    }
    DOCTEST_CHECK(examples::contigs_json({}) == Json::array());
}

DOCTEST_TEST_CASE("contig_list: a list of something else is refused") {
    for (const char* text : {R"([{"name": "22"}])", R"([{"length": 5}])", R"([{"name": 22, "length": 5}])",
                             R"([{"name": "22", "length": 5.5}])", R"(["22"])", R"([["22", 5]])"}) {
        DOCTEST_CAPTURE(text);
        DOCTEST_CHECK_THROWS_AS(examples::contigs_from(Json::parse(text)), Json::exception);
    }
}
