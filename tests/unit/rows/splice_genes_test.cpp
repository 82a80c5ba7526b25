// SPDX-License-Identifier: Apache-2.0
#include "bigbird/rows/splice_genes.hpp"

#include "support/temp_dir.hpp"
#include "support/testing.hpp"

#include "bigbird/core/error.hpp"

using namespace bigbird;
using namespace bigbird::testing;
using rows::SpliceGene;
using Exons = std::vector<SpliceGene::Exon>;

namespace {

constexpr const char* table_header = "#NAME\tCHROM\tSTRAND\tTX_START\tTX_END\tEXON_START\tEXON_END\n";

std::vector<SpliceGene> genes_of(const std::string& text) {
    const TempDir folder;
    write_file(folder / "genes", text);
    return rows::read_splice_genes(folder / "genes");
}

std::string refusal_of_genes(const std::string& text) {
    return message_of<InputError>([&] { genes_of(text); });
}

/// 200 bases with introns [20, 60) and [80, 120) of the plus strand.
std::string spliced_sequence() {
    std::string dna(200, 'C');
    for (const std::size_t begin : {std::size_t{20}, std::size_t{80}})
        dna.replace(begin, 2, "GT").replace(begin + 38, 2, "AG");
    return dna;
}

}  // namespace

DOCTEST_TEST_CASE("splice genes: SpliceAI's table, its lists with and without a trailing comma") {
    const auto genes = genes_of(std::string(table_header) + "A\t1\t+\t10\t150\t10,60,120,\t20,80,150,\n" +
                                "B\tchr2\t-\t0\t9\t0\t9\nC\t1\t-\t5\t30\t20,5\t30,10\n");
    DOCTEST_REQUIRE(genes.size() == 3);
    DOCTEST_CHECK(genes[0].name == "A");
    DOCTEST_CHECK(genes[0].exons == Exons{{10, 20}, {60, 80}, {120, 150}});
    DOCTEST_CHECK(genes[0].boundaries() == std::vector<std::int64_t>{10, 19, 60, 79, 120, 149});
    DOCTEST_CHECK(genes[0].acceptors() == std::vector<std::int64_t>{60, 120});
    DOCTEST_CHECK(genes[0].donors() == std::vector<std::int64_t>{19, 79});
    DOCTEST_CHECK(genes[1].contig == "chr2");
    DOCTEST_CHECK(genes[1].reverse());
    DOCTEST_CHECK(genes[1].exons == Exons{{0, 9}});
    DOCTEST_CHECK(genes[2].exons == Exons{{5, 10}, {20, 30}});
    DOCTEST_CHECK(genes[2].acceptors() == std::vector<std::int64_t>{9});
    DOCTEST_CHECK(genes[2].donors() == std::vector<std::int64_t>{20});
}

DOCTEST_TEST_CASE("splice genes: one transcript a gene of a GTF, the canonical one or the longest") {
    const std::string of_a = "gene_id \"G1\"; gene_name \"AAA\"; ", of_b = "gene_id \"G2\"; ";
    const auto row = [](const std::string& type, int begin, int end, const std::string& text) {
        return "1\tx\t" + type + "\t" + std::to_string(begin) + "\t" + std::to_string(end) + "\t.\t+\t.\t" +
               text + "\n";
    };
    const std::string a_long = of_a + "transcript_id \"T1\"; ", a_canonical = of_a + "transcript_id \"T2\"; ",
                      b_short = of_b + "transcript_id \"T3\"; ", b_long = of_b + "transcript_id \"T4\"; ";
    const std::string gtf =
        "#!genome\n" + row("gene", 1, 200, of_a) + row("transcript", 1, 200, a_long + "tag \"basic\";") +
        row("exon", 1, 100, a_long) + row("exon", 151, 200, a_long) +
        row("transcript", 11, 60, a_canonical + "tag \"basic\"; tag \"Ensembl_canonical\";") +
        row("exon", 51, 60, a_canonical) + row("exon", 11, 20, a_canonical) + row("exon", 1, 90, b_short) +
        row("exon", 5, 14, b_long) + row("exon", 21, 120, b_long) + row("CDS", 21, 30, b_long);
    const auto genes = genes_of(gtf);
    DOCTEST_REQUIRE(genes.size() == 2);
    DOCTEST_CHECK(genes[0].name == "AAA");
    DOCTEST_CHECK(genes[0].exons == Exons{{10, 20}, {50, 60}});
    DOCTEST_CHECK(genes[0].begin == 10);
    DOCTEST_CHECK(genes[0].end == 60);
    DOCTEST_CHECK(genes[1].name == "G2");
    DOCTEST_CHECK(genes[1].exons == Exons{{4, 14}, {20, 120}});
}

