// SPDX-License-Identifier: Apache-2.0
#include "bigbird/examples/build/signals/cut_shift.hpp"

#include "support/captured_log.hpp"
#include "support/temp_dir.hpp"
#include "support/testing.hpp"

#include "bigbird/core/rng.hpp"
#include "bigbird/examples/build/signals/read_signal.hpp"

#include <cmath>
#include <vector>

using namespace bigbird;
using namespace bigbird::examples;
using namespace bigbird::testing;

namespace {

/// The yeast's genome, and the 13,765 fragments of chromosomes I and VI, of which Tn5's motif is not made.
struct CutYeast {
    std::unique_ptr<genome::ReferenceGenome> reference =
        genome::open_reference(test_data("genome/yeast.fa.gz"));
    std::vector<AlignedSpan> spans{};

    CutYeast() {
        read_signal(
            test_data("tracks/yeast.bedpe.gz"), *reference, {.counted = Counted::fragments},
            [&](std::size_t contig, std::int64_t begin, std::int64_t end, double) {
                spans.push_back({contig, begin, end});
            });
    }
    ShiftFound find(const EndShift& shift, std::size_t every = 1, Assay assay = Assay::atac) const {
        CutSites sites;
        for (std::size_t i = 0; i < spans.size(); i += every)
            sites.add({spans[i].contig, spans[i].begin + shift.begin, spans[i].end + shift.end});
        return sites.find(assay, *reference);
    }
};

/// Sites of an enzyme that prefers C behind T, on both strands.
std::vector<AlignedSpan> dnase_sites(const std::string& dna, const EndShift& shift) {
    Rng rng(1);
    std::vector<AlignedSpan> spans;
    for (std::int64_t base = 100; base + 100 < std::ssize(dna); ++base) {
        const auto at = static_cast<std::size_t>(base);
        const bool forward = dna[at - 1] == 'T' && dna[at] == 'C',
                   reverse = dna[at + 1] == 'A' && dna[at] == 'G';
        if (rng.uniform() < (forward ? 0.5 : 0.02))
            spans.push_back({0, base + shift.begin, base + 30, true, false});
        if (rng.uniform() < (reverse ? 0.5 : 0.02))
            spans.push_back({0, base - 30, base + 1 + shift.end, false, true});
    }
    return spans;
}

}  // namespace

DOCTEST_TEST_CASE(
    "shift: those of yeast's fragments are found, on chromosomes that the motif is not made of") {
    const CutYeast yeast;
    for (const EndShift& shift : std::vector<EndShift>{{0, 0}, {4, -5}, {4, -4}, {3, -6}, {5, -4}}) {
        const ShiftFound found = yeast.find(shift);
        DOCTEST_CHECK(found.clear);
        DOCTEST_CHECK(found.in_file == shift);
        DOCTEST_CHECK(found.applied == EndShift{4 - shift.begin, -4 - shift.end});
        DOCTEST_CHECK(found.margin > 0.5);
        DOCTEST_CHECK(found.sites > 8000);
    }
    const ShiftFound tenth = yeast.find({4, -5}, 10);
    DOCTEST_CHECK(tenth.sites < 1400);
    DOCTEST_CHECK(tenth.in_file == EndShift{4, -5});
}

DOCTEST_TEST_CASE(
    "shift: the logo is symmetric around the cut site, and the same whatever the file's shift") {
    const CutYeast yeast;
    const ShiftFound plain = yeast.find({}), moved = yeast.find({4, -5});
    double sum = 0, apart = 0;
    for (std::size_t row = 1; row < 40; ++row)
        for (std::size_t letter = 0; letter < 4; ++letter) {
            sum += plain.logo[row][letter];
            apart += std::abs(plain.logo[row][letter] - plain.logo[40 - row][3 - letter]);
            DOCTEST_CHECK(plain.logo[row][letter] == doctest::Approx(moved.logo[row][letter]).epsilon(0.02));
        }
    DOCTEST_CHECK(apart < 0.04 * sum);
    // Tn5 prefers G four bases before the middle of the nine that it duplicates, and C four bases behind it.
    DOCTEST_CHECK(plain.logo[16][2] > 1.5 * plain.logo[1][2]);
    DOCTEST_CHECK(plain.logo[24][1] > 1.5 * plain.logo[1][1]);
}

