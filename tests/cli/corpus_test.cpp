// SPDX-License-Identifier: Apache-2.0
// build-documents, train-tokenizer, tokenize, encode and decode as a shell sees them.
#include "cli/checks.hpp"
#include "support/temp_dir.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cctype>
#include <sstream>

using namespace bigbird::testing;

namespace {

const std::string corpus_genome = test_data("genome/multi.fa");

std::ptrdiff_t filled_lines(const std::string& text) {
    std::istringstream lines(text);
    std::ptrdiff_t count = 0;
    for (std::string line; std::getline(lines, line);)
        count += line.empty() ? 0 : 1;
    return count;
}

std::string error(const std::string& message) {
    return "bigbird-dna: error: " + message + "\n";
}

}  // namespace

DOCTEST_TEST_CASE(
    "build-documents: text and coordinates of the same documents, byte for byte on any threads") {
    const TempDir folder;
    const auto build = [&](const std::string& name, std::vector<std::string> more) {
        const auto result = works(joined({"build-documents", "--reference", corpus_genome, "--passes", "3",
                                          "--output", folder / name, "--quiet"},
                                         more));
        DOCTEST_CHECK(result.out.empty());
        DOCTEST_CHECK(result.err.empty());
        return read_file(folder / name);
    };
    const std::string text = build("a.txt", {"--threads", "1"});
    DOCTEST_CHECK(text == build("b.txt", {"--threads", "3"}));
    DOCTEST_CHECK(text != build("c.txt", {"--seed", "1"}));
    DOCTEST_CHECK(build("a.txt.gz", {"--threads", "1"}) == build("b.txt.gz", {"--threads", "3"}));
    const std::string bed = build("a.bed", {});
    DOCTEST_CHECK(filled_lines(bed) == filled_lines(text) + 2);  // two lines of header
    const auto piped =
        run_program({"build-documents", "--reference", corpus_genome, "--passes", "3", "--output", "-"});
    DOCTEST_CHECK(piped.out == text);
    DOCTEST_CHECK(piped.err.starts_with("bigbird-dna: "));
    check_holds(piped.err, {" documents, ", "no sentence dropped; "});
}

DOCTEST_TEST_CASE("build-documents: the manifest says what was made from what") {
    const TempDir folder;
    works({"build-documents", "--reference", corpus_genome, "--output", folder / "a.txt", "--manifest",
           folder / "a.json"});
    const auto manifest = nlohmann::json::parse(read_file(folder / "a.json"));
    DOCTEST_CHECK(manifest["parameters"]["passes"] == 10);
    DOCTEST_CHECK(manifest["inputs"][0]["sha256"].get<std::string>().size() == 64);
}

DOCTEST_TEST_CASE("build-documents: errors are one sentence, have their exit code and leave nothing behind") {
    const TempDir folder;
    const std::string output = folder / "out" / "a.txt";
    const auto run = [&](std::vector<std::string> more) {
        return run_program(joined({"build-documents", "--output", output}, more));
    };
    const auto check = [&](const ProgramResult& result, int code, const std::string& message) {
        DOCTEST_CHECK(result.out.empty());
        check_error(result, code, message);
        DOCTEST_CHECK_FALSE(std::filesystem::exists(output));
    };
    check(run({"--reference", "no.fa"}), 3, "no.fa: no such file");
    check(run({"--reference", corpus_genome, "--passes", "0"}), 2, "--passes must be at least 1");
    check(run({"--reference", corpus_genome, "--sentences", "9:3"}), 2,
          "--sentences 9:3 ends before it begins");
    check(run({"--reference", corpus_genome, "--sentences", "9"}), 2,
          "--sentences: '9' is not LOW:HIGH, two whole numbers; see 'bigbird-dna build-documents --help'");
    check(run({"--reference", corpus_genome, "--max-n-fraction", "2"}), 2,
          "--max-n-fraction must lie between 0 and 1");
    write_file(folder / "n.fa", ">1\n" + std::string(900, 'N') + "\n");
    check(
        run({"--reference", folder / "n.fa", "--passes", "1", "--sentence-length", "900:900"}), 3,
        "no document is left: 0 documents, 0 sentences, 0 bases; sentences dropped: 1 with more than 50 % N");
    write_file(folder / "a.bed", "multi\t10\tx\n");
    const auto malformed = run({"--reference", corpus_genome, "--include", folder / "a.bed"});
    DOCTEST_CHECK(malformed.code == 3);
    DOCTEST_CHECK(malformed.err.starts_with("bigbird-dna: error: " + std::string(folder / "a.bed") + ":1: "));
    write_file(folder / "kept.txt", "kept");
    check_error(
        run_program({"build-documents", "--reference", corpus_genome, "--output", folder / "kept.txt"}), 2,
        std::string(folder / "kept.txt") +
            ": exists already; give another --output, or --force to replace it");
    DOCTEST_CHECK(read_file(folder / "kept.txt") == "kept");
    works({"build-documents", "--reference", corpus_genome, "--output", folder / "kept.txt", "--force"});
    DOCTEST_CHECK(read_file(folder / "kept.txt") != "kept");
}

