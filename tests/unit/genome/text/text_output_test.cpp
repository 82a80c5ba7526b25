// SPDX-License-Identifier: Apache-2.0
#include "bigbird/genome/text/text_output.hpp"

#include "support/temp_dir.hpp"
#include "support/testing.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/genome/text/text_input.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <string>
#include <thread>

using namespace bigbird;
using namespace bigbird::genome;

namespace {

/// 1.5 MB that compress well but not to nothing.
std::string long_text() {
    std::string text;
    for (int i = 0; i < 100'000; ++i)
        text += "line " + std::to_string(i * 7919 % 100'003) + "\n";
    return text;
}

void write_in_pieces(const std::filesystem::path& path, const std::string& text, int threads,
                     std::size_t piece) {
    TextOutput output(path, Overwrite::refuse, threads);
    for (std::size_t i = 0; i < text.size(); i += piece)
        output.write(std::string_view(text).substr(i, piece));
    output.commit();
}

std::string read_back(const std::filesystem::path& path) {
    TextInput input(path);
    std::string text, line;
    while (input.next(line))
        text += line + "\n";
    return text;
}

}  // namespace

DOCTEST_TEST_CASE("text_output: plain by name, bgzip by name") {
    const testing::TempDir folder;
    const std::string text = long_text();
    for (const char* name : {"out.tsv", "out.tsv.gz", "out.bgz"}) {
        write_in_pieces(folder / name, text, 2, 1000);
        DOCTEST_CHECK(read_back(folder / name) == text);
    }
    DOCTEST_CHECK(testing::read_file(folder / "out.tsv") == text);
    const std::string compressed = testing::read_file(folder / "out.tsv.gz");
    DOCTEST_CHECK(compressed.substr(0, 4) == std::string("\x1F\x8B\x08\x04", 4));
    DOCTEST_CHECK(compressed.substr(12, 2) == "BC");
}

DOCTEST_TEST_CASE("text_output: the bytes depend neither on threads nor on how the text was handed over") {
    const testing::TempDir folder;
    const std::string text = long_text();
    write_in_pieces(folder / "a.gz", text, 1, 17);
    write_in_pieces(folder / "b.gz", text, 2, 100'000);
    write_in_pieces(folder / "c.gz", text, 5, text.size());
    const std::string bytes = testing::read_file(folder / "a.gz");
    DOCTEST_CHECK(bytes.size() > 65'536);
    DOCTEST_CHECK(testing::read_file(folder / "b.gz") == bytes);
    DOCTEST_CHECK(testing::read_file(folder / "c.gz") == bytes);
}

DOCTEST_TEST_CASE("text_output: nothing stays of an output that was not committed") {
    const testing::TempDir folder;
    for (const char* name : {"out", "out.gz"}) {
        {
            TextOutput output(folder / name, Overwrite::refuse, 2);
            output.write(long_text());
        }
        DOCTEST_CHECK(std::filesystem::is_empty(folder.path()));
    }
}

DOCTEST_TEST_CASE("text_output: an empty output is a whole file") {
    const testing::TempDir folder;
    for (const char* name : {"out", "out.gz"}) {
        TextOutput(folder / name, Overwrite::refuse).commit();
        DOCTEST_CHECK(read_back(folder / name).empty());
    }
    DOCTEST_CHECK(std::filesystem::file_size(folder / "out") == 0);
    DOCTEST_CHECK(std::filesystem::file_size(folder / "out.gz") == 28);
}

DOCTEST_TEST_CASE("text_output: a pipe is written to, and stays") {
    const testing::TempDir folder;
    DOCTEST_REQUIRE(::mkfifo((folder / "pipe").c_str(), 0600) == 0);
    std::string received;
    {
        const std::jthread reader([&] { received = testing::read_file(folder / "pipe"); });
        write_in_pieces(folder / "pipe", "one\ntwo\n", 1, 3);
    }
    DOCTEST_CHECK(received == "one\ntwo\n");
    DOCTEST_CHECK(std::filesystem::is_fifo(folder / "pipe"));
}

DOCTEST_TEST_CASE("text_output: standard output") {
    const testing::TempDir folder;
    std::fflush(stdout);
    const int saved = ::dup(STDOUT_FILENO);
    const int file = ::open((folder / "captured").c_str(), O_WRONLY | O_CREAT, 0600);
    ::dup2(file, STDOUT_FILENO);
    write_in_pieces("-", "one\ntwo\n", 1, 3);
    ::dup2(saved, STDOUT_FILENO);
    ::close(saved);
    ::close(file);
    DOCTEST_CHECK(testing::read_file(folder / "captured") == "one\ntwo\n");
}

DOCTEST_TEST_CASE("text_output: a full disk is a WriteError") {
    TextOutput output("/dev/full", Overwrite::refuse);
    const std::string message = testing::message_of<WriteError>([&] {
        output.write(long_text());
        output.commit();
    });
    DOCTEST_CHECK(message == "/dev/full: writing failed: No space left on device");
}
