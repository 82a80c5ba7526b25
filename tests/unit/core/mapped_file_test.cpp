// SPDX-License-Identifier: Apache-2.0
#include "bigbird/core/mapped_file.hpp"

#include "support/temp_dir.hpp"
#include "support/testing.hpp"

#include "bigbird/core/error.hpp"

#include <string_view>
#include <utility>

using namespace bigbird;

namespace {

std::string_view text_of(const MappedFile& file) {
    return {reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size()};
}

}  // namespace

DOCTEST_TEST_CASE("mapped_file: holds the file's bytes, also after a move") {
    const testing::TempDir folder;
    testing::write_file(folder / "a", "first");
    testing::write_file(folder / "b", std::string(10'000, 'x') + "end");
    MappedFile first(folder / "a");
    DOCTEST_CHECK(text_of(first) == "first");
    MappedFile second(folder / "b");
    first = std::move(second);
    DOCTEST_CHECK(text_of(first).substr(10'000) == "end");
    const MappedFile third(std::move(first));
    DOCTEST_CHECK(text_of(third).size() == 10'003);
}

DOCTEST_TEST_CASE("mapped_file: an empty file is no bytes, a missing one an error") {
    const testing::TempDir folder;
    testing::write_file(folder / "empty", "");
    DOCTEST_CHECK(MappedFile(folder / "empty").bytes().empty());
    DOCTEST_CHECK_THROWS_AS(MappedFile(folder / "missing"), InputError);
}