DOCTEST_TEST_CASE("splice genes: GFF3 of Ensembl and NCBI") {
    const auto row = [](const std::string& type, int begin, int end, const std::string& text) {
        return "1\tx\t" + type + "\t" + std::to_string(begin) + "\t" + std::to_string(end) + "\t.\t-\t.\t" +
               text + "\n";
    };
    const std::string gff =
        "##gff-version 3\n" + row("gene", 1, 90, "ID=gene:G1;Name=AAA;gene_id=G1") +
        row("mRNA", 1, 90, "ID=transcript:T1;Parent=gene:G1;Name=AAA-201;tag=basic") +
        row("exon", 1, 90, "Parent=transcript:T1;Name=E1") +
        row("mRNA", 5, 40, "ID=transcript:T2;Parent=gene:G1;tag=basic,Ensembl_canonical") +
        row("exon", 5, 10, "Parent=transcript:T2") + row("exon", 31, 40, "Parent=transcript:T2") +
        row("pseudogene", 100, 120, "ID=gene-B;Name=B;gene=B") +
        row("exon", 100, 120, "ID=x;Parent=gene-B;gene=B") + "##FASTA\n>1\nACGT\n";
    const auto genes = genes_of(gff);
    DOCTEST_REQUIRE(genes.size() == 2);
    DOCTEST_CHECK(genes[0].name == "AAA");
    DOCTEST_CHECK(genes[0].exons == Exons{{4, 10}, {30, 40}});
    DOCTEST_CHECK(genes[0].reverse());
    DOCTEST_CHECK(genes[1].name == "B");
    DOCTEST_CHECK(genes[1].exons == Exons{{99, 120}});
}

DOCTEST_TEST_CASE("splice genes: malformed files end with their line") {
    const std::string header = table_header;
    DOCTEST_CHECK(holds(refusal_of_genes("1\t2\t3\n"), "genes:1: is no row of GTF or GFF3, nor the header"));
    DOCTEST_CHECK(holds(refusal_of_genes(header + "A\t1\t+\t10\n"), "genes:2: a gene has seven columns"));
    DOCTEST_CHECK(holds(refusal_of_genes(header + "A\t1\t?\t10\t20\t10,\t20,\n"), "needs its strand"));
    DOCTEST_CHECK(holds(refusal_of_genes(header + "A\t1\t+\t10\tx\t10,\t20,\n"), "'x' is no position"));
    DOCTEST_CHECK(holds(refusal_of_genes(header + "A\t1\t+\t10\t20\t10,\t15,20,\n"), "different lengths"));
    DOCTEST_CHECK(holds(refusal_of_genes(header + "A\t1\t+\t10\t20\t10,\t10,\n"), "before ends"));
    DOCTEST_CHECK(holds(refusal_of_genes(header), "holds no genes"));
    DOCTEST_CHECK(holds(refusal_of_genes("1\tx\tgene\t1\t9\t.\t+\t.\tgene_id \"G\";\n"), "holds no exons"));
}

DOCTEST_TEST_CASE("splice genes: found by position, in the order of the file, by any name of the contig") {
    const TempDir folder;
    write_file(folder / "genes",
               std::string(table_header) +
                   "B\tchr1\t+\t50\t150\t50,120,\t80,150,\nA\t1\t+\t0\t200\t0,60,120\t20,80,"
                   "200\nC\t7\t+\t0\t9\t0\t9\n");
    const auto genome = genome::in_memory_genome({{"1", spliced_sequence()}});
    const rows::SpliceGenes genes(folder / "genes", *genome);
    DOCTEST_CHECK(genes.at(0, 49) == std::vector<std::size_t>{1});
    DOCTEST_CHECK(genes.at(0, 50) == std::vector<std::size_t>{0, 1});
    DOCTEST_CHECK(genes.at(0, 149) == std::vector<std::size_t>{0, 1});
    DOCTEST_CHECK(genes.at(0, 150) == std::vector<std::size_t>{1});
    DOCTEST_CHECK(genes.at(0, 200).empty());
}

DOCTEST_TEST_CASE("splice genes: an annotation of another assembly is refused") {
    const TempDir folder;
    const auto genes = [&](const std::string& rows, const std::string& dna, bool skip_invalid = false) {
        write_file(folder / "genes", table_header + rows);
        const auto genome = genome::in_memory_genome({{"1", dna}});
        return rows::SpliceGenes(folder / "genes", *genome, skip_invalid).genes().size();
    };
    const std::string row = "A\t1\t+\t0\t200\t0,60,120\t20,80,200\n";
    DOCTEST_CHECK(genes(row, spliced_sequence()) == 1);
    DOCTEST_CHECK(genes("A\t1\t-\t0\t200\t0,60,120\t20,80,200\n",
                        genome::reverse_complement(std::string(120, 'A') + "GT" + std::string(36, 'A') +
                                                   "AG" + "GT" + std::string(36, 'A') + "AG")) == 1);
    const std::string other = spliced_sequence().replace(20, 2, "GC");
    DOCTEST_CHECK(message_of<InputError>([&] { genes(row, other); }).find("1 of 2 introns") !=
                  std::string::npos);
    DOCTEST_CHECK(genes(row, other, true) == 1);
    DOCTEST_CHECK(holds(message_of<InputError>([&] { genes(row, std::string(90, 'C')); }), "2 of 2 introns"));
    std::string gap = spliced_sequence();
    gap.replace(20, 40, std::string(40, 'N'));  // a gap says nothing
    DOCTEST_CHECK(genes(row, gap) == 1);
    DOCTEST_CHECK(holds(message_of<InputError>([&] { genes("A\t2\t+\t0\t9\t0\t9\n", gap); }),
                        "none of its genes is on a contig of the reference"));
}
