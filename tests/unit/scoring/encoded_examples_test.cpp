// SPDX-License-Identifier: Apache-2.0
#include "bigbird/scoring/encoded_examples.hpp"

#include "scoring/tiny_task.hpp"
#include "support/temp_dir.hpp"
#include "support/testing.hpp"

#include "bigbird/genome/sequence.hpp"
#include "bigbird/scoring/window_encoder.hpp"
#include "bigbird/tasks/example_writer.hpp"
#include "bigbird/tasks/two_bit.hpp"

using namespace bigbird;
using namespace bigbird::testing;
using scoring::EncodedExamples;

namespace {

/// Three bins, the middle one nothing but N.
void write_examples_with_gap(const std::filesystem::path& directory) {
    std::filesystem::create_directories(directory);
    tasks::ExampleWriter writer(directory, tasks::Task::chromatin, {-100, 100}, 1);
    const std::uint8_t label = 1;
    for (std::int64_t row = 0; row < 3; ++row) {
        writer.add({{"c", row * 200, row * 200 + 200}, ".", genome::Strand::none, tasks::Split::train},
                   {&label, 1});
    }
    tasks::TwoBitWriter store(directory / "sequences.2bit", {"c"}, false);
    store.add("c", random_dna(200, 1) + std::string(200, 'N') + random_dna(200, 2));
    store.finish();
    writer.finish(tasks::LabelTable({{"TF", "x", -1}}), Json::object());
}

}  // namespace

DOCTEST_TEST_CASE("scoring/encoded_examples: both strands of every row, whatever the threads") {
    const TempDir folder;
    write_motif_examples(folder / "examples", 300, 7);
    const auto examples = tasks::ExampleSet::load(folder / "examples");
    const auto rows = examples.rows(tasks::Split::train);
    const auto tokenizer = small_tokenizer();
    const EncodedExamples one(examples, rows, tokenizer, 512, true, 1);
    const EncodedExamples four(examples, rows, tokenizer, 512, true, 4);
    DOCTEST_REQUIRE(one.size() == 150);
    DOCTEST_REQUIRE(four.size() == 150);
    for (std::int64_t i = 0; i < one.size(); ++i) {
        DOCTEST_REQUIRE(one.row(i) == rows[static_cast<std::size_t>(i)]);
        const std::string dna = examples.sequence(one.row(i));
        DOCTEST_REQUIRE(one.sequence(i).ids == scoring::encode_window(dna, tokenizer, 512).ids);
        DOCTEST_REQUIRE(one.sequence(i, true).ids ==
                        scoring::encode_window(genome::reverse_complement(dna), tokenizer, 512).ids);
        DOCTEST_REQUIRE(four.sequence(i).ids == one.sequence(i).ids);
        DOCTEST_REQUIRE(four.sequence(i, true).ids == one.sequence(i, true).ids);
    }
    DOCTEST_CHECK(one.truncated() == 0);
    DOCTEST_CHECK(EncodedExamples(examples, rows, tokenizer, 32, false, 2).truncated() == 150);
}

DOCTEST_TEST_CASE("scoring/encoded_examples: windows that are all N are left out and counted") {
    const TempDir folder;
    write_examples_with_gap(folder / "examples");
    const auto examples = tasks::ExampleSet::load(folder / "examples");
    const EncodedExamples windows(examples, examples.rows(tasks::Split::train), small_tokenizer(), 512, false,
                                  1);
    DOCTEST_REQUIRE(windows.size() == 2);
    DOCTEST_CHECK(windows.left_out() == 1);
    DOCTEST_CHECK(windows.row(0) == 0);
    DOCTEST_CHECK(windows.row(1) == 2);
}
