// SPDX-License-Identifier: Apache-2.0
// train-tokenizer, encode and decode as a shell sees them: limits, interruptions, Hugging Face files,
// offsets.
#include "cli/checks.hpp"
#include "support/temp_dir.hpp"

#include "bigbird/core/rng.hpp"

#include <nlohmann/json.hpp>

#include <csignal>
#include <sstream>

using namespace bigbird::testing;

namespace {

const std::string gena_like = test_data("tokenizer/hf/gena_like.json");

std::string random_lines(int lines, int bases) {
    bigbird::Rng rng(5);
    std::string text;
    for (int line = 0; line < lines; ++line) {
        for (int base = 0; base < bases; ++base)
            text += "ACGT"[rng.between(0, 3)];
        text += '\n';
    }
    return text;
}

}  // namespace

DOCTEST_TEST_CASE("train-tokenizer: says what memory it takes") {
    const TempDir folder;
    const auto result = works({"train-tokenizer", "--documents", test_data("tokenizer/sentences.txt"),
                               "--output", folder / "a.model", "--vocab-size", "600"});
    DOCTEST_CHECK(holds(result.err, "100000 bases, in about 0.1 GB of memory"));
    DOCTEST_CHECK_FALSE(read_file(folder / "a.vocab").empty());
}

DOCTEST_TEST_CASE("train-tokenizer: --max-memory trains on a seeded sample, and says so") {
    const TempDir folder;
    write_file(folder / "d.txt", random_lines(2000, 700));
    const auto train = [&](const std::string& name, std::vector<std::string> more) {
        const auto result = works(joined({"train-tokenizer", "--documents", folder / "d.txt", "--output",
                                          folder / name, "--vocab-size", "300", "--max-memory", "103MB"},
                                         more));
        DOCTEST_CHECK(holds(result.err,
                            "2000 sentences do not fit into --max-memory: training on a seeded "
                            "sample of "));
        return read_file(folder / name);
    };
    const std::string first = train("a.model", {"--threads", "1"});
    DOCTEST_CHECK(train("b.model", {"--threads", "3"}) == first);
    DOCTEST_CHECK(train("c.model", {"--seed", "9"}) != first);
    check_said(run_program({"train-tokenizer", "--documents", folder / "d.txt", "--output",
                            folder / "d.model", "--max-memory", "1MB"}),
               2, "--max-memory must be at least 103 MB");
}

DOCTEST_TEST_CASE("train-tokenizer: Ctrl-C and a full disk leave nothing behind") {
    const TempDir folder, outputs;
    write_file(folder / "d.txt", random_lines(3000, 900));
    const std::vector<std::string> train{"train-tokenizer", "--documents",       folder / "d.txt",
                                         "--output",        outputs / "t.model", "--vocab-size",
                                         "20000",           "--hugging-face",    outputs / "hf"};
    for (const int signal : {SIGINT, SIGTERM}) {
        DOCTEST_CHECK(run_program(train, {}, {.signal = signal, .once_said = "training 20000 pieces"}).code ==
                      128 + signal);
        DOCTEST_CHECK(std::filesystem::is_empty(outputs.path()));
    }
    check_said(run_program({"train-tokenizer", "--documents", test_data("tokenizer/sentences.txt"),
                            "--output", outputs / "t.model", "--vocab-size", "512"},
                           {}, {.once_said = {}, .largest_file = 4096}),
               74, ".model: writing failed");
    DOCTEST_CHECK(std::filesystem::is_empty(outputs.path()));
}

DOCTEST_TEST_CASE("train-tokenizer: bad input") {
    const TempDir folder;
    const auto train = [&](const std::string& name, const std::string& text) {
        write_file(folder / name, text);
        const auto result = run_program({"train-tokenizer", "--quiet", "--documents", folder / name,
                                         "--output", folder / "t.model", "--vocab-size", "100"});
        DOCTEST_CHECK(result.code == 3);
        DOCTEST_CHECK_FALSE(std::filesystem::exists(folder / "t.model"));
        return result.err;
    };
    DOCTEST_CHECK(holds(train("empty", ""), "holds no"));
    DOCTEST_CHECK(holds(train("blank", "\n\n\n"), "holds no"));
    DOCTEST_CHECK(holds(train("n", "NNNNNNNN\n"), "the corpus holds only N"));
    DOCTEST_CHECK(holds(train("nul", std::string("ACGT\0ACGT\n", 10)), ":1: "));
    DOCTEST_CHECK(holds(train("header", "ACGT\n>22\nACGT\n"), ":2: "));
}

