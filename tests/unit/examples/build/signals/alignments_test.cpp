// SPDX-License-Identifier: Apache-2.0
#include "bigbird/examples/build/signals/alignments.hpp"

#include "support/captured_log.hpp"
#include "support/temp_dir.hpp"
#include "support/testing.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/formats/json_file.hpp"
#include "bigbird/core/rng.hpp"
#include "bigbird/examples/build/signals/read_signal.hpp"

#include <algorithm>
#include <map>
#include <tuple>

using namespace bigbird;
using namespace bigbird::examples;
using namespace bigbird::testing;
namespace fs = std::filesystem;

namespace {

const genome::ReferenceGenome& yeast_genome() {
    static const auto reference = genome::open_reference(test_data("genome/yeast.fa.gz"));
    return *reference;
}

struct SitesRead {
    std::map<std::pair<std::string, std::int64_t>, double> signal;  ///< by contig, as "chrI", and base
    SignalRead read;
};

SitesRead sites_of(const fs::path& path, const SignalReading& how = {}) {
    SitesRead sites;
    sites.read =
        read_signal(path, yeast_genome(), how,
                    [&](std::size_t contig, std::int64_t begin, std::int64_t end, double value) {
                        for (std::int64_t base = begin; base < end; ++base)
                            sites.signal[{"chr" + yeast_genome().contigs()[contig].name, base}] += value;
                    });
    return sites;
}

const Json& pysams() {
    static const Json answer = read_json(test_data("tracks/reads.json"));
    return answer;
}

/// Rows of a text, made of the sites or fragments of pysam.
std::string rows_of(const char* what, const std::function<std::string(const Json&)>& row) {
    std::string text;
    for (const Json& each : pysams()[what])
        text += each[0].get<std::string>() + "\t" + row(each) + "\n";
    return text;
}

std::string refusal(const fs::path& path, const SignalReading& how = {}) {
    return message_of<InputError>([&] { sites_of(path, how); });
}

}  // namespace

DOCTEST_TEST_CASE("alignments: reads and their 5' ends are pysam's, flag by flag, of BAM and CRAM") {
    std::map<std::pair<std::string, std::int64_t>, double> expected;
    for (const Json& site : pysams()["sites"])
        expected[{site[0].get<std::string>(), site[1].get<std::int64_t>()}] += 1;
    for (const char* name : {"tracks/reads.bam", "tracks/reads.cram"}) {
        for (const int threads : {1, 3}) {
            const CapturedLog log;
            const SitesRead sites = sites_of(test_data(name), {.threads = threads});
            DOCTEST_CHECK(sites.signal == expected);
            const ReadCounts& reads = *sites.read.reads;
            for (const auto& [reason, count] : dropped_reads)
                DOCTEST_CHECK(reads.*count == pysams()["reads"][reason]);
            DOCTEST_CHECK(reads.all == pysams()["reads"]["all"]);
            DOCTEST_CHECK(reads.counted == pysams()["reads"]["counted"]);
            DOCTEST_CHECK(holds(log.text(), "264 of 352 reads count, 8 unmapped, 4 secondary"));
            DOCTEST_CHECK(holds(log.text(), "4 on contigs that the reference lacks (chrUn)"));
        }
    }
}

DOCTEST_TEST_CASE("alignments: a filter takes more, or fewer") {
    const SitesRead all =
        sites_of(test_data("tracks/reads.bam"), {.filter = {.min_mapq = 0, .keep_duplicates = true}});
    DOCTEST_CHECK(all.read.reads->duplicates == 0);
    DOCTEST_CHECK(all.read.reads->low_mapq == 0);
    DOCTEST_CHECK(all.read.reads->counted == 264 + 16 + 16);
    const ReadCounts strict =
        *sites_of(test_data("tracks/reads.bam"), {.filter = {.min_mapq = 255}}).read.reads;
    DOCTEST_CHECK(strict.counted == 8);  // 255 is the highest
    ReadCounts sum = strict;
    sum += strict;
    DOCTEST_CHECK(sum.all == 2 * strict.all);
    DOCTEST_CHECK(sum.low_mapq == 2 * strict.low_mapq);
}

