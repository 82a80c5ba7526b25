// SPDX-License-Identifier: Apache-2.0
#include "bigbird/evaluation/score_join.hpp"

#include "support/temp_dir.hpp"
#include "support/testing.hpp"
#include "unit/examples/example_folder.hpp"

#include "bigbird/core/error.hpp"

using namespace bigbird;
using namespace bigbird::rows;
using namespace bigbird::examples;
using namespace bigbird::evaluation;

namespace {

struct Fixture {
    testing::TempDir folder;
    testing::ScoredBins bins{folder / "e", folder / "s.tsv", 200};
    ExampleSet examples = ExampleSet::load(folder / "e");
    std::string table = testing::read_file(folder / "s.tsv");

    ScoredRows join(const std::string& changed) {
        testing::write_file(folder / "changed.tsv", changed);
        return join_scores(examples, folder / "changed.tsv", Split::test);
    }
    std::string message(const std::string& changed) {
        return testing::message_of<InputError>([&] { join(changed); });
    }
    /// The table without its last n lines.
    std::string shortened(int n) const {
        std::string text = table;
        for (int i = 0; i < n; ++i)
            text.erase(text.find_last_of('\n', text.size() - 2) + 1);
        return text;
    }
    std::string last_line() const { return table.substr(shortened(1).size()); }
};

}  // namespace

DOCTEST_TEST_CASE("score_join: columns in any order, contigs by alias, rows of the split alone") {
    Fixture fixture;
    const ScoredRows joined = fixture.join(fixture.table);
    DOCTEST_CHECK(joined.labels == std::vector<std::size_t>{0, 1, 2, 3});
    DOCTEST_CHECK(joined.rows == fixture.examples.rows(Split::test));
    DOCTEST_CHECK(joined.scores == fixture.bins.scores);
}

DOCTEST_TEST_CASE("score_join: rows in another order, and rows that are not asked for, change nothing") {
    Fixture fixture;
    const std::string head = fixture.table.substr(0, fixture.table.find("chr22\t"));
    const std::string last = fixture.last_line();
    const std::string other = "22\t5\t9\t.\t.\t.\tok\t0\t1\t1\t1\t1\t1\n";
    const ScoredRows joined = fixture.join(head + last + other + fixture.shortened(1).substr(head.size()));
    DOCTEST_CHECK(joined.other_rows == 1);
    DOCTEST_CHECK(joined.scores == fixture.bins.scores);
}

DOCTEST_TEST_CASE("score_join: bins are told by their places, whatever names a table gives them") {
    Fixture fixture;
    std::string named = fixture.table;
    for (std::size_t at = 0; (at = named.find("200\t.\t", at)) != std::string::npos; ++at)
        named.replace(at, 6, "200\tpeak\t");
    DOCTEST_REQUIRE(named != fixture.table);
    DOCTEST_CHECK(fixture.join(named).scores == fixture.bins.scores);
}

DOCTEST_TEST_CASE("score_join: a part of the rows is joined when told so, and the others are counted") {
    Fixture fixture;
    bigbird::testing::write_file(fixture.folder / "part.tsv", fixture.shortened(2));
    const ScoredRows joined =
        join_scores(fixture.examples, fixture.folder / "part.tsv", Split::test, WantedRows::scored);
    DOCTEST_CHECK(joined.lacking == 2);
    DOCTEST_CHECK(joined.not_scored == 0);
    DOCTEST_CHECK(joined.rows.size() == 178);
    DOCTEST_CHECK(joined.scores[0].size() == 178);
}

DOCTEST_TEST_CASE("score_join: rows without scores are counted") {
    Fixture fixture;
    const std::string unscored = "chr22\t199000\t199200\t.\t.\t.\tall_n\t1\tNA\tNA\tNA\tNA\tNA\n";
    const ScoredRows joined = fixture.join(fixture.shortened(1) + unscored);
    DOCTEST_CHECK(joined.not_scored == 1);
    DOCTEST_CHECK(joined.rows.size() == 179);
}

DOCTEST_TEST_CASE("score_join: labels without a column are counted, none at all is an error") {
    Fixture fixture;
    std::string renamed = fixture.table;
    renamed.replace(renamed.find("\tD\tA\tC\tB\t"), 9, "\tX\tA\tC\tB\t");
    const ScoredRows joined = fixture.join(renamed);
    DOCTEST_CHECK(joined.labels == std::vector<std::size_t>{0, 1, 2});
    renamed = fixture.table;
    renamed.replace(renamed.find("\tD\tA\tC\tB\t"), 9, "\tw\tx\ty\tz\t");
    DOCTEST_CHECK(
        fixture.message(renamed).find(":2: is no table of scores of these examples: it has no column 'A'") !=
        std::string::npos);
    renamed = fixture.table;
    renamed.replace(renamed.find("\tD\tA\tC\tB\t"), 9, "\tA\tA\tC\tB\t");
    DOCTEST_CHECK(fixture.message(renamed).find("has two columns 'A'") != std::string::npos);
}

DOCTEST_TEST_CASE("score_join: a split without rows says how to get one") {
    Fixture fixture;
    const std::string message = testing::message_of<InputError>(
        [&] { join_scores(fixture.examples, fixture.folder / "s.tsv", Split::validation); });
    DOCTEST_CHECK(
        message ==
        "the examples have no row in split validation; hold some out with --validation when building them");
}
