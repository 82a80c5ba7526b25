// SPDX-License-Identifier: Apache-2.0
#include "bigbird/genome/reference/reference_genome.hpp"

#include "support/captured_log.hpp"
#include "support/temp_dir.hpp"
#include "support/testing.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/formats/checksum.hpp"
#include "bigbird/core/parallel.hpp"
#include "bigbird/core/rng.hpp"
#include "bigbird/genome/reference/sequence.hpp"
#include "bigbird/genome/text/text_input.hpp"
#include "bigbird/genome/text/text_output.hpp"

#include <sys/stat.h>

#include <chrono>
#include <map>
#include <sstream>
#include <thread>

using namespace bigbird;
using namespace bigbird::genome;
namespace fs = std::filesystem;

namespace {

std::vector<std::vector<std::string>> rows_of(const std::string& fixture) {
    std::vector<std::vector<std::string>> rows;
    TextInput input(testing::test_data("genome/fixtures/" + fixture));
    std::string line;
    while (input.next(line)) {
        std::istringstream fields(line);
        std::vector<std::string>& row = rows.emplace_back();
        for (std::string field; std::getline(fields, field, '\t');)
            row.push_back(field);
    }
    DOCTEST_REQUIRE(!rows.empty());
    return rows;
}

Interval interval_of(const std::vector<std::string>& row) {
    return {row.at(1), std::stoll(row.at(2)), std::stoll(row.at(3))};
}

/// Opens each FASTA once.
const ReferenceGenome& genome_of(const std::string& name) {
    static std::map<std::string, std::unique_ptr<ReferenceGenome>> open;
    auto& genome = open[name];
    if (!genome) genome = open_reference(testing::test_data("genome/" + name));
    return *genome;
}

std::string whole(const ReferenceGenome& genome, std::size_t contig) {
    return genome.fetch({genome.contigs()[contig].name, 0, genome.contigs()[contig].length});
}

/// A FASTA text of any legal shape, and the sequence in it.
struct RandomFasta {
    std::string text;
    std::vector<std::string> bases;

    explicit RandomFasta(Rng& random) {
        const auto below = [&](std::uint64_t bound) { return random.next() % bound; };
        const std::string line_end = below(3) == 0 ? "\r\n" : "\n";
        const bool ragged = below(4) == 0;
        for (std::uint64_t contig = 0; contig < 1 + below(4); ++contig) {
            text += ">c" + std::to_string(contig) + (below(2) == 0 ? " text" : "") + line_end;
            const std::uint64_t width = 1 + below(70), length = below(400);
            std::string& sequence = bases.emplace_back();
            while (sequence.size() < length) {
                const std::uint64_t count =
                    std::min<std::uint64_t>(ragged ? 1 + below(width) : width, length - sequence.size());
                std::string line;
                for (std::uint64_t i = 0; i < count; ++i)
                    line += "ACGTN"[below(5)];
                sequence += line;
                text += line + (ragged && below(9) == 0 ? line_end : "") + line_end;
            }
            text += below(5) == 0 ? line_end : "";
        }
        if (below(2) == 0) text.erase(text.find_last_not_of("\r\n") + 1);
    }
};

std::string open_error(const fs::path& path) {
    return testing::message_of<InputError>([&] { open_reference(path); });
}

}  // namespace

DOCTEST_TEST_CASE("reference_genome: intervals equal samtools faidx") {
    for (const auto& row : rows_of("faidx.tsv")) {
        DOCTEST_CAPTURE(row.at(0));
        DOCTEST_CAPTURE(to_string(interval_of(row)));
        DOCTEST_CHECK(genome_of(row.at(0)).fetch(interval_of(row)) == row.at(4));
    }
}

DOCTEST_TEST_CASE("reference_genome: whole contigs equal samtools faidx, in the file's order") {
    std::map<std::string, std::size_t> next;
    for (const auto& row : rows_of("contigs.tsv")) {
        const ReferenceGenome& genome = genome_of(row.at(0));
        const std::size_t contig = next[row.at(0)]++;
        DOCTEST_REQUIRE(contig < genome.contigs().size());
        DOCTEST_CHECK(genome.contigs()[contig].name == row.at(1));
        DOCTEST_CHECK(genome.contigs()[contig].length == std::stoll(row.at(2)));
        DOCTEST_CHECK(sha256_of_text(whole(genome, contig)) == row.at(3));
    }
    for (const auto& [name, contigs] : next)
        DOCTEST_CHECK(genome_of(name).contigs().size() == contigs);
}

