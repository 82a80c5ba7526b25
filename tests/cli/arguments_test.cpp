// SPDX-License-Identifier: Apache-2.0
// What a shell hands over: numbers however they are written, names of outputs that --force may not replace,
// streams that are closed or full.
#include "cli/checks.hpp"
#include "support/temp_dir.hpp"

#include <filesystem>
#include <string>
#include <vector>

using namespace bigbird::testing;
namespace fs = std::filesystem;

namespace {

const std::string model = test_data("models/chromatin-grch37"), genome = test_data("genome/22.fa.gz"),
                  regions = test_data("models/example.bed"), tokenizer = test_data("tokenizer/small.model");

ProgramResult predict(const std::string& output, std::vector<std::string> more) {
    return run_program(joined({"predict-chromatin", "--model", model, "--reference", genome, "--regions",
                               regions, "--device", "cpu", "--output", output},
                              more));
}

/// The same for a shell, into scores.tsv.
std::string shell_line(const TempDir& folder) {
    return "exec " + program_path() + " predict-chromatin --model " + model + " --reference " + genome +
           " --regions " + regions + " --device cpu --output " + (folder / "scores.tsv").string();
}

}  // namespace

DOCTEST_TEST_CASE("arguments: numbers are decimal, finite and of a size that can be computed with") {
    const TempDir folder;
    const std::string output = folder / "scores.tsv";
    succeeded(predict(output, {"--tile", "0200"}));
    DOCTEST_CHECK(holds(read_file(output), "\n##tile=200\n"));
    const auto refused = [&](const std::vector<std::string>& command, const std::string& why) {
        check_said(run_program(joined(command, {"--output", folder / "refused"})), 2, why);
    };
    const std::vector<std::string> build{"build-documents", "--reference", genome};
    refused(joined(build, {"--passes", "9223372036854775807"}), "is too large");
    refused(joined(build, {"--threads", "100000"}), "--threads: Value 100000 not in range 0 to 1024");
    for (const char* seed : {"-1", "18446744073709551616", "1e3", "010x"})
        refused(joined(build, {"--seed", seed}), "is not a whole number from 0 to 2^64 - 1");
    for (const char* number : {"nan", "-NaN", "+nan"}) {
        refused(joined({"pretrain", "--reference", genome}, {"--learning-rate", number}), "is not a number");
        refused(joined({"finetune-chromatin", "--examples", "none"}, {"--positive-weight", number}),
                "is not a number");
    }
}

DOCTEST_TEST_CASE("arguments: --force replaces no folder of others, and no name is for two outputs") {
    const TempDir folder;
    fs::create_directories(folder / "project/sources");
    write_file(folder / "project/sources/thesis.txt", "years");
    const auto encode = [&](const std::string& output) {
        return run_program({"encode", "--tokenizer", tokenizer, "--output", output, "--force"}, "ACGT\n");
    };
    for (const char* name : {"project", "project/", "project/.", "project/sources/.."})
        DOCTEST_CHECK(encode(folder / name).code == 2);
    const std::string documents = folder / "documents.txt";
    write_file(documents, "ACGTACGT\n\nACGTACGT\n");
    check_said(run_program({"tokenize", "--tokenizer", tokenizer, "--documents", documents, "--output",
                            folder / "project", "--force"}),
               2, "did not write, which --force does not remove");
    DOCTEST_CHECK(read_file(folder / "project/sources/thesis.txt") == "years");

    check_said(run_program({"build-documents", "--reference", genome, "--passes", "1", "--include",
                            "22:20000001-20100000", "--output", folder / "x", "--manifest", folder / "x",
                            "--force"}),
               2, "is named for two outputs");
    DOCTEST_CHECK_FALSE(fs::exists(folder / "x"));
}

