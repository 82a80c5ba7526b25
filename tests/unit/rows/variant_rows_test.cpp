// SPDX-License-Identifier: Apache-2.0
#include "bigbird/rows/variant_rows.hpp"

#include "support/captured_log.hpp"
#include "support/temp_dir.hpp"
#include "support/testing.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/genome/text/text_input.hpp"
#include "bigbird/rows/text_fields.hpp"

#include <cmath>
#include <map>

using namespace bigbird;
using namespace bigbird::testing;
using rows::RowStatus;
using rows::TssIndex;
using rows::VariantRow;

namespace {

std::vector<VariantRow> read_rows(const std::filesystem::path& path, const genome::ReferenceGenome& reference,
                                  std::int64_t window, const TssIndex* tss = nullptr) {
    rows::VariantRows source(path, reference, window, tss);
    std::vector<VariantRow> rows;
    while (auto row = source.next()) {
        source.fill(*row);
        source.settle(*row);
        rows.push_back(std::move(*row));
    }
    source.report(false, true);
    return rows;
}

const std::string vcf_head = "##fileformat=VCFv4.2\n#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\n";

class Small {
public:
    std::vector<VariantRow> read(const std::string& body) const {
        write_file(folder_ / "v.vcf", vcf_head + body);
        return read_rows(folder_ / "v.vcf", *genome_, 8);
    }

private:
    TempDir folder_;
    std::unique_ptr<genome::ReferenceGenome> genome_ =
        genome::in_memory_genome({{"1", "ACGTACGTACNNGGGGGTTTTT" + std::string(40, 'N')}});
};

std::string statuses(const std::vector<VariantRow>& rows) {
    std::string text;
    for (const VariantRow& row : rows)
        text += std::string(to_string(row.status)) + " ";
    return text;
}

}  // namespace

DOCTEST_TEST_CASE("variant_rows: alternative windows are what bcftools consensus makes of the genome") {
    const auto genome = genome::open_reference(test_data("genome/22.fa.gz"));
    const std::vector<VariantRow> rows = read_rows(test_data("variants/1000g.chr22.vcf.gz"), *genome, 400);
    std::map<std::string, const VariantRow*> by_place;
    for (const VariantRow& row : rows)
        by_place[std::to_string(row.position + 1) + row.ref + row.alt] = &row;
    genome::TextInput text(test_data("variants/windows.tsv"));
    std::string line;
    text.next(line);
    std::int64_t checked = 0;
    while (text.next(line)) {
        const auto fields = rows::split_fields(line, '\t');
        const auto found =
            by_place.find(std::string(fields[0]) + std::string(fields[1]) + std::string(fields[2]));
        DOCTEST_REQUIRE(found != by_place.end());
        const VariantRow& row = *found->second;
        DOCTEST_CHECK(row.status == RowStatus::ok);
        DOCTEST_CHECK(row.ref_sequence.size() == 400);
        DOCTEST_CHECK(row.alt_sequence.size() == 400);
        DOCTEST_CHECK(row.alt_sequence.substr(static_cast<std::size_t>(row.offset) - 60, 200) == fields[3]);
        ++checked;
    }
    DOCTEST_CHECK(checked == 110);
}

DOCTEST_TEST_CASE("variant_rows: windows of both alleles begin alike and have one length") {
    const Small small;
    const auto rows = small.read(
        "1\t6\ts\tC\tG\n"         // SNV
        "1\t6\ti\tC\tCTT,CT\n"    // two insertions
        "chr1\t5\td\tacg\ta\n");  // deletion, by an alias, in lower case
    DOCTEST_REQUIRE(rows.size() == 4);
    DOCTEST_CHECK(rows[0].ref_sequence == "CGTACGTA");
    DOCTEST_CHECK(rows[0].alt_sequence == "CGTAGGTA");
    DOCTEST_CHECK(rows[1].alt_sequence == "CGTACTTG");
    DOCTEST_CHECK(rows[2].alt_sequence == "CGTACTGT");
    DOCTEST_CHECK(rows[3].ref_sequence == "CGTACGTA");
    DOCTEST_CHECK(rows[3].alt_sequence == "CGTATACN");
    DOCTEST_CHECK(statuses(rows) == "ok ok ok has_n ");
}

