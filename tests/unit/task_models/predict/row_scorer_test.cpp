// SPDX-License-Identifier: Apache-2.0
#include "bigbird/task_models/predict/row_scorer.hpp"

#include "support/temp_dir.hpp"
#include "support/testing.hpp"
#include "unit/task_models/tiny_task.hpp"

using namespace bigbird;
using namespace bigbird::testing;
using namespace bigbird::task_models;

DOCTEST_TEST_CASE("row scorer: windows get what the predictor gives them, rows that are not scored nothing") {
    const TempDir folder;
    TaskInfo info;
    info.window = {-100, 100};
    write_tiny_task_model(folder / "m", info, 2, 1);
    const auto models = [&] {
        return std::vector{load_task_model(folder / "m", examples::Task::chromatin, at::kCPU)};
    };
    Predictor predictor(models(), Strands::none, 1000);
    const auto scorer = window_scorer(Predictor(models(), Strands::none, 1000));
    std::vector<rows::RegionRow> rows(3);
    std::vector<std::string> sequences;
    for (std::size_t i = 0; i < rows.size(); ++i)
        sequences.push_back(rows[i].sequence = random_dna(200, i));
    rows[1].head.status = rows::RowStatus::no_contig;
    sequences[1].clear();
    const auto prepared = scorer->prepare(rows, 1);
    const std::vector<float> scores = scorer->score(*prepared, {});
    const std::vector<float> wanted = predictor.score(predictor.encode(sequences, 1));
    for (std::size_t i = 0; i < scores.size(); ++i)
        DOCTEST_CHECK((scores[i] == wanted[i] || (std::isnan(scores[i]) && i / 2 == 1)));
    DOCTEST_CHECK(prepared->truncated.size() == 3);
    DOCTEST_CHECK(rows[0].sequence.empty());
    DOCTEST_CHECK(scorer->region_options(rows::Anchor::summit).anchor == rows::Anchor::summit);
    DOCTEST_CHECK(scorer->region_options(rows::Anchor::centre).bounds == info.window);
}