DOCTEST_TEST_CASE("reference_genome: windows are filled up with N beyond a contig's ends") {
    for (const auto& row : rows_of("windows.tsv")) {
        DOCTEST_CAPTURE(to_string(interval_of(row)));
        DOCTEST_CHECK(genome_of(row.at(0)).fetch(interval_of(row)) == row.at(4));
    }
    DOCTEST_CHECK(genome_of("multi.fa").fetch({"short", -2, 9}) == "NNTAACCCTNN");
    DOCTEST_CHECK(genome_of("multi.fa").fetch({"short", 3, 3}).empty());
}

DOCTEST_TEST_CASE("reference_genome: the minus strand equals bedtools getfasta -s") {
    for (const auto& row : rows_of("stranded.tsv")) {
        const std::string dna =
            genome_of("multi.fa").fetch({row.at(0), std::stoll(row.at(1)), std::stoll(row.at(2))});
        DOCTEST_CHECK((row.at(3) == "-" ? reverse_complement(dna) : dna) == row.at(4));
    }
}

DOCTEST_TEST_CASE("reference_genome: plain, bgzip, gzip, CRLF, uneven lines and pipes hold the same genome") {
    const ReferenceGenome& expected = genome_of("multi.fa");
    const testing::TempDir folder;
    DOCTEST_REQUIRE(::mkfifo((folder / "pipe").c_str(), 0600) == 0);
    const std::jthread writer([&] {
        testing::write_file(folder / "pipe", testing::read_file(testing::test_data("genome/multi.fa.gz")));
    });
    std::vector<std::unique_ptr<ReferenceGenome>> genomes;
    genomes.push_back(open_reference(folder / "pipe"));
    for (const char* name : {"multi.fa.gz", "multi.plain-gzip.fa.gz", "multi.crlf.fa", "multi.ragged.fa"})
        genomes.push_back(open_reference(testing::test_data(std::string("genome/") + name)));
    for (const auto& genome : genomes) {
        DOCTEST_REQUIRE(genome->contigs().size() == expected.contigs().size());
        for (std::size_t i = 0; i < expected.contigs().size(); ++i) {
            DOCTEST_CHECK(genome->contigs()[i].name == expected.contigs()[i].name);
            DOCTEST_CHECK(whole(*genome, i) == whole(expected, i));
        }
        for (std::int64_t begin = 1400; begin < 1600; begin += 7) {  // about the uneven lines
            DOCTEST_CHECK(genome->fetch({"chr22", begin, begin + 130}) ==
                          expected.fetch({"chr22", begin, begin + 130}));
        }
    }
}

DOCTEST_TEST_CASE("reference_genome: FASTA of any legal shape reads as it is written") {
    Rng random(22);
    for (int round = 0; round < 100; ++round) {
        const RandomFasta fasta(random);
        const testing::TempDir folder;
        testing::write_file(folder / "plain", fasta.text);
        TextOutput compressed(folder / "bgzip.gz", Overwrite::refuse);
        compressed.write(fasta.text);
        compressed.commit();
        DOCTEST_CAPTURE(fasta.text);
        for (const char* name : {"plain", "bgzip.gz"}) {
            const auto genome = open_reference(folder / name);
            DOCTEST_REQUIRE(genome->contigs().size() == fasta.bases.size());
            for (std::size_t contig = 0; contig < fasta.bases.size(); ++contig) {
                const std::string& bases = fasta.bases[contig];
                DOCTEST_REQUIRE(whole(*genome, contig) == bases);
                const auto begin = static_cast<std::int64_t>(random.next() % (bases.size() + 1));
                const auto size = static_cast<std::int64_t>(
                    random.next() % (bases.size() + 1 - static_cast<std::size_t>(begin)));
                DOCTEST_REQUIRE(
                    genome->fetch({genome->contigs()[contig].name, begin, begin + size}) ==
                    bases.substr(static_cast<std::size_t>(begin), static_cast<std::size_t>(size)));
            }
        }
    }
}

DOCTEST_TEST_CASE("reference_genome: contigs are found by their aliases") {
    const ReferenceGenome& genome = genome_of("22.fa.gz");
    DOCTEST_CHECK(genome.find("chr22") == 0);
    DOCTEST_CHECK(genome.fetch({"chr22", 17'000'000, 17'000'100}) ==
                  genome.fetch({"22", 17'000'000, 17'000'100}));
    DOCTEST_CHECK(genome.find("21") == std::nullopt);
    DOCTEST_CHECK(testing::message_of<InputError>([&] {
                      genome.fetch({"21", 0, 5});
                  }) == "contig '21' is not in the reference");
}

