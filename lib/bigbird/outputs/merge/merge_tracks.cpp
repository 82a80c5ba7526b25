// SPDX-License-Identifier: Apache-2.0
#include "bigbird/core/error.hpp"
#include "bigbird/core/interrupt.hpp"
#include "bigbird/core/parse_number.hpp"
#include "bigbird/core/system/child_process.hpp"
#include "bigbird/genome/text/text_input.hpp"
#include "bigbird/outputs/merge/mergers.hpp"
#include "bigbird/outputs/track_sink.hpp"
#include "bigbird/rows/text_fields.hpp"

#include <bigWig.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>

namespace bigbird::outputs {
namespace fs = std::filesystem;

namespace {

/// A value over [begin, end) of the contig of that number among the run's.
using Take = std::function<void(const Segment&)>;

void read_bedgraph(const fs::path& path, const std::map<std::string, std::uint32_t, std::less<>>& contigs,
                   const Take& take) {
    genome::TextInput input(path);
    std::string line;
    while (input.next(line)) {
        const auto fields = rows::split_fields(line, '\t');
        const auto contig = contigs.find(fields[0]);
        const auto begin = fields.size() == 4 ? parse_number<std::uint32_t>(fields[1]) : std::nullopt,
                   end = fields.size() == 4 ? parse_number<std::uint32_t>(fields[2]) : std::nullopt;
        const auto value = fields.size() == 4 ? parse_number<float>(fields[3]) : std::nullopt;
        if (contig == contigs.end() || !begin || !end || !value) {
            throw InputError("is no line of a bedGraph of this run", path, input.line_number());
        }
        take({contig->second, *begin, *end, *value});
    }
}

struct CloseBigWig {
    void operator()(bigWigFile_t* file) const { bwClose(file); }
};
struct FreeIntervals {
    void operator()(bwOverlappingIntervals_t* intervals) const { bwDestroyOverlappingIntervals(intervals); }
};

constexpr std::size_t segments_at_once = std::size_t{1} << 16;

/// The child's side: sends all segments, some at a time, then an empty message.
void send_bigwig(const fs::path& path, const std::vector<genome::Contig>& contigs,
                 const ChildReader::Send& send) {
    std::string name = path.string(), mode = "r";
    bwInit(1U << 17U);
    const std::unique_ptr<bigWigFile_t, CloseBigWig> file(bwOpen(name.c_str(), nullptr, mode.c_str()));
    if (!file) throw InputError("is no bigWig", path);
    const bool empty = file->hdr->nBasesCovered == 0;  // there is no index of intervals to read
    for (std::uint32_t contig = 0; !empty && contig < contigs.size(); ++contig) {
        const std::unique_ptr<bwOverlappingIntervals_t, FreeIntervals> found(bwGetOverlappingIntervals(
            file.get(), contigs[contig].name.c_str(), 0, static_cast<std::uint32_t>(contigs[contig].length)));
        if (!found) throw InputError("is damaged, or cannot be read", path);
        std::vector<Segment> segments;
        for (std::uint64_t i = 0; i < found->l; ++i) {
            segments.push_back({contig, found->start[i], found->end[i], found->value[i]});
            if (segments.size() < segments_at_once && i + 1 < found->l) continue;
            send({reinterpret_cast<const char*>(segments.data()), segments.size() * sizeof(Segment)});
            segments.clear();
        }
    }
    send("");
}

void read_bigwig(const fs::path& path, const std::vector<genome::Contig>& contigs, const Take& take) {
    ChildReader reader(path, [&](const ChildReader::Send& send) { send_bigwig(path, contigs, send); });
    for (std::string text = reader.next(); !text.empty(); text = reader.next()) {
        std::vector<Segment> segments(text.size() / sizeof(Segment));
        if (text.size() != segments.size() * sizeof(Segment)) throw unfit_answer(path);
        std::memcpy(segments.data(), text.data(), text.size());
        for (const Segment& segment : segments) {
            if (segment.contig >= contigs.size()) throw unfit_answer(path);
            take(segment);
        }
    }
}

std::vector<Segment> read_all(const Merge& merge, Kind kind) {
    std::map<std::string, std::uint32_t, std::less<>> numbers;
    for (const genome::Contig& contig : merge.run.contigs)
        numbers.emplace(contig.name, static_cast<std::uint32_t>(numbers.size()));
    std::vector<Segment> all;
    const Take take = [&](const Segment& segment) { all.push_back(segment); };
    for (const Part& part : merge.parts) {
        stop_if_asked();
        if (kind == Kind::bigwig) {
            read_bigwig(part.path, merge.run.contigs, take);
        } else {
            read_bedgraph(part.path, numbers, take);
        }
    }
    return all;
}

/// A mean of rows in several parts cannot be told from the parts' means.
void require_apart(const Merge& merge, std::vector<Segment>& segments) {
    std::ranges::sort(segments, {}, [](const Segment& s) { return std::tie(s.contig, s.begin, s.end); });
    for (std::size_t i = 1; i < segments.size(); ++i) {
        const Segment &before = segments[i - 1], &here = segments[i];
        if (before.contig != here.contig || before.end <= here.begin) continue;
        throw InputError(
            "rows of two parts overlap at " + merge.run.contigs[here.contig].name + ":" +
            std::to_string(here.begin + 1) +
            "; their mean cannot be told from parts of a track: write such rows as .tsv, .npy or .h5");
    }
}

}  // namespace

void merge_tracks(const Merge& merge, Kind kind) {
    std::vector<Segment> segments = read_all(merge, kind);
    if (merge.run.overlap == Overlap::mean) require_apart(merge, segments);
    const TrackFormat format = kind == Kind::bigwig ? TrackFormat::bigwig : TrackFormat::bedgraph;
    const auto sink =
        track_sink(merge.output, merge.overwrite, format, merge.run.contigs, 0, merge.run.overlap);
    for (const Segment& segment : segments) {
        const std::array<rows::Field, 3> head{std::string_view(merge.run.contigs[segment.contig].name),
                                              std::int64_t{segment.begin}, std::int64_t{segment.end}};
        sink->write(head, std::span(&segment.value, 1));
    }
    sink->commit();
}

}  // namespace bigbird::outputs
