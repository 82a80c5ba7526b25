// SPDX-License-Identifier: Apache-2.0
#include "bigbird/examples/build/tracks.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/formats/npy_header.hpp"
#include "bigbird/core/interrupt.hpp"
#include "bigbird/core/log.hpp"
#include "bigbird/core/progress.hpp"
#include "bigbird/core/words.hpp"
#include "bigbird/examples/build/sheet.hpp"
#include "bigbird/examples/build/signals/signal_json.hpp"
#include "bigbird/examples/example_format.hpp"
#include "bigbird/examples/example_writer.hpp"
#include "bigbird/examples/labelled_bins.hpp"
#include "bigbird/rows/text_fields.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>
#include <limits>

namespace bigbird::examples {
namespace fs = std::filesystem;

namespace {

constexpr std::int64_t bins_about_a_bin = 9;
constexpr std::size_t rows_at_once = std::size_t{1} << 16U;
constexpr double million = 1e6;

/// How the values of a track's bins are computed.
struct Values {
    SignalReading reading{};
    Aggregate aggregate = Aggregate::automatic;
    double scale = 1, soft_clip = std::numeric_limits<double>::infinity(),
           clip = std::numeric_limits<double>::infinity();
    bool per_million = false;

    bool operator==(const Values&) const = default;
    bool takes_mean(const fs::path& path) const {
        if (aggregate != Aggregate::automatic) return aggregate == Aggregate::mean;
        return !holds_fragments(path) || reading.counts() == Counted::fragments;
    }
    double of(double aggregated, std::int64_t read) const {
        double value = aggregated * (per_million ? million / static_cast<double>(read) : scale);
        if (value > soft_clip) value = soft_clip - 1 + std::sqrt(value - soft_clip + 1);
        return std::min(value, clip);
    }
};

struct Track : LabelFiles {
    std::string strand_pair{};
    Values values{};
    std::int64_t read = 0, positive = 0;  ///< intervals or fragments of its files; bins above 0
    std::vector<SignalRead> files_read{};
};

double number_in(const SheetRow& row, std::string_view column, double otherwise, const fs::path& sheet) {
    const std::string text = row.value(column, "");
    if (text.empty()) return otherwise;
    const auto number = rows::parse_real(text);
    if (!number) {
        throw InputError("has '" + shortened(text) + "' in column " + std::string(column) + ", no number",
                         sheet, row.line);
    }
    return *number;
}

template <typename Enum, std::size_t N>
Enum word_in(const SheetRow& row, const std::string& column, const Choices<Enum, N>& choices, Enum otherwise,
             const fs::path& sheet) {
    const std::string word = row.value(column, "");
    if (word.empty()) return otherwise;
    const std::string where = sheet.string() + ":" + std::to_string(row.line) + ": column " + column;
    return parse_choice(choices, where, word);
}

/// The columns min_mapq and keep_duplicates.
void read_filter(const SheetRow& row, const fs::path& sheet, ReadFilter& filter) {
    constexpr Choices<bool, 2> yes_or_no{{{true, "yes"}, {false, "no"}}};
    constexpr double most = 255;
    const double mapq = number_in(row, "min_mapq", filter.min_mapq, sheet);
    if (mapq < 0 || mapq > most || mapq != std::floor(mapq))
        throw InputError("has another min_mapq than 0 to 255", sheet, row.line);
    filter.min_mapq = static_cast<int>(mapq);
    filter.keep_duplicates = word_in(row, "keep_duplicates", yes_or_no, filter.keep_duplicates, sheet);
}

Values values_of(const SheetRow& row, const fs::path& sheet, const TrackOptions& options) {
    Values values{.reading = options.reading};
    values.per_million = row.value("scale", "") == "cpm";
    if (!values.per_million) values.scale = number_in(row, "scale", 1, sheet);
    values.soft_clip = number_in(row, "soft_clip", values.soft_clip, sheet);
    values.clip = number_in(row, "clip", values.clip, sheet);
    values.reading.counted = word_in(row, "count", counted_choices, values.reading.counted, sheet);
    values.aggregate = word_in(row, "aggregate", aggregates, values.aggregate, sheet);
    read_filter(row, sheet, values.reading.filter);
    values.reading.assay = word_in(row, "assay", assays, values.reading.assay, sheet);
    const std::string shift = row.value("shift", "");
    if (!shift.empty() && !values.reading.parse_shift(shift))
        throw InputError("has '" + shift + "' in column shift, not two numbers of bases such as 4,-4", sheet,
                         row.line);
    return values;
}

Track track_of(const LabelFiles& files, const TrackOptions& options) {
    const fs::path& sheet = options.signals.front();
    Track track{files, files.rows.front().value("strand_pair", ""),
                values_of(files.rows.front(), sheet, options)};
    for (const fs::path& path : track.paths)
        if (!holds_fragments(path) && track.values.per_million)
            throw ConfigError("scale cpm is for fragments; give track " + track.name + " a factor");
    for (const SheetRow& row : files.rows)
        if (values_of(row, sheet, options) != track.values ||
            row.value("strand_pair", "") != track.strand_pair)
            throw ConfigError("rows of --signal with the name " + track.name +
                              " are added up, so they need the same scale, clip, assay, count, shift, "
                              "min_mapq, keep_duplicates and aggregate");
    if (track.values.reading.assay == Assay::chip && !std::ranges::all_of(track.paths, holds_fragments))
        throw ConfigError("track " + track.name + " has the assay chip, which is for reads and fragments");
    if (track.values.reading.assay != Assay::none && track.values.reading.counted == Counted::fragments)
        throw ConfigError("track " + track.name +
                          " has both an assay and a count: give --assay coverage to count all bases");
    return track;
}

/// The tracks of both strands of a track of ChIP-seq.
std::array<Track, 2> strands_of(const Track& track) {
    std::array<Track, 2> strands{track, track};
    for (Track& strand : strands) {
        const bool forward = &strand == strands.data();
        strand.name += forward ? "_plus" : "_minus";
        strand.strand_pair = track.name + (forward ? "_minus" : "_plus");
        strand.values.reading.strand = forward ? CountedStrand::forward : CountedStrand::reverse;
    }
    return strands;
}

std::vector<Track> read_tracks(const TrackOptions& options) {
    std::vector<Track> tracks;
    for (const LabelFiles& files : read_label_files(options.signals)) {
        const Track track = track_of(files, options);
        if (track.values.reading.assay != Assay::chip)
            tracks.push_back(track);
        else
            for (const Track& strand : strands_of(track))
                tracks.push_back(strand);
    }
    const bool fragments = std::ranges::any_of(
        tracks, [](const Track& track) { return std::ranges::any_of(track.paths, holds_fragments); });
    const SignalReading plain{.skip_invalid = options.reading.skip_invalid,
                              .threads = options.reading.threads};
    if (!fragments && options.reading != plain)
        throw ConfigError(
            "--assay, --count and --shift are for fragments and reads, and no file of --signal holds any");
    return tracks;
}

/// Index of the track of the other strand; -1 if there is none.
std::int64_t strand_pair_of(const Track& track, const std::vector<Track>& tracks) {
    if (track.strand_pair.empty() || track.strand_pair == track.name) return -1;
    const auto pair = std::ranges::find_if(tracks, [&](const Track& other) {
        return other.name == track.strand_pair && other.group == track.group;
    });
    if (pair == tracks.end() || pair->strand_pair != track.name) {
        throw ConfigError("track " + track.name + " has the strand_pair " + track.strand_pair +
                          ", which must be a track of its group with the strand_pair " + track.name);
    }
    return pair - tracks.begin();
}

class TracksBuilder {
public:
    TracksBuilder(const TrackOptions& options, const fs::path& folder)
        : options_(options),
          folder_(folder),
          tracks_(read_tracks(options)),
          regions_(options),
          writer_(folder, Task::chromatin, rows::centred_bounds(window()), 0) {}

