// SPDX-License-Identifier: Apache-2.0
#include "bigbird/genome/regions/assembly_fit.hpp"

#include "support/temp_dir.hpp"
#include "support/testing.hpp"

#include "bigbird/core/error.hpp"

#include <string>

using namespace bigbird;
using namespace bigbird::genome;
using namespace bigbird::testing;

namespace {

/// A genome of four contigs of 10 bases.
struct Genome {
    TempDir folder;
    std::unique_ptr<ReferenceGenome> reference;
    Genome() {
        std::string text;
        for (const char* name : {"1", "2", "3", "4"})
            text += ">" + std::string(name) + "\nACGTACGTAC\n";
        write_file(folder / "g.fa", text);
        reference = open_reference(folder / "g.fa");
    }
    bool fits(const AssemblyFit& fit, bool skip_invalid = false) const {
        try {
            require_assembly(fit, *reference, "rows.bed", "rows", skip_invalid);
            return true;
        } catch (const InputError&) {
            return false;
        }
    }
};

}  // namespace

DOCTEST_TEST_CASE("assembly_fit: a FASTA that is a part of the genome is no wrong assembly") {
    const Genome genome;
    AssemblyFit fit;
    fit.add({"chr1", 1, 2}, Fit::inside, *genome.reference);
    for (int i = 0; i < 100; ++i)
        fit.add({"chr9", 1, 2}, Fit::unknown_contig, *genome.reference);
    DOCTEST_CHECK_FALSE(genome.fits(fit));  // one of four contigs is named
    DOCTEST_CHECK(genome.fits(fit, true));
    fit.add({"2", 1, 2}, Fit::inside, *genome.reference);
    DOCTEST_CHECK(genome.fits(fit));  // two are
    for (int i = 0; i < 100; ++i)
        fit.add({"2", 11, 12}, Fit::past_end, *genome.reference);
    DOCTEST_CHECK(genome.fits(fit));  // 10 bases are the length of no known assembly's contig
}

DOCTEST_TEST_CASE("assembly_fit: above a fifth of REF mismatches it is another assembly") {
    const Genome genome;
    AssemblyFit fit;
    for (const char* contig : {"1", "2", "3", "4", "1"})
        fit.add({contig, 1, 2}, Fit::inside, *genome.reference);
    fit.ref_mismatch = 1;
    DOCTEST_CHECK(genome.fits(fit));
    AssemblyFit twice = fit;
    twice += fit;
    twice.ref_mismatch = 3;
    DOCTEST_CHECK(twice.rows == 10);
    DOCTEST_CHECK_FALSE(genome.fits(twice));
}

DOCTEST_TEST_CASE(
    "assembly_fit: rows past the end of a known assembly's contig are misfits, unless others fit up to it") {
    constexpr std::int64_t length = 51'304'566;  // GRCh37's 22
    const TempDir folder;
    write_file(folder / "22.sizes", "22\t" + std::to_string(length) + "\n");
    const std::filesystem::path sizes = folder / "22.sizes";
    const auto reference = open_contig_lengths({&sizes, 1});
    AssemblyFit fit;
    const auto fits = [&] {
        return message_of<InputError>([&] {
                   require_assembly(fit, *reference, "rows.bed", "rows", false);
                   throw InputError("fits");
               }) == "fits";
    };
    for (int i = 0; i < 50; ++i) {
        fit.add({"chr22", 17'000'000, 17'000'400}, Fit::inside, *reference);
        fit.add({"chr22", length, length + 400}, Fit::past_end, *reference);
    }
    DOCTEST_CHECK_FALSE(fits());
    fit.add({"chr22", length - 2000, length - 1600}, Fit::inside, *reference);
    DOCTEST_CHECK_FALSE(fits());
    AssemblyFit other;
    other.add({"chr22", length - 400, length}, Fit::inside, *reference);
    fit += other;
    DOCTEST_CHECK(fits());
}
