// SPDX-License-Identifier: Apache-2.0
// --tokenizer of tokenize and pretrain as a shell sees it, and what the models are good for.
#include "cli/checks.hpp"
#include "support/temp_dir.hpp"

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

using namespace bigbird::testing;

namespace {

/// A command on four documents of real sentences.
class InputScene {
public:
    InputScene() { write_file(documents, real_documents()); }

    ProgramResult tokenize(const std::string& name, std::vector<std::string> more) const {
        return run_program(joined({"tokenize", "--documents", documents, "--output", folder / name}, more));
    }
    ProgramResult pretrain(const std::string& name, std::vector<std::string> more) const {
        return run_program(
            joined({"pretrain", "--config", "tiny", "--steps", "2", "--batch-size", "2", "--device", "cpu",
                    "--threads", "1", "--sequence-length", "128", "--output", folder / name},
                   more));
    }

    TempDir folder;
    std::string documents = folder / "documents.txt";
};

}  // namespace

DOCTEST_TEST_CASE("tokenize: bases and k-mers need no tokenizer, and the shards hold one") {
    const InputScene scene;
    succeeded(scene.tokenize("bases", {"--tokenizer", "bases"}));
    succeeded(scene.tokenize("sixes", {"--tokenizer", "kmers:6"}));
    succeeded(scene.tokenize("threes", {"--tokenizer", "kmers:3"}));
    const auto described = [&](const std::string& name) {
        const auto info = works({"info", scene.folder / name, "--json", "--verify"});
        return nlohmann::json::parse(info.out);
    };
    const auto bases = described("bases");
    DOCTEST_CHECK(bases["tokens"] == bases["bases"]);
    DOCTEST_CHECK(bases["vocab_size"] == 10);
    DOCTEST_CHECK(described("sixes")["vocab_size"] == 4106);
    DOCTEST_CHECK(described("threes")["vocab_size"] == 74);

    const std::string threes = scene.folder / "threes";
    DOCTEST_CHECK(run_program({"encode", "--tokenizer", threes}, "AAAACGttuNC\n").out == "10 16 73 9 6\n");
    DOCTEST_CHECK(run_program({"decode", "--tokenizer", threes}, "10 16 73 9 6\n").out == "AAAACGTTTNC\n");
    const auto info = run_program({"info", threes + "/tokenizer.json"});
    DOCTEST_CHECK(holds(info.out, "k-mers of 3 letters that do not overlap"));
}

DOCTEST_TEST_CASE("tokenize, pretrain: what is no tokenizer is refused") {
    const InputScene scene;
    const std::vector<std::pair<std::vector<std::string>, std::string>> refusals{
        {{}, "--tokenizer is needed: a model, bases or kmers:K, such as kmers:6"},
        {{"--tokenizer", "kmers:13"}, "k-mers have 1 to 12 letters, not 13"},
        {{"--tokenizer", "kmers:"}, "k-mers have 1 to 12 letters, not 0"}};
    for (const auto& [options, message] : refusals) {
        DOCTEST_CAPTURE(message);
        check_error(scene.tokenize("refused", options), 2, message);
        check_error(scene.pretrain("refused", joined(options, {"--documents", scene.documents})), 2, message);
    }
    DOCTEST_CHECK_FALSE(std::filesystem::exists(scene.folder / "refused"));
}

DOCTEST_TEST_CASE("pretrain: shards of k-mers say themselves what they hold, and take no other input") {
    const InputScene scene;
    const std::string shards = scene.folder / "shards";
    succeeded(scene.tokenize("shards", {"--tokenizer", "kmers:3"}));
    succeeded(scene.pretrain("own", {"--documents", shards}));
    succeeded(scene.pretrain("same", {"--documents", shards, "--tokenizer", "kmers:3"}));
    for (const char* file : {"model/model.safetensors", "model/tokenizer.json"})
        DOCTEST_CHECK(read_file(scene.folder / "own" / file) == read_file(scene.folder / "same" / file));
    check_error(scene.pretrain("other", {"--documents", shards, "--tokenizer", "bases"}), 3,
                shards +
                    ": was made with another --tokenizer than the one given; run "
                    "tokenize with that one");
}

DOCTEST_TEST_CASE("pretrain: models of bases and k-mers are scored and embed as those of tokens do") {
    const InputScene scene;
    write_file(scene.folder / "r.bed", "22\t100\t400\n22\t17000\t17512\n");
    for (const std::string input : {"bases", "kmers:6"}) {
        DOCTEST_CAPTURE(input);
        succeeded(scene.pretrain(input, {"--documents", scene.documents, "--tokenizer", input}));
        const std::string model = scene.folder / (input + "/model");
        DOCTEST_CHECK_FALSE(std::filesystem::exists(model + "/tokenizer.model"));
        const auto ids = run_program({"encode", "--tokenizer", model}, "ACGTNACGTACGT\n").out;
        DOCTEST_CHECK(ids == (input == "bases" ? "5 6 7 8 9 5 6 7 8 5 6 7 8\n" : "5 6 7 8 9 443 7 8\n"));
        works({"evaluate-mlm", "--model", model, "--documents", scene.documents, "--device", "cpu",
               "--max-sequences", "4", "--threads", "1", "--output", scene.folder / (input + ".json")});
        const auto scores = nlohmann::json::parse(read_file(scene.folder / (input + ".json")));
        DOCTEST_CHECK(scores["bits_per_character"].get<double>() > 1.5);
        works({"embed", "--model", model, "--reference", test_data("genome/22.fa.gz"), "--regions",
               scene.folder / "r.bed", "--device", "cpu", "--threads", "1", "--output",
               scene.folder / (input + ".npy")});
    }
}
