// SPDX-License-Identifier: Apache-2.0
#include "bigbird/genome/regions/variant_reader.hpp"

#include "support/temp_dir.hpp"
#include "support/testing.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/genome/text/byte_stream.hpp"
#include "bigbird/genome/text/text_input.hpp"
#include "bigbird/genome/text/text_output.hpp"

#include <sys/stat.h>
#include <zlib.h>

#include <thread>

using namespace bigbird;
using namespace bigbird::testing;
using genome::Variant;

namespace {

std::vector<Variant> read_all(const std::filesystem::path& path) {
    genome::VariantReader reader(path);
    std::vector<Variant> variants;
    while (auto variant = reader.next())
        variants.push_back(std::move(*variant));
    return variants;
}

std::string line_of(const Variant& variant) {
    std::string alts;
    for (const std::string& alt : variant.alts)
        alts += (alts.empty() ? "" : ",") + alt;
    return variant.contig + "\t" + std::to_string(variant.position + 1) + "\t" + variant.id + "\t" +
           variant.ref + "\t" + (alts.empty() ? "." : alts) + "\t";
}

const std::string head = "##fileformat=VCFv4.2\n#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\n";

std::vector<Variant> read_rows(const std::string& rows) {
    const TempDir folder;
    write_file(folder / "v.vcf", head + rows);
    return read_all(folder / "v.vcf");
}

}  // namespace

DOCTEST_TEST_CASE("variant_reader: a bgzipped VCF and a BCF give the lines' own fields") {
    genome::TextInput text(test_data("variants/1000g.chr22.vcf.gz"));
    std::vector<std::string> lines;
    for (std::string line; text.next(line);)
        if (!line.starts_with('#')) lines.push_back(line);
    for (const char* name : {"variants/1000g.chr22.vcf.gz", "variants/1000g.chr22.bcf"}) {
        const std::vector<Variant> variants = read_all(test_data(name));
        DOCTEST_REQUIRE(variants.size() == lines.size());
        DOCTEST_REQUIRE(variants.size() > 100);
        for (std::size_t i = 0; i < lines.size(); ++i) {
            DOCTEST_CHECK(lines[i].starts_with(line_of(variants[i])));
            DOCTEST_CHECK(variants[i].record == static_cast<std::int64_t>(i) + 1);
        }
    }
}

DOCTEST_TEST_CASE(
    "variant_reader: undeclared contigs, symbolic alleles and no allele are read as they stand") {
    const std::vector<Variant> variants =
        read_rows("chrQ\t1\trs1\ta\t<DEL>,*,t\t.\t.\t.\nchrQ\t9\t.\tN\t.\t.\t.\t.\n");
    DOCTEST_REQUIRE(variants.size() == 2);
    DOCTEST_CHECK(line_of(variants[0]) == "chrQ\t1\trs1\ta\t<DEL>,*,t\t");
    DOCTEST_CHECK(variants[1].alts.empty());
}

DOCTEST_TEST_CASE("variant_reader: POS 0 is a telomere, POS that is no number is refused") {
    const auto at = [](const std::string& position) {
        return read_rows("1\t" + position + "\t.\tN\tG\t.\t.\t.\n");
    };
    DOCTEST_CHECK(at("0").at(0).position == -1);
    DOCTEST_CHECK(at("12").at(0).position == 11);
    for (const char* position : {"nowhere", "12x", "-3", "", ".", "1e3"}) {
        DOCTEST_CAPTURE(position);
        DOCTEST_CHECK(message_of<InputError>([&] { at(position); }).find("is no position") !=
                      std::string::npos);
    }
}

DOCTEST_TEST_CASE("variant_reader: a line that ends before ALT is refused, one that ends behind it is read") {
    DOCTEST_CHECK(read_rows("1\t12\t.\tN\tG\n").at(0).alts.at(0) == "G");
    for (const char* line : {"1\t12\t.\tN\n", "1\t12\t.\n", "1\t12\n", "1\n"}) {
        DOCTEST_CAPTURE(line);
        DOCTEST_CHECK_THROWS_AS(read_rows(line), InputError);
    }
}

DOCTEST_TEST_CASE("variant_reader: a header's fault is told with its line, and by advice that applies") {
    const TempDir folder;
    const std::string path = (folder / "v.vcf").string();
    const std::string columns = "#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO";
    const auto message = [&](const std::string& text) {
        write_file(folder / "v.vcf", "##fileformat=VCFv4.2\n##contig=<ID=1,length=100>\n" + text);
        return message_of<InputError>([&] { read_all(folder / "v.vcf"); });
    };
    DOCTEST_CHECK(message(columns + "\tFORMAT\ta\tb\ta\n") == path + ":3: names 'a' twice");
    DOCTEST_CHECK(message("#CHROM POS ID REF ALT QUAL FILTER INFO\n1 12 . A C . . .\n") ==
                  path + ":3: needs tabs between its columns");
    DOCTEST_CHECK(message("1\t12\t.\tA\tC\t.\t.\t.\n") ==
                  path + ": its header is damaged: a line '#CHROM POS ID REF ALT …' is needed");
    DOCTEST_CHECK(message("##FORMAT=<ID=GT,Number=1,Type=String,Description=\"g\">\n" + columns +
                          "\tFORMAT\ta\tb\n1\t12\t.\tA\tC\t.\t.\t.\tGT\t0/1\n") ==
                  path + ":5: has another number of samples than the line #CHROM");
    DOCTEST_CHECK(message(columns + "\n1\t12\tcaf\xE9\tA\tC\t.\t.\t.\n") ==
                  path + ":4: record 1 is not UTF-8: convert the file, as 'iconv -f latin1 -t utf-8' does");
}

