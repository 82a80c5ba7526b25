// SPDX-License-Identifier: Apache-2.0
#include "bigbird/task_models/windows/encoded_examples.hpp"

#include "support/temp_dir.hpp"
#include "support/testing.hpp"
#include "unit/task_models/tiny_task.hpp"

#include "bigbird/examples/example_writer.hpp"
#include "bigbird/examples/two_bit.hpp"
#include "bigbird/genome/reference/sequence.hpp"
#include "bigbird/task_models/windows/window_encoder.hpp"

using namespace bigbird;
using namespace bigbird::testing;
using task_models::EncodedExamples;

namespace {

/// Three bins, the middle one nothing but N.
void write_examples_with_gap(const std::filesystem::path& directory) {
    std::filesystem::create_directories(directory);
    examples::ExampleWriter writer(directory, examples::Task::chromatin, {-100, 100}, 1);
    const std::uint8_t label = 1;
    for (std::int64_t row = 0; row < 3; ++row) {
        writer.add({{"c", row * 200, row * 200 + 200}, ".", genome::Strand::none, examples::Split::train},
                   {&label, 1});
    }
    examples::TwoBitWriter store(directory / "sequences.2bit", {"c"}, false);
    store.add("c", random_dna(200, 1) + std::string(200, 'N') + random_dna(200, 2));
    store.finish();
    writer.finish(rows::LabelTable({{"TF", "x", -1}}), Json::object());
}

}  // namespace

DOCTEST_TEST_CASE("scoring/encoded_examples: both strands of every row, whatever the threads") {
    const TempDir folder;
    write_motif_examples(folder / "examples", 300, 7);
    const auto examples = examples::ExampleSet::load(folder / "examples");
    const auto rows = examples.rows(examples::Split::train);
    const auto tokenizer = small_tokenizer();
    const auto network = tiny_windows(tiny_config(1), 1);
    const EncodedExamples one(examples, rows, *network, examples.bounds(), true, 1);
    const EncodedExamples four(examples, rows, *network, examples.bounds(), true, 4);
    DOCTEST_REQUIRE(one.size() == 150);
    DOCTEST_REQUIRE(four.size() == 150);
    for (std::int64_t i = 0; i < one.size(); ++i) {
        DOCTEST_REQUIRE(one.row(i) == rows[static_cast<std::size_t>(i)]);
        const std::string dna = examples.sequence(one.row(i));
        DOCTEST_REQUIRE(one.window(i).ids == task_models::encode_window(dna, tokenizer, 512).ids);
        DOCTEST_REQUIRE(one.window(i, true).ids ==
                        task_models::encode_window(genome::reverse_complement(dna), tokenizer, 512).ids);
        DOCTEST_REQUIRE(four.window(i).ids == one.window(i).ids);
        DOCTEST_REQUIRE(four.window(i, true).ids == one.window(i, true).ids);
    }
    DOCTEST_CHECK(one.truncated() == 0);
    model::BigBirdConfig short_one = tiny_config(1);
    short_one.max_position_embeddings = 32;
    DOCTEST_CHECK(EncodedExamples(examples, rows, *tiny_windows(short_one, 1), examples.bounds(), false, 2)
                      .truncated() == 150);
}

DOCTEST_TEST_CASE("scoring/encoded_examples: windows that are all N are left out and counted") {
    const TempDir folder;
    write_examples_with_gap(folder / "examples");
    const auto examples = examples::ExampleSet::load(folder / "examples");
    const EncodedExamples windows(examples, examples.rows(examples::Split::train),
                                  *tiny_windows(tiny_config(1), 1), examples.bounds(), false, 1);
    DOCTEST_REQUIRE(windows.size() == 2);
    DOCTEST_CHECK(windows.left_out() == 1);
    DOCTEST_CHECK(windows.row(0) == 0);
    DOCTEST_CHECK(windows.row(1) == 2);
}

DOCTEST_TEST_CASE("scoring/encoded_examples: a part of the windows, with its marks") {
    const TempDir folder;
    write_motif_examples(folder / "examples", 8, 7);
    const auto examples = examples::ExampleSet::load(folder / "examples");
    const auto rows = examples.rows(examples::Split::train);
    const rows::WindowBounds part{-80, 40};
    const auto network =
        tiny_windows(tiny_config(1), 1, {.pooling = task_models::Pooling::centre, .window = part});
    const EncodedExamples windows(examples, rows, *network, part, true, 1);
    const std::string dna = examples.sequence(rows[1]).substr(20, 120);
    for (const bool reverse : {false, true}) {
        const auto expected = network->encode(dna, reverse), found = windows.window(1, reverse);
        DOCTEST_CHECK(found.ids == expected.ids);
        DOCTEST_CHECK(found.marked_begin == expected.marked_begin);
        DOCTEST_CHECK(found.marked_end == expected.marked_end);
    }
}
