// SPDX-License-Identifier: Apache-2.0
#include "bigbird/examples/base_labels.hpp"

#include "support/temp_dir.hpp"
#include "support/testing.hpp"

#include "bigbird/core/error.hpp"

using namespace bigbird;
using namespace bigbird::testing;
using examples::BaseLabels;
using examples::LabelledSpan;

namespace {

struct Scene {
    TempDir folder;
    std::unique_ptr<genome::ReferenceGenome> reference =
        genome::in_memory_genome({{"1", std::string(100, 'A')}, {"2", std::string(50, 'C')}});
    std::filesystem::path bed = folder / "labels.bed";

    BaseLabels read(const std::string& text) const {
        write_file(bed, text);
        return BaseLabels::read(*reference, bed);
    }
    std::string refusal(const std::string& text) const {
        std::string message = message_of<InputError>([&] { read(text); });
        return message.substr(std::min(message.size(), bed.string().size()));
    }
};

}  // namespace

DOCTEST_TEST_CASE("base_labels: names by byte order behind none, spans that touch are one") {
    const Scene scene;
    const BaseLabels labels =
        scene.read("2\t10\t20\tintron\nchr1\t30\t40\texon\t0\t-\n1\t40\t45\texon\n1\t45\t50\tintron\n");
    DOCTEST_CHECK(labels.names() == std::vector<std::string>{"none", "exon", "intron"});
    DOCTEST_CHECK(labels.first_line(1) == 2);
    DOCTEST_CHECK(labels.first_line(0) == 0);
    const auto spans = labels.spans("1");
    DOCTEST_REQUIRE(spans.size() == 2);
    DOCTEST_CHECK(spans[0] == LabelledSpan{30, 45, 1});
    DOCTEST_CHECK(spans[1] == LabelledSpan{45, 50, 2});
    DOCTEST_CHECK(labels.extents() == std::vector<genome::Interval>{{"1", 30, 50}, {"2", 10, 20}});
    DOCTEST_CHECK(labels.spans("3").empty());
}

DOCTEST_TEST_CASE("base_labels: labels and counts of a stretch, beyond the contig too") {
    const Scene scene;
    const BaseLabels labels = scene.read("1\t2\t4\tb\n1\t6\t7\ta\n");
    DOCTEST_CHECK(labels.labels({"1", -1, 8}) == std::vector<std::int32_t>{0, 0, 0, 2, 2, 0, 0, 1, 0});
    DOCTEST_CHECK(labels.labels({"1", 3, 4}) == std::vector<std::int32_t>{2});
    DOCTEST_CHECK(labels.counts({"1", 3, 8}) == std::vector<std::int64_t>{3, 1, 1});
    DOCTEST_CHECK(labels.counts({"2", 0, 50}) == std::vector<std::int64_t>{50, 0, 0});
}

DOCTEST_TEST_CASE("base_labels: rows of one label may overlap, those of two may not") {
    const Scene scene;
    DOCTEST_CHECK(scene.read("1\t10\t30\ta\n1\t15\t20\ta\n1\t25\t40\ta\n").spans("1").size() == 1);
    DOCTEST_CHECK(scene.refusal("1\t39\t50\tintron\n1\t30\t40\texon\n") ==
                  ":2: 'exon' at 1:30-40 overlaps 'intron' of line 1: a base has one label");
    // The one that reaches over others is named, not the last.
    DOCTEST_CHECK(scene.refusal("1\t0\t90\ta\n1\t5\t10\ta\n1\t20\t30\tb\n") ==
                  ":3: 'b' at 1:20-30 overlaps 'a' of line 1: a base has one label");
    DOCTEST_CHECK(scene.refusal("1\t0\t20\ta\n1\t5\t15\tnone\n") ==
                  ":2: 'none' at 1:5-15 overlaps 'a' of line 1: a base has one label");
}

DOCTEST_TEST_CASE("base_labels: what is wrong with a row is said with its line") {
    const Scene scene;
    DOCTEST_CHECK(scene.refusal("1\t0\t20\ta\n1\t30\t40\n") ==
                  ":2: has no label in column 4: a row is contig, start, end, label");
    DOCTEST_CHECK(scene.refusal("1\t0\t20\ta\n1\t30\t40\tNA\n") ==
                  ":2: has 'NA', a missing value, as its label: delete such rows");
    DOCTEST_CHECK(scene.refusal("7\t0\t20\ta\n") == ":1: contig '7' is not in the reference");
    DOCTEST_CHECK(scene.refusal("2\t40\t51\ta\n") ==
                  ":1: end 51 is past the end of contig '2', which has 50 bases");
    DOCTEST_CHECK(scene.refusal("1\t0\t20\tnone\n1\t30\t30\ta\n") == ": labels no base");
}