DOCTEST_TEST_CASE(
    "arguments: an output that is an input is refused, and processes past what a machine can hold") {
    const TempDir folder;
    const std::string text = folder / "in.txt", same = folder.path() / "." / "in.txt";
    write_file(text, "ACGT\n");
    check_said(
        run_program({"encode", "--tokenizer", tokenizer, "--input", text, "--output", same, "--force"}), 2,
        "in.txt: is named by --input and by --output");
    DOCTEST_CHECK(read_file(text) == "ACGT\n");
    check_said(run_program({"pretrain", "--reference", genome, "--tokenizer", tokenizer, "--processes",
                            "100000", "--output", folder / "run"}),
               2, "--processes 100000: at most ");
}

DOCTEST_TEST_CASE("arguments: no file beside --output takes an input's place, --force or not") {
    const TempDir folder;
    const std::string text = "ACGTACGTACGT\nACGTAACCGGTT\n", documents = folder / "d.txt",
                      vocabulary = folder / "t.vocab", options = folder / "o.yaml";
    const auto refused = [&](const std::vector<std::string>& words, const std::string& named_by,
                             const fs::path& input) {
        const std::string before = read_file(input);
        check_said(run_program(words), 2, input.filename().string() + ": is named by " + named_by);
        DOCTEST_CHECK(read_file(input) == before);
    };
    write_file(documents, text);
    write_file(vocabulary, text);
    write_file(options, "seed: 1\n");
    const std::vector<std::string> train{"train-tokenizer", "--vocab-size", "20", "--force"};
    refused(joined(train, {"--documents", documents, "--output", folder / "t.model", "--report", documents}),
            "--documents", documents);
    refused(joined(train, {"--documents", vocabulary, "--output", folder / "t.model"}), "--documents",
            vocabulary);
    refused(joined(train, {"--documents", documents, "--output", folder / "t.model", "--report", options,
                           "--options", options}),
            "--options", options);
    const std::string input = folder / "input";
    write_file(input, text);
    const auto same = [&](std::vector<std::string> words, const std::string& option) {
        words.insert(words.end(), {option, input, "--force", "--output", input});
        refused(words, option, input);
    };
    same({"build-sequences"}, "--table");
    for (const char* option : {"--validation", "--test"})
        same({"build-sequences", "--table", documents}, option);
    same({"build-tracks", "--reference", genome}, "--signal");
    same({"build-documents", "--reference", genome}, "--include");
    same({"motifs-scan", "--motifs", documents, "--reference", genome}, "--weights");
    same({"predict-chromatin", "--model", model}, "--sequences");
    same({"predict-variants", "--model", model, "--reference", genome, "--variants", documents},
         "--background");
    const fs::path copy = folder / "model";
    fs::copy(model, copy, fs::copy_options::recursive);
    const std::string background = read_file(copy / "background.h5"),
                      variants = test_data("variants/1000g.chr22.bcf");
    for (const std::vector<std::string>& words :
         {std::vector<std::string>{"predict-variants", "--model", copy, "--variants", variants},
          {"predict", "--model", copy, "--regions", regions}})
        check_said(run_program(joined(words, {"--reference", genome, "--device", "cpu", "--force", "--output",
                                              copy / "background.h5"})),
                   2, "background.h5: is a file of the folder named by --model");
    DOCTEST_CHECK(read_file(copy / "background.h5") == background);
    works({"build-background", "--model", copy, "--reference", genome, "--variants", variants, "--count",
           "20", "--device", "cpu", "--force", "--output", copy / "background.h5"});
    DOCTEST_CHECK(read_file(copy / "background.h5") != background);
    const std::string fasta = folder / "g.fa";
    write_file(fasta, ">1\n" + std::string(400, 'A') + "\n");
    works({"build-documents", "--reference", fasta, "--output", folder / "d2.txt"});
    write_file(fasta + ".fai", "1\t400\t3\t400\t401\n");
    refused({"build-documents", "--reference", fasta, "--output", fasta + ".fai", "--force"}, "--reference",
            fasta + ".fai");
}