    void build() {
        for (const Track& track : tracks_)
            strand_pair_of(track, tracks_);
        if (options_.chooses_hold_outs)
            regions_.choose_missing_hold_outs([](const std::string&) { return true; });
        if (!options_.peaks.empty()) keep_windows();
        write_rows();
        if (splits_.empty())
            throw InputError("no bin is left that --include and --exclude admit and that is not N");
        if (writer_.rows(Split::train) == 0)
            throw ConfigError("no bin is left for training: all are of --validation and --test");
        has_signal_.resize(splits_.size());
        Progress progress("Reading signal", "tracks", std::ssize(tracks_));
        for (std::size_t track = 0; track < tracks_.size(); ++track) {
            read_track(track);
            progress.update(static_cast<std::int64_t>(track) + 1);
        }
        progress.finish();
        warn_of_missing_data();
        write_numbers();
        describe();
        log_info("{} of {} of {} bp: {} for training, {} for validation, {} for test",
                 counted(tracks_.size(), "track"), counted(writer_.rows(), "bin"), options_.bin,
                 writer_.rows(Split::train), writer_.rows(Split::validation), writer_.rows(Split::test));
    }

private:
    const genome::ReferenceGenome& reference() const { return regions_.reference(); }
    std::int64_t window() const { return bins_about_a_bin * options_.bin; }

