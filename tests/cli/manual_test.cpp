// SPDX-License-Identifier: Apache-2.0
// The reference, the man pages and the examples, all of which come from the command line's own tree.
#include "cli/checks.hpp"
#include "commands/commands.hpp"
#include "support/help_formatter.hpp"
#include "support/tasks.hpp"
#include "support/temp_dir.hpp"

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

using namespace bigbird;
using namespace bigbird::testing;

namespace {

/// All commands as the program has them once it has parsed something; nothing of them runs.
class Tree {
public:
    Tree() : root_(add_all()) {
        std::string words[] = {"bigbird-dna", "parse-nothing"};
        char* argv[] = {words[0].data(), words[1].data(), nullptr};
        DOCTEST_REQUIRE(program_.main(2, argv) == 0);
    }
    CLI::App& root() { return root_; }
    std::vector<CLI::App*> commands() {
        return root_.get_subcommands(
            [](const CLI::App* each) { return each->get_name() != "parse-nothing"; });
    }

    /// The commands and their aliases.
    std::vector<cli::Alias> described() {
        std::vector<cli::Alias> all;
        for (const CLI::App* command : commands()) {
            const cli::HelpNotes& notes = cli::help_notes(*command);
            all.push_back({command->get_name(), "", command->get_description(), notes.examples});
            all.insert(all.end(), notes.aliases.begin(), notes.aliases.end());
        }
        return all;
    }
    std::vector<std::string> names() {
        std::vector<std::string> all = cli::command_names(root_);
        std::erase(all, "parse-nothing");
        return all;
    }

private:
    struct Nothing {};
    CLI::App& add_all() {
        cli::add_commands<true>(
            program_, [](const auto&) -> int { return 0; }, cli::RunHere{});
        return *program_
                    .add<Nothing>("parse-nothing", cli::rare_group, "By which the test comes to the tree", "",
                                  {}, [](const Nothing&) { return 0; })
                    .first.get_parent();
    }
    cli::Program program_;
    CLI::App& root_;
};

/// What CLI11 says of a command line; empty where it takes it. Values of a line stay, so that each has a
/// tree.
std::string refusal(const std::string& line) {
    Tree tree;
    CLI::App& root = tree.root();
    const std::vector<std::string> words = CLI::detail::split_up(line);
    cli::take_alias(root, words.at(1));
    std::vector<const char*> argv;
    for (const std::string& word : words)
        argv.push_back(word.c_str());
    try {
        root.parse(static_cast<int>(argv.size()), argv.data());
    } catch (const std::exception& error) {
        return error.what();
    }
    return {};
}

}  // namespace

DOCTEST_TEST_CASE("manual: docs/commands.md is what the program writes") {
    const auto result = works({"help", "--markdown"});
    const std::filesystem::path file =
        testing::test_data("").parent_path().parent_path() / "docs/commands.md";
    const bool fresh = read_file(file) == result.out;
    DOCTEST_CHECK_MESSAGE(fresh,
                          "docs/commands.md is stale; renew it: build/bin/bigbird-dna help --markdown "
                          "--output docs/commands.md --force");
}

DOCTEST_TEST_CASE("manual: the reference has each command, its options, examples and the exit codes") {
    const std::string text = run_program({"help", "--markdown"}).out;
    check_holds(text,
                {"\n## Peaks, coverage or sequences\n\n### train\n",
                 "| `--nsp` | `on\\|off` | `on` | Also train next-sentence prediction",
                 "| `--tss` | `BED\\|GTF\\|GFF3` | required |", "| 75 | stopped early and resumable |\n"});
    Tree tree;
    for (const std::string& name : tree.names())
        DOCTEST_CHECK_MESSAGE(holds(text, "\n### " + name + "\n"), name);
}

DOCTEST_TEST_CASE("manual: each description begins with a sentence that fits the overview") {
    Tree tree;
    for (const cli::Alias& command : tree.described()) {
        const std::string sentence = cli::first_sentence(command.description);
        DOCTEST_CHECK_MESSAGE(sentence.size() <= 66, sentence);
        DOCTEST_CHECK_FALSE(sentence.empty());
    }
}

DOCTEST_TEST_CASE("manual: each command has two examples or more, which its options take") {
    Tree tree;
    DOCTEST_CHECK(!tree.commands().empty());
    for (const cli::Alias& command : tree.described()) {
        DOCTEST_CHECK_MESSAGE(command.examples.size() >= 2, command.name, " lacks examples");
        for (const cli::Example& example : command.examples) {
            DOCTEST_CHECK(example.line.starts_with("bigbird-dna " + command.name + " "));
            const std::string said = refusal(example.line);
            DOCTEST_CHECK_MESSAGE(said.empty(), example.line, ": ", said);
        }
    }
    // The check sees what is wrong.
    DOCTEST_CHECK(!refusal("bigbird-dna pretrain --stepz 3 --output o").empty());
    DOCTEST_CHECK(!refusal("bigbird-dna pretrain --steps x --output o").empty());
}