DOCTEST_TEST_CASE("arguments: a link to standard output is written through, and stays a link") {
    if (!has_shell("bash")) return;
    const TempDir folder;
    fs::create_symlink("/proc/self/fd/1", folder / "out");
    const std::string encode = "printf 'ACGT\\n' | " + program_path() + " encode --tokenizer " + tokenizer +
                               " --input - --output " + (folder / "out").string() + " --force > " +
                               (folder / "file").string();
    DOCTEST_CHECK(run_shell("bash", encode).code == 0);
    DOCTEST_CHECK_FALSE(read_file(folder / "file").empty());
    DOCTEST_CHECK(fs::is_symlink(folder / "out"));
}

DOCTEST_TEST_CASE("arguments: an empty value is none, and what is wrong with a number is said") {
    const auto refused = [](const std::vector<std::string>& words, const std::string& why) {
        check_said(run_program(words), 2, why);
    };
    refused({"build-documents", "--reference", genome, "--exclude", "", "--output", "x"},
            "--exclude: is given without a value");
    refused({"tokenize", "--documents", genome, "--tokenizer", tokenizer, "--output", "-"},
            "-: this output is no text");
    const std::vector<std::pair<std::string, std::string>> numbers{{"inf", "too large"},
                                                                   {"1e400", "too large"},
                                                                   {"5k", "not a number"},
                                                                   {"1_000", "not a number"},
                                                                   {"-1", "too small"}};
    for (const auto& [number, why] : numbers) {
        DOCTEST_CAPTURE(number);
        refused({"pretrain", "--reference", genome, "--output", "x", "--learning-rate=" + number},
                number + " is " + why);
    }
}

DOCTEST_TEST_CASE("arguments: closed and full streams are said, and nothing is written into other files") {
    if (!has_shell("bash")) return;
    const TempDir folder;
    const auto code_of = [](const std::string& words) {
        return run_shell("bash", "exec " + program_path() + " " + words).code;
    };
    for (const std::string words : {"--version", "--help", "predict-chromatin --help", "completion bash"}) {
        DOCTEST_CAPTURE(words);
        DOCTEST_CHECK(code_of(words + " >/dev/full 2>/dev/null") == 74);
        DOCTEST_CHECK(code_of(words + " >&- 2>/dev/null") == 74);
    }
    const ProgramResult gone =
        run_shell("bash", program_path() + " help --markdown | head -n 1; echo ${PIPESTATUS[0]}");
    DOCTEST_CHECK(gone.err == "");
    DOCTEST_CHECK(gone.out.ends_with("\n141\n"));
    const std::string documents = folder / "documents.txt", output = folder / "ids.txt";
    write_file(documents, "ACGTACGT\n");
    const std::string encode =
        "encode --tokenizer " + tokenizer + " --input " + documents + " --output " + output;
    DOCTEST_CHECK(code_of(encode + " <&- >&- 2>&-") == 0);
    DOCTEST_CHECK(!holds(read_file(output), "bigbird-dna"));
    DOCTEST_CHECK(code_of("encode --tokenizer " + tokenizer + " --input - --output " + output +
                          ".2 <&- 2>/dev/null") == 3);
}

DOCTEST_TEST_CASE(
    "arguments: a lost folder and too small a stack end the network's commands with a sentence") {
    if (!has_shell("bash")) return;
    const TempDir folder;
    const std::string predict = shell_line(folder);
    const ProgramResult lost =
        run_shell("bash", "mkdir $HOME/gone; cd $HOME/gone; rmdir $HOME/gone; " + predict);
    DOCTEST_CHECK(lost.code == 2);
    DOCTEST_CHECK(holds(lost.out, "the current folder: No such file or directory"));
    const ProgramResult small = run_shell("bash", "ulimit -s 64; " + predict);
    DOCTEST_CHECK(small.code == 2);
    DOCTEST_CHECK(holds(small.out, "1024 KiB of stack are needed, and 64 are allowed"));
    DOCTEST_CHECK(run_shell("bash", "ulimit -S -s 64; " + predict).code == 0);
}

