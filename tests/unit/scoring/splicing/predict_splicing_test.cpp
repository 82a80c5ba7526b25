// SPDX-License-Identifier: Apache-2.0
#include "bigbird/scoring/splicing/predict_splicing.hpp"

#include "support/temp_dir.hpp"
#include "support/testing.hpp"
#include "unit/scoring/splicing/fake_model.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/parts/part_set.hpp"
#include "bigbird/genome/regions/variant_reader.hpp"
#include "bigbird/outputs/merge/merge_scores.hpp"

#include <algorithm>
#include <filesystem>

using namespace bigbird;
using namespace bigbird::splicing;
using namespace bigbird::testing;
namespace fs = std::filesystem;

namespace {

constexpr const char* fileformat = "##fileformat=VCFv4.2\n";
constexpr const char* columns = "#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\n";
constexpr const char* format = "Format: ALLELE|SYMBOL|DS_AG|DS_AL|DS_DG|DS_DL|DP_AG|DP_AL|DP_DG|DP_DL\">\n";

/// A donor at the base before GT: 0.75; no acceptors.
std::vector<float> donors_before_gt(std::span<const std::uint8_t> bases, std::int64_t) {
    return {0, 0, bases[3] == 2 && bases[4] == 3 ? 0.75F : 0.0F};
}

class SplicedFiles {
public:
    SplicedFiles() {
        dna_ = std::string(40, 'A') + "GT" + std::string(36, 'A') + "AG" + std::string(120, 'A');
        write_file(folder_ / "genome.fa", ">1\n" + dna_ + "\n>2\n" + std::string(200, 'A') + "\n");
        write_file(folder_ / "genes.tsv",
                   "#NAME\tCHROM\tSTRAND\tTX_START\tTX_END\tEXON_START\tEXON_END\n"
                   "ONE\t1\t+\t20\t180\t20,80,\t40,180,\nTWO\t1\t+\t30\t50\t30,\t50,\n");
        model.set(donors_before_gt);
    }
    fs::path operator/(const std::string& name) const { return folder_ / name; }
    /// A record of contig 1, by its position from 1.
    std::string row(int position, const std::string& alts) const {
        return "chr1\t" + std::to_string(position) + "\t.\t" + dna_[static_cast<std::size_t>(position - 1)] +
               "\t" + alts + "\t.\t.\t.\n";
    }
    tasks::VariantSpec spec(const std::string& body, const std::string& output,
                            const std::string& header = "##contig=<ID=chr1>\n##contig=<ID=2>\n") const {
        write_file(folder_ / "in.vcf", fileformat + header + columns + body);
        tasks::VariantSpec spec;
        spec.variants = folder_ / "in.vcf";
        spec.references = {folder_ / "genome.fa"};
        spec.annotation = folder_ / "genes.tsv";
        spec.outputs.paths = {folder_ / output};
        spec.outputs.overwrite = Overwrite::allow;
        spec.splicing = true;
        spec.distance = 5;
        spec.threads = 1;
        return spec;
    }
    /// The records of the VCF that a run writes.
    std::string records(const tasks::VariantSpec& spec) const {
        predict_splicing(spec, model);
        const std::string text = read_file(spec.outputs.paths.front());
        return text.substr(text.find(columns) + std::string(columns).size());
    }

    FakeModel model;

private:
    TempDir folder_;
    std::string dna_;
};

}  // namespace

