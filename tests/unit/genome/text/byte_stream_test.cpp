// SPDX-License-Identifier: Apache-2.0
#include "bigbird/genome/text/byte_stream.hpp"

#include "support/temp_dir.hpp"
#include "support/testing.hpp"

#include "bigbird/core/error.hpp"

#include <string>

namespace {

using namespace bigbird;
using namespace bigbird::genome::detail;
using testing::message_of;
using testing::read_file;
using testing::TempDir;
using testing::test_data;
using testing::write_file;

std::string all_of(const std::filesystem::path& path, std::size_t piece,
                   Inflater inflater = Inflater::fastest) {
    ByteStream stream(path, inflater);
    std::string all, part(piece, '\0');
    while (const std::size_t got = stream.read(part.data(), piece, 0))
        all.append(part, 0, got);
    return all;
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

DOCTEST_TEST_CASE("byte_stream: the same bytes however they are compressed, inflated and asked for") {
    const std::string wanted = read_file(test_data("genome/multi.fa"));
    for (const char* name : {"multi.fa", "multi.fa.gz", "multi.plain-gzip.fa.gz"}) {
        for (const std::size_t piece : {1UL, 7UL, 65536UL}) {
            DOCTEST_CHECK(all_of(test_data("genome") / name, piece) == wanted);
            DOCTEST_CHECK(all_of(test_data("genome") / name, piece, Inflater::htslib) == wanted);
        }
    }
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

DOCTEST_TEST_CASE("byte_stream: a truncated file is refused with the line that was read last") {
    const TempDir dir;
    for (const char* name : {"multi.fa.gz", "multi.plain-gzip.fa.gz"}) {
        const std::string whole = read_file(test_data("genome") / name);
        write_file(dir / name, whole.substr(0, whole.size() / 2));
        const std::string message = message_of<InputError>([&] {
            ByteStream stream(dir / name);
            char byte = 0;
            while (stream.read(&byte, 1, 12) > 0) {
            }
        });
        DOCTEST_CHECK_MESSAGE(message.find(std::string(name) + ":12") != std::string::npos, message);
    }
}
