// SPDX-License-Identifier: Apache-2.0
#include "cli/checks.hpp"
#include "support/temp_dir.hpp"

#include <filesystem>

using namespace bigbird::testing;

DOCTEST_TEST_CASE("help: goes to standard output and names the exit codes") {
    const auto result = works({"--help"});
    DOCTEST_CHECK(holds(result.out, "Exit codes: 0 complete output, 2 usage, 3 bad input"));
    DOCTEST_CHECK(result.err.empty());
}

DOCTEST_TEST_CASE("help: the commands of the program fit on one screen") {
    std::istringstream text(works({"--help"}).out);
    std::string line;
    int lines = 0, commands = 0;
    for (; std::getline(text, line); ++lines) {
        DOCTEST_CHECK_MESSAGE(line.size() <= 90, line);
        commands += line.starts_with("  ") ? 1 : 0;
    }
    DOCTEST_CHECK(lines <= 45);
    DOCTEST_CHECK(commands <= 26);
    check_holds(works({"--help"}).out,
                {"\nPeaks, coverage or sequences:\n  train               Train and evaluate a model",
                 "\nOne task: {finetune,predict,evaluate}-{promoter,chromatin,sequences,tokens}\n",
                 "\nRarely needed: encode, decode, "});
}

DOCTEST_TEST_CASE("help: a wrong command line is one sentence on standard error and code 2") {
    const auto result = run_program({"no-such-command"});
    DOCTEST_CHECK(result.out.empty());
    check_error(result, 2, "there is no command 'no-such-command'; see 'bigbird-dna --help'");
}

DOCTEST_TEST_CASE("help: no command at all prints the short road, whose options the commands know") {
    const auto result = run_program({});
    DOCTEST_CHECK(result.code == 2);
    DOCTEST_CHECK(result.out.empty());
    std::istringstream lines(result.err);
    std::string line;
    int commands = 0;
    while (std::getline(lines, line)) {
        if (line.rfind("  bigbird-dna ", 0) != 0) continue;
        ++commands;
        std::istringstream words(line);
        std::string program, command, word;
        words >> program >> command;
        const std::string help = run_program({command, "--help"}).out;
        while (words >> word) {
            DOCTEST_CAPTURE(word);
            if (word.rfind("--", 0) == 0) DOCTEST_CHECK(holds(help, word + " "));
        }
    }
    DOCTEST_CHECK(commands == 5);
}

DOCTEST_TEST_CASE("help: --version is one line that a program can read") {
    const auto result = works({"--version"});
    DOCTEST_CHECK(result.out.rfind("bigbird-dna 0.", 0) == 0);
}

DOCTEST_TEST_CASE("help: a command's options say what they take and their defaults, and fit a line") {
    const auto result = works({"build-promoters", "--help"});
    check_holds(result.out, {"\n  --tss BED|GTF|GFF3  ", "(required)\n", "strand [-5000:3000]\n"});
    DOCTEST_CHECK(!holds(result.out, "=[]"));
    std::size_t begin = 0;
    while (begin < result.out.size()) {
        const std::size_t end = result.out.find('\n', begin);
        DOCTEST_CHECK(end - begin <= 110);
        begin = end + 1;
    }
}

DOCTEST_TEST_CASE(
    "help: outputs are named for what each command writes, and defaults of two numbers are whole") {
    const std::string all = run_program({"help", "--markdown"}).out;
    const auto of = [&](const std::string& command) {
        const std::size_t begin = all.find("\n### " + command + "\n");
        DOCTEST_CAPTURE(command);
        DOCTEST_REQUIRE(begin != std::string::npos);
        return all.substr(begin, all.find("\n### ", begin + 1) - begin);
    };
    const std::string embed = of("embed");
    DOCTEST_CHECK(holds(
        embed, "| Vectors; the file name's ending sets the format: .tsv, .csv (each also .gz), .npy, .h5; "));
    for (const char* no : {".bw", ".long.tsv", "Scores"})
        DOCTEST_CHECK_FALSE(holds(embed, no));
    DOCTEST_CHECK_FALSE(holds(of("predict-variants"), ".bw"));
    DOCTEST_CHECK(holds(of("predict"), ".long.tsv, .npy, .h5, .bedgraph, .bw ({label} in the name: "));
    const std::string finetune = of("finetune");
    check_holds(finetune, {"| `bin models: reverse-complement; others: none` |",
                           "| `bin models, sequence models: cosine; tokens, others: linear` |"});
    const std::string examples = finetune.substr(finetune.find("| `--examples`"));
    for (const char* command : {"build-chromatin", "build-promoters", "build-sequences", "build-tracks"})
        DOCTEST_CHECK(holds(examples.substr(0, examples.find('\n')), command));
}

DOCTEST_TEST_CASE("help: a default that stands for a choice of the program is told in words") {
    const std::string all = run_program({"help", "--markdown"}).out;
    check_holds(all, {"| `-t`, `--threads` | `N` | `all available threads` |",
                      "| `--warmup-steps` | `N` | `a tenth of all, at most 10000` |"});
    DOCTEST_CHECK(!holds(all, "| `-1` |"));
    DOCTEST_CHECK(!holds(all, "; 0: all"));
}

DOCTEST_TEST_CASE("help: a value out of range is a short sentence") {
    check_error(run_program({"build-promoters", "--threads", "-3"}), 2,
                "--threads: Value -3 is too small; see 'bigbird-dna build-promoters --help'");
}

DOCTEST_TEST_CASE("help: an unknown option is named before a required one that is missing") {
    const auto of_pretrain = [](const std::string& sentence) {
        return "bigbird-dna: error: " + sentence + "; see 'bigbird-dna pretrain --help'\n";
    };
    const auto result = run_program({"pretrain", "--stepz", "3"});
    DOCTEST_CHECK(result.code == 2);
    DOCTEST_CHECK(result.err == of_pretrain("there is no option --stepz; did you mean --steps?"));
    DOCTEST_CHECK(run_program({"pretrain", "--steps", "-1", "--frobnicate=3"}).err ==
                  of_pretrain("there is no option --frobnicate"));
    DOCTEST_CHECK(run_program({"pretrain", "corpus"}).err == of_pretrain("'corpus' was not expected here"));
    DOCTEST_CHECK(run_program({"pretrain"}).err == of_pretrain("--output is required"));
}

DOCTEST_TEST_CASE("help: a program without the one beside it that has LibTorch says so") {
    const TempDir folder;
    bigbird::testing::Disturbance alone;
    alone.program = folder / "bigbird-dna";
    std::filesystem::copy_file(bigbird::testing::program_path(), alone.program);
    works({"--version"}, {}, alone);
    check_said(
        run_program({"pretrain", "--documents", "d", "--tokenizer", "t", "--steps", "1", "--output", "o"}, {},
                    alone),
        2, "bigbird-dna-tensors cannot be started");
}