DOCTEST_TEST_CASE("manual: --help names common options that exist, and --help-all has the others") {
    Tree tree;
    std::size_t folded = 0;
    for (const CLI::App* command : tree.commands()) {
        std::vector<std::string> named = cli::help_notes(*command).common;
        if (!named.empty()) ++folded;
        for (const auto& [option, tasks] : cli::help_notes(*command).tasks)
            named.push_back(option);
        for (const std::string& option : named)
            DOCTEST_CHECK_MESSAGE(command->get_option_no_throw(option) != nullptr, command->get_name(),
                                  option);
    }
    DOCTEST_CHECK(folded == 20);
    const std::string brief = run_program({"pretrain", "--help"}).out;
    const std::string all = run_program({"pretrain", "--help-all"}).out;
    DOCTEST_CHECK(run_program({"merge", "--help-all"}).out ==
                  run_program({"merge", "--help"}).out);  // which has no rare ones
    DOCTEST_CHECK(holds(brief, "\n  --steps N "));
    DOCTEST_CHECK(!holds(brief, "\n  --weight-decay "));
    DOCTEST_CHECK(!holds(brief, "\n:\n"));  // an option without a group
    DOCTEST_CHECK(holds(brief, " more options: bigbird-dna pretrain --help-all\n"));
    DOCTEST_CHECK(holds(all, "\n  --weight-decay "));
    DOCTEST_CHECK(!holds(all, "more options:"));
    DOCTEST_CHECK(std::ranges::count(brief, '\n') <= 100);
}

DOCTEST_TEST_CASE("manual: a command says which task an option is for, and an alias lists what it lacks") {
    const std::string text = run_program({"help", "--markdown"}).out;
    const auto of = [&](const std::string& command) {
        const std::size_t begin = text.find("\n### " + command + "\n");
        DOCTEST_REQUIRE(begin != std::string::npos);
        return text.substr(begin, text.find("\n### ", begin + 1) - begin);
    };
    check_holds(of("predict"), {"| `-m`, `--model` | `DIR ...` | required |",
                                "| `--tile` | `BP` | `none: a row has one score` | Cut regions into tiles",
                                "| `chromatin: average; others: none` |"});
    const std::string alias = of("predict-promoter");
    check_holds(alias, {"\nOptions: those of [predict](#predict), without `--anchor`, `--labels`.\n",
                        "\nbigbird-dna predict-promoter --model "});
    DOCTEST_CHECK_FALSE(holds(alias, "| `"));
    const std::string page = run_program({"help", "--man", "finetune-promoter"}).out;
    DOCTEST_CHECK(holds(page, "\\-\\-examples"));
    DOCTEST_CHECK_FALSE(holds(page, "\\-\\-annotations"));
    DOCTEST_CHECK_FALSE(holds(page, "(chromatin, promoter"));
}

DOCTEST_TEST_CASE("manual: --help ends with examples that can be copied") {
    const auto result = run_program({"build-promoters", "--help"});
    check_holds(result.out, {"\nExamples, in the folder that scripts/demo fills:\n  # ",
                             "\n  bigbird-dna build-promoters --tss ../test_data/", " \\\n"});
}

DOCTEST_TEST_CASE("manual: help prints what --help prints") {
    DOCTEST_CHECK(run_program({"help"}).out == run_program({"--help"}).out);
    DOCTEST_CHECK(run_program({"help", "embed"}).out == run_program({"embed", "--help"}).out);
    const auto result = run_program({"help", "no-such-command"});
    DOCTEST_CHECK(result.code == 2);
    DOCTEST_CHECK(result.out.empty());
}

DOCTEST_TEST_CASE("manual: man pages, one a command, which groff takes without a warning") {
    const TempDir folder;
    works({"help", "--man", "--output", folder / "man1"});
    DOCTEST_CHECK(read_file(folder / "man1/bigbird-dna.1") == run_program({"help", "--man"}).out);
    DOCTEST_CHECK(read_file(folder / "man1/bigbird-dna-info.1") ==
                  run_program({"help", "--man", "info"}).out);
    Tree tree;
    for (const std::string& name : tree.names()) {
        const std::string page = read_file(folder / ("man1/bigbird-dna-" + name + ".1"));
        DOCTEST_CHECK(page.starts_with(".TH BIGBIRD\\-DNA\\-"));
        DOCTEST_CHECK(holds(page, "\n.SH EXAMPLES\n"));
    }
    if (!has_shell("groff")) return;
    DOCTEST_CHECK(
        run_shell("bash", "groff -man -ww -z -Tutf8 '" + (folder / "man1").string() + "'/*.1").out == "");
}
