// SPDX-License-Identifier: Apache-2.0
#include "bigbird/core/error.hpp"
#include "bigbird/core/system/temporary_folder.hpp"
#include "bigbird/genome/reference/contig_names.hpp"
#include "bigbird/outputs/sinks.hpp"
#include "bigbird/outputs/track_file.hpp"

#include <algorithm>
#include <fstream>
#include <limits>
#include <numeric>
#include <tuple>

namespace bigbird::outputs {
namespace fs = std::filesystem;

namespace {

/// The contigs of a track's rows.
class TrackPlaces {
public:
    explicit TrackPlaces(std::span<const genome::Contig> contigs) : names_(contigs, false) {}
    /// Without a value; nullopt if it has no bases or is on none of the contigs.
    std::optional<Segment> segment_of(std::string_view contig, std::int64_t begin, std::int64_t end) const {
        const auto index = names_.find(contig);
        if (!index || begin < 0 || begin >= end || end > std::numeric_limits<std::uint32_t>::max())
            return std::nullopt;
        return Segment{static_cast<std::uint32_t>(*index), static_cast<std::uint32_t>(begin),
                       static_cast<std::uint32_t>(end)};
    }

private:
    genome::ContigNames names_;
};

class TrackSink : public Sink {
public:
    TrackSink(std::unique_ptr<TrackFile> file, std::size_t column, Overlap overlap)
        : file_(std::move(file)), places_(file_->contigs()), column_(column), overlap_(overlap) {}

    void write(std::span<const rows::Field> head, std::span<const float> values) override {
        if (values.empty()) return;
        auto segment = places_.segment_of(std::get<std::string_view>(head[0]),
                                          std::get<std::int64_t>(head[1]), std::get<std::int64_t>(head[2]));
        if (!segment) return;
        segment->value = values[column_];
        segments_.push_back(*segment);
    }
    std::int64_t records() const override { return 0; }
    void finish(std::vector<PendingOutput*>& pending) override {
        file_->write([&](const auto& take) { without_overlaps(segments_, overlap_, take); }, pending);
    }

private:
    std::unique_ptr<TrackFile> file_;
    TrackPlaces places_;
    std::size_t column_;
    Overlap overlap_;
    std::vector<Segment> segments_;
};

class ProfileSink : public ProfileTrack {
public:
    explicit ProfileSink(std::unique_ptr<TrackFile> file)
        : file_(std::move(file)),
          places_(file_->contigs()),
          spill_(folder_.path() / "profiles",
                 std::ios::binary | std::ios::in | std::ios::out | std::ios::trunc) {}

    void write(std::span<const rows::Field>, std::span<const float>) override {}
    void add(const genome::Interval& where, std::span<const float> values) override {
        const std::int64_t begin = std::max<std::int64_t>(where.begin, 0);
        auto place = places_.segment_of(where.contig, begin, where.end);
        if (!place) return;
        const std::int64_t end = std::min(where.end, file_->contigs()[place->contig].length);
        if (begin >= end) return;
        place->end = static_cast<std::uint32_t>(end);
        rows_.push_back(
            {*place, static_cast<std::uint32_t>(where.begin + (where.end - where.begin) / 2), written_});
        const auto inside = values.subspan(static_cast<std::size_t>(begin - where.begin),
                                           static_cast<std::size_t>(end - begin));
        written_ += std::ssize(inside);
        spill_.write(reinterpret_cast<const char*>(inside.data()),
                     static_cast<std::streamsize>(inside.size_bytes()));
        if (!spill_) throw_failed();
    }
    std::int64_t records() const override { return 0; }
    void finish(std::vector<PendingOutput*>& pending) override {
        std::sort(
            rows_.begin(), rows_.end(),
            [](const Row& a, const Row& b) {
                return std::tie(a.where.contig, a.where.begin, a.where.end, a.values) <
                       std::tie(b.where.contig, b.where.begin, b.where.end, b.values);
            });
        file_->write([&](const auto& take) { cut(take); }, pending);
    }

private:
    struct Row {
        Segment where;
        std::uint32_t middle;
        std::int64_t values;  ///< where they begin in the temporary file
    };

