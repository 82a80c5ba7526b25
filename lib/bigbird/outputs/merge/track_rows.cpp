// SPDX-License-Identifier: Apache-2.0
#include "bigbird/core/error.hpp"
#include "bigbird/core/interrupt.hpp"
#include "bigbird/core/parse_number.hpp"
#include "bigbird/core/system/child_process.hpp"
#include "bigbird/genome/text/text_input.hpp"
#include "bigbird/outputs/merge/part_rows.hpp"
#include "bigbird/outputs/outputs.hpp"
#include "bigbird/outputs/track_sink.hpp"
#include "bigbird/rows/text_fields.hpp"

#include <bigWig.h>

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace bigbird::outputs {
namespace fs = std::filesystem;

namespace {

void read_bedgraph(const fs::path& path, const std::vector<genome::Contig>& contigs,
                   std::vector<Segment>& segments) {
    std::map<std::string, std::uint32_t, std::less<>> numbers;
    for (const genome::Contig& contig : contigs)
        numbers.emplace(contig.name, static_cast<std::uint32_t>(numbers.size()));
    genome::TextInput input(path);
    std::string line;
    while (input.next(line)) {
        auto fields = rows::split_fields(line, '\t');
        const bool fits = fields.size() == 4;
        fields.resize(4);
        const auto contig = numbers.find(fields[0]);
        const auto begin = parse_number<std::uint32_t>(fields[1]),
                   end = parse_number<std::uint32_t>(fields[2]);
        const auto value = parse_number<float>(fields[3]);
        if (!fits || contig == numbers.end() || !begin || !end || !value) {
            throw InputError("is no line of a bedGraph of this run", path, input.line_number());
        }
        segments.push_back({contig->second, *begin, *end, *value});
    }
}

struct CloseBigWig {
    void operator()(bigWigFile_t* file) const { bwClose(file); }
};
struct FreeIntervals {
    void operator()(bwOverlappingIntervals_t* intervals) const { bwDestroyOverlappingIntervals(intervals); }
};

/// The child's side: sends the segments of each contig.
void send_bigwig(const fs::path& path, const std::vector<genome::Contig>& contigs,
                 const ChildReader::Send& send) {
    std::string name = path.string(), mode = "r";
    bwInit(1U << 17U);
    const std::unique_ptr<bigWigFile_t, CloseBigWig> file(bwOpen(name.c_str(), nullptr, mode.c_str()));
    if (!file) throw InputError("is no bigWig", path);
    const bool empty = file->hdr->nBasesCovered == 0;  // there is no index of intervals to read
    for (std::uint32_t contig = 0; contig < contigs.size(); ++contig) {
        std::vector<Segment> segments;
        if (!empty) {
            const std::unique_ptr<bwOverlappingIntervals_t, FreeIntervals> found(
                bwGetOverlappingIntervals(file.get(), contigs[contig].name.c_str(), 0,
                                          static_cast<std::uint32_t>(contigs[contig].length)));
            if (!found) throw InputError("is damaged, or cannot be read", path);
            for (std::uint64_t i = 0; i < found->l; ++i)
                segments.push_back({contig, found->start[i], found->end[i], found->value[i]});
        }
        send(ChildReader::bytes_of(segments));
    }
}

/// libBigWig can crash on a damaged file.
void read_bigwig(const fs::path& path, const std::vector<genome::Contig>& contigs,
                 std::vector<Segment>& segments) {
    ChildReader reader(path, [&](const ChildReader::Send& send) { send_bigwig(path, contigs, send); });
    for (std::uint32_t contig = 0; contig < contigs.size(); ++contig) {
        for (const Segment& segment : reader.next_numbers<Segment>()) {
            if (segment.contig != contig) reader.throw_unfit();
            segments.push_back(segment);
        }
    }
}

/// A mean of rows in several parts cannot be told from the parts' means.
void require_apart(std::vector<Segment>& segments, const std::vector<genome::Contig>& contigs) {
    std::ranges::sort(segments, {}, [](const Segment& s) { return std::tie(s.contig, s.begin, s.end); });
    for (std::size_t i = 1; i < segments.size(); ++i) {
        const Segment &before = segments[i - 1], &here = segments[i];
        if (before.contig != here.contig || before.end <= here.begin) continue;
        throw InputError(
            "rows of two parts overlap at " + contigs[here.contig].name + ":" +
            std::to_string(here.begin + 1) +
            "; their mean cannot be told from parts of a track: write such rows as .tsv, .npy or .h5");
    }
}

}  // namespace

void copy_tracks(std::span<const Part> parts, const ScoreRun& run, Outputs& whole) {
    std::vector<Segment> segments;
    for (const Part& part : parts) {
        stop_if_asked();
        const bool bigwig = part.record.kind == to_string(Kind::bigwig);
        (bigwig ? read_bigwig : read_bedgraph)(part.path, run.contigs, segments);
    }
    if (run.overlap == Overlap::mean) require_apart(segments, run.contigs);
    for (const Segment& segment : segments) {
        const rows::Field head[] = {std::string_view(run.contigs[segment.contig].name),
                                    std::int64_t{segment.begin}, std::int64_t{segment.end}};
        whole.write(head, std::span(&segment.value, 1));
    }
}

}  // namespace bigbird::outputs
