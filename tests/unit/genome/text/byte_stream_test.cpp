// SPDX-License-Identifier: Apache-2.0
#include "bigbird/genome/text/byte_stream.hpp"

#include "support/temp_dir.hpp"
#include "support/testing.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/rng.hpp"

#include <zlib.h>

#include <string>

namespace {

using namespace bigbird;
using namespace bigbird::genome::detail;
using testing::read_file;
using testing::TempDir;
using testing::test_data;
using testing::write_file;

std::string gzip(const std::string& text, int level) {
    z_stream stream{};
    DOCTEST_REQUIRE(deflateInit2(&stream, level, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) == Z_OK);
    std::string out(deflateBound(&stream, text.size()) + 64, '\0');
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
    stream.avail_in = static_cast<uInt>(text.size());
    stream.next_out = reinterpret_cast<Bytef*>(out.data());
    stream.avail_out = static_cast<uInt>(out.size());
    DOCTEST_REQUIRE(deflate(&stream, Z_FINISH) == Z_STREAM_END);
    out.resize(stream.total_out);
    deflateEnd(&stream);
    return out;
}

/// All bytes, read `piece` at a time; "refused" at the end where the file is.
std::string read_all(const std::filesystem::path& path, std::size_t piece) {
    std::string text, buffer(piece, '\0');
    try {
        ByteStream stream(path);
        while (const std::size_t count = stream.read(buffer.data(), piece, 0))
            text.append(buffer, 0, count);
    } catch (const InputError&) {
        text += "refused";
    }
    return text;
}

std::string random_text(Rng& random, std::int64_t size) {
    std::string text;
    for (std::int64_t i = 0; i < size; ++i)
        text += "ACGT\nN"[random.between(0, 5)];
    return text;
}

}  // namespace

DOCTEST_TEST_CASE("byte_stream: how a file is compressed is told by its bytes") {
    DOCTEST_CHECK(compression_of(test_data("genome/multi.fa")) == Compression::none);
    DOCTEST_CHECK(compression_of(test_data("genome/multi.plain-gzip.fa.gz")) == Compression::gzip);
    DOCTEST_CHECK(compression_of(test_data("genome/multi.fa.gz")) == Compression::bgzip);
    const TempDir dir;
    write_file(dir / "x.gz", "ACGT\n");
    DOCTEST_CHECK(compression_of(dir / "x.gz") == Compression::none);
    write_file(dir / "x.zst", "\x28\xB5\x2F\xFD and so on");
    DOCTEST_CHECK_THROWS_AS(compression_of(dir / "x.zst"), InputError);
    DOCTEST_CHECK_THROWS_AS(compression_of(dir / "none"), InputError);
}

DOCTEST_TEST_CASE("byte_stream: the same bytes however they are compressed and asked for") {
    const std::string wanted = read_file(test_data("genome/multi.fa"));
    for (const char* name : {"multi.fa", "multi.fa.gz", "multi.plain-gzip.fa.gz"})
        for (const std::size_t piece : {1UL, 7UL, 65536UL})
            DOCTEST_CHECK(read_all(test_data("genome") / name, piece) == wanted);
}

DOCTEST_TEST_CASE("byte_stream: at the end all bytes of the file are counted, and reading on gives nothing") {
    const auto path = test_data("genome/multi.fa");
    ByteStream stream(path);
    DOCTEST_CHECK(stream.bytes_read() == 0);
    std::string part(1 << 16, '\0');
    while (stream.read(part.data(), part.size(), 0) > 0) {
    }
    DOCTEST_CHECK(stream.bytes_read() == static_cast<std::int64_t>(std::filesystem::file_size(path)));
    DOCTEST_CHECK(stream.read(part.data(), part.size(), 0) == 0);
}

DOCTEST_TEST_CASE("byte_stream: plain gzip of any members, levels and pieces") {
    const testing::TempDir folder;
    Rng random(1);
    for (int round = 0; round < 60; ++round) {
        std::string expected, file;
        for (std::int64_t member = random.between(1, 4); member > 0; --member) {
            const std::string text =
                random_text(random, random.between(0, 5) == 0 ? 0 : random.between(1, 200'000));
            expected += text;
            file += gzip(text, static_cast<int>(random.between(0, 9)));
        }
        testing::write_file(folder / "x.gz", file);
        for (const std::size_t piece : {std::size_t{1} << 20, std::size_t{4099}})
            DOCTEST_REQUIRE(read_all(folder / "x.gz", piece) == expected);
    }
}

DOCTEST_TEST_CASE("byte_stream: plain gzip: what is truncated or corrupt is refused, wherever it is cut") {
    const testing::TempDir folder;
    Rng random(2);
    const std::string text = random_text(random, 3000);
    const std::string whole = gzip(text, 6) + gzip(text, 1);
    const std::size_t first = gzip(text, 6).size();
    for (std::size_t size = 2; size < whole.size(); size += size < 40 ? 1 : 23) {
        if (size == first) continue;
        testing::write_file(folder / "x.gz", whole.substr(0, size));
        const std::string got = read_all(folder / "x.gz", 512);
        DOCTEST_CAPTURE(size);
        DOCTEST_REQUIRE(got.ends_with("refused"));
        DOCTEST_REQUIRE((text + text).starts_with(got.substr(0, got.size() - 7)));
    }
    for (const std::size_t at : {std::size_t{40}, first / 2, first - 6, first - 2, whole.size() - 1}) {
        std::string broken = whole;
        broken[at] = static_cast<char>(broken[at] ^ 0x55);
        testing::write_file(folder / "x.gz", broken);
        DOCTEST_CAPTURE(at);
        DOCTEST_CHECK(read_all(folder / "x.gz", 512).ends_with("refused"));
    }
    testing::write_file(folder / "x.gz", gzip(text, 6) + "garbage");
    DOCTEST_CHECK(read_all(folder / "x.gz", 512).ends_with("refused"));
}
