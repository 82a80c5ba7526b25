// SPDX-License-Identifier: Apache-2.0
#include "bigbird/task_models/predict/row_source.hpp"

#include "support/temp_dir.hpp"
#include "support/testing.hpp"
#include "unit/task_models/tiny_task.hpp"

using namespace bigbird;
using namespace bigbird::testing;

DOCTEST_TEST_CASE("scoring/row_source: BED rows, counted beforehand where the file can be read twice") {
    const TempDir folder;
    write_file(folder / "rows.bed", "# a comment\nc\t100\t200\tx\t7\t-\n\nc\t0\t10\n");
    const auto reference = genome::in_memory_genome({{"c", random_dna(300, 1)}});
    const auto source = task_models::region_source(folder / "rows.bed", *reference,
                                                   {.bounds = {-20, 20}, .use_strand = false});
    DOCTEST_CHECK(source->total() == 2);
    auto row = source->next();
    DOCTEST_REQUIRE(row.has_value());
    source->fill(*row);
    DOCTEST_CHECK(row->sequence == reference->fetch({"c", 130, 170}));
    DOCTEST_CHECK(row->head.strand == "-");
    DOCTEST_CHECK(source->next().has_value());
    DOCTEST_CHECK_FALSE(source->next().has_value());
}

DOCTEST_TEST_CASE("scoring/row_source: rows of examples, of one split or all") {
    const TempDir folder;
    write_motif_examples(folder / "examples", 40, 5);
    const auto examples = examples::ExampleSet::load(folder / "examples");
    const auto test = task_models::example_source(examples, examples::Split::test, examples.bounds());
    DOCTEST_CHECK(test->total() == 10);
    auto row = test->next();
    DOCTEST_REQUIRE(row.has_value());
    test->fill(*row);
    DOCTEST_CHECK(row->head.contig == "c");
    DOCTEST_CHECK(row->head.begin == "600");
    DOCTEST_CHECK(row->head.end == "800");
    DOCTEST_CHECK(row->head.status == "ok");
    DOCTEST_CHECK(row->sequence == examples.sequence(3));
    const auto all = task_models::example_source(examples, std::nullopt, {-30, 20});
    DOCTEST_CHECK(all->total() == 40);
    row = all->next();
    all->fill(*row);
    DOCTEST_CHECK(row->sequence == examples.sequence(0).substr(70, 50));
}