DOCTEST_TEST_CASE("train-tokenizer --hugging-face: a folder that encode reads, with the same ids") {
    const TempDir folder;
    for (int run = 0; run < 2; ++run) {  // the second one replaces the folder
        works({"train-tokenizer", "--quiet", "--force", "--documents", test_data("tokenizer/sentences.txt"),
               "--output", folder / "t.model", "--vocab-size", "512", "--hugging-face", folder / "hf"});
    }
    DOCTEST_CHECK(std::filesystem::exists(folder / "hf" / "tokenizer_config.json"));
    const std::string text = "ACGTNacguRYK\n\nGATTACA\n";
    const std::string ids = run_program({"encode", "--tokenizer", folder / "t.model"}, text).out;
    DOCTEST_CHECK(run_program({"encode", "--tokenizer", folder / "hf"}, text).out == ids);
    const std::string json = folder / "hf" / "tokenizer.json";
    DOCTEST_CHECK(run_program({"encode", "--tokenizer", json}, text).out == ids);
    DOCTEST_CHECK(run_program({"decode", "--tokenizer", json}, ids).out == "ACGTNACGTNNN\n\nGATTACA\n");
}

DOCTEST_TEST_CASE("encode: a Hugging Face tokenizer takes letters as they stand, as AutoTokenizer does") {
    std::istringstream lines(read_file(test_data("tokenizer/hf/encodings.tsv")));
    std::string input, expected;
    for (std::string text, ids, line; std::getline(lines, line);) {
        std::istringstream fields(line);
        std::getline(fields, text, '\t');
        std::getline(fields, ids, '\t');
        if (text.find(' ') == std::string::npos) {
            input += text + "\n";
            expected += ids.substr(2, ids.size() - 4) + "\n";  // without [CLS] 1 and [SEP] 2
        }
    }
    const auto result = works({"encode", "--tokenizer", gena_like}, input);
    DOCTEST_CHECK(result.out == expected);
}

DOCTEST_TEST_CASE("encode --offsets: a row a token, and the bases that it spells") {
    const auto result = works({"encode", "--tokenizer", small_model, "--offsets"}, "ACGTN\n\ngattaca\n");
    DOCTEST_CHECK(result.out.starts_with("#line\tstart\tend\tid\tpiece\n1\t0\t1\t508\tA\n1\t1\t2\t509\tC\n"));
    std::istringstream rows(result.out);
    std::string third, header;
    std::getline(rows, header);
    int next = 0;
    for (std::string row; std::getline(rows, row);) {
        std::istringstream fields(row);
        int line = 0, start = 0, end = 0, id = 0;
        std::string piece;
        fields >> line >> start >> end >> id >> piece;
        DOCTEST_REQUIRE_FALSE(fields.fail());
        DOCTEST_CHECK(static_cast<int>(piece.size()) == end - start);
        if (line == 3) {
            DOCTEST_CHECK(start == next);
            next = end;
            third += piece;
        }
    }
    DOCTEST_CHECK(third == "GATTACA");
    const auto run_of_n = run_program({"encode", "--tokenizer", gena_like, "--offsets"},
                                      "ACGT" + std::string(15, 'N') + "ACGT\n");
    DOCTEST_CHECK(holds(run_of_n.out, "\n1\t4\t19\t"));
}

DOCTEST_TEST_CASE("info: a Hugging Face tokenizer") {
    const auto result = works({"info", "--json", gena_like});
    const auto json = nlohmann::json::parse(result.out);
    DOCTEST_CHECK(json["kind"] == "tokenizer");
    DOCTEST_CHECK(json["pieces"] == 600);
    DOCTEST_CHECK(json["special_pieces"] == 5);
}

DOCTEST_TEST_CASE("train-tokenizer: pretrain and evaluate-mlm warn where its text is held out") {
    const TempDir folder;
    const std::string sentences = read_file(test_data("tokenizer/sentences.txt")),
                      documents = folder / "documents.txt", held_out = folder / "held_out.txt",
                      all = folder / "all.txt", outside = folder / "outside.txt",
                      tokenizer = folder / "t.model", run = folder / "run";
    const auto line_at = [&](std::size_t part) {
        return sentences.find('\n', sentences.size() / 6 * part) + 1;
    };
    const auto two_documents = [&](std::size_t from, std::size_t to) {
        return sentences.substr(line_at(from), line_at(to - 1) - line_at(from)) + "\n" +
               sentences.substr(line_at(to - 1), line_at(to) - line_at(to - 1));
    };
    write_file(outside, two_documents(0, 2));
    write_file(documents, two_documents(2, 4));
    write_file(held_out, two_documents(3, 5));
    write_file(all, two_documents(2, 5));
    works({"train-tokenizer", "--documents", all, "--vocab-size", "64", "--output", tokenizer});
    const std::string warning = "the tokenizer was trained on the held-out sequence";
    const ProgramResult trained = works({"pretrain", "--documents",       documents, "--evaluate-documents",
                                         held_out,   "--tokenizer",       tokenizer, "--config",
                                         "tiny",     "--steps",           "1",       "--batch-size",
                                         "2",        "--sequence-length", "64",      "--device",
                                         "cpu",      "--threads",         "1",       "--output",
                                         run});
    DOCTEST_CHECK(holds(trained.err, warning));
    for (const std::string& scored : {held_out, outside}) {
        const ProgramResult evaluated = works({"evaluate-mlm", "--model", run, "--documents", scored,
                                               "--device", "cpu", "--output", scored + ".json"});
        DOCTEST_CHECK(holds(evaluated.err, warning) == (scored == held_out));
    }
}
