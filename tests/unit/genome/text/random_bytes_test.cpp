// SPDX-License-Identifier: Apache-2.0
#include "bigbird/genome/text/random_bytes.hpp"

#include "support/temp_dir.hpp"
#include "support/testing.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/rng.hpp"
#include "bigbird/genome/text/text_output.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>

namespace {

using namespace bigbird;
using namespace bigbird::genome::detail;
using testing::TempDir;
using testing::write_file;

/// Longer than some blocks of bgzip, which hold 64 KiB at most.
std::string some_text() {
    Rng rng(11);
    std::string text(400'001, 'A');
    for (char& letter : text)
        letter = "ACGT\n"[rng.between(0, 4)];
    return text;
}

void write_bgzip(const std::filesystem::path& path, const std::string& text) {
    genome::TextOutput out(path, Overwrite::refuse, 1);
    out.write(text);
    out.commit();
}

std::string read_at(const RandomBytes& bytes, std::int64_t offset, std::int64_t count) {
    std::string part(static_cast<std::size_t>(count), '\0');
    bytes.read(offset, count, part.data());
    return part;
}

void check_reads(const RandomBytes& bytes, const std::string& text) {
    DOCTEST_REQUIRE(bytes.size() == std::ssize(text));
    Rng rng(3);
    for (int i = 0; i < 200; ++i) {
        const std::int64_t offset = rng.between(0, bytes.size()),
                           count = std::min(rng.between(0, 150'000), bytes.size() - offset);
        DOCTEST_CHECK(read_at(bytes, offset, count) ==
                      text.substr(static_cast<std::size_t>(offset), static_cast<std::size_t>(count)));
    }
    std::string scanned;
    bytes.scan([&](std::string_view piece) { scanned += piece; });
    DOCTEST_CHECK(scanned == text);
}

}  // namespace

DOCTEST_TEST_CASE("random_bytes: any part of plain text and of bgzip, as the text has it") {
    const TempDir dir;
    const std::string text = some_text();
    write_file(dir / "plain", text);
    write_bgzip(dir / "text.gz", text);
    check_reads(*open_random(dir / "plain", Compression::none), text);
    check_reads(*open_random(dir / "text.gz", Compression::bgzip), text);
}

DOCTEST_TEST_CASE("random_bytes: a bgzip file that is cut off is refused") {
    const TempDir dir;
    write_bgzip(dir / "text.gz", some_text());
    const std::string whole = testing::read_file(dir / "text.gz");
    write_file(dir / "cut.gz", whole.substr(0, whole.size() / 2));
    DOCTEST_CHECK_THROWS_AS(check_reads(*open_random(dir / "cut.gz", Compression::bgzip), some_text()),
                            InputError);
}

DOCTEST_TEST_CASE("random_bytes: an index is fresh while it is there and not older than its file") {
    using namespace std::chrono_literals;
    const TempDir dir;
    write_file(dir / "x", "text");
    DOCTEST_CHECK_FALSE(is_fresh_index(dir / "x.gzi", dir / "x"));
    write_file(dir / "x.gzi", "index");
    const auto now = std::filesystem::last_write_time(dir / "x");
    std::filesystem::last_write_time(dir / "x.gzi", now);
    DOCTEST_CHECK(is_fresh_index(dir / "x.gzi", dir / "x"));
    std::filesystem::last_write_time(dir / "x.gzi", now - 10s);
    DOCTEST_CHECK_FALSE(is_fresh_index(dir / "x.gzi", dir / "x"));
    DOCTEST_REQUIRE(::mkfifo((dir / "x.fai").c_str(), 0600) == 0);
    DOCTEST_CHECK_FALSE(is_fresh_index(dir / "x.fai", dir / "x"));
}

DOCTEST_TEST_CASE("random_bytes: blocks longer than bgzip's are refused, in the file and in its .gzi") {
    const TempDir dir;
    const std::string text = some_text();
    write_bgzip(dir / "text.gz", text);
    const auto number = [](std::uint64_t value) {
        std::string bytes;
        for (int i = 0; i < 8; ++i)
            bytes += static_cast<char>(value >> (8 * i));
        return bytes;
    };
    for (const auto& [compressed, uncompressed] :
         {std::pair<std::uint64_t, std::uint64_t>{100, std::uint64_t{1} << 62}, {100, 65'537}}) {
        write_file(dir / "text.gz.gzi", number(1) + number(compressed) + number(uncompressed));
        DOCTEST_CHECK(testing::message_of<InputError>([&] {
                          open_random(dir / "text.gz", Compression::bgzip);
                      }).find("text.gz.gzi: does not fit") != std::string::npos);
    }
    std::filesystem::remove(dir / "text.gz.gzi");
    std::string bytes = testing::read_file(dir / "text.gz");
    const std::size_t first =
        1 + static_cast<unsigned char>(bytes[16]) + 256U * static_cast<unsigned char>(bytes[17]);
    bytes[first - 1] = '\x7F';  // the block's own length
    write_file(dir / "text.gz", bytes);
    DOCTEST_CHECK(testing::message_of<InputError>([&] {
                      open_random(dir / "text.gz", Compression::bgzip);
                  }).find("is truncated or corrupt") != std::string::npos);
}
