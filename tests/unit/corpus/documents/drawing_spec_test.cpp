// SPDX-License-Identifier: Apache-2.0
#include "bigbird/corpus/documents/drawing_spec.hpp"

#include "support/testing.hpp"

#include "bigbird/core/error.hpp"

using namespace bigbird;
using namespace bigbird::corpus;
using bigbird::testing::message_of;

namespace {

std::unique_ptr<genome::ReferenceGenome> two_contigs() {
    return genome::in_memory_genome({{"a", std::string(1000, 'A')}, {"b", std::string(500, 'C')}});
}

}  // namespace

DOCTEST_TEST_CASE("drawing_spec: regions are put on the genome, the seed is the command's") {
    DrawingSpec drawing;
    drawing.build.documents.passes = 3;
    drawing.include = {"b", "a:101-200"};
    drawing.exclude = {"b:1-50"};
    const BuildSpec spec = drawing.on(*two_contigs(), 7);
    DOCTEST_CHECK(spec.documents.passes == 3);
    DOCTEST_CHECK(spec.documents.seed == 7);
    DOCTEST_REQUIRE(spec.include.has_value());
    DOCTEST_CHECK(spec.include->bases() == 600);
    DOCTEST_CHECK(spec.exclude.bases() == 50);
}

DOCTEST_TEST_CASE("drawing_spec: without --include the whole genome is meant") {
    DOCTEST_CHECK_FALSE(DrawingSpec{}.on(*two_contigs(), 0).include.has_value());
}

DOCTEST_TEST_CASE("drawing_spec: the option that names no region is named") {
    const auto genome = two_contigs();
    DOCTEST_CHECK(message_of<Error>([&] {
                      DrawingSpec{.include = {"nowhere"}}.on(*genome, 0);
                  }).find("--include") != std::string::npos);
    DOCTEST_CHECK(message_of<Error>([&] {
                      DrawingSpec{.exclude = {"nowhere"}}.on(*genome, 0);
                  }).find("--exclude") != std::string::npos);
    DrawingSpec none;
    none.build.documents.passes = 0;
    DOCTEST_CHECK_THROWS_AS(none.on(*genome, 0), ConfigError);
}
