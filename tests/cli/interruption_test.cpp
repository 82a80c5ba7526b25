// SPDX-License-Identifier: Apache-2.0
// Ctrl-C, SIGTERM, SIGHUP and a full disk while build-documents, tokenize and encode write: the exit code
// says so and nothing is left behind. (train-tokenizer: tokenizer_test; pretrain: pretrain_test.)
#include "cli/checks.hpp"
#include "support/temp_dir.hpp"

#include <csignal>
#include <filesystem>

using namespace bigbird::testing;

namespace {

const std::string chromosome = test_data("genome/22.fa.gz");

// Runs the command, which writes into `outputs`, and stops it once something is there; then on a full disk.
void check_leaves_nothing(const std::vector<std::string>& command, const TempDir& outputs) {
    for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGXCPU, SIGUSR1}) {
        const auto stopped =
            run_program(command, {}, {.signal = signal, .once_said = {}, .once_filled = outputs.path()});
        DOCTEST_CHECK(stopped.code == 128 + signal);
        DOCTEST_CHECK(std::filesystem::is_empty(outputs.path()));
    }
    check_said(run_program(command, {}, {.once_said = {}, .once_filled = {}, .largest_file = 100'000}), 74,
               "writing failed");
    DOCTEST_CHECK(std::filesystem::is_empty(outputs.path()));
}

}  // namespace

DOCTEST_TEST_CASE("build-documents, tokenize, encode: stopped or on a full disk, they leave nothing behind") {
    const TempDir inputs, outputs;
    const std::vector<std::string> build{"build-documents", "--reference", chromosome, "--passes"};
    const auto build_documents = [&](const std::string& passes, const std::string& output) {
        return joined(build, {passes, "--output", output});
    };
    check_leaves_nothing(build_documents("50", outputs / "documents.txt"), outputs);

    works(build_documents("4", inputs / "documents.txt"));
    check_leaves_nothing({"tokenize", "--tokenizer", small_model, "--documents", inputs / "documents.txt",
                          "--output", outputs / "corpus"},
                         outputs);
    check_leaves_nothing({"encode", "--tokenizer", small_model, "--input", inputs / "documents.txt",
                          "--output", outputs / "ids.txt"},
                         outputs);
}
