// SPDX-License-Identifier: Apache-2.0
#include "bigbird/task_models/pipeline/motif_logos.hpp"

#include "support/temp_dir.hpp"
#include "support/testing.hpp"

using namespace bigbird;
using bigbird::task_models::logos_html;
using bigbird::testing::TempDir;
using bigbird::testing::write_file;

namespace {

std::size_t count(const std::string& text, const std::string& part) {
    std::size_t found = 0;
    for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
        ++found;
    return found;
}

}  // namespace

DOCTEST_TEST_CASE("motif_logos: a letter is as high as its share of its place's information") {
    const TempDir folder;
    write_file(folder / "m.meme",
               "MEME version 4\n\nMOTIF motif_1 a<b\nletter-probability matrix: alength= 4 w= 3 nsites= 9\n"
               " 1 0 0 0\n 0.25 0.25 0.25 0.25\n 0.5 0 0 0.5\n");
    const std::string html = logos_html(folder / "m.meme");
    DOCTEST_CHECK(html.find("a&lt;b, 9 sites") != std::string::npos);
    DOCTEST_CHECK(count(html, "<svg ") == 1);
    // A alone has 2 bits, all of the 60 pixels; the second place has none; A and T have half a bit each.
    DOCTEST_CHECK(count(html, "<path ") == 3);
    DOCTEST_CHECK(html.find("translate(0.5 0.0) scale(0.130 0.6000)") != std::string::npos);
    DOCTEST_CHECK(html.find("translate(28.5 45.0) scale(0.130 0.1500)") != std::string::npos);
    DOCTEST_CHECK(html.find("translate(28.5 30.0) scale(0.130 0.1500)") != std::string::npos);
}

DOCTEST_TEST_CASE("motif_logos: a model without motifs has no section of them, a damaged file is refused") {
    const TempDir folder;
    DOCTEST_CHECK(logos_html(folder / "none.meme").empty());
    write_file(folder / "empty.meme", "MEME version 4\n");
    DOCTEST_CHECK_THROWS_WITH(logos_html(folder / "empty.meme"), doctest::Contains("holds no motif"));
}