DOCTEST_TEST_CASE("train-tokenizer: from documents or the genome, with a report") {
    const TempDir folder;
    const auto trained =
        works({"train-tokenizer", "--documents", test_data("tokenizer/sentences.txt"), "--output",
               folder / "t.model", "--vocab-size", "512", "--report", folder / "t.json"});
    DOCTEST_CHECK(trained.out.empty());
    DOCTEST_CHECK(read_file(folder / "t.vocab") == read_file(test_data("tokenizer/small.vocab")));
    const auto report = nlohmann::json::parse(read_file(folder / "t.json"));
    DOCTEST_CHECK(report["vocab_size"] == 512);
    DOCTEST_CHECK(report["sentences"] == 143);
    DOCTEST_CHECK(report["bases"] == 100'000);
    DOCTEST_CHECK(report["bases_per_token"].get<double>() > 4);
    works({"train-tokenizer", "--reference", corpus_genome, "--output", folder / "g.model", "--vocab-size",
           "100"});
    DOCTEST_CHECK(std::filesystem::exists(folder / "g.vocab"));
}

DOCTEST_TEST_CASE("train-tokenizer: errors") {
    const TempDir folder;
    const auto run = [&](std::vector<std::string> more) {
        const auto result =
            run_program(joined({"train-tokenizer", "--quiet", "--output", folder / "t.model"}, more));
        DOCTEST_CHECK_FALSE(std::filesystem::exists(folder / "t.model"));
        DOCTEST_CHECK_FALSE(std::filesystem::exists(folder / "t.vocab"));
        return result;
    };
    DOCTEST_CHECK(run({}).err == error("nothing to train on: give --documents or --reference"));
    DOCTEST_CHECK(run({}).code == 2);
    DOCTEST_CHECK(run({"--documents", "no.txt"}).err == error("no.txt: no such file"));
    DOCTEST_CHECK(run({"--reference", corpus_genome, "--vocab-size", "7"}).err ==
                  error("--vocab-size must be at least 10, 5 special pieces and A C G T N"));
    write_file(folder / "d.txt", "ACGTACGTAC\n");
    check_error(run({"--documents", folder / "d.txt"}), 3,
                "the corpus of 10 bases gives at most 15 pieces; give --vocab-size 15 "
                "or less, or more sequence");
    write_file(folder / "d.bed", "22\t0\t10\t0\t0\t+\n");
    DOCTEST_CHECK(run({"--documents", folder / "d.bed"}).err ==
                  error(std::string(folder / "d.bed") +
                        ":1: holds coordinates, not sequence; give the genome "
                        "that they point into with --reference"));
}

DOCTEST_TEST_CASE("encode, decode: standard input to standard output and back") {
    const auto encoded = works({"encode", "--tokenizer", small_model}, "ACGTN\n\ngattaca\n");
    DOCTEST_CHECK(encoded.err.empty());
    DOCTEST_CHECK(encoded.out.starts_with("508 509 510 507 511\n\n"));
    const auto decoded = works({"decode", "--tokenizer", small_model}, encoded.out);
    DOCTEST_CHECK(decoded.out == "ACGTN\n\nGATTACA\n");
    const TempDir folder;
    DOCTEST_CHECK(run_program({"encode", "--tokenizer", small_model, "--input",
                               test_data("tokenizer/sentences.txt"), "--output", folder / "ids"})
                      .out.empty());
    DOCTEST_CHECK(run_program({"decode", "--tokenizer", small_model, "--input", folder / "ids"}).out ==
                  read_file(test_data("tokenizer/sentences.txt")));
}

DOCTEST_TEST_CASE("encode, decode: errors") {
    const std::string broken = test_data("tokenizer/malformed/text.model");
    check_error(
        run_program({"encode", "--tokenizer", broken}, "ACGT\n"), 3,
        broken + ": is not a SentencePiece model, or a damaged one; make the tokenizer with train-tokenizer");
    DOCTEST_CHECK(run_program({"encode", "--tokenizer", small_model}, ">22\nACGT\n").err ==
                  error("-:1: is a FASTA header, and plain sequence is needed here, one a line"));
    DOCTEST_CHECK(run_program({"decode", "--tokenizer", small_model}, "1 2 three\n").err ==
                  error("-:1: 'three' is no token id; this tokenizer's ids are whole numbers from 0 to 511, "
                        "separated by blanks"));
    check_error(run_program({"decode"}), 2, "--tokenizer is required; see 'bigbird-dna decode --help'");
}

DOCTEST_TEST_CASE(
    "tokenize: the same shards from text and coordinates, on any threads, info describes them") {
    const TempDir folder;
    std::string letters =
        read_file(corpus_genome);  // text keeps no case, so coordinates must not have repeats
    std::ranges::transform(letters, letters.begin(), [](unsigned char c) { return std::toupper(c); });
    write_file(folder / "genome.fa", letters);
    const std::string corpus_genome = folder / "genome.fa";
    for (const char* const name : {"a.txt.gz", "a.bed"})
        works({"build-documents", "--reference", corpus_genome, "--passes", "2", "--output", folder / name});
    const auto tokenize = [&](const std::string& name, std::vector<std::string> more) {
        return run_program(joined({"tokenize", "--tokenizer", small_model, "--output", folder / name}, more));
    };
    const auto first = succeeded(tokenize("a", {"--documents", folder / "a.txt.gz", "--threads", "1"}));
    DOCTEST_CHECK(first.out.empty());
    DOCTEST_CHECK(holds(first.err, " documents, "));
    succeeded(
        tokenize("b", {"--documents", folder / "a.bed", "--reference", corpus_genome, "--threads", "3"}));
    for (const char* file : {"tokens-00000.bin", "sentences.bin", "documents.bin", "tokenizer.model"})
        DOCTEST_CHECK(read_file(folder / "a" / file) == read_file(folder / "b" / file));
    const auto manifest = nlohmann::json::parse(read_file(folder / "b" / "manifest.json"));
    DOCTEST_CHECK(manifest["inputs"].size() == 2);
    DOCTEST_CHECK(!holds(read_file(folder / "b" / "manifest.json"), std::string(folder.path())));

    const auto info = works({"info", folder / "a", "--json", "--verify"});
    const auto described = nlohmann::json::parse(info.out);
    DOCTEST_CHECK(described["kind"] == "token shards");
    DOCTEST_CHECK(described["checksums"] == "verified");
    DOCTEST_CHECK(described["tokens"] == manifest["tokens"]);
    DOCTEST_CHECK(holds(run_program({"info", folder / "a"}).out, "bases_per_token"));

    check_error(
        tokenize("a", {"--documents", folder / "a.txt.gz"}), 2,
        std::string(folder / "a") + ": exists already; give another --output, or --force to replace it");
    succeeded(tokenize("a", {"--documents", folder / "a.txt.gz", "--force"}));
    check_error(tokenize("c", {"--documents", folder / "a.bed"}), 3,
                std::string(folder / "a.bed") +
                    ":3: holds coordinates, not sequence; give the genome that they point "
                    "into with --reference");
    write_file(folder / "empty.txt", "\n\n");
    check_error(tokenize("c", {"--documents", folder / "empty.txt"}), 3,
                "the documents hold no sequence to tokenise");
    for (const auto& entry : std::filesystem::directory_iterator(folder.path()))
        DOCTEST_CHECK_FALSE(entry.path().filename().string().starts_with("."));
    DOCTEST_CHECK_FALSE(std::filesystem::exists(folder / "c"));
    DOCTEST_CHECK(run_program({"info", corpus_genome, "--verify"}).code == 3);
}

DOCTEST_TEST_CASE("build-documents: --dry-run says by lengths alone what building makes") {
    const TempDir folder;
    write_file(folder / "chrom.sizes", "chr1\t249250621\nchr22\t51304566\n");
    const auto plan = works({"build-documents", "--reference", folder / "chrom.sizes", "--dry-run"});
    // 3.0 Gbp in documents of 56,250 bases on average.
    check_holds(plan.out, {"\ngenome bases      300,555,187\n", "\ndocuments         53,"});
    const auto text = run_program({"build-documents", "--reference", folder / "chrom.sizes", "--dry-run",
                                   "--exclude", "22", "--include", "chr1:1-1000000"});
    check_holds(text.out, {"the paper: about 450,000", "not inside --include"});
    DOCTEST_CHECK(std::distance(std::filesystem::directory_iterator(folder.path()), {}) == 1);
    check_error(run_program({"build-documents", "--reference", corpus_genome}), 2,
                "--output is needed, or --dry-run");
}

DOCTEST_TEST_CASE("build-documents: regions and named references, what cannot be read is told") {
    const TempDir folder;
    const auto build = [&](std::vector<std::string> more) {
        std::vector<std::string> arguments =
            joined({"build-documents", "--passes", "1", "--output", folder / "a.bed", "--force",
                    "--sentence-length", "20:40", "--start-offset", "0:0"},
                   more);
        ProgramResult result = run_program(arguments);
        if (result.code == 0) result.out = read_file(folder / "a.bed");
        return result;
    };
    const std::string named = "--reference";
    const auto pangenome = succeeded(
        build({named, "A=" + corpus_genome, "B=" + corpus_genome, "--include", "A#1", "B#chr22:2001-2400"}));
    std::istringstream lines(pangenome.out);
    bool first = false, second = false;
    for (std::string line; std::getline(lines, line);) {
        if (!line.starts_with('#')) {
            first = first || line.starts_with("A#1\t");
            second = second || line.starts_with("B#chr22\t");
            DOCTEST_CHECK((line.starts_with("A#1\t") || line.starts_with("B#chr22\t")));
        }
    }
    DOCTEST_CHECK(first);
    DOCTEST_CHECK(second);
    check_said(build({named, corpus_genome, corpus_genome}), 3,
               "as in --reference one=multi.fa, and contigs are called one#");
    check_error(build({named, corpus_genome, "--exclude", "chr77"}), 2,
                "--exclude 'chr77' is neither a contig or region of the reference nor a BED file");
    write_file(folder / "digits.fa", ">a\nACGT\nAC5T\n");
    check_said(build({named, folder / "digits.fa"}), 3,
               "digits.fa: contig 'a' holds '5' at base 7, which is no letter of a sequence");
    write_file(folder / "nul.fa", std::string(">a\nAC\0T\n", 9));
    check_error(build({named, folder / "nul.fa"}), 3,
                std::string(folder / "nul.fa") +
                    ":2: holds a byte that is no text (value 0): a FASTA file is needed");
    write_file(folder / "none.fa", ">a\n>b\n\n");
    DOCTEST_CHECK(build({named, folder / "none.fa"}).err ==
                  error("the reference holds no sequence to build documents from"));
    write_file(folder / "short.fa", ">none\n>one\nA\nC\nG\nT\n>crlf\r\nAC\r\nGT\r\n>last\nACGT");
    const auto lines_of_one = succeeded(build({named, folder / "short.fa"}));
    DOCTEST_CHECK(filled_lines(lines_of_one.out) == 2 + 3);
}