DOCTEST_TEST_CASE("predict splicing: every record in order, an entry per allele and gene, nothing stale") {
    const SplicedFiles fixture;
    const std::string stale =
        "##INFO=<ID=SpliceAI,Number=1,Type=Integer,Description=\"old\">\n##contig=<ID=chr1>\n";
    const auto spec = fixture.spec(
        "chr1\t42\ta\tT\tC,G\t9.5\tPASS\tDP=3;SpliceAI=7\n"
        "chr1\t41\tb\tG\t<DEL>,A\t.\t.\tSpliceAI=8\n"
        "chr1\t41\tc\tGT\tAA,G\t.\t.\t.\n"
        "chr1\t100\td\tA\t.\t.\t.\tSpliceAI=9\n"
        "chr1\t190\te\tA\tC\t.\t.\tSpliceAI=9;END=190\n"
        "chr1\t100\tf\tC\tA\t.\t.\t.\n"
        "7\t100\tg\tC\tA\t.\t.\tSpliceAI=5\n",
        "out.vcf", stale);
    DOCTEST_CHECK(fixture.records(spec) ==
                  "chr1\t42\ta\tT\tC,G\t9.5\tPASS\tDP=3;SpliceAI=C|ONE|0.00|0.00|0.00|0.75|-5|-5|-5|-2,"
                  "C|TWO|0.00|0.00|0.00|0.75|-5|-5|-5|-2,G|ONE|0.00|0.00|0.00|0.75|-5|-5|-5|-2,"
                  "G|TWO|0.00|0.00|0.00|0.75|-5|-5|-5|-2\n"
                  "chr1\t41\tb\tG\t<DEL>,A\t.\t.\tSpliceAI=A|ONE|0.00|0.00|0.00|0.75|-5|-5|-5|-1,"
                  "A|TWO|0.00|0.00|0.00|0.75|-5|-5|-5|-1\n"
                  "chr1\t41\tc\tGT\tAA,G\t.\t.\tSpliceAI=AA|ONE|.|.|.|.|.|.|.|.,AA|TWO|.|.|.|.|.|.|.|.,"
                  "G|ONE|0.00|0.00|0.00|0.75|-5|-5|-5|-1,G|TWO|0.00|0.00|0.00|0.75|-5|-5|-5|-1\n"
                  "chr1\t100\td\tA\t.\t.\t.\t.\n"
                  "chr1\t190\te\tA\tC\t.\t.\tEND=190\n"
                  "chr1\t100\tf\tC\tA\t.\t.\t.\n"
                  "7\t100\tg\tC\tA\t.\t.\t.\n");
    const std::string text = read_file(fixture / "out.vcf");
    DOCTEST_CHECK(holds(text, "\n##INFO=<ID=SpliceAI,Number=.,Type=String,Description=\"bigbird-dna "));
    DOCTEST_CHECK(holds(text, ", mode spliceai, weights of SpliceAI with SHA-256 0123456789ab: "));
    DOCTEST_CHECK(holds(text, format));
    DOCTEST_CHECK(holds(text, "\n##bigbird-dna_distance=5\n"));
    DOCTEST_CHECK_FALSE(holds(text, "\"old\""));
    DOCTEST_CHECK_FALSE(holds(text, "SpliceAI_STATUS"));
}

DOCTEST_TEST_CASE("predict splicing: statuses in INFO, counts in the report") {
    const SplicedFiles fixture;
    auto spec = fixture.spec(
        "chr1\t42\ta\tT\tC,<DEL>\t.\t.\tSpliceAI_STATUS=old\n"
        "chr1\t100\td\tA\t.\t.\t.\t.\n"
        "2\t100\te\tA\tC\t.\t.\t.\n",
        "out.vcf");
    spec.quantities = "status";
    DOCTEST_CHECK(fixture.records(spec) ==
                  "chr1\t42\ta\tT\tC,<DEL>\t.\t.\tSpliceAI_STATUS=C|ok,<DEL>|symbolic;SpliceAI=C|ONE|0.00|0."
                  "00|0.00|0.75|-5|-5|-5|-2,"
                  "C|TWO|0.00|0.00|0.00|0.75|-5|-5|-5|-2\n"
                  "chr1\t100\td\tA\t.\t.\t.\tSpliceAI_STATUS=.|no_alt\n"
                  "2\t100\te\tA\tC\t.\t.\tSpliceAI_STATUS=C|no_gene\n");
    const SpliceReport report = predict_splicing(spec, fixture.model);
    DOCTEST_CHECK(report.records == 3);
    DOCTEST_CHECK(describe(report) == "1 of 4 alleles scored; no_alt 1, no_gene 1, symbolic 1");
}

