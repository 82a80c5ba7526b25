// SPDX-License-Identifier: Apache-2.0
#include "bigbird/genome/regions/variant_writer.hpp"

#include "support/temp_dir.hpp"
#include "support/testing.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/genome/text/text_input.hpp"

#include <cmath>

using namespace bigbird;
using namespace bigbird::testing;
using namespace bigbird::genome;

namespace {

const std::string vcf_columns = "#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\n";
const std::vector<std::string> header_lines{"##INFO=<ID=TEXT,Number=.,Type=String,Description=\"t\">",
                                            "##INFO=<ID=MOST,Number=A,Type=Float,Description=\"m\">",
                                            "##tool=new"};

/// Writes a file with TEXT added to each record and, if `most`, MOST to those with ALT.
void annotate(const std::filesystem::path& from, const std::vector<std::filesystem::path>& to,
              int threads = 1, bool most = true) {
    VariantReader reader(from);
    const auto header = reader.keep_records(header_lines);
    std::vector<std::unique_ptr<VariantWriter>> writers;
    for (const auto& path : to)
        writers.push_back(std::make_unique<VariantWriter>(path, Overwrite::allow, header, threads));
    while (const auto variant = reader.next()) {
        std::vector<float> numbers(most ? variant->alts.size() : 0, 0.5F);
        if (!numbers.empty()) numbers[0] = std::nanf("");
        set_info(*variant, *header, std::vector<VariantField>{{"TEXT", "a|b,c"}, {"MOST", {}, numbers}});
        for (const auto& writer : writers)
            writer->write(*variant);
    }
    std::vector<PendingOutput*> pending;
    for (const auto& writer : writers)
        writer->finish(pending);
    commit_together(pending);
}

std::vector<std::string> records_of(const std::filesystem::path& path) {
    std::vector<std::string> records;
    TextInput text(path);
    for (std::string line; text.next(line);)
        if (!line.starts_with('#')) records.push_back(line);
    return records;
}

}  // namespace

DOCTEST_TEST_CASE("variant_writer: records of real files but for two more INFO fields, in every format") {
    const TempDir folder;
    for (const char* name : {"variants/1000g.chr22.vcf.gz", "variants/1000g.chr22.bcf"}) {
        annotate(test_data(name), {folder / "a.vcf", folder / "a.vcf.gz", folder / "a.bcf"}, 2);
        auto written = records_of(folder / "a.vcf");
        DOCTEST_CHECK(written == records_of(folder / "a.vcf.gz"));
        for (std::string& line : written) {
            const std::size_t at = line.find("TEXT=a|b,c;MOST=."), end = line.find('\t', at);
            DOCTEST_REQUIRE(at != std::string::npos);
            line.replace(at, end == std::string::npos ? end : end - at, ".");  // INFO was empty
        }
        DOCTEST_CHECK(written == records_of(test_data("variants/1000g.chr22.vcf.gz")));
        DOCTEST_CHECK(std::filesystem::exists(folder / "a.vcf.gz.tbi"));
        DOCTEST_CHECK(std::filesystem::exists(folder / "a.bcf.csi"));
        DOCTEST_CHECK_FALSE(std::filesystem::exists(folder / "a.vcf.tbi"));
        VariantReader again(folder / "a.bcf");
        std::size_t count = 0;
        while (again.next())
            ++count;
        DOCTEST_CHECK(count == written.size());
    }
}

