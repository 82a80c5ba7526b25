// SPDX-License-Identifier: Apache-2.0
#include "bigbird/task_models/predict/example_source.hpp"

#include "support/temp_dir.hpp"
#include "support/testing.hpp"
#include "unit/task_models/tiny_task.hpp"

using namespace bigbird;
using namespace bigbird::testing;

DOCTEST_TEST_CASE("scoring/example_source: rows of examples, of one split or all") {
    const TempDir folder;
    write_motif_examples(folder / "examples", 40, 5);
    const auto examples = examples::ExampleSet::load(folder / "examples");
    const auto test = task_models::example_source(examples, examples::Split::test, examples.bounds());
    DOCTEST_CHECK(test->total() == 10);
    auto row = test->next();
    DOCTEST_REQUIRE(row.has_value());
    test->fill(*row);
    DOCTEST_CHECK(row->head.where == genome::Interval{"c", 600, 800});
    DOCTEST_CHECK(row->head.status == rows::RowStatus::ok);
    DOCTEST_CHECK(row->sequence == examples.sequence(3));
    const auto all = task_models::example_source(examples, std::nullopt, {-30, 20});
    DOCTEST_CHECK(all->total() == 40);
    row = all->next();
    all->fill(*row);
    DOCTEST_CHECK(row->sequence == examples.sequence(0).substr(70, 50));
}
