// SPDX-License-Identifier: Apache-2.0
#include "bigbird/outputs/score_run.hpp"

#include "support/testing.hpp"
#include "unit/outputs/some_scores.hpp"

#include "bigbird/core/error.hpp"

using namespace bigbird;
using namespace bigbird::testing;
using outputs::ScoreRun;

DOCTEST_TEST_CASE("score run: what is written is read") {
    ScoreRun run{.schema = small_layout(),
                 .inputs = {{"regions", "ab"}},
                 .min_score = 0.25,
                 .contigs = {{"1", 1000}, {"MT", 16}},
                 .overlap = outputs::Overlap::max};
    run.schema.precision = outputs::Precision::float16;
    const ScoreRun again = outputs::score_run_from_json(Json::parse(to_json(run).dump()), "x");
    DOCTEST_CHECK(to_json(again) == to_json(run));
    DOCTEST_CHECK(again.schema.head[7].kind == outputs::FieldKind::real);
    DOCTEST_CHECK(again.schema.columns[1].id == run.schema.columns[1].id);
    DOCTEST_CHECK(again.schema.provenance == run.schema.provenance);
    DOCTEST_CHECK((again.schema.precision == outputs::Precision::float16));
    DOCTEST_CHECK(again.min_score == 0.25);
    DOCTEST_CHECK(again.contigs[1].name == "MT");
    DOCTEST_CHECK(again.overlap == outputs::Overlap::max);
}

DOCTEST_TEST_CASE("score run: what lacks a key is refused by file") {
    DOCTEST_CHECK(message_of<InputError>([] {
                      outputs::score_run_from_json(Json::object(), "p.json");
                  }).find("p.json: is damaged") == 0);
}

DOCTEST_TEST_CASE("score run: a column of no known kind is refused") {
    for (const int kind : {3, 255, -1}) {
        Json json = to_json(ScoreRun{.schema = small_layout()});
        json["head"][0][1] = kind;
        DOCTEST_CHECK(message_of<InputError>([&] { outputs::score_run_from_json(json, "p.json"); }) ==
                      "p.json: is damaged: it names a column of an unknown kind");
    }
}