#ifndef __SANITIZE_ADDRESS__  // which takes terabytes of addresses
DOCTEST_TEST_CASE("arguments: whatever memory is allowed, a network's scores are whole or there are none") {
    if (!has_shell("bash")) return;
    const TempDir folder;
    const std::string predict = shell_line(folder) + " --threads 1";
    for (int megabytes = 100; megabytes < 700; megabytes += 60) {
        DOCTEST_CAPTURE(megabytes);
        const auto result =
            run_shell("bash", "ulimit -v " + std::to_string(megabytes * 1024) + "; " + predict + " --force");
        if (megabytes < 400) DOCTEST_CHECK(result.code == 4);
        if (result.code == 4) DOCTEST_CHECK(holds(result.out, "bigbird-dna: error: "));
        DOCTEST_CHECK(fs::exists(folder / "scores.tsv") == (result.code == 0));
        fs::remove(folder / "scores.tsv");
    }
}
#endif

DOCTEST_TEST_CASE("arguments: an options file of several documents, or with a stray comma, is refused") {
    const TempDir folder;
    write_file(folder / "two.yaml", "seed: 1\n---\nseed: 2\n");
    const std::string why =
        " holds more than one map from options to values: several documents, or a stray comma\n";
    DOCTEST_CHECK(run_program({"encode", "--options", folder / "two.yaml"}).err ==
                  "bigbird-dna: error: " + (folder / "two.yaml").string() + ":2:" + why);
    const std::string stray = test_data("fuzz/options_file/stray_comma.yaml");
    const ProgramResult result = run_program({"encode", "--options", stray});
    DOCTEST_CHECK(result.code == 3);
    DOCTEST_CHECK(result.err == "bigbird-dna: error: " + stray + ":1:" + why);
}

DOCTEST_TEST_CASE(
    "arguments: flags of an options file are YAML's booleans, and errors name file and option") {
    const TempDir folder;
    const fs::path options = folder / "o.yaml", lines = folder / "lines.txt";
    write_file(lines, "ACGT\n");
    const std::vector<std::string> encode{"encode",       "--tokenizer", test_data("tokenizer/small.model"),
                                          "--input",      lines,         "--output",
                                          folder / "ids", "--options",   options};
    for (const char* truth : {"true", "True", "TRUE", "yes", "Yes", "on", "ON"}) {
        write_file(options, "force: " + std::string(truth) + "\n");
        DOCTEST_CAPTURE(truth);
        DOCTEST_CHECK(run_program(encode).code == 0);
    }
    for (const char* truth : {"false", "False", "no", "OFF"}) {
        write_file(options, "force: " + std::string(truth) + "\n");
        check_said(run_program(encode), 2, "exists");
    }
    write_file(options, "threads: 1\nforce: maybe\n");
    check_said(run_program(encode), 3,
               "o.yaml:2: the value of '--force' is 'maybe': it takes true or false, without quotes");
    for (const char* empty : {"", " null", " []", " ''"}) {
        write_file(options, "threads: 1\nforce:" + std::string(empty) + "\n");
        check_said(run_program(encode), 3,
                   "o.yaml:2: gives '--force' no value: give one, or leave the line out");
    }
    write_file(options, "threads: 1\nthreads: 2\n");
    check_said(run_program(encode), 3, "o.yaml:2: gives '--threads' twice");
    write_file(options, "output: " + (folder / "other").string() + "\nthreads: many\nforce: false\n");
    const std::vector<std::string> in_short{
        "encode", "--tokenizer", test_data("tokenizer/small.model"), "--input", lines, "--options", options};
    for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{
             {"-o", folder / "ids", "-t", "1", "-f"}, {"-o" + (folder / "ids").string(), "-t1", "-qf"}})
        succeeded(run_program(joined(in_short, words)));
    DOCTEST_CHECK_FALSE(fs::exists(folder / "other"));
    write_file(options, "threads: many\n");
    const ProgramResult many = run_program(encode);
    check_said(many, 2, "o.yaml: ");
    check_said(many, 2, "--threads");
    write_file(options, "threads: \"\"\n");
    check_said(run_program(encode), 3, "o.yaml:1: gives '--threads' no value: give one");
    write_file(options, "thread: 1\n");
    check_said(run_program(encode), 2, "o.yaml: there is no option --thread; ");
}

