// SPDX-License-Identifier: Apache-2.0
#include "unit/tasks/scoring_folder.hpp"

#include <filesystem>

using namespace bigbird;
using namespace bigbird::testing;
using namespace bigbird::tasks;
namespace fs = std::filesystem;

namespace {

/// A contig of 40,000 bases, the first half N, and a model with three labels and windows of 300 bases.
struct Scene {
    ScoringFolder folder;
    PredictSpec spec = folder.spec<PredictSpec>("model");

    Scene() {
        folder.genome_file("genome.fa", std::string(20000, 'N') + random_dna(20000, 1));
        TaskInfo info;
        info.window = {-150, 150};
        write_tiny_task_model(folder / "model", info, 3, 5);
        spec.regions = folder.file("rows.bed", "c\t0\t40000\n");
        spec.threads = 1;
        spec.tile = 20;
    }
};

}  // namespace

DOCTEST_TEST_CASE("predict forecast: rows, windows and passes, windows of N cost nothing") {
    Scene scene;
    const PredictForecast forecast = forecast_predict(scene.spec);
    DOCTEST_CHECK(forecast.rows == 2000);
    DOCTEST_CHECK(forecast.rows_out == 2000);
    DOCTEST_CHECK(forecast.share_with_sequence == doctest::Approx(0.5).epsilon(0.05));
    DOCTEST_CHECK(forecast.windows == doctest::Approx(1000).epsilon(0.05));
    DOCTEST_CHECK(forecast.passes == forecast.windows);
    DOCTEST_CHECK(forecast.seconds > 0);
    DOCTEST_CHECK(forecast.memory > 1'000'000);
    scene.spec.strands = Strands::average;
    scene.spec.models.push_back(scene.folder / "model");
    const PredictForecast more = forecast_predict(scene.spec);
    DOCTEST_CHECK(more.passes == 4 * more.windows);
}

DOCTEST_TEST_CASE("predict forecast: a part has its share, and pooled tiles make one row") {
    Scene scene;
    scene.spec.outputs.shard = Shard{2, 4};
    DOCTEST_CHECK(forecast_predict(scene.spec).rows == doctest::Approx(500).epsilon(0.02));
    scene.spec.outputs.shard.reset();
    scene.spec.pool = Pool::mean;
    DOCTEST_CHECK(forecast_predict(scene.spec).rows_out == 1);
}

DOCTEST_TEST_CASE("predict forecast: a slow machine scores less, and counts as much") {
    Scene scene;
    const PredictForecast whole = forecast_predict(scene.spec),
                          short_of_time = forecast_predict(scene.spec, 0);
    DOCTEST_CHECK(short_of_time.tried_windows < whole.tried_windows);
    DOCTEST_CHECK(short_of_time.tried_rows == whole.tried_rows);
    DOCTEST_CHECK(short_of_time.share_with_sequence == whole.share_with_sequence);
    DOCTEST_CHECK(short_of_time.windows == whole.windows);
}

/// Few or many of the rows are scored: the bytes are told alike.
static void check_bytes(double seconds_of_trial) {
    DOCTEST_CAPTURE(seconds_of_trial);
    Scene scene;
    const PredictForecast forecast = forecast_predict(scene.spec, seconds_of_trial);
    DOCTEST_REQUIRE(forecast.bytes.size() == 4);
    for (const auto& [ending, bytes] : forecast.bytes) {
        DOCTEST_CAPTURE(ending);
        scene.spec.outputs.paths = {scene.folder / ("scores" + ending)};
        predict(scene.spec);
        auto written = fs::file_size(scene.spec.outputs.paths[0]);
        if (ending == ".npy")
            for (const char* side : {"scores.rows.tsv", "scores.labels.tsv"})
                written += fs::file_size(scene.folder / side);
        const auto ratio = static_cast<double>(bytes) / static_cast<double>(written);
        DOCTEST_CHECK(ratio > 0.8);
        DOCTEST_CHECK(ratio < 1.25);
    }
}

DOCTEST_TEST_CASE("predict forecast: bytes of each format, near what is then written") {
    check_bytes(3);
    check_bytes(0);
}

DOCTEST_TEST_CASE("predict forecast: for people") {
    const Scene scene;
    const std::string text = describe(forecast_predict(scene.spec));
    DOCTEST_CHECK(text.starts_with("rows              2000\n"));
    DOCTEST_CHECK(text.find("\nbytes .h5         ") != std::string::npos);
}

DOCTEST_TEST_CASE("predict forecast: one row is timed, too, and no row is no error") {
    Scene scene;
    scene.folder.file("rows.bed", "c\t30000\t30001\n");
    const PredictForecast one = forecast_predict(scene.spec);
    DOCTEST_CHECK(one.tried_windows == 1);
    DOCTEST_CHECK(one.seconds > 0);
    scene.folder.file("rows.bed", "");
    const PredictForecast none = forecast_predict(scene.spec);
    DOCTEST_CHECK(none.rows == 0);
    DOCTEST_CHECK(none.seconds == 0);
}
