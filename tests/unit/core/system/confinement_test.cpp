// SPDX-License-Identifier: Apache-2.0
#include "bigbird/core/system/confinement.hpp"

#include "support/temp_dir.hpp"
#include "support/testing.hpp"

#include "bigbird/core/system/child_process.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <string>

using namespace bigbird;
using namespace std::chrono_literals;

namespace {

char outcome(long result) {
    if (result >= 0) return '+';
    return errno == EPERM ? '-' : '?';
}

}  // namespace

DOCTEST_TEST_CASE("confinement: a process reads and answers, and can do nothing else") {
    const testing::TempDir folder;
    testing::write_file(folder / "in", "text");
    const std::string in = (folder / "in").string(), out = (folder / "out").string();
    std::array<int, 2> ends{};
    DOCTEST_REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends.data()) == 0);
    const ChildResult child = run_child(
        [&] {
            if (!confine_process(ends[1])) return 77;
            std::string said;
            const int file = ::open(in.c_str(), O_RDONLY);
            said += outcome(file);
            char letter = 0;
            said += outcome(::read(file, &letter, 1));
            said += outcome(::open(in.c_str(), O_RDWR));
            said += outcome(::open(out.c_str(), O_WRONLY | O_CREAT, 0600));
            said += outcome(::unlink(in.c_str()));
            said += outcome(::rename(in.c_str(), out.c_str()));
            said += outcome(::socket(AF_INET, SOCK_STREAM, 0));
            said += outcome(::fork());
            said += outcome(::execl("/bin/true", "true", nullptr));
            said += outcome(::write(STDOUT_FILENO, "x", 1));
            ::send(ends[1], said.data(), said.size(), 0);
            return 0;
        },
        10s);
    if (child.code == 77) {
        DOCTEST_MESSAGE("this system cannot confine a process: not tried");
        return;
    }
    DOCTEST_CHECK(child.code == 0);
    std::array<char, 64> text{};
    const ssize_t size = ::recv(ends[0], text.data(), text.size(), MSG_DONTWAIT);
    DOCTEST_REQUIRE(size > 0);
    DOCTEST_CHECK(std::string(text.data(), static_cast<std::size_t>(size)) == "++--------");
    DOCTEST_CHECK(child.out.empty());
    DOCTEST_CHECK(testing::read_file(folder / "in") == "text");
    ::close(ends[0]);
    ::close(ends[1]);
}
