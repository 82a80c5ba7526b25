// SPDX-License-Identifier: Apache-2.0
#include "bigbird/genome/text/gzip_stream.hpp"

#include "support/temp_dir.hpp"
#include "support/testing.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/rng.hpp"
#include "bigbird/genome/text/byte_stream.hpp"

#include <zlib.h>

#include <string>

using namespace bigbird;
using namespace bigbird::genome::detail;
namespace fs = std::filesystem;

namespace {

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
std::string read_all(const fs::path& path, std::size_t piece, Inflater inflater) {
    std::string text, buffer(piece, '\0');
    try {
        ByteStream stream(path, inflater);
        while (const std::size_t count = stream.read(buffer.data(), piece, 0)) {
            text.append(buffer, 0, count);
        }
    } catch (const InputError&) {
        text += "refused";
    }
    return text;
}

std::string random_text(Rng& random, std::int64_t size) {
    std::string text;
    for (std::int64_t i = 0; i < size; ++i) {
        text += "ACGT\nN"[random.between(0, 5)];
    }
    return text;
}

}  // namespace

DOCTEST_TEST_CASE("gzip_stream: the bytes that htslib gives, of any members, levels and pieces") {
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
        for (const std::size_t piece : {std::size_t{1} << 20, std::size_t{4099}}) {
            DOCTEST_REQUIRE(read_all(folder / "x.gz", piece, Inflater::fastest) == expected);
        }
        DOCTEST_REQUIRE(read_all(folder / "x.gz", 65536, Inflater::htslib) == expected);
    }
}

DOCTEST_TEST_CASE("gzip_stream: zeros behind the last member are skipped") {
    const testing::TempDir folder;
    testing::write_file(folder / "x.gz", gzip("ACGT\n", 6) + std::string(1000, '\0'));
    DOCTEST_CHECK(read_all(folder / "x.gz", 100, Inflater::fastest) == "ACGT\n");
}

DOCTEST_TEST_CASE("gzip_stream: what is truncated or corrupt is refused, wherever it is cut") {
    const testing::TempDir folder;
    Rng random(2);
    const std::string text = random_text(random, 3000);
    const std::string whole = gzip(text, 6) + gzip(text, 1);
    const std::size_t first = gzip(text, 6).size();
    for (std::size_t size = 2; size < whole.size(); size += size < 40 ? 1 : 23) {
        if (size == first) {
            continue;
        }
        testing::write_file(folder / "x.gz", whole.substr(0, size));
        const std::string got = read_all(folder / "x.gz", 512, Inflater::fastest);
        DOCTEST_CAPTURE(size);
        DOCTEST_REQUIRE(got.ends_with("refused"));
        DOCTEST_REQUIRE((text + text).starts_with(got.substr(0, got.size() - 7)));
    }
    for (const std::size_t at : {std::size_t{40}, first / 2, first - 6, first - 2, whole.size() - 1}) {
        std::string broken = whole;
        broken[at] = static_cast<char>(broken[at] ^ 0x55);
        testing::write_file(folder / "x.gz", broken);
        DOCTEST_CAPTURE(at);
        DOCTEST_CHECK(read_all(folder / "x.gz", 512, Inflater::fastest).ends_with("refused"));
    }
    testing::write_file(folder / "x.gz", gzip(text, 6) + "garbage");
    DOCTEST_CHECK(read_all(folder / "x.gz", 512, Inflater::fastest) == text + "refused");
}