DOCTEST_TEST_CASE("predict splicing: the modes and the mask differ") {
    const SplicedFiles fixture;
    auto spec = fixture.spec(
        "chr1\t42\ta\tT\tC\t.\t.\t.\nchr1\t41\tc\tGT\tAA\t.\t.\t.\n"
        "chr1\t37\tc\tAAAAGTAAAA\tA\t.\t.\t.\n",
        "out.vcf");
    fs::remove(fixture / "genes.tsv");
    write_file(fixture / "genes.tsv",
               "#NAME\tCHROM\tSTRAND\tTX_START\tTX_END\tEXON_START\tEXON_END\n"
               "ONE\t1\t+\t20\t180\t20,80,\t40,180,\n");
    spec.mask = true;
    // The nearest end of an exon is base 40: the loss there stays.
    DOCTEST_CHECK(fixture.records(spec) ==
                  "chr1\t42\ta\tT\tC\t.\t.\tSpliceAI=C|ONE|0.00|0.00|0.00|0.75|-5|-5|-5|-2\n"
                  "chr1\t41\tc\tGT\tAA\t.\t.\tSpliceAI=AA|ONE|.|.|.|.|.|.|.|.\n"
                  "chr1\t37\tc\tAAAAGTAAAA\tA\t.\t.\tSpliceAI=A|ONE|0.00|0.00|0.00|0.75|-5|-5|-5|3\n");
    spec.mode = tasks::SpliceMode::exact;
    DOCTEST_CHECK(fixture.records(spec) ==
                  "chr1\t42\ta\tT\tC\t.\t.\tSpliceAI=C|ONE|0.00|0.00|0.00|0.75|-5|-5|-5|-2\n"
                  "chr1\t41\tc\tGT\tAA\t.\t.\tSpliceAI=AA|ONE|0.00|0.00|0.00|0.75|-5|-5|-5|-1\n"
                  "chr1\t37\tc\tAAAAGTAAAA\tA\t.\t.\tSpliceAI=A|ONE|0.00|0.00|0.00|0.75|-5|-5|-5|3\n");
    DOCTEST_CHECK(holds(read_file(fixture / "out.vcf"), "mode exact"));
}

DOCTEST_TEST_CASE("predict splicing: tables have a row per record, allele and gene") {
    const SplicedFiles fixture;
    const auto spec = fixture.spec("chr1\t42\ta\tT\tC,*\t.\t.\t.\n2\t100\te\tA\tC\t.\t.\t.\n", "out.tsv");
    predict_splicing(spec, fixture.model);
    const std::string text = read_file(fixture / "out.tsv");
    DOCTEST_CHECK(
        text.substr(text.find("#chrom")) ==
        "#chrom\tpos\tid\tref\talt\tstatus\tgene\tstrand\tDS_AG\tDS_AL\tDS_DG\tDS_DL\tDP_AG\tDP_AL\tDP_"
        "DG\tDP_DL\n"
        "chr1\t42\ta\tT\tC\tok\tONE\t+\t0\t0\t0\t0.75\t-5\t-5\t-5\t-2\n"
        "chr1\t42\ta\tT\tC\tok\tTWO\t+\t0\t0\t0\t0.75\t-5\t-5\t-5\t-2\n"
        "chr1\t42\ta\tT\t*\tsymbolic\tONE\t+\tNA\tNA\tNA\tNA\tNA\tNA\tNA\tNA\n"
        "chr1\t42\ta\tT\t*\tsymbolic\tTWO\t+\tNA\tNA\tNA\tNA\tNA\tNA\tNA\tNA\n"
        "2\t100\te\tA\tC\tno_gene\t.\t.\tNA\tNA\tNA\tNA\tNA\tNA\tNA\tNA\n");
}

DOCTEST_TEST_CASE("predict splicing: parts merge to what one run writes, in VCF, BCF and tables") {
    const SplicedFiles fixture;
    std::string body;
    for (int position = 30; position < 170; ++position)
        body += fixture.row(position, "C,<DEL>");
    for (int position = 1; position < 60; ++position)
        body += "2\t" + std::to_string(position) + "\t.\tA\tC\t.\t.\t.\n";
    const std::string contigs = "##contig=<ID=chr1>\n##contig=<ID=2>\n";
    using Row = std::pair<std::string, std::string>;
    for (const auto& [ending, header] :
         {Row{"vcf.gz", contigs}, {"bcf", contigs}, {"tsv", contigs}, {"vcf.gz", ""}}) {
        auto spec = fixture.spec(body, "all." + ending, header);
        predict_splicing(spec, fixture.model);
        std::vector<fs::path> parts;
        for (const std::int64_t number : {2, 1, 3}) {
            spec.outputs.shard = Shard{number, 3};
            spec.outputs.paths = {fixture / ("part" + std::to_string(number) + "." + ending)};
            parts.push_back(spec.outputs.paths.front());
            predict_splicing(spec, fixture.model);
        }
        const std::vector<Part> found = open_parts(parts, 1);
        const auto merged =
            outputs::merged_outputs(found.front(), {fixture / ("merged." + ending)}, Overwrite::allow);
        outputs::merge_scores(found, merged, 1);
        DOCTEST_CHECK(read_file(fixture / ("merged." + ending)) == read_file(fixture / ("all." + ending)));
    }
}

