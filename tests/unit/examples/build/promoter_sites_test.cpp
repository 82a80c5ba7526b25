// SPDX-License-Identifier: Apache-2.0
#include "bigbird/examples/build/promoter_sites.hpp"

#include "support/captured_log.hpp"
#include "support/temp_dir.hpp"
#include "support/testing.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/genome/regions/bed.hpp"

#include <algorithm>

using namespace bigbird;
using namespace bigbird::examples;
using genome::Strand;
namespace fs = std::filesystem;

namespace {

std::vector<std::string> sorted_places(const std::vector<genome::BedRecord>& records) {
    std::vector<std::string> places;
    for (const genome::BedRecord& record : records)
        places.push_back(genome::to_string(record.where) + record.name + static_cast<char>(record.strand));
    std::sort(places.begin(), places.end());
    return places;
}

std::unique_ptr<genome::ReferenceGenome> small_genome() {
    return genome::in_memory_genome({{"1", std::string(1000, 'A')}});
}

}  // namespace

DOCTEST_TEST_CASE("promoter_sites: EPDnew lifted to hg19 as pyliftover lifts it") {
    const testing::TempDir folder;
    const auto reference = genome::open_reference(testing::test_data("genome/22.fa.gz"));
    const PromoterSites found = read_promoter_sites(testing::test_data("promoter/tss.hg38.bed.gz"),
                                                    testing::test_data("promoter/hg38ToHg19.chr22.chain.gz"),
                                                    *reference, folder.path());
    DOCTEST_CHECK(found.counts.read == 116);
    DOCTEST_CHECK(found.counts.unmapped == 3);
    DOCTEST_CHECK(found.counts.left_out.past_end == 5);
    DOCTEST_CHECK(found.sites.size() == 108);
    DOCTEST_CHECK(sorted_places(genome::read_bed(folder / "lifted.bed")) ==
                  sorted_places(genome::read_bed(testing::test_data("promoter/tss.hg19.bed"))));
    // The chain file is cut to 22.
    DOCTEST_CHECK(testing::read_file(folder / "unmapped.bed") ==
                  "chr7\t142560432\t142560433\tTCRB_1\t1\t+\tno_chains\n"
                  "chr7\t142563746\t142563747\tTCR8_1\t1\t+\tno_chains\n"
                  "chr9\t66179449\t66179450\tANKRD20A3_1\t1\t-\tno_chains\n");
    DOCTEST_CHECK(found.sites.front().contig == "22");
}

DOCTEST_TEST_CASE("promoter_sites: a chain to another assembly is told of, a slice of the assembly is not") {
    const testing::TempDir folder;
    testing::write_file(folder / "t.bed", "chr1\t10\t11\ta\t1\t+\nchr1\t12\t13\tb\t1\t+\n");
    const auto genome = small_genome();  // 1,000 bases
    const auto said = [&](const std::string& length) {
        testing::write_file(folder / "c.chain",
                            "chain 9 chr1 900 + 0 500 chr1 " + length + " + 100 600 1\n500\n\n");
        const testing::CapturedLog log;
        const PromoterSites found =
            read_promoter_sites(folder / "t.bed", folder / "c.chain", *genome, folder.path());
        DOCTEST_CHECK(found.sites.front().tss == 110);
        fs::remove(folder / "lifted.bed");
        fs::remove(folder / "unmapped.bed");
        return log.text();
    };
    const std::string question = "is it a chain to another assembly?";
    DOCTEST_CHECK(said("1000").find(question) == std::string::npos);
    DOCTEST_CHECK(said("2000").find(question) == std::string::npos);
    for (const char* length : {"990", "1010", "600"}) {
        const std::string log = said(length);
        DOCTEST_CHECK(log.find((folder / "c.chain").string() + ": its contig chr1 has " + length +
                               " bases, the reference's 1000; " + question) != std::string::npos);
        DOCTEST_CHECK(log.find(question) == log.rfind(question));  // once a contig
    }
}

DOCTEST_TEST_CASE("promoter_sites: the TSS is a row's first base in the direction of transcription") {
    const testing::TempDir folder;
    testing::write_file(folder / "t.bed",
                        "chr1\t10\t70\ta\t1\t+\nchr1\t10\t70\tb\t1\t-\nchr1\t20\t21\t.\t1\t-\n"
                        "chr1\t10\t11\ta\t9\t+\nX\t1\t2\tx\t1\t+\nchr1\t999\t1001\ty\t1\t-\n");
    const auto genome = small_genome();
    const PromoterSites found = read_promoter_sites(folder / "t.bed", std::nullopt, *genome, folder.path());
    DOCTEST_REQUIRE(found.sites.size() == 3);
    DOCTEST_CHECK(found.sites[0].tss == 10);
    DOCTEST_CHECK(found.sites[1].tss == 69);
    DOCTEST_CHECK(found.sites[1].strand == Strand::reverse);
    DOCTEST_CHECK(found.sites[2].name == "1:20-");
    DOCTEST_CHECK(found.counts.repeated == 1);
    DOCTEST_CHECK(found.counts.left_out.unknown_contig == 1);
    DOCTEST_CHECK(found.counts.left_out.past_end == 1);
}

DOCTEST_TEST_CASE("promoter_sites: a row without strand or base, or nothing on the reference, is an error") {
    const testing::TempDir folder;
    const auto genome = small_genome();
    const auto message = [&](const std::string& bed) {
        testing::write_file(folder / "t.bed", bed);
        return testing::message_of<InputError>(
            [&] { read_promoter_sites(folder / "t.bed", std::nullopt, *genome, folder.path()); });
    };
    const std::string file = (folder / "t.bed").string();
    DOCTEST_CHECK(message("1\t1\t2\ta\n") == file + ":1: a TSS needs its strand, + or -, in column 6");
    DOCTEST_CHECK(message("#x\n1\t2\t2\ta\t.\t+\n").starts_with(file + ":2: a TSS needs at least one base"));
    DOCTEST_CHECK(message("") == file + ": holds no TSSs");
    DOCTEST_CHECK(
        message("2\t1\t2\ta\t.\t+\n") ==
        file +
            ": none of its 1 TSSs lies on the reference; give TSSs of the same assembly, or a --chain to it");
}
