// SPDX-License-Identifier: Apache-2.0
#include "bigbird/rows/tss.hpp"

#include "support/captured_log.hpp"
#include "support/temp_dir.hpp"
#include "support/testing.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/genome/text/text_output.hpp"

#include <string>

using namespace bigbird;
using namespace bigbird::rows;

namespace {

/// "contig:base strand name", by line.
std::string sites_of(const std::string& text, const std::string& file = "tss.bed") {
    const testing::TempDir folder;
    genome::TextOutput out(folder / file, Overwrite::refuse);
    out.write(text);
    out.commit();
    std::string said;
    for (const genome::BedRecord& site : read_tss(folder / file)) {
        DOCTEST_CHECK(site.where.size() == 1);
        said += site.where.contig + ":" + std::to_string(site.where.begin) + " " +
                static_cast<char>(site.strand) + " " + site.name + "\n";
    }
    return said;
}

const std::string gtf =
    "#!genome-build GRCh38\n"
    "chr1\tHAVANA\tgene\t11\t90\t.\t+\t.\tgene_id \"E1\"; gene_name \"ONE\";\n"
    "chr1\tHAVANA\ttranscript\t11\t90\t.\t+\t.\tgene_id \"E1\"; transcript_id \"T1\"; gene_name \"ONE\";\n"
    "chr1\tHAVANA\texon\t11\t20\t.\t+\t.\tgene_id \"E1\"; transcript_id \"T1\"; gene_name \"ONE\";\n"
    "chr1\tHAVANA\ttranscript\t11\t50\t.\t+\t.\tgene_id \"E1\"; transcript_id \"T2\"; gene_name \"ONE\";\n"
    "chr1\tHAVANA\ttranscript\t31\t90\t.\t+\t.\tgene_id \"E1\"; transcript_id \"T3\"; gene_name \"ONE\";\n"
    "chr2\tHAVANA\ttranscript\t5\t40\t.\t-\t.\tgene_id \"E2\"; transcript_id \"T4\";\n";
const std::string of_gtf = "chr1:10 + ONE\nchr1:30 + ONE\nchr2:39 - E2\n";

}  // namespace

DOCTEST_TEST_CASE("tss: the first base of a BED row in the direction of transcription") {
    DOCTEST_CHECK(sites_of("1\t5\t9\ta\t0\t+\n1\t5\t9\tb\t0\t-\n") == "1:5 + a\n1:8 - b\n");
}

DOCTEST_TEST_CASE("tss: the transcripts of a GTF, each position once, named after their gene") {
    const testing::CapturedLog log;
    DOCTEST_CHECK(sites_of(gtf) == of_gtf);
    DOCTEST_CHECK(sites_of(gtf, "x.gtf.gz") == of_gtf);
    DOCTEST_CHECK(testing::holds(log.text(), "3 TSSs of 4 transcripts"));
}

DOCTEST_TEST_CASE("tss: GFF3 by its kinds of transcripts, up to its sequences") {
    DOCTEST_CHECK(sites_of("##gff-version 3\n"
                           "22\tensembl\tgene\t3\t70\t.\t-\t.\tID=gene:G;Name=TWO\n"
                           "22\tensembl\tmRNA\t3\t60\t.\t-\t.\tID=transcript:a;Parent=gene:G;Name=TWO-201\n"
                           "22\tensembl\tlnc_RNA\t9\t70\t.\t-\t.\tID=transcript:b;gene=LNC\n"
                           "22\tensembl\tpseudogenic_transcript\t4\t5\t.\t+\t.\tID=transcript:c\n"
                           "##FASTA\n>22\nACGT\n") == "22:59 - TWO-201\n22:69 - LNC\n22:3 + transcript:c\n");
}

DOCTEST_TEST_CASE("tss: genes where a file has no transcripts") {
    DOCTEST_CHECK(
        sites_of("1\tx\tgene\t3\t7\t.\t-\t.\tID=g1;Name=one\n1\tx\tncRNA_gene\t4\t7\t.\t+\t.\tID=g2\n"
                 "1\tx\tCDS\t3\t7\t.\t-\t0\tID=c\n") == "1:6 - one\n1:3 + g2\n");
}

DOCTEST_TEST_CASE("tss: bacteria's genes, of which only those of RNAs have a transcript") {
    const testing::CapturedLog log;
    DOCTEST_CHECK(sites_of("c\tRefSeq\tgene\t3\t7\t.\t+\t.\tID=gene0;Name=thrL\n"
                           "c\tRefSeq\tCDS\t3\t7\t.\t+\t0\tID=cds0;Parent=gene0\n"
                           "c\tRefSeq\tgene\t9\t20\t.\t-\t.\tID=gene1;Name=ileV\n"
                           "c\tRefSeq\ttRNA\t9\t18\t.\t-\t.\tID=rna1;Parent=gene1;gene=ileV\n"
                           "c\tRefSeq\tgene\t11\t30\t.\t+\t.\tID=gene2;Name=thrA\n"
                           "c\tRefSeq\tpseudogene\t40\t50\t.\t+\t.\tID=gene3\n") ==
                  "c:2 + thrL\nc:17 - ileV\nc:10 + thrA\n");
    DOCTEST_CHECK(testing::holds(log.text(), "3 TSSs of 1 transcript and 2 genes without one"));
}

DOCTEST_TEST_CASE("tss: what cannot be read is named with its line") {
    const auto refusal = [](const std::string& text) {
        return testing::message_of<InputError>([&] { sites_of(text); });
    };
    DOCTEST_CHECK(refusal("1\t5\t9\n").ends_with(":1: a TSS needs its strand, + or -, in column 6"));
    DOCTEST_CHECK(
        refusal("1\t5\t5\ta\t0\t+\n").ends_with("a TSS needs at least one base: end must lie behind start"));
    DOCTEST_CHECK(
        refusal(gtf + "1\tx\ttranscript\t9\t8\t.\t+\t.\ta\n").find(":8: columns 4 and 5 must be positions") !=
        std::string::npos);
    DOCTEST_CHECK(refusal(gtf + "1\tx\ttranscript\t8\t9\t.\t?\t.\ta\n")
                      .ends_with(":8: a TSS needs its strand, + or -, in column 7"));
    DOCTEST_CHECK(refusal(gtf + "1\t8\t9\n")
                      .ends_with(":8: GTF and GFF3 have nine columns, separated by tabs; this row has 3"));
    DOCTEST_CHECK(refusal("1\tx\texon\t8\t9\t.\t+\t.\ta\n").find("holds neither transcripts nor genes") !=
                  std::string::npos);
}