DOCTEST_TEST_CASE("variant_reader: a BCF has no lines, so its faults are told by the record") {
    const TempDir folder;
    std::string text(std::size_t{1} << 20, '\0');
    text.resize(
        genome::detail::ByteStream(test_data("variants/1000g.chr22.bcf")).read(text.data(), text.size(), 0));
    write_file(folder / "cut.bcf", text.substr(0, text.size() - 7));
    const std::string message = message_of<InputError>([&] { read_all(folder / "cut.bcf"); });
    DOCTEST_CAPTURE(message);
    DOCTEST_CHECK(message.find((folder / "cut.bcf").string() + ": record ") == 0);
    DOCTEST_CHECK(message.find(" is malformed or cut off") != std::string::npos);
}

DOCTEST_TEST_CASE("variant_reader: what is no whole VCF is refused") {
    const auto error = [](const std::filesystem::path& path) {
        return message_of<InputError>([&] { read_all(path); });
    };
    DOCTEST_CHECK(error(test_data("variants/malformed/position.vcf")).find("position.vcf:") !=
                  std::string::npos);
    DOCTEST_CHECK(error(test_data("variants/malformed/bed.vcf")).find("is no VCF or BCF") !=
                  std::string::npos);
    DOCTEST_CHECK(error(test_data("variants/malformed/truncated.vcf.gz")).find("is truncated") !=
                  std::string::npos);
    DOCTEST_CHECK(error("no/such.vcf") == "no/such.vcf: no such file");
    DOCTEST_CHECK(error(test_data("regions")).find("is a folder") != std::string::npos);
}

DOCTEST_TEST_CASE(
    "variant_reader: a stream that breaks off or is damaged is refused, from a file and a pipe") {
    const TempDir folder;
    {
        genome::TextOutput output(folder / "whole.vcf.gz", Overwrite::refuse);
        output.write(head);
        for (int i = 1; i <= 5500; ++i)
            output.write("1\t" + std::to_string(i) + "\trs" + std::to_string(i * 7919 % 100'003) +
                         "\tA\tC\t.\tPASS\tDP=" + std::to_string(i) + "\n");
        output.commit();
    }
    const std::string whole = read_file(folder / "whole.vcf.gz");
    const auto block_end = [&](std::size_t at) {  // SAM specification, 4.1
        return at + 1 + genome::detail::little_endian(std::string_view(whole).substr(at + 16, 2));
    };
    const std::size_t second = block_end(0), third = block_end(second);
    DOCTEST_REQUIRE((third + 28 < whole.size() && whole.size() < 65'536));  // fits into a pipe
    std::string flipped = whole;
    flipped[second + 500] = static_cast<char>(flipped[second + 500] ^ 0x55);
    const std::string unclosed = "the file ends without the empty block that closes bgzip",
                      damaged =
                          "the file is truncated or corrupt behind this line: copy or compress it again";
    const auto read_piped = [&](const std::string& bytes) {
        DOCTEST_REQUIRE(::mkfifo((folder / "pipe").c_str(), 0600) == 0);
        const std::jthread writer([&] { write_file(folder / "pipe", bytes); });
        const std::string message = message_of<InputError>([&] { read_all(folder / "pipe"); });
        std::filesystem::remove(folder / "pipe");
        return message;
    };
    DOCTEST_CHECK(read_piped(whole.substr(0, third)).find(unclosed) != std::string::npos);
    DOCTEST_CHECK(read_piped(whole.substr(0, third + 500)).ends_with(damaged));
    DOCTEST_CHECK(read_piped(flipped).ends_with(damaged));
    const gzFile plain = ::gzopen((folder / "plain.gz").c_str(), "wb");
    const std::string text = head + "1\t1\t.\tA\tC\t.\t.\tX=" + std::string(200'000, 'x') + "\n";
    DOCTEST_REQUIRE(::gzwrite(plain, text.data(), static_cast<unsigned>(text.size())) > 0);
    ::gzclose(plain);
    DOCTEST_CHECK(read_all(folder / "plain.gz").size() == 1);  // plain gzip has no last block
    const std::string gzip = read_file(folder / "plain.gz");
    DOCTEST_CHECK(read_piped(gzip.substr(0, gzip.size() - 9)).ends_with(damaged));
    for (const auto& [bytes, expected] : {std::pair(flipped, damaged), {whole.substr(0, third), unclosed}}) {
        write_file(folder / "v.gz", bytes);
        DOCTEST_CHECK(message_of<InputError>([&] { read_all(folder / "v.gz"); }).find(expected) !=
                      std::string::npos);
    }
}