DOCTEST_TEST_CASE("signal: fragments, BEDPE, tagAlign and BAM have the same cut sites") {
    const TempDir folder;
    const auto number = [](const Json& value) { return std::to_string(value.get<std::int64_t>()); };
    write_file(folder / "x.bed",
               rows_of("fragments", [&](const Json& row) { return number(row[1]) + "\t" + number(row[2]); }));
    write_file(folder / "x.bedpe", rows_of("fragments", [&](const Json& row) {
                   const std::int64_t begin = row[1], end = row[2];
                   return number(begin) + "\t" + number(begin + 20) + "\t" + row[0].get<std::string>() +
                          "\t" + number(end - 20) + "\t" + number(end);
               }));
    // Reads of 30 bases from their 5' ends.
    write_file(folder / "x.tagAlign", rows_of("sites", [&](const Json& row) {
                   const std::int64_t base = row[1];
                   const bool forward = row[2] == "+";
                   return number(forward ? base : base - 29) + "\t" + number(forward ? base + 30 : base + 1) +
                          "\tN\t1000\t" + row[2].get<std::string>();
               }));
    SignalReading how;
    DOCTEST_CHECK(how.parse_shift("4,-4"));
    const auto bam = sites_of(test_data("tracks/reads.bam"), how).signal;
    DOCTEST_CHECK(sites_of(folder / "x.tagAlign", how).signal == bam);
    const auto fragments = sites_of(folder / "x.bed", how).signal;
    DOCTEST_CHECK(sites_of(folder / "x.bedpe", how).signal == fragments);
    // The BAM has single reads, too, and mates of reads that do not count.
    for (const auto& [place, count] : fragments)
        DOCTEST_CHECK(bam.at(place) >= count);
    how.strand = CountedStrand::forward;
    const auto forward = sites_of(folder / "x.bed", how).signal;
    how.strand = CountedStrand::reverse;
    auto both = sites_of(folder / "x.bed", how).signal;
    for (const auto& [place, count] : forward)
        both[place] += count;
    DOCTEST_CHECK(both == fragments);
}

DOCTEST_TEST_CASE("signal: of a fragment of 100 to 200 Tn5 cut at bases 104 and 195") {
    const TempDir folder;
    write_file(folder / "x.bed", "I\t100\t200\n");
    write_file(folder / "x.bedpe", "I\t100\t130\tI\t170\t200\tname\t0\t+\t-\n");
    write_file(folder / "x.tagAlign", "I\t100\t130\tN\t1000\t+\nI\t170\t200\tN\t1000\t-\n");
    write_file(folder / "shifted.bed", "I\t104\t195\n");  // by 4,-5, as 10x and ENCODE have them
    SignalReading how;
    DOCTEST_CHECK(how.parse_shift("4,-4"));
    for (const char* name : {"x.bed", "x.bedpe", "x.tagAlign"}) {
        const auto sites = sites_of(folder / name, how).signal;
        DOCTEST_CHECK(sites.size() == 2);
        DOCTEST_CHECK(sites.contains({"chrI", 104}));
        DOCTEST_CHECK(sites.contains({"chrI", 195}));
    }
    DOCTEST_CHECK(how.parse_shift("0,1"));
    DOCTEST_CHECK(sites_of(folder / "shifted.bed", how).signal.contains({"chrI", 195}));
}

DOCTEST_TEST_CASE("alignments: coverage of a pair is that of its fragment, once") {
    std::map<std::pair<std::string, std::int64_t>, double> expected;
    for (const Json& span : pysams()["spans"])
        for (std::int64_t base = span[1]; base < span[2]; ++base)
            expected[{span[0].get<std::string>(), base}] += 1;
    for (const char* name : {"tracks/reads.bam", "tracks/reads.cram"}) {
        const SitesRead covered = sites_of(test_data(name), {.assay = Assay::coverage});
        DOCTEST_CHECK(covered.signal == expected);
        DOCTEST_CHECK(covered.read.reads->counted == 264);
    }
    const auto spliced = sites_of(test_data("tracks/spliced.bam")).signal;
    DOCTEST_CHECK(spliced.contains({"chrI", 1069}));  // the last of 15 + 40 + 15 bases
    DOCTEST_CHECK(holds(refusal(test_data("tracks/spliced.bam"), {.assay = Assay::coverage}),
                        "has spliced reads, whose introns are no coverage"));
}

