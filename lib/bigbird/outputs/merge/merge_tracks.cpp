// SPDX-License-Identifier: Apache-2.0
#include "bigbird/core/error.hpp"
#include "bigbird/core/interrupt.hpp"
#include "bigbird/core/parse_number.hpp"
#include "bigbird/core/system/confined_worker.hpp"
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

constexpr std::uint32_t segments_at_once = std::uint32_t{1} << 16;

/// Segments of a contig that are asked for, as many as come at once: those from number `begin` on.
struct SegmentStretch {
    std::uint32_t contig = 0, begin = 0;
};

/// The worker's side: an empty request opens the file, others are stretches, answered by segments.
class BigWigReading {
public:
    BigWigReading(const fs::path& path, const std::vector<genome::Contig>& contigs)
        : path_(path), contigs_(contigs) {}

    std::string answer(std::string_view request) {
        if (request.empty()) {
            open();
            return {};
        }
        SegmentStretch stretch;
        std::memcpy(&stretch, request.data(), sizeof stretch);
        if (file_->hdr->nBasesCovered == 0) return {};  // there is no index of intervals to read
        if (stretch.begin == 0) load(stretch.contig);
        return segments_of(stretch);
    }

private:
    void open() {
        std::string name = path_.string(), mode = "r";
        bwInit(1U << 17U);
        file_.reset(bwOpen(name.c_str(), nullptr, mode.c_str()), CloseBigWig());
        if (!file_) throw InputError("is no bigWig", path_);
    }
    void load(std::uint32_t number) {
        const genome::Contig& contig = contigs_.at(number);
        found_.reset(bwGetOverlappingIntervals(file_.get(), contig.name.c_str(), 0,
                                               static_cast<std::uint32_t>(contig.length)),
                     FreeIntervals());
        if (!found_) throw InputError("is damaged, or cannot be read", path_);
    }
    std::string segments_of(const SegmentStretch& stretch) const {
        std::string text;
        const auto end = std::min<std::uint64_t>(found_->l, std::uint64_t{stretch.begin} + segments_at_once);
        for (std::uint64_t i = stretch.begin; i < end; ++i) {
            const Segment segment{stretch.contig, found_->start[i], found_->end[i], found_->value[i]};
            text.append(reinterpret_cast<const char*>(&segment), sizeof segment);
        }
        return text;
    }

    const fs::path& path_;
    const std::vector<genome::Contig>& contigs_;
    std::shared_ptr<bigWigFile_t> file_;
    std::shared_ptr<bwOverlappingIntervals_t> found_;  ///< of the contig last asked for
};

/// A bigWig that libBigWig reads in a process of its own, where a damaged one ends that process alone.
class BigWigPart {
public:
    BigWigPart(const fs::path& path, const std::vector<genome::Contig>& contigs)
        : path_(path),
          worker_([reading = BigWigReading(path, contigs)](
                      std::string_view request) mutable { return reading.answer(request); },
                  limits_of_a_reader) {
        worker_.ask_about(path_, {});
    }
    void read(std::uint32_t contig, const Take& take) {
        std::uint32_t begin = 0;
        while (take_some({contig, begin}, take) == segments_at_once)
            begin += segments_at_once;
    }

private:
    std::size_t take_some(const SegmentStretch& stretch, const Take& take) {
        const std::string text =
            worker_.ask_about(path_, {reinterpret_cast<const char*>(&stretch), sizeof stretch});
        const std::size_t count = text.size() / sizeof(Segment);
        if (text.size() % sizeof(Segment) != 0 || count > segments_at_once) throw unfit_answer(path_);
        for (std::size_t i = 0; i < count; ++i) {
            Segment segment;
            std::memcpy(&segment, text.data() + i * sizeof segment, sizeof segment);
            if (segment.contig != stretch.contig) throw unfit_answer(path_);
            take(segment);
        }
        return count;
    }

    const fs::path& path_;
    ConfinedWorker worker_;
};

void read_bigwig(const fs::path& path, const std::vector<genome::Contig>& contigs, const Take& take) {
    BigWigPart part(path, contigs);
    for (std::uint32_t contig = 0; contig < contigs.size(); ++contig)
        part.read(contig, take);
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
