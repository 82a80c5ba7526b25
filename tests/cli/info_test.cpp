// SPDX-License-Identifier: Apache-2.0
#include "cli/run_program.hpp"
#include "support/testing.hpp"

#include <nlohmann/json.hpp>

using namespace bigbird::testing;

DOCTEST_TEST_CASE("info: a model directory as text and as JSON") {
    const std::string model = test_data("model/pretraining").string();
    const ProgramResult text = run_program({"info", model});
    DOCTEST_CHECK(text.code == 0);
    DOCTEST_CHECK(text.err.empty());
    DOCTEST_CHECK(text.out.find("parameters  149134\n") != std::string::npos);
    const ProgramResult json = run_program({"info", "--json", model});
    DOCTEST_CHECK(json.code == 0);
    DOCTEST_CHECK(nlohmann::json::parse(json.out)["weights"]["parameters"] == 149134);
}

DOCTEST_TEST_CASE("info: what is none of ours is refused") {
    const std::string path = test_data("README.md").string();
    const ProgramResult result = run_program({"info", path});
    DOCTEST_CHECK(result.code == 3);
    DOCTEST_CHECK(result.out.empty());
    DOCTEST_CHECK(result.err ==
                  "bigbird-dna: error: " + path +
                      ": is neither a model folder nor a .model, tokenizer.json or .safetensors file\n");
}

DOCTEST_TEST_CASE("info: --check reads every weight") {
    const ProgramResult result = run_program({"info", "--check", test_data("model/relu").string()});
    DOCTEST_CHECK(result.code == 0);
    DOCTEST_CHECK(result.out.find("finite   true\n") != std::string::npos);
}