DOCTEST_TEST_CASE("shift: few sites, or random ones, are unclear, and taken for unshifted") {
    const CutYeast yeast;
    const ShiftFound few = yeast.find({4, -5}, 40);
    DOCTEST_CHECK(!few.clear);
    DOCTEST_CHECK(few.in_file == EndShift{});
    DOCTEST_CHECK(few.applied == EndShift{4, -4});
    CutSites random;
    Rng rng(3);
    for (int i = 0; i < 20000; ++i) {
        const std::int64_t begin = rng.between(100, 200000);
        random.add({0, begin, begin + rng.between(30, 300)});
    }
    DOCTEST_CHECK(!random.find(Assay::atac, *yeast.reference).clear);
    DOCTEST_CHECK(!CutSites().find(Assay::atac, *yeast.reference).clear);
    const EndShift given{1, 2};
    DOCTEST_CHECK(random.find(Assay::atac, *yeast.reference, &given).applied == given);
}

DOCTEST_TEST_CASE("shift: ends of DNase are compared with each other") {
    const CutYeast yeast;
    const genome::Contig& contig = yeast.reference->contigs().front();
    const std::string dna = yeast.reference->fetch({contig.name, 0, contig.length});
    for (const EndShift& shift : {EndShift{0, 0}, EndShift{0, 1}}) {
        CutSites sites;
        for (const AlignedSpan& span : dnase_sites(dna, shift))
            sites.add(span);
        const ShiftFound found = sites.find(Assay::dnase, *yeast.reference);
        DOCTEST_CHECK(found.clear);
        DOCTEST_CHECK(found.in_file == shift);
        DOCTEST_CHECK(found.applied == EndShift{0, 1 - shift.end});
    }
}

DOCTEST_TEST_CASE("shift: read_signal finds it, moves the ends, and says so") {
    const CutYeast yeast;
    const CapturedLog log;
    const auto sites_of = [&](const std::filesystem::path& path, const SignalReading& how) {
        std::vector<std::int64_t> bases;
        const SignalRead read = read_signal(
            path, *yeast.reference, how,
            [&](std::size_t, std::int64_t begin, std::int64_t, double) { bases.push_back(begin); });
        DOCTEST_CHECK(read.shift.has_value());
        return bases;
    };
    SignalReading given{.assay = Assay::atac};
    given.parse_shift("4,-4");
    const auto path = test_data("tracks/yeast.bedpe.gz");
    DOCTEST_CHECK(sites_of(path, {.assay = Assay::atac}) == sites_of(path, given));
    DOCTEST_CHECK(holds(log.text(), "its ends have the shift 0,0 (by Tn5's motif at "));
    DOCTEST_CHECK(holds(log.text(), ", and move by 4,-4"));
    const TempDir folder;
    write_file(folder / "few.bed", "I\t100\t200\n");
    DOCTEST_CHECK(sites_of(folder / "few.bed", {.assay = Assay::atac}) ==
                  std::vector<std::int64_t>{104, 195});
    DOCTEST_CHECK(holds(log.text(), "the shift of its ends is unclear (by Tn5's motif at 1 site per strand"));
    DOCTEST_CHECK(holds(log.text(), "assumed 0,0, unshifted"));
    // What does not count is said once, though the file is read twice.
    const CapturedLog once;
    sites_of(test_data("tracks/reads.bam"), {.assay = Assay::atac});
    const std::string text = once.text();
    DOCTEST_CHECK(text.find("264 of 352 reads count") == text.rfind("264 of 352 reads count"));
    DOCTEST_CHECK(text.find("lacks (chrUn)") == text.rfind("lacks (chrUn)"));
}
