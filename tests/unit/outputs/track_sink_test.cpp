// SPDX-License-Identifier: Apache-2.0
#include "support/temp_dir.hpp"
#include "support/testing.hpp"
#include "unit/outputs/some_scores.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/rng.hpp"
#include "bigbird/outputs/merge/merge_scores.hpp"
#include "bigbird/outputs/sinks.hpp"

#include <bigWig.h>
#include <fcntl.h>
#include <unistd.h>

#include <string>

using namespace bigbird;
using namespace bigbird::testing;
using outputs::open_bigwig_stream;
using outputs::Overlap;
using outputs::Segment;

namespace {

const std::vector<genome::Contig> two_contigs{{"2", 1000}, {"1", 100'000}};

std::vector<Segment> flattened(std::vector<Segment> segments, Overlap overlap) {
    std::vector<Segment> result;
    outputs::without_overlaps(segments, overlap, [&](const Segment& segment) { result.push_back(segment); });
    return result;
}

void write_unsorted(outputs::Sink& sink) {
    const std::vector<genome::Interval> places{{"chr1", 400, 600}, {"1", 0, 200}, {"1", 100, 300},
                                               {"2", 5, 10},       {"3", 0, 9},   {"1", 7, 7}};
    float value = 1;
    for (const genome::Interval& where : places) {
        sink.write(rows::fields_of({.where = where}), std::vector<float>{-1, value});
        value *= 2;
    }
    sink.write(rows::fields_of({.where = {"1", 700, 800}}), {});
}

}  // namespace

DOCTEST_TEST_CASE("track_sink: overlapping segments equal a count base by base") {
    Rng rng(3);
    std::vector<Segment> segments;
    for (int i = 0; i < 60; ++i) {
        const auto begin = static_cast<std::uint32_t>(rng.between(0, 150));
        segments.push_back({static_cast<std::uint32_t>(rng.between(0, 1)), begin,
                            begin + static_cast<std::uint32_t>(rng.between(1, 20)), static_cast<float>(i)});
    }
    for (const Overlap overlap : {Overlap::mean, Overlap::max}) {
        const std::vector<Segment> flat = flattened(segments, overlap);
        for (std::uint32_t contig = 0; contig < 2; ++contig) {
            for (std::uint32_t base = 0; base < 200; ++base) {
                const auto on = [&](const Segment& segment) {
                    return segment.contig == contig && segment.begin <= base && base < segment.end;
                };
                double sum = 0, most = -1;
                int count = 0;
                for (const Segment& segment : segments) {
                    if (!on(segment)) continue;
                    sum += static_cast<double>(segment.value);
                    most = std::max(most, static_cast<double>(segment.value));
                    ++count;
                }
                const auto found = std::find_if(flat.begin(), flat.end(), on);
                DOCTEST_REQUIRE((found != flat.end()) == (count > 0));
                if (count > 0) {
                    DOCTEST_CHECK(static_cast<double>(found->value) ==
                                  doctest::Approx(overlap == Overlap::max ? most : sum / count));
                }
            }
        }
        for (std::size_t i = 1; i < flat.size(); ++i)
            DOCTEST_REQUIRE((flat[i - 1].contig < flat[i].contig || flat[i - 1].end <= flat[i].begin));
    }
}

DOCTEST_TEST_CASE("track_sink: a bedGraph is sorted and has no overlaps, whatever comes") {
    const TempDir folder;
    const auto sink = outputs::track_sink(folder / "t.bedgraph", Overwrite::refuse, outputs::Kind::bedgraph,
                                          two_contigs, 1, Overlap::mean);
    write_unsorted(*sink);
    sink->commit();
    DOCTEST_CHECK(read_file(folder / "t.bedgraph") ==
                  "2\t5\t10\t8\n1\t0\t100\t2\n1\t100\t200\t3\n1\t200\t300\t4\n1\t400\t600\t1\n");
}

DOCTEST_TEST_CASE("track_sink: a bigWig reads back") {
    const TempDir folder;
    const std::string path = (folder / "t.bw").string();
    const auto sink =
        outputs::track_sink(path, Overwrite::refuse, outputs::Kind::bigwig, two_contigs, 1, Overlap::mean);
    write_unsorted(*sink);
    sink->commit();
    DOCTEST_CHECK(outputs::read_bigwig(path, two_contigs) ==
                  std::vector<Segment>{
                      {0, 5, 10, 8}, {1, 0, 100, 2}, {1, 100, 200, 3}, {1, 200, 300, 4}, {1, 400, 600, 1}});
}

DOCTEST_TEST_CASE(
    "profile_track: overlapping rows are cut between their middles, rows beyond a contig at its ends") {
    const TempDir folder;
    const auto sink = outputs::profile_track(folder / "p.bedgraph", Overwrite::refuse,
                                             outputs::Kind::bedgraph, two_contigs);
    const auto add = [&](const std::string& contig, std::int64_t begin, std::int64_t end) {
        std::vector<float> values;
        for (std::int64_t base = begin; base < end; ++base)
            values.push_back(static_cast<float>(end * 1000 + base));
        sink->add({contig, begin, end}, values);
    };
    add("chr1", 14, 24);  // middle 19, and that of the next row 16: cut at 17
    add("1", 11, 21);
    add("2", 996, 1006);
    add("2", -6, 4);
    add("3", 0, 10);
    sink->commit();
    std::string expected;
    const auto expect = [&](const std::string& contig, std::int64_t begin, std::int64_t end,
                            std::int64_t row_end) {
        for (std::int64_t base = begin; base < end; ++base)
            expected += contig + "\t" + std::to_string(base) + "\t" + std::to_string(base + 1) + "\t" +
                        std::to_string(row_end * 1000 + base) + "\n";
    };
    expect("2", 0, 4, 4);
    expect("2", 996, 1000, 1006);
    expect("1", 11, 17, 21);
    expect("1", 17, 24, 24);
    DOCTEST_CHECK(read_file(folder / "p.bedgraph") == expected);
}

DOCTEST_TEST_CASE("track_sink: a bigWig without a value has an empty index, which readers need") {
    const TempDir folder;
    const std::string path = (folder / "e.bw").string();
    outputs::track_sink(path, Overwrite::refuse, outputs::Kind::bigwig, two_contigs, 0, Overlap::mean)
        ->commit();
    bwInit(1 << 17);
    bigWigFile_t* file = bwOpen(path.c_str(), nullptr, "r");
    DOCTEST_REQUIRE(file != nullptr);
    DOCTEST_CHECK(file->cl->nKeys == 2);
    DOCTEST_CHECK(file->hdr->minVal == 0);
    DOCTEST_REQUIRE(file->hdr->indexOffset > 0);
    bwOverlappingIntervals_t* found = bwGetOverlappingIntervals(file, "1", 0, 100'000);
    DOCTEST_REQUIRE(found != nullptr);
    DOCTEST_CHECK(found->l == 0);
    bwDestroyOverlappingIntervals(found);
    // The header of UCSC's R tree: magic number, then 256 a node, no item; its root is a leaf without
    // entries.
    const std::string index = read_file(path).substr(file->hdr->indexOffset);
    DOCTEST_REQUIRE(index.size() == 52 + 4);  // and the file's magic number
    DOCTEST_CHECK(index.starts_with(
        std::string("\xe0\xac\x68\x24\x00\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00", 16)));
    DOCTEST_CHECK(index.substr(48, 4) == std::string("\x01\x00\x00\x00", 4));
    bwClose(file);
    bwCleanup();
}

namespace {

/// The number that the next file that is opened gets.
int next_descriptor() {
    const int next = ::dup(STDERR_FILENO);
    ::close(next);
    return next;
}

}  // namespace

DOCTEST_TEST_CASE("bigwig_stream: what was written is read back, from anywhere") {
    const testing::TempDir folder;
    std::FILE* const stream = open_bigwig_stream(folder / "a.bw.tmp", "a.bw");
    DOCTEST_REQUIRE(stream != nullptr);
    const std::string text(100'000, 'x');
    DOCTEST_CHECK(std::fwrite(text.data(), 1, text.size(), stream) == text.size());
    DOCTEST_CHECK(std::fseek(stream, 50'000, SEEK_SET) == 0);
    DOCTEST_CHECK(std::fputs("here", stream) >= 0);
    DOCTEST_CHECK(std::fseek(stream, 49'999, SEEK_SET) == 0);
    std::string found(6, ' ');
    DOCTEST_CHECK(std::fread(found.data(), 1, found.size(), stream) == found.size());
    DOCTEST_CHECK(found == "xherex");
    DOCTEST_CHECK(std::fclose(stream) == 0);
    DOCTEST_CHECK(std::filesystem::file_size(folder / "a.bw.tmp") == text.size());
    DOCTEST_CHECK(open_bigwig_stream(folder / "none/a", "a") == nullptr);
}

DOCTEST_TEST_CASE("bigwig_stream: a file that cannot be read back is an error, and the stream closes") {
    const testing::TempDir folder;
    const int handle = next_descriptor();
    std::FILE* const stream = open_bigwig_stream(folder / "a.bw.tmp", "a.bw");
    DOCTEST_REQUIRE(stream != nullptr);
    std::fputs("text", stream);
    DOCTEST_CHECK(std::fflush(stream) == 0);
    const int write_only = ::open((folder / "a.bw.tmp").c_str(), O_WRONLY);
    DOCTEST_REQUIRE(::dup2(write_only, handle) == handle);
    ::close(write_only);
    std::rewind(stream);
    char letter = 0;
    const std::string said =
        testing::message_of<WriteError>([&] { static_cast<void>(std::fread(&letter, 1, 1, stream) == 1); });
    DOCTEST_CHECK(said == "a.bw: cannot be read back: Bad file descriptor");
    std::fclose(stream);
}

DOCTEST_TEST_CASE("bigwig_stream: a full disk marks the stream") {
    std::FILE* const stream = open_bigwig_stream("/dev/full", "a.bw");
    DOCTEST_REQUIRE(stream != nullptr);
    std::fputs("text", stream);
    DOCTEST_CHECK(std::fflush(stream) != 0);
    DOCTEST_CHECK(std::ferror(stream) != 0);
    std::fclose(stream);
}
