// SPDX-License-Identifier: Apache-2.0
#include "bigbird/core/formats/whole_file.hpp"

#include "support/temp_dir.hpp"
#include "support/testing.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/formats/checksum.hpp"

#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <fstream>

using namespace bigbird;

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

DOCTEST_TEST_CASE("whole_file: what cannot be opened is no empty file, nor has it a checksum") {
    testing::TempDir folder;
    std::ofstream(folder / "file") << "abc";
    bool refused = false, refused_checksum = false;
    {
        const NoMoreFiles now;
        try {
            read_whole_file(folder / "file");
        } catch (const InputError&) {
            refused = true;
        }
        try {
            sha256_of_file(folder / "file");
        } catch (const InputError&) {
            refused_checksum = true;
        }
    }
    DOCTEST_CHECK(refused);
    DOCTEST_CHECK(refused_checksum);
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