DOCTEST_TEST_CASE("predict splicing: chunks and threads do not change what is written") {
    const SplicedFiles fixture;
    std::string body;
    for (int round = 0; round < 20; ++round)
        for (int position = 179; position > 20; position -= 2)
            body += fixture.row(position, "C");
    auto spec = fixture.spec(body, "out.vcf");
    const std::string once = fixture.records(spec);
    DOCTEST_CHECK(std::ranges::count(once, '\n') == 20 * 80);
    spec.threads = 2;
    DOCTEST_CHECK(fixture.records(spec) == once);
}

DOCTEST_TEST_CASE("predict splicing: records of another assembly, wrong options") {
    const SplicedFiles fixture;
    std::string body;
    for (int position = 90; position < 110; ++position)
        body += "chr1\t" + std::to_string(position) + "\t.\tC\tG\t.\t.\t.\n";
    auto spec = fixture.spec(body, "out.vcf");
    DOCTEST_CHECK(holds(message_of<InputError>([&] { fixture.records(spec); }), "do not fit the reference"));
    DOCTEST_CHECK_FALSE(fs::exists(fixture / "out.vcf"));
    spec.skip_invalid = true;
    DOCTEST_CHECK(holds(fixture.records(spec), "\t90\t.\tC\tG\t.\t.\t.\n"));
    spec.quantities = "ref";
    DOCTEST_CHECK(holds(message_of<ConfigError>([&] { spec.validate(); }), "--write takes status"));
    spec.quantities.clear();
    spec.annotation.clear();
    DOCTEST_CHECK(holds(message_of<ConfigError>([&] { spec.validate(); }), "give --annotation"));
}

DOCTEST_TEST_CASE("predict splicing: Pangolin's INFO") {
    SplicedFiles fixture;
    FakeModel pangolin(4);
    pangolin.set([](std::span<const std::uint8_t> bases, std::int64_t) {
        const bool site = bases[3] == 2 && bases[4] == 3;
        return std::vector<float>{0, site ? 0.75F : 0, site ? 0.25F : 0, 0};
    });
    auto spec = fixture.spec("chr1\t42\ta\tT\tC\t.\t.\t.\n", "out.vcf");
    const SpliceReport report = predict_splicing(spec, pangolin);
    DOCTEST_CHECK(report.scored == 1);
    const std::string text = read_file(fixture / "out.vcf");
    DOCTEST_CHECK(holds(text, "\n##INFO=<ID=Pangolin,Number=.,Type=String,"));
    DOCTEST_CHECK(holds(text, "\tPangolin=ONE|-5:0.00|-2:-0.75|Warnings:,TWO|-5:0.00|-5:0.00|Warnings:\n"));
}

DOCTEST_TEST_CASE("predict splicing: the forecast counts alleles and what was tried") {
    const SplicedFiles fixture;
    const auto spec = fixture.spec("chr1\t42\ta\tT\tC,G\t.\t.\t.\n2\t100\te\tA\tC\t.\t.\t.\n", "out.vcf");
    const SpliceForecast forecast = forecast_splicing(spec, fixture.model);
    DOCTEST_CHECK(forecast.alleles == 3);
    DOCTEST_CHECK(forecast.pairs == 4);
    DOCTEST_CHECK(forecast.tried == 4);
    DOCTEST_CHECK(holds(describe(forecast),
                        "alleles           3 (4 scores of alleles in genes, of which 4 were tried)"));
    DOCTEST_CHECK_FALSE(fs::exists(fixture / "out.vcf"));
}

DOCTEST_TEST_CASE("predict splicing: a job's seconds follow from those of a pass and of an allele") {
    const auto effort = [](std::int64_t passes, std::int64_t pairs) {
        return SpliceEffort{passes, pairs,
                            0.5 * static_cast<double>(passes) + 0.25 * static_cast<double>(pairs)};
    };
    DOCTEST_CHECK(seconds_of_job(effort(60, 15'000), effort(2, 2), effort(2, 64)) == 30 + 3750);
    DOCTEST_CHECK(seconds_of_job(effort(100, 100), effort(2, 2), effort(32, 32)) == 75);  // all by themselves
    DOCTEST_CHECK(seconds_of_job(effort(5, 5), {}, {}) == 0);
    DOCTEST_CHECK(seconds_of_job(effort(10, 20), {1, 1, 0.1}, {1, 4, 8}) ==
                  40);  // a negative pass: by alleles
}
