// SPDX-License-Identifier: Apache-2.0
#include "bigbird/core/files.hpp"

#include "support/temp_dir.hpp"
#include "support/testing.hpp"

#include "bigbird/core/error.hpp"

#include <ostream>

using namespace bigbird;
namespace fs = std::filesystem;

namespace {

std::size_t entries(const fs::path& folder) {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
}

}  // namespace

DOCTEST_TEST_CASE("files: a whole file appears, in a folder made for it, and nothing else stays") {
    const testing::TempDir folder;
    write_atomically(folder / "new/deep/out.txt", Overwrite::refuse,
                     [](std::ostream& out) { out << "text"; });
    DOCTEST_CHECK(testing::read_file(folder / "new/deep/out.txt") == "text");
    DOCTEST_CHECK(entries(folder / "new/deep") == 1);
}

DOCTEST_TEST_CASE("files: a failing writer leaves the old file and no other") {
    const testing::TempDir folder;
    testing::write_file(folder / "out", "old");
    DOCTEST_CHECK_THROWS_AS(write_atomically(folder / "out", Overwrite::allow,
                                             [](std::ostream& out) {
                                                 out << "half";
                                                 throw InputError("broken");
                                             }),
                            InputError);
    DOCTEST_CHECK(testing::read_file(folder / "out") == "old");
    DOCTEST_CHECK(entries(folder.path()) == 1);
}

DOCTEST_TEST_CASE("files: an existing output is refused without force and replaced with it") {
    const testing::TempDir folder;
    testing::write_file(folder / "out", "old");
    const std::string message =
        testing::message_of<ConfigError>([&] { prepare_output(folder / "out", Overwrite::refuse); });
    DOCTEST_CHECK(message.find("exists already; give another --output, or --force to replace it") !=
                  std::string::npos);
    write_atomically(folder / "out", Overwrite::allow, [](std::ostream& out) { out << "new"; });
    DOCTEST_CHECK(testing::read_file(folder / "out") == "new");
}

DOCTEST_TEST_CASE("files: a pending folder replaces a full one on commit and vanishes without") {
    const testing::TempDir folder;
    fs::create_directory(folder / "run");
    testing::write_file(folder / "run/old", "old");
    {
        const PendingOutput dropped(folder / "run", Overwrite::allow, true);
        testing::write_file(dropped.path() / "new", "new");
    }
    DOCTEST_CHECK(fs::exists(folder / "run/old"));
    {
        PendingOutput kept(folder / "run/", Overwrite::allow, true);
        testing::write_file(kept.path() / "new", "new");
        kept.commit();
    }
    DOCTEST_CHECK(!fs::exists(folder / "run/old"));
    DOCTEST_CHECK(testing::read_file(folder / "run/new") == "new");
    DOCTEST_CHECK(entries(folder.path()) == 1);
}

DOCTEST_TEST_CASE("files: a parent that is a file is a clear refusal") {
    const testing::TempDir folder;
    testing::write_file(folder / "file", "");
    DOCTEST_CHECK_THROWS_AS(prepare_output(folder / "file/out", Overwrite::refuse), ConfigError);
}

DOCTEST_TEST_CASE("files: a missing input and a folder are named") {
    const testing::TempDir folder;
    DOCTEST_CHECK(testing::message_of<InputError>([&] { require_readable(folder / "x"); }) ==
                  (folder / "x").string() + ": no such file");
    DOCTEST_CHECK_THROWS_AS(require_readable(folder.path()), InputError);
    DOCTEST_CHECK_NOTHROW(require_readable("-"));
}
