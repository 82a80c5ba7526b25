// SPDX-License-Identifier: Apache-2.0
#include "bigbird/genome/text/text_input.hpp"

#include "support/temp_dir.hpp"
#include "support/testing.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/genome/text/text_output.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>
#include <thread>
#include <vector>

using namespace bigbird;
using namespace bigbird::genome;
using bigbird::genome::is_utf8;

namespace {

std::vector<std::string> lines_of(const std::filesystem::path& path) {
    TextInput input(path);
    std::vector<std::string> lines;
    std::string line;
    while (input.next(line)) {
        lines.push_back(line);
        DOCTEST_REQUIRE(input.line_number() == static_cast<std::int64_t>(lines.size()));
    }
    return lines;
}

/// Standard input from a file while it lives.
class StandardInput {
public:
    explicit StandardInput(const std::filesystem::path& path) : saved_(::dup(STDIN_FILENO)) {
        const int file = ::open(path.c_str(), O_RDONLY);
        ::dup2(file, STDIN_FILENO);
        ::close(file);
    }
    ~StandardInput() {
        ::dup2(saved_, STDIN_FILENO);
        ::close(saved_);
    }
    StandardInput(const StandardInput&) = delete;
    StandardInput& operator=(const StandardInput&) = delete;

private:
    int saved_;
};

}  // namespace

DOCTEST_TEST_CASE("text_input: plain, gzip and bgzip give the same lines, whatever the name says") {
    const auto plain = lines_of(testing::test_data("genome/multi.fa"));
    DOCTEST_REQUIRE(plain.size() == 204);
    DOCTEST_CHECK(plain.front() == ">chr22 GRCh37 22:16049001-16057000");
    DOCTEST_CHECK(plain.back() == "TAACCCT");
    DOCTEST_CHECK(lines_of(testing::test_data("genome/multi.fa.gz")) == plain);
    DOCTEST_CHECK(lines_of(testing::test_data("genome/multi.plain-gzip.fa.gz")) == plain);
    DOCTEST_CHECK(lines_of(testing::test_data("genome/multi.crlf.fa")) == plain);
    const testing::TempDir folder;
    std::filesystem::copy_file(testing::test_data("genome/multi.plain-gzip.fa.gz"), folder / "multi.txt");
    DOCTEST_CHECK(lines_of(folder / "multi.txt") == plain);
}

DOCTEST_TEST_CASE("text_input: gzip members that follow each other are one text") {
    const testing::TempDir folder;
    for (const char* name : {"genome/multi.plain-gzip.fa.gz", "genome/multi.fa.gz"}) {
        const std::string member = testing::read_file(testing::test_data(name));
        testing::write_file(folder / "twice", member + member);
        DOCTEST_CHECK(lines_of(folder / "twice").size() == 408);
    }
}

DOCTEST_TEST_CASE("text_input: line ends of both kinds, blank lines, a byte order mark, no last newline") {
    const testing::TempDir folder;
    testing::write_file(folder / "text", "\xEF\xBB\xBFone\r\n\n\r\ntwo\r\rthree\nlast");
    DOCTEST_CHECK(lines_of(folder / "text") ==
                  std::vector<std::string>{"one", "", "", "two\r\rthree", "last"});
    testing::write_file(folder / "empty", "");
    DOCTEST_CHECK(lines_of(folder / "empty").empty());
    testing::write_file(folder / "newline", "\n");
    DOCTEST_CHECK(lines_of(folder / "newline") == std::vector<std::string>{""});
}

DOCTEST_TEST_CASE("text_input: lines longer than any buffer come whole") {
    const testing::TempDir folder;
    const std::string half(1'000'000, 'A');
    testing::write_file(folder / "long", half + half + "\r\nshort\n");
    DOCTEST_CHECK(lines_of(folder / "long") == std::vector<std::string>{half + half, "short"});
}

DOCTEST_TEST_CASE("text_input: standard input and pipes, compressed too") {
    const auto expected = lines_of(testing::test_data("genome/multi.fa"));
    for (const char* name : {"genome/multi.fa", "genome/multi.fa.gz", "genome/multi.plain-gzip.fa.gz"}) {
        const StandardInput redirected(testing::test_data(name));
        DOCTEST_CHECK(lines_of("-") == expected);
    }
    const testing::TempDir folder;
    DOCTEST_REQUIRE(::mkfifo((folder / "pipe").c_str(), 0600) == 0);
    const std::jthread writer([&] {
        testing::write_file(folder / "pipe", testing::read_file(testing::test_data("genome/multi.fa.gz")));
    });
    DOCTEST_CHECK(lines_of(folder / "pipe") == expected);
}

