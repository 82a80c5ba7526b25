// SPDX-License-Identifier: Apache-2.0
#include "bigbird/core/system/needed_libraries.hpp"

#include "support/temp_dir.hpp"
#include "support/testing.hpp"

#include <algorithm>

using namespace bigbird;

DOCTEST_TEST_CASE("needed_libraries: the loader's list is read, with what is not found") {
    const auto libraries = parse_needed_libraries(
        "\tlinux-vdso.so.1 (0x00007ffd8d5f2000)\n"
        "\tlibnccl.so.2 => /opt/with blank/libnccl.so.2 (0x00007f26)\n"
        "\tlibcufile.so.0 => not found\n"
        "\t/lib64/ld-linux-x86-64.so.2 (0x00007f2a)\n");
    DOCTEST_CHECK(libraries.size() == 2);
    DOCTEST_CHECK(libraries[0].name == "libnccl.so.2");
    DOCTEST_CHECK(libraries[0].path == "/opt/with blank/libnccl.so.2");
    DOCTEST_CHECK(missing_of(libraries) == std::vector<std::string>{"libcufile.so.0"});
}

DOCTEST_TEST_CASE("needed_libraries: those of this program are all there") {
    const auto libraries = needed_libraries(std::filesystem::read_symlink("/proc/self/exe"));
    DOCTEST_CHECK(missing_of(libraries).empty());
    DOCTEST_CHECK(std::ranges::any_of(
        libraries, [](const NeededLibrary& library) { return library.name.starts_with("libc.so"); }));
    DOCTEST_CHECK(needed_libraries("/nonexistent/library.so").empty());
}

DOCTEST_TEST_CASE("needed_libraries: one that is not there does not hide the others") {
    const auto self = std::filesystem::read_symlink("/proc/self/exe");
    const auto libraries = needed_libraries(self);
    const std::string known = libraries.front().name;
    std::string unknown = known, program = testing::read_file(self);
    unknown[3] = '-';
    for (std::size_t at = 0; (at = program.find(known + '\0', at)) != std::string::npos;) {
        program.replace(at, known.size(), unknown);
    }
    const testing::TempDir folder;
    testing::write_file(folder / "program", program);
    const auto of_copy = needed_libraries(folder / "program");
    DOCTEST_CHECK(missing_of(of_copy) == std::vector<std::string>{unknown});
    DOCTEST_CHECK(of_copy.size() > 2);
}
