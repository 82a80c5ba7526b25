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
          columns + "22\t1\tIDX=99999999999\tA\tC\t.\t.\t.\n", bcf(9, "##IDX=3>\n")}) {
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
                      (folder / "a.vcf").string() + ":2: has a header with IDX=" + place +
                          ", which no dictionary of a real file reaches; 'bcftools view' makes it anew");
    }
    DOCTEST_CHECK(
        message(bcf(1000, contig_line("2000000000"))).find(":2: has a header with IDX=2000000000") !=
        std::string::npos);
    DOCTEST_CHECK(message(bcf(4'000'000'000U, "##fileformat=VCFv4.2\n")) ==
                  (folder / "a.vcf").string() +
                      ": its header says that it is longer than the file; copy it again");
    DOCTEST_CHECK(message(std::string("\xFD"
                                      "7zXZ\0\0\0",
                                      8))
                      .find("is in xz format, which cannot be read") != std::string::npos);
}