DOCTEST_TEST_CASE("variant_rows: what cannot be scored is marked and counted") {
    const Small small;
    const CapturedLog log;
    const auto rows = small.read(
        "1\t6\t.\tA\tG\n"
        "1\t6\t.\tC\t<DEL>,*,G,DEL,INS,I,r\n"
        "1\t6\t.\tC\t.\n"
        "2\t6\t.\tC\tG\n"
        "1\t62\t.\tNN\tG\n"
        "1\t0\t.\tN\tG\n"
        "1\t6\t.\tN\tG\n"
        "1\t6\t.\tY\tG\n"
        "1\t6\t.\tC\tGGGGG\n"
        "1\t40\t.\tA\tG\n"
        "1\t2\t.\tC\tG\n");
    DOCTEST_CHECK(statuses(rows) ==
                  "ref_mismatch symbolic symbolic ok symbolic symbolic symbolic has_n no_alt no_contig "
                  "past_end past_end ref_mismatch "
                  "ref_mismatch too_long has_n padded ");
    DOCTEST_CHECK(std::isnan(rows[0].n_fraction));
    DOCTEST_CHECK(
        testing::holds(log.text(),
                       "v.vcf: 3 of 17 rows are ref_mismatch and have no scores (whose REF is not the "
                       "reference's; the first: 1:6 A, where the reference has C)"));
}

DOCTEST_TEST_CASE("variant_rows: windows and offsets do not depend on how a variant is written") {
    const Small small;
    // A C G T A C G T A C N N G G G G G T T T T T; what bcftools norm -f makes of each comes first.
    for (const auto& [norm, others] : std::map<std::string, std::vector<std::string>>{
             {"1\t12\t.\tNG\tN", {"1\t13\t.\tGG\tG", "1\t16\t.\tGG\tG", "1\t14\t.\tGGGGT\tGGGT"}},
             {"1\t17\t.\tG\tA", {"1\t15\t.\tGGGTT\tGGATT", "1\t17\t.\tGTT\tATT"}},
             {"1\t8\t.\tT\tTAC", {"1\t10\t.\tC\tCAC", "1\t9\t.\tA\tACA", "1\t8\t.\tTA\tTACA"}},
             {"1\t1\t.\tACGT\tA", {"1\t1\t.\tACGTA\tAA"}}}) {
        const VariantRow first = small.read(norm + "\t.\t.\t.\n").front();
        for (const std::string& other : others) {
            const VariantRow row = small.read(other + "\t.\t.\t.\n").front();
            DOCTEST_CAPTURE(other);
            DOCTEST_CHECK(row.ref_sequence == first.ref_sequence);
            DOCTEST_CHECK(row.alt_sequence == first.alt_sequence);
            DOCTEST_CHECK(row.offset == first.offset);
            DOCTEST_CHECK(row.substitution == first.substitution);
        }
    }
}

DOCTEST_TEST_CASE(
    "variant_rows: N in the reference agrees with any base, and the allele stands in its place") {
    const Small small;
    const auto rows = small.read("1\t11\t.\tA\tG\n1\t50\t.\tN\tN\n");
    DOCTEST_CHECK(statuses(rows) == "has_n all_n ");
    DOCTEST_CHECK(rows[0].ref_sequence == "GTACANGG");
    DOCTEST_CHECK(rows[0].alt_sequence == "GTACGNGG");
    DOCTEST_CHECK(rows[0].n_fraction == 0.125);
}

DOCTEST_TEST_CASE("variant_rows: a VCF of another assembly is an error, an empty one is not") {
    const Small small;
    const CapturedLog log;
    DOCTEST_CHECK(
        testing::holds(message_of<InputError>([&] { small.read("7\t6\t.\tC\tG\n8\t6\t.\tC\tG\n"); }),
                       "none of its contigs is in the reference"));
    DOCTEST_CHECK(small.read("").empty());
    DOCTEST_CHECK(testing::holds(log.text(), "holds no variants"));
}

