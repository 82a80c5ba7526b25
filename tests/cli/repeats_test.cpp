// SPDX-License-Identifier: Apache-2.0
#include "cli/checks.hpp"
#include "support/temp_dir.hpp"

#include "bigbird/core/formats/json_file.hpp"

#include <algorithm>

using namespace bigbird;
using namespace bigbird::testing;

DOCTEST_TEST_CASE("pretrain: --repeat-weight, and the share of repeats in the loss") {
    const TempDir folder;
    std::string dna = testing::read_file(test_data("tokenizer/sentences.txt")).substr(0, 40'000);
    std::erase(dna, '\n');
    std::transform(dna.begin() + 5000, dna.begin() + 20'000, dna.begin() + 5000,
                   [](char c) { return static_cast<char>(c + 'a' - 'A'); });
    testing::write_file(folder / "g.fa", ">1\n" + dna + "\n");
    const std::string genome = folder / "g.fa", tokenizer = test_data("tokenizer/small.model"),
                      run = folder / "run";
    const auto train = [&](const std::vector<std::string>& input, const std::string& output) {
        return run_program(joined({"pretrain", "--tokenizer", tokenizer, "--config", "tiny", "--steps", "2",
                                   "--batch-size", "2", "--sequence-length", "64", "--device", "cpu", "--nsp",
                                   "off", "--repeat-weight", "0.1", "--output", output},
                                  input));
    };
    succeeded(train({"--reference", genome}, run));
    DOCTEST_CHECK(read_json(folder / "run/config.resolved.json")["options"]["--repeat-weight"] == 0.1);
    DOCTEST_CHECK(holds(testing::read_file(folder / "run/metrics.jsonl"), "repeat_bits_per_character"));
    testing::write_file(folder / "d.bed", "1\t0\t20000\t0\t0\t+\n1\t20000\t39000\t0\t1\t+\n");
    const ProgramResult scored =
        works({"evaluate-mlm", "--model", run, "--documents", folder / "d.bed", "--reference", genome,
               "--device", "cpu", "--output", folder / "mlm.json"});
    const Json repeats = read_json(folder / "mlm.json")["repeats"];
    DOCTEST_CHECK(repeats["share_of_bases"].get<double>() == doctest::Approx(15.0 / 39).epsilon(0.2));
    DOCTEST_CHECK(repeats["share_of_loss"].get<double>() == doctest::Approx(15.0 / 39).epsilon(0.2));
    DOCTEST_CHECK(holds(scored.err + scored.out, "repeats (lower case): "));
    check_said(train({"--documents", test_data("tokenizer/sentences.txt")}, (folder / "none").string()), 2,
               "--repeat-weight needs repeats in lower case");
}
