// SPDX-License-Identifier: Apache-2.0
#include "cli/checks.hpp"
#include "support/temp_dir.hpp"
#include "support/testing.hpp"

#include <filesystem>
#include <string>

using namespace bigbird::testing;

namespace {

/// A folder with the script of a shell and something to complete.
struct Scene {
    explicit Scene(const std::string& shell) {
        write_file(folder / "script", works({"completion", shell}).out);
        std::filesystem::create_directory(folder / "models");
        write_file(folder / "model.txt", "");
    }
    std::string enter() const { return "cd '" + folder.path().string() + "'\nsource ./script\n"; }
    TempDir folder;
};

/// What bash offers for the last of `words`, sorted, with blanks between.
std::string offered(const Scene& scene, const std::string& words) {
    const auto result = run_shell("bash", scene.enter() + "COMP_WORDS=(" + words +
                                              ")\nCOMP_CWORD=$((${#COMP_WORDS[@]} - 1))\n_bigbird_dna\n"
                                              "printf '%s\\n' \"${COMPREPLY[@]}\" | sort | paste -sd ' '\n");
    return result.out.substr(0, result.out.find('\n'));
}

std::string fish_offers(const Scene& scene, const std::string& line) {
    const auto result = run_shell("fish", scene.enter() + "complete -C '" + line +
                                              "' | string split -f1 \\t | sort | string join ' '\n");
    return result.out.substr(0, result.out.find('\n'));
}

}  // namespace

DOCTEST_TEST_CASE("completion: bash completes commands and options") {
    const Scene scene("bash");
    DOCTEST_CHECK(offered(scene, "bigbird-dna predict-") ==
                  "predict-chromatin predict-mutagenesis predict-promoter predict-sequences predict-splicing "
                  "predict-tokens "
                  "predict-variants");
    DOCTEST_CHECK(offered(scene, "bigbird-dna --v") == "--verbose --version");
    DOCTEST_CHECK(offered(scene, "bigbird-dna pretrain --ste") == "--steps");
    DOCTEST_CHECK(offered(scene, "bigbird-dna pretrain --qui") == "--quiet");
    DOCTEST_CHECK(offered(scene, "bigbird-dna pretrain --micro") == "--micro-batch-size");
    DOCTEST_CHECK(offered(scene, "bigbird-dna encode --micro") == "");
    DOCTEST_CHECK(offered(scene, "bigbird-dna pretrain --steps 3 --f") == "--force");
}

DOCTEST_TEST_CASE("completion: bash completes the values of an option, of several and behind =") {
    const Scene scene("bash");
    DOCTEST_CHECK(offered(scene, "bigbird-dna pretrain --schedule ''") == "constant cosine linear");
    DOCTEST_CHECK(offered(scene, "bigbird-dna pretrain --schedule = co") == "constant cosine");
    DOCTEST_CHECK(offered(scene, "bigbird-dna pretrain --schedule =") == "constant cosine linear");
    DOCTEST_CHECK(offered(scene, "bigbird-dna embed --device c") == "cpu cuda");
    DOCTEST_CHECK(offered(scene, "bigbird-dna embed --model m") == "models");
    DOCTEST_CHECK(offered(scene, "bigbird-dna embed --reference m") == "model.txt models");
    DOCTEST_CHECK(offered(scene, "bigbird-dna embed --reference a.fa m") == "model.txt models");
    DOCTEST_CHECK(offered(scene, "bigbird-dna pretrain --resume m") == "model.txt models");
    DOCTEST_CHECK(offered(scene, "bigbird-dna pretrain --force --ep") == "--epochs --epsilon");
}

DOCTEST_TEST_CASE("completion: bash completes arguments without a name") {
    const Scene scene("bash");
    DOCTEST_CHECK(offered(scene, "bigbird-dna info m") == "model.txt models");
    DOCTEST_CHECK(offered(scene, "bigbird-dna completion ''") == "bash fish zsh");
    DOCTEST_CHECK(offered(scene, "bigbird-dna help emb") == "embed");
    DOCTEST_CHECK(offered(scene, "bigbird-dna help --man emb") == "embed");
}

DOCTEST_TEST_CASE("completion: fish completes commands, options and values") {
    if (!has_shell("fish")) {
        DOCTEST_MESSAGE("fish is not installed: its completion is not tried");
        return;
    }
    const Scene scene("fish");
    DOCTEST_CHECK(fish_offers(scene, "bigbird-dna predict-") ==
                  "predict-chromatin predict-mutagenesis predict-promoter predict-sequences predict-tokens "
                  "predict-variants");
    DOCTEST_CHECK(fish_offers(scene, "bigbird-dna pretrain --ste") == "--steps");
    DOCTEST_CHECK(fish_offers(scene, "bigbird-dna pretrain --schedule co") == "constant cosine");
    DOCTEST_CHECK(fish_offers(scene, "bigbird-dna embed --model mo") == "models/");
    DOCTEST_CHECK(fish_offers(scene, "bigbird-dna embed --reference mod") == "model.txt models/");
    DOCTEST_CHECK(fish_offers(scene, "bigbird-dna help emb") == "embed");
}

DOCTEST_TEST_CASE("completion: zsh and fish find nothing wrong in their scripts") {
    for (const std::string shell : {"bash", "zsh", "fish"}) {
        if (!has_shell(shell)) continue;
        const Scene scene(shell);
        DOCTEST_CHECK(run_shell("bash", shell + " -n '" + (scene.folder / "script").string() + "'").out ==
                      "");
    }
}

DOCTEST_TEST_CASE("completion: a shell that is not known is one sentence and code 2") {
    const auto result = run_program({"completion", "tcsh"});
    DOCTEST_CHECK(result.code == 2);
    DOCTEST_CHECK(result.out.empty());
    DOCTEST_CHECK(result.err.starts_with("bigbird-dna: error: "));
}
