// SPDX-License-Identifier: Apache-2.0
#include "cli/checks.hpp"
#include "support/temp_dir.hpp"

using namespace bigbird::testing;

namespace {

std::vector<std::string> forward(const std::string& model, const std::string& input,
                                 const std::string& output) {
    return {"forward", "--device", "cpu", "--quiet", "--model", model, "--input", input, "--output", output};
}

}  // namespace

DOCTEST_TEST_CASE("forward: writes hidden states and logits, and refuses to write them twice") {
    const TempDir folder;
    const std::string model = test_data("model/classifier"), output = folder / "out.safetensors";
    const std::string input = test_data("model/classifier/cases/full_64_padded.safetensors");
    const ProgramResult first = works(forward(model, input, output));
    DOCTEST_CHECK(first.out.empty());
    const ProgramResult info = run_program({"info", output});
    check_holds(info.out, {"logits           F32 2x7", "hidden_states.2  F32 2x64x32"});
    check_error(run_program(forward(model, input, output)), 2,
                output + ": exists already; give another --output, or --force to replace it");
}

DOCTEST_TEST_CASE("forward: bad input is a sentence, code 3 and no output") {
    const TempDir folder;
    const std::string model = test_data("model/classifier"), output = folder / "out.safetensors";
    const std::string whole = read_file(test_data("model/classifier/cases/full_64_padded.safetensors"));
    const std::string cut = folder / "cut.safetensors";
    write_file(cut, whole.substr(0, whole.size() - 100));
    check_error(run_program(forward(model, cut, output)), 3,
                cut + ": is cut short: " + std::to_string(whole.size()) +
                    " bytes are expected, the file has " + std::to_string(whole.size() - 100));
    check_error(run_program(forward((folder / "none").string(),
                                    test_data("model/classifier/model.safetensors"), output)),
                3, (folder / "none").string() + ": no such model folder");
    const ProgramResult no_ids =
        run_program(forward(model, test_data("model/classifier/model.safetensors"), output));
    DOCTEST_CHECK(no_ids.code == 3);
    DOCTEST_CHECK(no_ids.err.ends_with("bigbird-dna: error: tensor 'input_ids' is missing from the input\n"));
    DOCTEST_CHECK(!std::filesystem::exists(output));
}

DOCTEST_TEST_CASE("forward: a model whose weights are damaged or do not fit is refused") {
    const TempDir folder;
    const std::string output = folder / "out.safetensors";
    const std::string input = test_data("model/classifier/cases/full_64_padded.safetensors");
    std::filesystem::create_directory(folder / "model");
    const std::string config = read_file(test_data("model/classifier/config.json"));
    const std::string weights = (folder / "model" / "model.safetensors").string();
    write_file(folder / "model" / "config.json", config);
    write_file(weights, "<html>not found</html>");
    check_error(run_program(forward((folder / "model").string(), input, output)), 3,
                weights + ": is not a safetensors file: its first 8 bytes give no plausible header length");
    std::filesystem::copy(test_data("model/classifier/model.safetensors"), weights,
                          std::filesystem::copy_options::overwrite_existing);
    std::string larger = config;
    larger.replace(larger.find("\"vocab_size\": 90"), 16, "\"vocab_size\": 91");
    write_file(folder / "model" / "config.json", larger);
    check_error(run_program(forward((folder / "model").string(), input, output)), 3,
                weights +
                    ": tensor 'bert.embeddings.word_embeddings.weight' has the shape [90, "
                    "32], config.json asks for [91, 32]");
    DOCTEST_CHECK(!std::filesystem::exists(output));
}

DOCTEST_TEST_CASE("forward: a GPU that is not there is code 4") {
    const TempDir folder;
    auto arguments = forward(test_data("model/classifier").string(),
                             test_data("model/classifier/cases/full_64_padded.safetensors"),
                             (folder / "out.safetensors").string());
    arguments[2] = "cuda:99";
    const ProgramResult result = run_program(arguments);
    DOCTEST_CHECK(result.code == 4);
    DOCTEST_CHECK(result.err.starts_with("bigbird-dna: error: --device cuda"));
}