DOCTEST_TEST_CASE("reference_genome: fetches in parallel equal those one after the other") {
    for (const char* name : {"22.fa.gz", "multi.fa", "multi.plain-gzip.fa.gz"}) {
        const auto genome = open_reference(testing::test_data(std::string("genome/") + name));
        const Contig contig = genome->contigs().front();
        constexpr std::int64_t count = 400;
        const auto window = [&](std::int64_t i) {
            const std::int64_t begin = contig.length * 3 / 4 + i * 7919 * 97 % (contig.length / 4);
            return Interval{contig.name, begin, begin + 8000};
        };
        std::vector<std::string> serial, parallel(count);
        for (std::int64_t i = 0; i < count; ++i)
            serial.push_back(genome->fetch(window(i)));
        parallel_for(count, 8, [&](std::int64_t i) {
            parallel[static_cast<std::size_t>(i)] = genome->fetch(window(i));
        });
        DOCTEST_CHECK(parallel == serial);
    }
}

DOCTEST_TEST_CASE("reference_genome: several files are one genome, and no name may occur twice in it") {
    const std::vector<fs::path> files{testing::test_data("genome/22.fa.gz"),
                                      testing::test_data("genome/1.fa.gz")};
    const auto genome = open_references(files);
    DOCTEST_REQUIRE(genome->contigs().size() == 2);
    DOCTEST_CHECK(genome->contigs()[1].name == "1");
    DOCTEST_CHECK(genome->fetch({"1", 500'000, 500'050}) ==
                  genome_of("1.fa.gz").fetch({"1", 500'000, 500'050}));
    const std::vector<fs::path> twice{testing::test_data("genome/1.fa.gz"),
                                      testing::test_data("genome/multi.fa")};
    DOCTEST_CHECK(
        testing::message_of<InputError>([&] { open_references(twice); }) ==
        twice[1].string() + ":136: contig '1' occurs twice, first in " + twice[0].string() +
            ":1: each name may stand for one sequence; where each file is a genome of its own, name them, "
            "as in --reference one=1.fa.gz, and contigs are called one#1");
    const std::vector<fs::path> named{"A=" + twice[0].string(), "B=" + twice[1].string(), twice[1]};
    const auto pangenome = open_references(named);
    DOCTEST_CHECK(pangenome->contigs()[0].name == "A#1");
    DOCTEST_CHECK(pangenome->fetch({"A#1", 500'000, 500'050}) == genome->fetch({"1", 500'000, 500'050}));
    DOCTEST_CHECK(pangenome->find("B#1").has_value());
    DOCTEST_CHECK(pangenome->fetch({"B#1", 0, 50}) == pangenome->fetch({"1", 0, 50}));
    DOCTEST_CHECK(fasta_of(named[0]) == twice[0]);
    DOCTEST_CHECK(fasta_of(twice[0]) == twice[0]);
}

DOCTEST_TEST_CASE("reference_genome: a fresh index is read, an old one is not, a wrong one is refused") {
    const testing::TempDir folder;
    const std::string text = testing::read_file(testing::test_data("genome/multi.fa"));
    testing::write_file(folder / "a.fa", text);
    testing::write_file(folder / "a.fa.fai",
                        "chr22\t8000\t35\t60\t61\n1\t3000\t8192\t100\t101\niupac\t2400\t11229\t70\t71\nshort"
                        "\t7\t13671\t60\t61\n");
    const auto now = fs::last_write_time(folder / "a.fa");
    fs::last_write_time(folder / "a.fa.fai", now + std::chrono::seconds(5));
    const auto indexed = open_reference(folder / "a.fa");
    for (std::size_t i = 0; i < 4; ++i)
        DOCTEST_CHECK(whole(*indexed, i) == whole(genome_of("multi.fa"), i));
    const std::string wrong =
        "chr22\t8000\t35\t60\t61\n1\t2999\t8192\t100\t101\niupac\t2400\t11229\t70\t71\nshort\t7\t13671\t60\t6"
        "1\n";
    testing::write_file(folder / "a.fa.fai", wrong);
    fs::last_write_time(folder / "a.fa.fai", now + std::chrono::seconds(5));
    DOCTEST_CHECK(open_error(folder / "a.fa") == (folder / "a.fa.fai").string() +
                                                     ":3: contig 'iupac' does not stand where this index "
                                                     "says: delete it, or make it anew with samtools faidx");
    fs::last_write_time(folder / "a.fa.fai", now - std::chrono::seconds(5));
    {
        const testing::CapturedLog log;
        DOCTEST_CHECK(whole(*open_reference(folder / "a.fa"), 1) == whole(genome_of("multi.fa"), 1));
        DOCTEST_CHECK(log.text() == "warning: " + (folder / "a.fa.fai").string() + " is older than " +
                                        (folder / "a.fa").string() + " and was not used\n");
    }
    for (const std::string broken : {"", "chr22\t8000\n", "chr22\t8000\t35\t60\t61\n",
                                     "chr22\t8000\t35\t0\t61\n", "chr22\t9999999\t35\t60\t61\n"}) {
        testing::write_file(folder / "a.fa.fai", broken);
        fs::last_write_time(folder / "a.fa.fai", now + std::chrono::seconds(5));
        DOCTEST_CAPTURE(broken);
        DOCTEST_CHECK(open_error(folder / "a.fa").find("a.fa.fai") != std::string::npos);
    }
}