    /// Keeps the windows of peaks, and of negatives.
    void keep_windows() {
        const auto split_of = [this](const genome::Interval& where) { return regions_.split_of(where); };
        const genome::IntervalSet excluded = regions_.excluded();
        std::vector<SplitWindow> windows = peak_windows(reference(), options_.peaks, options_.peak_window,
                                                        excluded, split_of, options_.reading.skip_invalid);
        if (options_.negatives)
            for (SplitWindow& negative : gc_negatives(reference(), windows, excluded, split_of,
                                                      options_.negatives->ratio, options_.seed))
                windows.push_back(std::move(negative));
        std::vector<genome::Interval> kept;
        for (SplitWindow& window : windows)
            kept.push_back(std::move(window.window));
        regions_.keep(genome::IntervalSet(kept));
    }

    /// sequences.bed, the lists of splits, bins.bed and sequences.2bit.
    void write_rows() {
        std::vector<BinStretch> stretches;
        TwoBitWriter store = store_of_contigs(folder_, reference());
        for (const genome::Contig& contig : reference().contigs()) {
            stop_if_asked();
            row_of_bin_.emplace_back(static_cast<std::size_t>(contig.length / options_.bin), -1);
            ContigSequence sequence(reference(), contig);
            const std::vector<std::int64_t> bins = bins_of(contig, sequence);
            for (const std::int64_t bin : bins) {
                const genome::Interval where = regions_.place_of(contig.name, bin);
                const Split split = regions_.split_of(where);
                add_bin(stretches, contig.name, bin, split);
                sequence.keep(genome::window_around(where, window()));
                if (writer_.rows() > std::numeric_limits<std::int32_t>::max())
                    throw ConfigError(
                        "--bin " + std::to_string(options_.bin) +
                        " makes more than 2^31 bins: give --include, such as peaks, or longer bins");
                row_of_bin_.back()[static_cast<std::size_t>(bin)] = static_cast<std::int32_t>(writer_.rows());
                splits_.push_back(split);
                writer_.add({.where = where, .split = split}, {});
            }
            if (!bins.empty()) store.add(contig.name, sequence.kept());
        }
        write_stretches(folder_, stretches, options_.bin);
        store.finish();
    }

    std::vector<std::int64_t> bins_of(const genome::Contig& contig, const ContigSequence& sequence) const {
        std::vector<std::int64_t> bins;
        std::vector<SplitWindow> windows;
        for (std::int64_t bin = 0; bin < contig.length / options_.bin; ++bin) {
            const genome::Interval where = regions_.place_of(contig.name, bin);
            if (!regions_.admits(where) || 2 * sequence.count_n(where.begin, where.end) >= options_.bin)
                continue;
            bins.push_back(bin);
            windows.push_back({genome::window_around(where, window()), regions_.split_of(where)});
        }
        const std::vector<bool> kept = without_shared_windows(windows);
        std::size_t i = 0;
        std::erase_if(bins, [&](std::int64_t) { return !kept[i++]; });
        return bins;
    }