DOCTEST_TEST_CASE(
    "arguments: an options file with bytes of zero is refused, where yaml-cpp would take all memory") {
    check_said(
        run_program({"encode", "--options", test_data("fuzz/options_file/documents_without_end.yaml")}), 3,
        "documents_without_end.yaml: is no text: it holds a byte of zero");
}

DOCTEST_TEST_CASE("arguments: each common option has its short form in every command that has it") {
    const std::pair<const char*, const char*> forms[] = {{"--output", "-o"}, {"--reference", "-r"},
                                                         {"--model", "-m"},  {"--threads", "-t"},
                                                         {"--force", "-f"},  {"--quiet", "-q"}};
    const std::string manual = run_program({"help", "--markdown"}).out;
    for (const auto& [name, form] : forms) {
        DOCTEST_CAPTURE(name);
        const std::string both = "| `" + std::string(form) + "`, `" + name + "` |";
        DOCTEST_CHECK(holds(manual, both));
        DOCTEST_CHECK_FALSE(holds(manual, "\n| `" + std::string(name) + "` |"));
    }
}

DOCTEST_TEST_CASE("arguments: what other tools call a command or an option is known") {
    const auto said = [](const std::vector<std::string>& words) { return run_program(words).err; };
    DOCTEST_CHECK(holds(said({"trian"}), "did you mean train?"));
    DOCTEST_CHECK(holds(said({"build"}), "did you mean one of build-chromatin, build-tracks"));
    DOCTEST_CHECK(holds(said({"predikt"}), "did you mean predict?"));
    DOCTEST_CHECK(holds(said({"predict", "--model", model, "--bed", "r.bed"}), "did you mean --regions?"));
    DOCTEST_CHECK(holds(said({"predict-chromatin", "--genome", "g.fa"}), "did you mean --reference?"));
    DOCTEST_CHECK(holds(said({"predict-chromatin", "--bed", "r.bed"}), "did you mean --regions?"));
    DOCTEST_CHECK(holds(said({"predict-chromatin", "--verbos"}), "did you mean --verbose?"));
    DOCTEST_CHECK(holds(said({"predict-splicing", "-I", "in.vcf", "-O", "out.vcf"}),
                        "there is no option -I; did you mean --variants?"));
    DOCTEST_CHECK(holds(said({"predict-splicing", "-A", "grch37"}), "did you mean --annotation?"));
    DOCTEST_CHECK(holds(said({"predict-splicing", "-x"}), "there is no option -x; see"));
}

DOCTEST_TEST_CASE("arguments: predict is the command of the model's task, to the byte") {
    const TempDir folder;
    const std::string ours = folder / "ours.tsv", alias = folder / "alias.tsv", loud = folder / "loud.tsv";
    succeeded(predict(alias, {}));
    succeeded(predict(loud, {"-v"}));
    DOCTEST_CHECK(read_file(loud) == read_file(alias));
    const std::vector<std::string> words{"predict",   "--model", model,      "--reference", genome,
                                         "--regions", regions,   "--device", "cpu",         "--output"};
    const auto with = [&](const std::vector<std::string>& more) { return run_program(joined(words, more)); };
    succeeded(with({ours}));
    DOCTEST_CHECK(read_file(ours) == read_file(alias));
    write_file(folder / "config.json", R"({"bigbird_dna": {"task_model": {"task": "coverage"}}})");
    DOCTEST_CHECK(holds(run_program({"predict", "--model", folder.path().string(), "--output", "x"}).err,
                        "the task 'coverage' is not known"));
    write_file(folder / "config.json", R"({"model_type": "big_bird"})");
    DOCTEST_CHECK(holds(run_program({"predict", "--model", folder.path().string(), "--output", "x"}).err,
                        "was trained for no task: fine-tune it"));
    DOCTEST_CHECK(holds(run_program({"finetune", "--output", "x"}).err, "or --annotations, a BED"));
    DOCTEST_CHECK(run_program({"predict"}).err ==
                  "bigbird-dna: error: --model is required; see 'bigbird-dna predict --help'\n");
}

