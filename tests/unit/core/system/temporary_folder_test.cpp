// SPDX-License-Identifier: Apache-2.0
#include "bigbird/core/system/temporary_folder.hpp"

#include "support/environment.hpp"
#include "support/temp_dir.hpp"
#include "support/testing.hpp"

#include "bigbird/core/error.hpp"

#include <sys/stat.h>

#include <chrono>

using namespace bigbird;
namespace fs = std::filesystem;

DOCTEST_TEST_CASE("temporary_folder: it is there, for its owner alone, and gone with all that it holds") {
    const testing::TempDir parent;
    const testing::Environment tmpdir("TMPDIR", parent.path().string());
    fs::path path;
    {
        const TemporaryFolder folder("kind");
        path = folder.path();
        DOCTEST_CHECK(path.parent_path() == parent.path());
        DOCTEST_CHECK(path.filename().string().starts_with("bigbird-dna.kind."));
        struct ::stat status {};
        DOCTEST_REQUIRE(::stat(path.c_str(), &status) == 0);
        DOCTEST_CHECK((status.st_mode & 0777U) == 0700);
        fs::create_directory(path / "inside");
        testing::write_file(path / "inside/file", "x");
    }
    DOCTEST_CHECK_FALSE(fs::exists(path));
}

DOCTEST_TEST_CASE("temporary_folder: what a killed process left is removed, what lives or is others' stays") {
    const testing::TempDir parent;
    const testing::Environment tmpdir("TMPDIR", parent.path().string());
    const auto old = fs::file_time_type::clock::now() - std::chrono::hours(1);
    const fs::path dead = parent / "bigbird-dna.kind.dead", fresh = parent / "bigbird-dna.kind.fresh",
                   other = parent / "bigbird-dna.other.dead";
    for (const fs::path& each : {dead, fresh, other}) {
        fs::create_directory(each);
        testing::write_file(each / "file", "x");
    }
    const TemporaryFolder lives("kind");
    for (const fs::path& each : {dead, other, lives.path()})
        fs::last_write_time(each, old);
    const TemporaryFolder next("kind");
    DOCTEST_CHECK_FALSE(fs::exists(dead));
    DOCTEST_CHECK(fs::exists(fresh));
    DOCTEST_CHECK(fs::exists(other));
    DOCTEST_CHECK(fs::exists(lives.path()));
}

DOCTEST_TEST_CASE("temporary_folder: a TMPDIR that is none is a usage error that names it") {
    const testing::Environment tmpdir("TMPDIR", "/nonexistent");
    DOCTEST_CHECK(testing::message_of<ConfigError>([] {
                      TemporaryFolder folder("kind");
                  }).starts_with("TMPDIR names no folder: "));
}