DOCTEST_TEST_CASE("alignments: what is damaged, or no alignment, is said in a sentence") {
    const TempDir folder;
    const std::string bam = read_file(test_data("tracks/reads.bam")),
                      cram = read_file(test_data("tracks/reads.cram"));
    write_file(folder / "cut.bam", bam.substr(0, bam.size() - 100));
    DOCTEST_CHECK(holds(refusal(folder / "cut.bam"), "is truncated: it ends without its closing block"));
    write_file(folder / "cut.cram", cram.substr(0, cram.size() - 50));
    DOCTEST_CHECK(holds(refusal(folder / "cut.cram"), "is truncated"));
    std::string torn = bam;
    torn.replace(bam.size() / 2, 64, std::string(64, 'x'));
    write_file(folder / "torn.bam", torn);
    DOCTEST_CHECK(holds(refusal(folder / "torn.bam"), "is damaged"));
    write_file(folder / "text.bam", "@SQ\tSN:chrI\tLN:230218\nr\t0\tchrI\t5\t60\t3M\t*\t0\t0\tACG\tIII\n");
    DOCTEST_CHECK(holds(refusal(folder / "text.bam"), "is SAM, which is text: make a BAM of it"));
    write_file(folder / "x.bam", "no alignment");
    DOCTEST_CHECK(holds(refusal(folder / "x.bam"), "is no BAM or CRAM"));
    write_file(folder / "empty.bam", "");
    DOCTEST_CHECK(holds(refusal(folder / "empty.bam"), "BAM or CRAM"));
    DOCTEST_CHECK(holds(refusal(folder / "missing.bam"), "no such file"));
    write_file(folder / "x.tagAlign", "I\t100\t200\tN\t1000\n");
    DOCTEST_CHECK(holds(refusal(folder / "x.tagAlign"), "x.tagAlign:1: has no strand, + or -, in column 6"));
    // Headers that ask for 4 GB of text, or for 2^31 contigs.
    using namespace std::string_literals;
    for (const std::string& header : {"\xF0\xFF\xFF\xFF@SQ"s, "\0\0\0\0\xFF\xFF\xFF\x7F@SQ"s}) {
        write_file(folder / "hostile.bam", "BAM\x01"s + header);
        DOCTEST_CHECK(holds(refusal(folder / "hostile.bam"), "has a damaged header"));
    }
    // Files with changed bytes end in an answer or a sentence.
    Rng rng(7);
    for (const std::string& whole : {bam, cram}) {
        const fs::path path = folder / (whole == bam ? "other.bam" : "other.cram");
        for (int i = 0; i < 100; ++i) {
            std::string other = whole;
            const std::int64_t last = i % 2 == 0 ? 400 : std::ssize(whole) - 1;
            for (int changed = 0; changed <= i % 3; ++changed)
                other[static_cast<std::size_t>(rng.between(0, last))] =
                    static_cast<char>(rng.between(0, 255));
            write_file(path, other);
            try {
                const CapturedLog log;
                sites_of(path);
            } catch (const InputError& error) {
                DOCTEST_CHECK(holds(error.what(), path.filename().string()));
            }
        }
    }
}

DOCTEST_TEST_CASE("alignments: contigs of other lengths are of another assembly") {
    const auto other = genome::in_memory_genome({{"I", std::string(230000, 'A')}});
    const auto none = genome::in_memory_genome({{"II", std::string(230000, 'A')}});
    const auto read = [](const genome::ReferenceGenome& reference) {
        read_alignments(
            test_data("tracks/reads.bam"), reference, {}, [](const AlignedSpan&) { return true; });
    };
    DOCTEST_CHECK(holds(message_of<InputError>([&] { read(*other); }), "is it of another assembly?"));
    DOCTEST_CHECK(holds(message_of<InputError>([&] { read(*none); }), "has no contig of --reference"));
    // A slice is read up to its end.
    const auto slice =
        genome::in_memory_genome({{"I", std::string(20000, 'A')}, {"VI", std::string(9000, 'A')}});
    const CapturedLog log;
    read(*slice);
    DOCTEST_CHECK(holds(log.text(), "as for a slice"));
}
