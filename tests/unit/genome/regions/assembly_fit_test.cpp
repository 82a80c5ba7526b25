// SPDX-License-Identifier: Apache-2.0
#include "bigbird/genome/regions/assembly_fit.hpp"

#include "support/temp_dir.hpp"
#include "support/testing.hpp"

#include "bigbird/core/error.hpp"

#include <memory>
#include <string>

using namespace bigbird;
using namespace bigbird::genome;
using namespace bigbird::testing;

namespace {

bool fits(const AssemblyFit& fit, const ReferenceGenome& reference, bool skip_invalid = false) {
    try {
        require_assembly(fit, reference, "rows.bed", "rows", skip_invalid);
        return true;
    } catch (const InputError&) {
        return false;
    }
}

/// Four contigs of 10 bases.
std::unique_ptr<ReferenceGenome> four_contigs() {
    const std::string dna = "ACGTACGTAC";
    return in_memory_genome({{"1", dna}, {"2", dna}, {"3", dna}, {"4", dna}});
}

}  // namespace

DOCTEST_TEST_CASE("assembly_fit: a FASTA that is a part of the genome is no wrong assembly") {
    const auto genome = four_contigs();
    AssemblyFit fit;
    fit.add({"chr1", 1, 2}, Fit::inside, *genome);
    for (int i = 0; i < 100; ++i)
        fit.add({"chr9", 1, 2}, Fit::unknown_contig, *genome);
    DOCTEST_CHECK_FALSE(fits(fit, *genome));  // one of four contigs is named
    DOCTEST_CHECK(fits(fit, *genome, true));
    fit.add({"2", 1, 2}, Fit::inside, *genome);
    DOCTEST_CHECK(fits(fit, *genome));  // two are
    for (int i = 0; i < 100; ++i)
        fit.add({"2", 11, 12}, Fit::past_end, *genome);
    DOCTEST_CHECK(fits(fit, *genome));  // 10 bases are the length of no known assembly's contig
}

DOCTEST_TEST_CASE("assembly_fit: above a fifth of REF mismatches it is another assembly") {
    const auto genome = four_contigs();
    AssemblyFit fit;
    for (const char* contig : {"1", "2", "3", "4", "1"})
        fit.add({contig, 1, 2}, Fit::inside, *genome);
    fit.ref_mismatch = 1;
    DOCTEST_CHECK(fits(fit, *genome));
    AssemblyFit twice = fit;
    twice += fit;
    twice.ref_mismatch = 3;
    DOCTEST_CHECK(twice.rows == 10);
    DOCTEST_CHECK_FALSE(fits(twice, *genome));
}

DOCTEST_TEST_CASE(
    "assembly_fit: rows past the end of a known assembly's contig are misfits, unless others fit up to it") {
    constexpr std::int64_t length = 51'304'566;  // GRCh37's 22
    const TempDir folder;
    write_file(folder / "22.sizes", "22\t" + std::to_string(length) + "\n");
    const std::filesystem::path sizes = folder / "22.sizes";
    const auto reference = open_contig_lengths({&sizes, 1});
    AssemblyFit fit;
    for (int i = 0; i < 50; ++i) {
        fit.add({"chr22", 17'000'000, 17'000'400}, Fit::inside, *reference);
        fit.add({"chr22", length, length + 400}, Fit::past_end, *reference);
    }
    DOCTEST_CHECK_FALSE(fits(fit, *reference));
    fit.add({"chr22", length - 2000, length - 1600}, Fit::inside, *reference);
    DOCTEST_CHECK_FALSE(fits(fit, *reference));
    AssemblyFit other;
    other.add({"chr22", length - 400, length}, Fit::inside, *reference);
    fit += other;
    DOCTEST_CHECK(fits(fit, *reference));
}