DOCTEST_TEST_CASE(
    "reference_genome: bgzip's own index is read where it is fresh, and refused where it is none") {
    const testing::TempDir folder;
    const fs::path fasta = folder / "1.fa.gz", gzi = folder / "1.fa.gz.gzi";
    fs::copy_file(testing::test_data("genome/1.fa.gz"), fasta);
    const auto with_index = [&](const std::string& content) {
        testing::write_file(gzi, content);
        fs::last_write_time(gzi, fs::last_write_time(fasta) + std::chrono::seconds(5));
    };
    const std::string index = testing::read_file(testing::test_data("genome/fixtures/1.fa.gz.gzi"));
    with_index(index);
    DOCTEST_CHECK(whole(*open_reference(fasta), 0) == whole(genome_of("1.fa.gz"), 0));
    const std::string misfit =
        gzi.string() + ": does not fit " + fasta.string() +
        ": delete it, or make it anew with bgzip -r, and see whether that file is whole";
    std::string moved = index;  // the last block, a byte further on
    moved[index.size() - 16] = static_cast<char>(moved[index.size() - 16] + 1);
    with_index(moved);
    DOCTEST_CHECK(open_error(fasta) == misfit);
    moved = index;  // the second block: seen where a base in it is wanted
    moved[8] = static_cast<char>(moved[8] + 1);
    with_index(moved);
    const auto genome = open_reference(fasta);
    const std::string message = testing::message_of<InputError>([&] {
        genome->fetch({"1", 100'000, 100'010});
    });
    DOCTEST_CHECK(message.find("its .gzi does not fit it") != std::string::npos);
    for (const std::string& content :
         {std::string(), index.substr(0, index.size() - 1), index + std::string(16, '\0')}) {
        with_index(content);
        DOCTEST_CHECK(open_error(fasta) == misfit);
    }
}

DOCTEST_TEST_CASE("reference_genome: nothing is written beside an input") {
    const testing::TempDir folder;
    for (const char* name : {"multi.fa", "multi.fa.gz", "multi.plain-gzip.fa.gz"}) {
        fs::copy_file(testing::test_data(std::string("genome/") + name), folder / name);
        whole(*open_reference(folder / name), 0);
    }
    DOCTEST_CHECK(std::distance(fs::directory_iterator(folder.path()), fs::directory_iterator()) == 3);
}

DOCTEST_TEST_CASE("reference_genome: malformed files are named, with the line where there is one") {
    const fs::path folder = testing::test_data("genome/malformed");
    const auto path = [&](const char* name) { return (folder / name).string(); };
    DOCTEST_CHECK(open_error(folder / "none.fa") == path("none.fa") + ": no such file");
    DOCTEST_CHECK(open_error(folder).find("is a folder") != std::string::npos);
    DOCTEST_CHECK(open_error(folder / "empty.fa") ==
                  path("empty.fa") +
                      ": holds no sequence: a FASTA file begins with '>' and the name of a contig");
    DOCTEST_CHECK(
        open_error(folder / "no_header.fa") ==
        path("no_header.fa") +
            ":1: does not begin with a header: a FASTA file begins with '>' and the name of a contig");
    DOCTEST_CHECK(open_error(folder / "no_name.fa") ==
                  path("no_name.fa") + ":3: a header without a name: '>' is followed by the contig's name");
    DOCTEST_CHECK(open_error(folder / "duplicate.fa") ==
                  path("duplicate.fa") + ":5: contig 'a' occurs twice, first in " + path("duplicate.fa") +
                      ":1: each name may stand for one sequence");
    DOCTEST_CHECK(open_error(folder / "reads.fastq").find(":1: does not begin with a header") !=
                  std::string::npos);
    for (const char* name : {"truncated.fa.gz", "truncated.plain-gzip.fa.gz", "corrupt.fa.gz"}) {
        DOCTEST_CAPTURE(name);
        DOCTEST_CHECK(open_error(folder / name).find("truncated or corrupt") != std::string::npos);
    }
    DOCTEST_CHECK(open_error(folder / "no_end_marker.fa.gz") ==
                  path("no_end_marker.fa.gz") +
                      ": the file ends without the empty block that closes bgzip: blocks are missing, so "
                      "fetch it again, or its writer left that one out, so write it again ('bgzip -dc OLD | "
                      "bgzip > NEW')");
}

