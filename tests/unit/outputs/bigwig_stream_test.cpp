// SPDX-License-Identifier: Apache-2.0
#include "bigbird/outputs/bigwig_stream.hpp"

#include "support/temp_dir.hpp"
#include "support/testing.hpp"

#include "bigbird/core/error.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <string>

using namespace bigbird;
using outputs::open_bigwig_stream;

namespace {

/// The number that the next file that is opened gets.
int next_descriptor() {
    const int next = ::dup(STDERR_FILENO);
    ::close(next);
    return next;
}

}  // namespace

DOCTEST_TEST_CASE("bigwig_stream: what was written is read back, from anywhere") {
    const testing::TempDir folder;
    std::FILE* const stream = open_bigwig_stream(folder / "a.bw.tmp", "a.bw");
    DOCTEST_REQUIRE(stream != nullptr);
    const std::string text(100'000, 'x');
    DOCTEST_CHECK(std::fwrite(text.data(), 1, text.size(), stream) == text.size());
    DOCTEST_CHECK(std::fseek(stream, 50'000, SEEK_SET) == 0);
    DOCTEST_CHECK(std::fputs("here", stream) >= 0);
    DOCTEST_CHECK(std::fseek(stream, 49'999, SEEK_SET) == 0);
    std::string found(6, ' ');
    DOCTEST_CHECK(std::fread(found.data(), 1, found.size(), stream) == found.size());
    DOCTEST_CHECK(found == "xherex");
    DOCTEST_CHECK(std::fclose(stream) == 0);
    DOCTEST_CHECK(std::filesystem::file_size(folder / "a.bw.tmp") == text.size());
    DOCTEST_CHECK(open_bigwig_stream(folder / "none/a", "a") == nullptr);
}

DOCTEST_TEST_CASE("bigwig_stream: a file that cannot be read back is an error, and the stream closes") {
    const testing::TempDir folder;
    const int handle = next_descriptor();
    std::FILE* const stream = open_bigwig_stream(folder / "a.bw.tmp", "a.bw");
    DOCTEST_REQUIRE(stream != nullptr);
    std::fputs("text", stream);
    DOCTEST_CHECK(std::fflush(stream) == 0);
    const int write_only = ::open((folder / "a.bw.tmp").c_str(), O_WRONLY);
    DOCTEST_REQUIRE(::dup2(write_only, handle) == handle);
    ::close(write_only);
    std::rewind(stream);
    char letter = 0;
    const std::string said =
        testing::message_of<WriteError>([&] { static_cast<void>(std::fread(&letter, 1, 1, stream) == 1); });
    DOCTEST_CHECK(said == "a.bw: cannot be read back: Bad file descriptor");
    std::fclose(stream);
}

DOCTEST_TEST_CASE("bigwig_stream: a full disk marks the stream") {
    std::FILE* const stream = open_bigwig_stream("/dev/full", "a.bw");
    DOCTEST_REQUIRE(stream != nullptr);
    std::fputs("text", stream);
    DOCTEST_CHECK(std::fflush(stream) != 0);
    DOCTEST_CHECK(std::ferror(stream) != 0);
    std::fclose(stream);
}