DOCTEST_TEST_CASE("text_input: what cannot be read is named") {
    const testing::TempDir folder;
    const auto message = [](const std::filesystem::path& path) {
        return testing::message_of<InputError>([&] { lines_of(path); });
    };
    DOCTEST_CHECK(message(folder / "none") == (folder / "none").string() + ": no such file");
    DOCTEST_CHECK(message(folder.path()).find("is a folder") != std::string::npos);
    testing::write_file(folder / "a.zst", "\x28\xB5\x2F\xFD more");
    DOCTEST_CHECK(message(folder / "a.zst").find("is in Zstandard format") != std::string::npos);
}

DOCTEST_TEST_CASE(
    "text_input: a truncated or corrupt file is an error, with the last line that could be read") {
    for (const char* name :
         {"truncated.fa.gz", "truncated.plain-gzip.fa.gz", "no_end_marker.fa.gz", "corrupt.fa.gz"}) {
        const auto path = testing::test_data("genome/malformed") / name;
        DOCTEST_CAPTURE(name);
        const std::string message = testing::message_of<InputError>([&] { lines_of(path); });
        DOCTEST_CHECK(message.find(path.string()) == 0);
        const bool unclosed = std::string_view(name).starts_with("no_end");
        DOCTEST_CHECK(message.find(unclosed ? "ends without the empty block" : "truncated or corrupt") !=
                      std::string::npos);
    }
}

DOCTEST_TEST_CASE("text_input: the lines before the damage are read") {
    const testing::TempDir folder;
    {
        TextOutput output(folder / "whole.gz", Overwrite::refuse);
        for (int i = 0; i < 100'000; ++i)
            output.write("line " + std::to_string(i) + "\n");
        output.commit();
    }
    const std::string whole = testing::read_file(folder / "whole.gz");
    testing::write_file(folder / "cut.gz", whole.substr(0, whole.size() / 2));
    TextInput input(folder / "cut.gz");
    std::string line;
    const std::string message = testing::message_of<InputError>([&] {
        while (input.next(line)) {
        }
    });
    DOCTEST_CHECK(input.line_number() > 20'000);
    DOCTEST_CHECK(message ==
                  (folder / "cut.gz").string() + ":" + std::to_string(input.line_number()) +
                      ": the file is truncated or corrupt behind this line: copy or compress it again");
}

DOCTEST_TEST_CASE(
    "text_input: a file that breaks off is refused again and again, and no line is given twice") {
    TextInput input(testing::test_data("genome/malformed/truncated.plain-gzip.fa.gz"));
    std::string line;
    std::int64_t lines = 0;
    const auto read_on = [&] {
        while (input.next(line))
            ++lines;
    };
    DOCTEST_CHECK_THROWS_AS(read_on(), InputError);
    const std::int64_t before = lines;
    DOCTEST_CHECK(before == input.line_number());
    DOCTEST_CHECK_THROWS_AS(read_on(), InputError);
    DOCTEST_CHECK(lines == before);
}

DOCTEST_TEST_CASE("text_input: a line that is not UTF-8 is refused with its number, and the next is read") {
    const testing::TempDir folder;
    testing::write_file(folder / "names.bed", "caf\xC3\xA9\ncaf\xE9\nplain\n");
    TextInput input(folder / "names.bed");
    std::string line;
    DOCTEST_CHECK(input.next(line));
    DOCTEST_CHECK(line == "caf\xC3\xA9");
    DOCTEST_CHECK(testing::message_of<InputError>([&] { input.next(line); }) ==
                  (folder / "names.bed").string() +
                      ":2: is not UTF-8: convert the file, as 'iconv -f latin1 -t utf-8' does");
    DOCTEST_CHECK(line.empty());
    DOCTEST_CHECK(input.next(line));
    DOCTEST_CHECK(line == "plain");
}

DOCTEST_TEST_CASE("text_input: UTF-16 and other bytes of zero are no text, with file and line") {
    const testing::TempDir folder;
    testing::write_file(folder / "a.bed", std::string("1\t2\t3\n1\t\0004\t5\n", 13));
    TextInput input(folder / "a.bed");
    std::string line;
    DOCTEST_CHECK(input.next(line));
    DOCTEST_CHECK(
        testing::message_of<InputError>([&] { input.next(line); }) ==
        (folder / "a.bed").string() +
            ":2: is no text: it holds a byte of zero, as bigWig, BAM and UTF-16 do; save UTF-16 as UTF-8");
}

DOCTEST_TEST_CASE("utf8: no stray, short, overlong or surrogate sequence is UTF-8") {
    for (const char* text : {"\xC0\xAF", "\xE0\x80\xAF", "\xED\xA0\x80", "\xF4\x90\x80\x80", "\x80", "a\xC3"})
        DOCTEST_CHECK_FALSE(is_utf8(text));
    DOCTEST_CHECK(is_utf8(""));
    DOCTEST_CHECK(is_utf8("caf\xC3\xA9"));
    DOCTEST_CHECK_FALSE(is_utf8("caf\xE9"));
}