DOCTEST_TEST_CASE("reference_genome: in memory") {
    const auto genome = in_memory_genome({{"a", "acgtRyu-"}, {"b", ""}});
    DOCTEST_REQUIRE(genome->contigs().size() == 2);
    DOCTEST_CHECK(genome->fetch({"a", -1, 9}) == "NACGTNNTNN");
    DOCTEST_CHECK(genome->contigs()[1].length == 0);
    DOCTEST_CHECK(genome->fetch({"b", 0, 3}) == "NNN");
}

DOCTEST_TEST_CASE("reference_genome: a file that changes under the run is refused") {
    const testing::TempDir folder;
    const std::string text = testing::read_file(testing::test_data("genome/multi.fa"));
    for (const char* name : {"a.fa", "a.fa.gz"}) {
        const fs::path path = folder / name;
        const auto write = [&](const std::string& content) {
            TextOutput output(path, Overwrite::allow);
            output.write(content);
            output.commit();
        };
        write(text);
        const auto genome = open_reference(path);
        const Interval where{genome->contigs()[0].name, 0, 10};
        DOCTEST_CHECK(genome->fetch(where).size() == 10);
        if (path.extension() == ".gz")
            write(text + "\n");  // another file in its place
        else
            testing::write_file(path, text + "ACGT\n");
        DOCTEST_CHECK(testing::message_of<InputError>([&] { genome->fetch(where); }) ==
                      path.string() +
                          ": changed while it was read (size or time of modification): run this again");
    }
}

DOCTEST_TEST_CASE("reference_genome: contig lengths from a .fai, a table, or the FASTA itself") {
    const testing::TempDir folder;
    const ReferenceGenome& expected = genome_of("multi.fa");
    std::string sizes;
    for (const Contig& contig : expected.contigs())
        sizes += contig.name + "\t" + std::to_string(contig.length) + "\n";
    testing::write_file(folder / "chrom.sizes", sizes);
    testing::write_file(folder / "indexed.fa", testing::read_file(testing::test_data("genome/multi.fa")));
    testing::write_file(folder / "indexed.fa.fai", sizes);  // its first two columns are enough
    for (const fs::path& path : {folder / "chrom.sizes", folder / "indexed.fa", folder / "indexed.fa.fai",
                                 fs::path(testing::test_data("genome/multi.fa.gz"))}) {
        const std::vector<fs::path> paths{path};
        const auto lengths = open_contig_lengths(paths);
        DOCTEST_REQUIRE(lengths->contigs().size() == expected.contigs().size());
        for (std::size_t i = 0; i < expected.contigs().size(); ++i) {
            DOCTEST_CHECK(lengths->contigs()[i].name == expected.contigs()[i].name);
            DOCTEST_CHECK(lengths->contigs()[i].length == expected.contigs()[i].length);
        }
    }
    testing::write_file(folder / "bad", "chr1\t12\nchr2\tlong\n");
    const std::vector<fs::path> bad{folder / "bad"};
    DOCTEST_CHECK(testing::message_of<InputError>([&] { open_contig_lengths(bad); }) ==
                  bad[0].string() +
                      ":2: is no line of contig and length, as a .fai or chrom.sizes file has them");
}

DOCTEST_TEST_CASE("reference_genome: a contig on one line longer than what is read at once") {
    const testing::TempDir folder;
    std::string bases;
    for (int i = 0; i < 900'000; ++i)
        bases += "ACGTN"[(i + i / 7 + i / 1000) % 5];
    testing::write_file(folder / "a.fa", ">a\n" + bases + "\n>b\nACGT\n");
    const auto genome = open_reference(folder / "a.fa");
    DOCTEST_CHECK(genome->fetch({"a", 0, 900'000}) == bases);
    DOCTEST_CHECK(genome->fetch({"a", 300'001, 899'999}) == bases.substr(300'001, 599'998));
    DOCTEST_CHECK(genome->fetch({"b", 0, 4}) == "ACGT");
}
