// SPDX-License-Identifier: Apache-2.0
#include "cli/checks.hpp"
#include "support/temp_dir.hpp"

using namespace bigbird::testing;

DOCTEST_TEST_CASE("show-attention: draws a config.json's pattern, figures aside") {
    const ProgramResult result =
        works({"show-attention", "--config", test_data("model/classifier/config.json"), "--length", "200"});
    DOCTEST_CHECK(result.out.starts_with("#############\n4oo.........#\n4ooo........#\n"));
    DOCTEST_CHECK(result.err ==
                  "bigbird-dna: 13 blocks of 16 tokens: 79 block pairs, 97.2 keys a query, 0.0013 GFLOP a "
                  "head of 16: 46.7 % "
                  "of full attention\n");
}

DOCTEST_TEST_CASE("show-attention: says that a Performer has no blocks") {
    const TempDir folder;
    const std::string config = folder / "config.json";
    write_file(config, R"({"model_type": "bigbird_dna", "attention_type": "performer"})");
    check_error(run_program({"show-attention", "--config", config, "--length", "200"}), 3,
                config + ": attention_type performer has no blocks to draw; give --pattern");
}

DOCTEST_TEST_CASE("show-attention: draws every pattern by name, as SVG and PNG too") {
    const TempDir folder;
    for (const std::string name : {"bigbird", "bigbird-first", "bigbird-etc", "full", "window", "random",
                                   "random+window", "sliding", "dilated", "global+sliding"}) {
        DOCTEST_CAPTURE(name);
        const std::string file = (folder / (name + ".svg")).string();
        const ProgramResult result =
            works({"show-attention", "--pattern", name, "--length", "2048", "--output", file});
        DOCTEST_CHECK(result.out.empty());
        const std::string svg = read_file(file);
        DOCTEST_CHECK(svg.starts_with("<svg "));
        DOCTEST_CHECK(svg.ends_with("</svg>\n"));
        const std::string image = (folder / (name + ".png")).string();
        DOCTEST_CHECK(
            run_program({"show-attention", "--pattern", name, "--length", "2048", "--output", image}).code ==
            0);
        DOCTEST_CHECK(read_file(image).starts_with("\x89PNG\r\n\x1a\n"));
    }
    DOCTEST_CHECK(run_program({"show-attention", "--pattern", "window", "--length", "256"}).out ==
                  "####\n####\n####\n####\n");  // four blocks are no more than 5: full
    DOCTEST_CHECK(run_program({"show-attention", "--pattern", "window", "--length", "384"}).out ==
                  "oo....\nooo...\n.ooo..\n..ooo.\n...ooo\n....oo\n");
}

DOCTEST_TEST_CASE("show-attention: draws a Longformer's window of a layer and head, and its global tokens") {
    const TempDir folder;
    const std::string config = folder / "config.json";
    write_file(config, R"({"model_type": "longformer", "num_hidden_layers": 2, "attention_window": [64, 256],
                           "num_global_tokens": 1})");
    const std::vector<std::string> narrow{"show-attention", "--config", config, "--length", "512"};
    auto wide = joined(narrow, {"--layer", "1"});
    const ProgramResult first = run_program(narrow), second = run_program(wide);
    DOCTEST_CHECK(first.code == 0);
    DOCTEST_CHECK(second.code == 0);
    DOCTEST_CHECK(first.out != second.out);
    wide.back() = "2";
    check_error(run_program(wide), 2, "--layer begins at 0; the model has 2 layers");
    write_file(config, R"({"model_type": "longformer", "attention_window": 255})");
    check_error(run_program(narrow), 3,
                config + ": model configuration: attention_window must be even and at least 2, not 255");
}
