// SPDX-License-Identifier: Apache-2.0
#include "bigbird/genome/regions/variant_header.hpp"

#include "support/temp_dir.hpp"
#include "support/testing.hpp"

#include "bigbird/core/error.hpp"

#include <string>

using namespace bigbird;
using genome::detail::check_variant_header;

namespace {

const std::string columns = "#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\n";

std::string contig_line(const std::string& place) {
    return "##fileformat=VCFv4.2\n##contig=<ID=22,length=200000,IDX=" + place + ">\n";
}

std::string bcf(std::uint32_t length, const std::string& text) {
    std::string bytes = "BCF\x02\x02";
    for (int i = 0; i < 4; ++i)
        bytes += static_cast<char>(length >> (8 * i));
    return bytes + text;
}

}  // namespace

DOCTEST_TEST_CASE("variant_header: real files and small ones pass") {
    for (const char* name : {"variants/1000g.chr22.vcf.gz", "variants/1000g.chr22.bcf"})
        check_variant_header(testing::test_data(name));
    const testing::TempDir folder;
    for (const std::string& text :
         {contig_line("12") + columns, contig_line("") + columns, std::string(),
          columns + "22\t1\tIDX=99999999999\tA\tC\t.\t.\t.\n", bcf(9, "##IDX=3>\n"),
          "##INFO=<ID=DP,Number=1,Type=Integer,Description=\"a \\\"b\\\",IDX=99999999999\">\n" + columns,
          "##INFO=<ID=DP,IDX=1>\n##FORMAT=<ID=DP,IDX=1>\n##contig=<ID=22,IDX=1>\n" + columns}) {
        testing::write_file(folder / "a.vcf", text);
        check_variant_header(folder / "a.vcf");
    }
    check_variant_header("/dev/stdin");
}

DOCTEST_TEST_CASE("variant_header: places that would take gigabytes are refused, with file and line") {
    const testing::TempDir folder;
    const auto message = [&](const std::string& text) {
        testing::write_file(folder / "a.vcf", text);
        return testing::message_of<InputError>([&] { check_variant_header(folder / "a.vcf"); });
    };
    for (const char* place : {"200000000", "-1", "99999999999999999999"}) {
        DOCTEST_CHECK(message(contig_line(place) + columns) ==
                      (folder / "a.vcf").string() + ":2: has IDX=" + place +
                          ", which no dictionary of a real file reaches; delete ',IDX=" + place + "'");
    }
    for (const char* before : {", ", "Description=\"\\\\\",", "Description=a\","}) {
        DOCTEST_CAPTURE(before);
        DOCTEST_CHECK(message("##INFO=<ID=DP," + std::string(before) + "IDX=200000000>\n" + columns)
                          .find(":1: has IDX=2") != std::string::npos);
    }
    const std::string binary = contig_line("2000000000");
    DOCTEST_CHECK(
        message(bcf(static_cast<std::uint32_t>(binary.size()), binary)) ==
        (folder / "a.vcf").string() +
            ": line 2 of its header has IDX=2000000000, which no dictionary of a real file reaches; "
            "write the file again with the program that made it");
    DOCTEST_CHECK(message("##INFO=<ID=DP,IDX=7>\n##FORMAT=<ID=GT,IDX=7>\n" + columns) ==
                  (folder / "a.vcf").string() + ":2: has IDX=7, as 'DP' has; delete ',IDX=7'");
    DOCTEST_CHECK(message(bcf(4'000'000'000U, "##fileformat=VCFv4.2\n")) ==
                  (folder / "a.vcf").string() +
                      ": its header says that it is longer than the file; copy it again");
    DOCTEST_CHECK(message(std::string("\xFD"
                                      "7zXZ\0\0\0",
                                      8))
                      .find("is in xz format, which cannot be read") != std::string::npos);
}
