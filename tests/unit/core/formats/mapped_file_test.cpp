// SPDX-License-Identifier: Apache-2.0
#include "bigbird/core/formats/mapped_file.hpp"

#include "support/temp_dir.hpp"
#include "support/testing.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/formats/checksum.hpp"

#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <fstream>
#include <string_view>
#include <utility>

using namespace bigbird;

namespace {

std::string_view text_of(const MappedFile& file) {
    return {reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size()};
}

}  // namespace

DOCTEST_TEST_CASE("mapped_file: a real file's bytes, whatever the number of pages") {
    const auto path = testing::test_data("genome/hg19micro.fa");
    const MappedFile file(path);
    DOCTEST_CHECK(text_of(file) == testing::read_file(path));
    DOCTEST_CHECK(file.path() == path);
    const testing::TempDir folder;
    testing::write_file(folder / "empty", "");
    DOCTEST_CHECK(MappedFile(folder / "empty").bytes().empty());
    for (const std::size_t size : {4095U, 4096U, 4097U}) {
        testing::write_file(folder / "a", std::string(size - 1, 'x') + "y");
        const MappedFile mapped(folder / "a");
        DOCTEST_CHECK(mapped.bytes().size() == size);
        DOCTEST_CHECK(text_of(mapped).back() == 'y');
    }
}

DOCTEST_TEST_CASE("mapped_file: what was moved from holds nothing, and is not unmapped twice") {
    const testing::TempDir folder;
    testing::write_file(folder / "a", std::string(5000, 'a'));
    testing::write_file(folder / "b", std::string(5000, 'b'));
    MappedFile first(folder / "a");
    MappedFile moved(std::move(first));
    DOCTEST_CHECK(first.bytes().empty());  // NOLINT(bugprone-use-after-move)
    {
        MappedFile other(folder / "b");
        moved = std::move(other);
    }
    DOCTEST_CHECK(text_of(moved) == std::string(5000, 'b'));
    DOCTEST_CHECK(moved.path() == folder / "b");
    std::filesystem::remove(folder / "b");  // the bytes outlive the name
    DOCTEST_CHECK(text_of(moved).substr(4990) == "bbbbbbbbbb");
}

DOCTEST_TEST_CASE("mapped_file: what is no file is told as everywhere") {
    const testing::TempDir folder;
    DOCTEST_CHECK(testing::message_of<InputError>([&] { MappedFile(folder.path()); }) ==
                  folder.path().string() + ": is a folder, a file is needed");
    DOCTEST_CHECK(testing::message_of<InputError>([&] { MappedFile(folder / "none"); }) ==
                  (folder / "none").string() + ": no such file");
    DOCTEST_REQUIRE(::mkfifo((folder / "pipe").c_str(), 0600) == 0);
    DOCTEST_CHECK(testing::message_of<InputError>([&] { MappedFile(folder / "pipe"); }) ==
                  (folder / "pipe").string() + ": is a pipe, a file is needed");
}

namespace {

/// No file can be opened while it lives.
class NoMoreFiles {
public:
    NoMoreFiles() {
        getrlimit(RLIMIT_NOFILE, &before_);
        const rlimit none{.rlim_cur = 0, .rlim_max = before_.rlim_max};
        setrlimit(RLIMIT_NOFILE, &none);
    }
    ~NoMoreFiles() { setrlimit(RLIMIT_NOFILE, &before_); }

private:
    rlimit before_{};
};

}  // namespace

DOCTEST_TEST_CASE("whole_file: all bytes, of whatever length") {
    testing::TempDir folder;
    for (const std::size_t size :
         {std::size_t{0}, std::size_t{1}, std::size_t{1 << 16}, std::size_t{200'000}}) {
        std::string bytes(size, 'x');
        for (std::size_t i = 0; i < size; ++i)
            bytes[i] = static_cast<char>(i % 251);
        std::ofstream(folder / "file", std::ios::binary) << bytes;
        DOCTEST_CHECK(read_whole_file(folder / "file") == bytes);
    }
    DOCTEST_CHECK_THROWS_AS(read_whole_file(folder / "missing"), InputError);
    DOCTEST_CHECK_THROWS_AS(read_whole_file(folder.path()), InputError);
}

DOCTEST_TEST_CASE("whole_file: what cannot be opened is no empty file") {
    testing::TempDir folder;
    std::ofstream(folder / "file") << "abc";
    bool refused = false;
    try {
        const NoMoreFiles now;
        read_whole_file(folder / "file");
    } catch (const InputError&) {
        refused = true;
    }
    DOCTEST_CHECK(refused);
}

DOCTEST_TEST_CASE("whole_file: a device, which may never end, is refused") {
    const testing::TempDir folder;
    std::filesystem::create_symlink("/dev/zero", folder / "config.json");
    DOCTEST_CHECK(testing::message_of<InputError>([&] { read_whole_file(folder / "config.json"); }) ==
                  (folder / "config.json").string() + ": is a device, a file is needed");
}

DOCTEST_TEST_CASE(
    "whole_file: a named pipe, whose writer would be waited for, is refused, one of the shell's is read") {
    const testing::TempDir folder;
    const auto named = folder / "config.json";
    DOCTEST_REQUIRE(::mkfifo(named.c_str(), 0600) == 0);
    const std::string refusal = named.string() + ": is a pipe, a file is needed";
    DOCTEST_CHECK(testing::message_of<InputError>([&] { read_whole_file(named); }) == refusal);
    DOCTEST_CHECK(testing::message_of<InputError>([&] { sha256_of_file(named); }) == refusal);
    std::array<int, 2> ends{};
    DOCTEST_REQUIRE(::pipe(ends.data()) == 0);
    DOCTEST_CHECK(::write(ends[1], "{}", 2) == 2);
    ::close(ends[1]);
    DOCTEST_CHECK(read_whole_file("/dev/fd/" + std::to_string(ends[0])) == "{}");
    ::close(ends[0]);
}