DOCTEST_TEST_CASE("variant_writer: fields and header lines of an earlier run are removed from every record") {
    const TempDir folder;
    write_file(folder / "a.vcf",
               "##fileformat=VCFv4.2\n##INFO=<ID=MOST,Number=1,Type=String,Description=\"old\">\n"
               "##contig=<ID=c>\n##FILTER=<ID=q10,Description=\"q\">\n##ALT=<ID=DEL,Description=\"d\">\n"
               "##INFO=<ID=NEW,Number=1,Type=String,Description=\"n\">\n"
               "##tool=1\n##tool=2\n##tool_scorer=max\n##toolbox=kept\n" +
                   vcf_columns +
                   "c\t5\t.\tA\tC,<DEL>\t29.5\tq10\tMOST=x;NEW=x;MOST=4\nc\t7\t.\tA\t.\t.\t.\tTEXT=old;MOST="
                   "9;NEW=y\n"
                   "c\t9\t.\tA\tN[1:5[\t.\tPASS\tTEXT=z\n");
    annotate(folder / "a.vcf", {folder / "b.vcf", folder / "b.bcf"});
    DOCTEST_CHECK(records_of(folder / "b.vcf") ==
                  std::vector<std::string>{"c\t5\t.\tA\tC,<DEL>\t29.5\tq10\tMOST=.,0.5;NEW=x;TEXT=a|b,c",
                                           "c\t7\t.\tA\t.\t.\t.\tTEXT=a|b,c;NEW=y",
                                           "c\t9\t.\tA\tN[1:5[\t.\tPASS\tTEXT=a|b,c;MOST=."});
    const std::string text = read_file(folder / "b.vcf");
    for (const char* gone : {"\"old\"", "##tool=1", "##tool=2", "##tool_scorer"})
        DOCTEST_CHECK(text.find(gone) == std::string::npos);
    for (const char* there : {header_lines[1].c_str(), "\n##tool=new\n", "\n##toolbox=kept\n"})
        DOCTEST_CHECK(text.find(there) != std::string::npos);
    annotate(folder / "b.bcf", {folder / "c.vcf", folder / "c.bcf"}, 1, false);
    annotate(folder / "c.bcf", {folder / "d.vcf"}, 1, false);
    for (const char* name : {"c.vcf", "d.vcf"}) {
        DOCTEST_CHECK(records_of(folder / name) ==
                      std::vector<std::string>{"c\t5\t.\tA\tC,<DEL>\t29.5\tq10\tNEW=x;TEXT=a|b,c",
                                               "c\t7\t.\tA\t.\t.\t.\tTEXT=a|b,c;NEW=y",
                                               "c\t9\t.\tA\tN[1:5[\t.\tPASS\tTEXT=a|b,c"});
    }
}

DOCTEST_TEST_CASE(
    "variant_writer: no index of records that are not sorted, nor one that an earlier file had") {
    const TempDir folder;
    const std::string head = "##fileformat=VCFv4.2\n##contig=<ID=c>\n##contig=<ID=d>\n" + vcf_columns;
    write_file(folder / "a.vcf",
               head + "c\t5\t.\tA\tC\t.\t.\t.\nc\t5\t.\tA\tG\t.\t.\t.\nd\t1\t.\tA\tG\t.\t.\t.\n");
    annotate(folder / "a.vcf", {folder / "b.vcf.gz"});
    DOCTEST_CHECK(std::filesystem::exists(folder / "b.vcf.gz.tbi"));
    write_file(folder / "a.vcf",
               head + "c\t5\t.\tA\tC\t.\t.\t.\nd\t1\t.\tA\tG\t.\t.\t.\nc\t9\t.\tA\tG\t.\t.\t.\n");
    annotate(folder / "a.vcf", {folder / "b.vcf.gz"});
    DOCTEST_CHECK(records_of(folder / "b.vcf.gz").size() == 3);
    DOCTEST_CHECK_FALSE(std::filesystem::exists(folder / "b.vcf.gz.tbi"));
    write_file(folder / "a.vcf", head + "c\t536870999\t.\tA\tC\t.\t.\t.\n");
    annotate(folder / "a.vcf", {folder / "b.vcf.gz"});
    DOCTEST_CHECK(std::filesystem::exists(folder / "b.vcf.gz.csi"));
}

DOCTEST_TEST_CASE("variant_writer: BCF needs a header that has all, and an output that may be replaced") {
    const TempDir folder;
    write_file(folder / "a.vcf", "##fileformat=VCFv4.2\n" + vcf_columns + "c\t5\t.\tA\tC\t.\t.\t.\n");
    DOCTEST_CHECK(message_of<InputError>([&] {
                      annotate(folder / "a.vcf", {folder / "b.bcf"});
                  }).find("record 1 (c:5) has a contig or field that the header lacks") == 0);
    DOCTEST_CHECK_FALSE(std::filesystem::exists(folder / "b.bcf"));
    std::string samples = vcf_columns;
    samples.insert(samples.size() - 1, "\tFORMAT\ts1");
    write_file(folder / "s.vcf", "##fileformat=VCFv4.2\n" + samples + "c\t5\t.\tA\tC\t.\t.\t.\n");
    DOCTEST_CHECK(message_of<InputError>([&] { annotate(folder / "s.vcf", {folder / "b.vcf"}); }) ==
                  "record 1 (c:5) has no columns of the samples that the header names");
    write_file(folder / "b.vcf.gz.tbi", "");
    DOCTEST_CHECK(message_of<ConfigError>([&] {
                      prepare_variant_output(folder / "b.vcf.gz", Overwrite::refuse);
                  }).find("--force") != std::string::npos);
    DOCTEST_CHECK(variant_format_of("a.VCF.GZ") == VariantFormat::bgzipped_vcf);
    DOCTEST_CHECK_FALSE(variant_format_of("a.bcf.gz").has_value());
}