DOCTEST_TEST_CASE("arguments: an alias takes the options of its task, and says whose the others are") {
    const auto refused = [](const std::vector<std::string>& words, const std::string& sentence) {
        check_error(run_program(words), 2, sentence);
    };
    refused({"finetune-promoter", "--examples", "e", "--output", "o", "--members", "3"},
            "--members is for the task sequences, and this is promoter; see 'bigbird-dna finetune-promoter "
            "--help'");
    refused(
        {"evaluate", "promoter", "--scores", "s", "--labels", "b", "--output", "o"},
        "--labels is for the task tokens, and this is promoter; see 'bigbird-dna evaluate-promoter --help'");
    refused({"predict-sequences", "--model", "m", "--regions", "b", "--output", "o"},
            "--regions is for the task chromatin, promoter, tokens, splicing, and this is sequences; see "
            "'bigbird-dna predict-sequences --help'");
    refused({"predict-tokens", "--model", "m", "--output", "o"},
            "--reference is required; see 'bigbird-dna predict-tokens --help'");
    refused({"finetune-chromatin", "--output", "o"},
            "--examples is required; see 'bigbird-dna finetune-chromatin --help'");
    // An option that no task has comes first: no file is read for a command line that is wrong.
    refused({"finetune", "--examples", "none", "--output", "o", "--exampels", "e"},
            "there is no option --exampels; did you mean --examples?; see 'bigbird-dna finetune --help'");
    DOCTEST_CHECK_FALSE(holds(works({"finetune-promoter", "--help-all"}).out, "--members"));
    DOCTEST_CHECK(works({"help", "finetune-promoter"}).out == works({"finetune-promoter", "--help"}).out);
}

DOCTEST_TEST_CASE("arguments: options of every command precede the command, follow it or are in a file") {
    const TempDir folder;
    const std::string quiet = folder / "quiet.yaml";
    write_file(quiet, "quiet: true\n");
    const std::vector<std::string> predicted{"predict", "--model",   model,      "--reference",
                                             genome,    "--regions", regions,    "--device",
                                             "cpu",     "--force",   "--output", folder / "scores.tsv"};
    const auto with = [&](const std::vector<std::string>& before, const std::vector<std::string>& after) {
        return run_program(joined(joined(before, predicted), after));
    };
    const ProgramResult loud = succeeded(with({}, {}));
    DOCTEST_CHECK_FALSE(loud.err.empty());
    const std::string scores = read_file(folder / "scores.tsv");
    using Words = std::vector<std::string>;
    const std::pair<Words, Words> silent[] = {{{"-q"}, {}},
                                              {{"-q", "--threads", "1", "-f"}, {}},
                                              {{"--threads=1", "-q"}, {}},
                                              {{"-q", "-t", "1"}, {}},
                                              {{"--quiet"}, {}},
                                              {{}, {"-q"}},
                                              {{}, {"--quiet"}},
                                              {{"--options", quiet}, {}},
                                              {{"--options=" + quiet}, {}},
                                              {{}, {"--options", quiet}},
                                              {{"-q", "--options", quiet}, {}}};
    for (const auto& [before, after] : silent) {
        const ProgramResult result = succeeded(with(before, after));
        DOCTEST_CHECK(result.err == "");
        DOCTEST_CHECK(read_file(folder / "scores.tsv") == scores);
    }
    DOCTEST_CHECK(with({"-v"}, {}).err.size() >= loud.err.size());
    DOCTEST_CHECK(holds(with({"--quiet"}, {"--verbose"}).err, "excludes"));
    DOCTEST_CHECK(run_program({"--quiet", "motifs", "find", "--help"}).out ==
                  run_program({"motifs-find", "--help"}).out);
    DOCTEST_CHECK(holds(run_program({"--quiet", "--foo"}).err, "there is no option --foo"));
    DOCTEST_CHECK(run_program({"-v", "info", model}).out == run_program({"info", model}).out);
    DOCTEST_CHECK(
        holds(run_program({"encode", "--help"}).out,
              "\nEvery command also takes --threads N, --force, --options FILE, --quiet and --verbose (see "
              "bigbird-dna --help).\n"));
}