    [[noreturn]] void throw_failed() const {
        throw WriteError(folder_.path().string() + ": writing failed: is the disk full? (TMPDIR)");
    }
    void cut(const std::function<void(const Segment&)>& take) {
        std::uint32_t from = 0;  // where the row before was cut
        for (std::size_t i = 0; i < rows_.size(); ++i) {
            const Row& row = rows_[i];
            const bool is_first = i == 0 || rows_[i - 1].where.contig != row.where.contig;
            const Row* const next = i + 1 < rows_.size() ? &rows_[i + 1] : nullptr;
            const bool overlaps = next != nullptr && next->where.contig == row.where.contig &&
                                  next->where.begin < row.where.end;
            const std::uint32_t begin = is_first ? row.where.begin : std::max(from, row.where.begin);
            const std::uint32_t end = overlaps ? std::max(begin, std::midpoint(row.middle, next->middle))
                                               : std::max(begin, row.where.end);
            write_bases(row, begin, std::min(end, row.where.end), take);
            from = std::max(begin, end);
        }
    }
    void write_bases(const Row& row, std::uint32_t begin, std::uint32_t end,
                     const std::function<void(const Segment&)>& take) {
        if (begin >= end) return;
        values_.resize(end - begin);
        const std::int64_t first = row.values + (begin - row.where.begin);
        spill_.seekg(first * static_cast<std::int64_t>(sizeof(float)));
        spill_.read(reinterpret_cast<char*>(values_.data()),
                    static_cast<std::streamsize>(values_.size() * sizeof(float)));
        if (!spill_) throw_failed();
        for (const float value : values_) {
            take({row.where.contig, begin, begin + 1, value});
            ++begin;
        }
    }

    std::unique_ptr<TrackFile> file_;
    TrackPlaces places_;
    TemporaryFolder folder_{"profiles"};
    std::fstream spill_;
    std::vector<Row> rows_;
    std::int64_t written_ = 0;
    std::vector<float> values_;
};

float value_of(const std::vector<Segment>& covering, Overlap overlap) {
    if (covering.size() == 1) return covering.front().value;
    double sum = 0;
    float most = covering.front().value;
    for (const Segment& segment : covering) {
        sum += static_cast<double>(segment.value);
        most = std::max(most, segment.value);
    }
    return overlap == Overlap::max ? most : static_cast<float>(sum / static_cast<double>(covering.size()));
}

}  // namespace

void without_overlaps(std::vector<Segment>& segments, Overlap overlap,
                      const std::function<void(const Segment&)>& take) {
    std::sort(segments.begin(), segments.end(), [](const Segment& a, const Segment& b) {
        return std::tie(a.contig, a.begin, a.end, a.value) < std::tie(b.contig, b.begin, b.end, b.value);
    });
    std::vector<Segment> covering;  // segments that reach beyond `position`
    std::uint32_t contig = 0, position = 0;
    const auto advance = [&](std::uint32_t limit) {
        while (!covering.empty() && position < limit) {
            std::uint32_t next = limit;
            for (const Segment& segment : covering)
                next = std::min(next, segment.end);
            take({contig, position, next, value_of(covering, overlap)});
            position = next;
            std::erase_if(covering, [&](const Segment& segment) { return segment.end <= position; });
        }
    };
    for (const Segment& segment : segments) {
        advance(segment.contig == contig ? segment.begin : std::numeric_limits<std::uint32_t>::max());
        contig = segment.contig;
        position = segment.begin;
        covering.push_back(segment);
    }
    advance(std::numeric_limits<std::uint32_t>::max());
}

std::unique_ptr<Sink> track_sink(const fs::path& path, Overwrite overwrite, Kind kind,
                                 std::span<const genome::Contig> contigs, std::size_t column,
                                 Overlap overlap) {
    return std::make_unique<TrackSink>(track_file(path, overwrite, kind, contigs), column, overlap);
}

std::unique_ptr<ProfileTrack> profile_track(const fs::path& path, Overwrite overwrite, Kind kind,
                                            std::span<const genome::Contig> contigs) {
    return std::make_unique<ProfileSink>(track_file(path, overwrite, kind, contigs));
}

}  // namespace bigbird::outputs