    /// Writes a track's numbers into a separate file, row by row.
    void read_track(std::size_t index) {
        Track& track = tracks_[index];
        std::vector<double> sums(splits_.size(), 0);
        for (const fs::path& path : track.paths) {
            stop_if_asked();
            const double share =
                track.values.takes_mean(path) ? 1.0 / static_cast<double>(options_.bin) : 1.0;
            track.files_read.push_back(
                read_signal(path, reference(), track.values.reading,
                            [&](std::size_t contig, std::int64_t begin, std::int64_t end, double value) {
                                if (value * track.values.scale < 0)
                                    refuse_negative(path, contig, begin, value * track.values.scale);
                                add(contig, begin, end, value * share, sums);
                            }));
            track.read += track.files_read.back().rows;
        }
        std::vector<float> values;
        bool in_train = false;
        for (std::size_t row = 0; row < sums.size(); ++row) {
            const double value = track.values.of(sums[row], track.read);
            values.push_back(static_cast<float>(value));
            if (!std::isfinite(values.back()))
                throw InputError("track " + track.name + " has a bin of " + std::to_string(value) +
                                 ", too large");
            track.positive += value > 0 ? 1 : 0;
            has_signal_[row] = has_signal_[row] || value > 0;
            in_train = in_train || (value > 0 && splits_[row] == Split::train);
        }
        if (!in_train) throw InputError("track " + track.name + " has no signal on the bins of train");
        std::ofstream out(column(index), std::ios::binary);
        out.write(reinterpret_cast<const char*>(values.data()),
                  static_cast<std::streamsize>(values.size() * sizeof(float)));
        out.close();
        if (!out) throw WriteError("the numbers of track " + track.name + " cannot be written");
    }

    [[noreturn]] void refuse_negative(const fs::path& path, std::size_t contig, std::int64_t begin,
                                      double value) const {
        throw InputError(
            fmt::format("holds the negative number {} at {}:{}: coverage is 0 or more; a sheet's column "
                        "scale turns its sign with -1",
                        value, reference().contigs()[contig].name, begin + 1),
            path);
    }

    /// Bins without data count as 0. Long stretches of them are rather missing data than no signal.
    void warn_of_missing_data() const {
        constexpr std::int64_t long_stretch = 200, one_in = 10;
        std::int64_t missing = 0, stretch = 0;
        for (std::size_t row = 0; row < has_signal_.size(); ++row) {
            stretch = has_signal_[row] || splits_[row] != Split::train ? 0 : stretch + 1;
            if (stretch == long_stretch) missing += long_stretch;
            if (stretch > long_stretch) ++missing;
        }
        const std::int64_t rows = writer_.rows(Split::train);
        if (missing * one_in <= rows) return;
        log_warning(
            "{:.0f} % of the bins for training are in stretches of {} bins or more without signal in any "
            "track "
            "and count as 0; leave them out by --include or --exclude if they have no data",
            100.0 * static_cast<double>(missing) / static_cast<double>(rows), long_stretch);
    }

    void add(std::size_t contig, std::int64_t begin, std::int64_t end, double value,
             std::vector<double>& sums) const {
        const std::vector<std::int32_t>& row_of = row_of_bin_[contig];
        begin = std::max<std::int64_t>(begin, 0);
        end = std::min(end, std::ssize(row_of) * options_.bin);
        while (begin < end) {
            const std::int64_t bin = begin / options_.bin, next = std::min(end, (bin + 1) * options_.bin);
            const std::int32_t row = row_of[static_cast<std::size_t>(bin)];
            if (row >= 0) sums[static_cast<std::size_t>(row)] += value * static_cast<double>(next - begin);
            begin = next;
        }
    }

    fs::path column(std::size_t track) const { return folder_ / ("track" + std::to_string(track)); }

