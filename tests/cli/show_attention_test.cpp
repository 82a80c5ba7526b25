// SPDX-License-Identifier: Apache-2.0
#include "cli/run_program.hpp"
#include "support/temp_dir.hpp"
#include "support/testing.hpp"

using namespace bigbird::testing;

DOCTEST_TEST_CASE("show-attention: draws a config.json's pattern, figures aside") {
    const ProgramResult result =
        run_program({"show-attention", "--config", test_data("model/classifier/config.json").string(),
                     "--length", "200"});
    DOCTEST_CHECK(result.code == 0);
    DOCTEST_CHECK(result.out.starts_with("#############\n4oo.........#\n4ooo........#\n"));
    DOCTEST_CHECK(result.err ==
                  "bigbird-dna: 13 blocks of 16 tokens: 79 block pairs, 97.2 keys a query, 0.0013 GFLOP a "
                  "head of 16: 46.7 % "
                  "of full attention\n");
}

DOCTEST_TEST_CASE("show-attention: says that a Performer has no blocks") {
    const TempDir folder;
    const std::string config = (folder / "config.json").string();
    write_file(config, R"({"model_type": "bigbird_dna", "attention_type": "performer"})");
    const ProgramResult result = run_program({"show-attention", "--config", config, "--length", "200"});
    DOCTEST_CHECK(result.code == 3);
    DOCTEST_CHECK(result.err == "bigbird-dna: error: " + config +
                                    ": attention_type performer has no blocks to draw; give --pattern\n");
}

DOCTEST_TEST_CASE("show-attention: draws every pattern by name, as SVG and PNG too") {
    const TempDir folder;
    for (const std::string name : {"bigbird", "bigbird-first", "bigbird-etc", "full", "window", "random",
                                   "random+window", "sliding", "dilated", "global+sliding"}) {
        DOCTEST_CAPTURE(name);
        const std::string file = (folder / (name + ".svg")).string();
        const ProgramResult result =
            run_program({"show-attention", "--pattern", name, "--length", "2048", "--output", file});
        DOCTEST_CHECK(result.code == 0);
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