DOCTEST_TEST_CASE("variant_rows: about a TSS, which keeps its place, on its strand") {
    const TempDir folder;
    const auto genome = genome::in_memory_genome({{"1", "AACCGGTTACGTACGTTTGACA"}});
    write_file(folder / "tss.bed", "1\t10\t11\tp\t.\t+\n");
    const rows::TssIndex plus(folder / "tss.bed", *genome, {-6, 4});
    write_file(folder / "tss.bed", "1\t10\t11\tm\t.\t-\n");
    const rows::TssIndex minus(folder / "tss.bed", *genome, {-6, 4});
    const auto rows_of = [&](const rows::TssIndex& tss, const std::string& body) {
        write_file(folder / "v.vcf", vcf_head + body);
        return read_rows(folder / "v.vcf", *genome, 10, &tss);
    };
    // + : the window is [4, 14), GGTTACGTAC
    const auto forward =
        rows_of(plus,
                "1\t6\t.\tG\tT\t.\t.\t.\n1\t6\t.\tGTT\tG\t.\t.\t.\n"
                "1\t6\t.\tG\tGCC\t.\t.\t.\n1\t13\t.\tAC\tA\t.\t.\t.\n1\t20\t.\tA\tT\t.\t.\t.\n");
    DOCTEST_REQUIRE(forward.size() == 5);
    DOCTEST_CHECK(forward[0].ref_sequence == "GGTTACGTAC");
    DOCTEST_CHECK(forward[0].alt_sequence == "GTTTACGTAC");
    DOCTEST_CHECK(forward[0].tss == "p");
    DOCTEST_CHECK(forward[1].alt_sequence == "CCGGACGTAC");  // taken from the left: the TSS stays
    DOCTEST_CHECK(forward[1].ref_sequence == "GGTTACGTAC");
    DOCTEST_CHECK(forward[2].alt_sequence == "CCTTACGTAC");
    DOCTEST_CHECK(forward[3].alt_sequence == "GGTTACGTAG");  // taken from the right
    DOCTEST_CHECK(forward[4].status == RowStatus::no_tss);
    // - : the window is [7, 17), TACGTACGTT, reverse-complemented
    const auto reverse = rows_of(minus, "1\t9\t.\tA\tC\t.\t.\t.\n");
    DOCTEST_CHECK(reverse[0].ref_sequence == "AACGTACGTA");
    DOCTEST_CHECK(reverse[0].alt_sequence == "AACGTACGGA");
}

DOCTEST_TEST_CASE("tss_index: the nearest TSS whose window holds the interval") {
    const TempDir folder;
    const auto genome =
        genome::in_memory_genome({{"1", std::string(1000, 'A')}, {"2", std::string(50, 'A')}});
    write_file(folder / "t.bed",
               "chr1\t300\t301\tb\t.\t+\n1\t100\t101\ta\t.\t-\n1\t320\t321\t.\t.\t-\n3\t1\t2\tx\t.\t+\n");
    const TssIndex index(folder / "t.bed", *genome, {-50, 10});
    // a: [91, 151), b: [250, 310), the third [311, 371)
    DOCTEST_CHECK(index.nearest(0, 150, 151)->name == "a");
    DOCTEST_CHECK(index.nearest(0, 151, 152) == nullptr);
    DOCTEST_CHECK(index.nearest(0, 250, 251)->name == "b");
    DOCTEST_CHECK(index.nearest(0, 309, 310)->name == "b");
    DOCTEST_CHECK(index.nearest(0, 309, 312) == nullptr);
    DOCTEST_CHECK(index.nearest(0, 311, 312)->name == "1:321");
    DOCTEST_CHECK(index.nearest(1, 1, 2) == nullptr);
}

DOCTEST_TEST_CASE("tss_index: rows that cannot be") {
    const TempDir folder;
    const auto genome = genome::in_memory_genome({{"1", std::string(10, 'A')}});
    const auto message = [&](const std::string& bed) {
        write_file(folder / "t.bed", bed);
        return message_of<InputError>([&] { TssIndex(folder / "t.bed", *genome, {-5, 5}); });
    };
    const std::string file = (folder / "t.bed").string();
    DOCTEST_CHECK(message("1\t3\t4\n") == file + ":1: a TSS needs its strand, + or -, in column 6");
    DOCTEST_CHECK(message("1\t30\t31\tx\t.\t+\n") == file + ": no TSS is on the reference");
}