    /// Writes targets.npy from the tracks' files, and deletes these.
    void write_numbers() const {
        std::ofstream out(folder_ / numbers_name, std::ios::binary);
        out << npy_header("<f4", writer_.rows(), tracks_.size());
        std::vector<std::ifstream> columns;
        for (std::size_t track = 0; track < tracks_.size(); ++track)
            columns.emplace_back(column(track), std::ios::binary);
        const std::size_t width = tracks_.size(), rows = splits_.size();
        for (std::size_t begin = 0; begin < rows; begin += rows_at_once) {
            stop_if_asked();
            const std::size_t count = std::min(rows_at_once, rows - begin);
            std::vector<float> values(count), all(count * width);
            for (std::size_t track = 0; track < width; ++track) {
                columns[track].read(reinterpret_cast<char*>(values.data()),
                                    static_cast<std::streamsize>(count * sizeof(float)));
                for (std::size_t i = 0; i < count; ++i)
                    all[i * width + track] = values[i];
            }
            out.write(reinterpret_cast<const char*>(all.data()),
                      static_cast<std::streamsize>(all.size() * sizeof(float)));
        }
        out.close();
        if (!out || std::ranges::any_of(columns, [](const std::ifstream& file) { return !file; }))
            throw WriteError("the tracks' numbers cannot be written");
        columns.clear();
        for (std::size_t track = 0; track < width; ++track)
            fs::remove(column(track));
    }

    /// labels.tsv and manifest.json.
    void describe() {
        std::vector<rows::Label> labels;
        Json inputs = regions_.inputs(), scales = Json::array();
        for (const Track& track : tracks_) {
            for (const fs::path& path : track.paths) {
                inputs.push_back(
                    {{"role", "signal"}, {"label", labels.size()}, {"sha256", checksum_of_input(path)}});
            }
            const auto finite = [](double value) { return std::isfinite(value) ? Json(value) : Json(); };
            const Values& values = track.values;
            scales.push_back({{"scale", values.per_million ? Json("cpm") : Json(values.scale)},
                              {"soft_clip", finite(values.soft_clip)},
                              {"clip", finite(values.clip)},
                              {"aggregate", word_of(aggregates, values.aggregate)},
                              {"count", word_of(counted_choices, values.reading.counted)},
                              {"shift", {values.reading.begin_shift, values.reading.end_shift}}});
            if (values.reading.assay != Assay::none)
                scales.back()["assay"] = word_of(assays, values.reading.assay);
            for (const SignalRead& file : track.files_read)
                if (file.reads || file.shift) scales.back()["files"].push_back(to_json(file, values.reading));
            labels.push_back({track.group, track.name, track.positive, strand_pair_of(track, tracks_)});
        }
        Json parameters{{"bin", options_.bin}, {"tracks", scales}, {"held_out", regions_.held_out()}};
        if (!options_.peaks.empty()) parameters["window"] = options_.peak_window;
        if (options_.negatives)
            parameters.update({{"negatives", to_json(*options_.negatives)}, {"seed", options_.seed}});
        for (const fs::path& path : options_.peaks)
            inputs.push_back({{"role", "peaks"}, {"sha256", checksum_of_input(path)}});
        writer_.finish(rows::LabelTable(std::move(labels)),
                       {{"target", word_of(target_choices, TargetKind::numbers)},
                        {"parameters", parameters},
                        {"inputs", inputs},
                        {"contigs", contigs_json(reference().contigs())}});
    }

    const TrackOptions& options_;
    fs::path folder_;
    std::vector<Track> tracks_;
    BinRegions regions_;
    ExampleWriter writer_;
    std::vector<std::vector<std::int32_t>> row_of_bin_;  ///< by contig; -1: none
    std::vector<Split> splits_;                          ///< splits of the rows
    std::vector<bool> has_signal_;                       ///< rows with signal in a track
};

}  // namespace

void TrackOptions::validate() const {
    if (bin < 1) throw ConfigError("--bin must be at least 1");
    if (negatives && !negatives->by_gc)
        throw ConfigError("--negatives of coverage takes gc:RATIO, such as gc:1");
    if (negatives && peaks.empty()) throw ConfigError("--negatives needs --peaks");
    if (signals.empty())
        throw ConfigError("--signal is needed: a sheet, or BAM, CRAM, bigWig, bedGraph or BED files");
}

void build_tracks(const TrackOptions& options, const fs::path& folder) {
    options.validate();
    TracksBuilder(options, folder).build();
}

}  // namespace bigbird::examples
