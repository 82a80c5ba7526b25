// SPDX-License-Identifier: Apache-2.0
#include "bigbird/examples/build/chromatin.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/interrupt.hpp"
#include "bigbird/core/log.hpp"
#include "bigbird/core/parallel.hpp"
#include "bigbird/core/progress.hpp"
#include "bigbird/core/rng.hpp"
#include "bigbird/core/words.hpp"
#include "bigbird/examples/build/sheet.hpp"
#include "bigbird/examples/example_format.hpp"
#include "bigbird/examples/example_writer.hpp"
#include "bigbird/examples/label_matrix.hpp"
#include "bigbird/examples/labelled_bins.hpp"
#include "bigbird/genome/reference/reference_genome.hpp"
#include "bigbird/genome/regions/interval_set.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <ranges>

namespace bigbird::examples {
namespace fs = std::filesystem;

namespace {

using genome::Interval;

/// The peaks of a label on the reference.
struct Peaks {
    genome::IntervalSet set;
    genome::AssemblyFit fit;
    std::vector<Json> checksums;  ///< checksums of its files
};

Peaks read_peaks(const genome::ReferenceGenome& reference, const std::vector<fs::path>& paths) {
    Peaks peaks;
    std::vector<Interval> intervals;
    for (const fs::path& path : paths) {
        const genome::PlacedBed bed = genome::read_bed_on(reference, path);
        for (const genome::BedRecord& record : bed.records)
            intervals.push_back(record.where);
        peaks.fit += bed.fit;
        peaks.checksums.push_back(checksum_of_input(path));
    }
    peaks.set = genome::IntervalSet(intervals);
    return peaks;
}

class ChromatinBuilder {
public:
    ChromatinBuilder(const ChromatinOptions& options, const fs::path& folder)
        : options_(options),
          folder_(folder),
          regions_(options),
          files_(read_label_files(options.peaks)),
          store_(store_of_contigs(folder, reference())),
          writer_(folder, Task::chromatin, rows::centred_bounds(options.window), files_.size()),
          matrix_(folder / bins_matrix_name, Cells::bits, files_.size()) {}

    void build() {
        read_all_peaks();
        if (options_.chooses_hold_outs) {
            regions_.choose_missing_hold_outs(
                [this](const std::string& contig) { return has_peaks(contig); },
                [this](const genome::Contig& contig) { return labelled_bins(contig); });
        }
        if (options_.negatives && options_.negatives->by_gc) match_negatives();
        Progress progress("label bins", "contigs", std::ssize(reference().contigs()));
        std::int64_t done = 0;
        for (const genome::Contig& contig : reference().contigs()) {
            stop_if_asked();
            build_contig(contig);
            progress.update(++done);
        }
        progress.finish();
        if (!writer_.any_label()) {
            throw InputError(
                "no bin has a label: none of the peaks covers more than half of a bin that --include and "
                "--exclude admit, in a window with enough letters other than N");
        }
        store_.finish();
        write_stretches(folder_, stretches_, options_.bin);
        matrix_.finish();
        std::vector<rows::Label> labels;
        for (const LabelFiles& file : files_)
            labels.push_back({file.group, file.name});
        writer_.finish(rows::LabelTable(std::move(labels)), details());
        report();
    }

private:
    void read_all_peaks() {
        peaks_.resize(files_.size());
        parallel_for(static_cast<std::int64_t>(files_.size()), options_.threads, [&](std::int64_t i) {
            stop_if_asked();
            peaks_[static_cast<std::size_t>(i)] =
                read_peaks(reference(), files_[static_cast<std::size_t>(i)].paths);
        });
        genome::AssemblyFit fit;
        for (const Peaks& peaks : peaks_)
            fit += peaks.fit;
        log_info("read {} of {}", counted(fit.rows, "peak"), counted(files_.size(), "label"));
        if (fit.off_reference() > 0)
            log_warning("left out {} of {} peaks: {}", fit.off_reference(), fit.rows, fit.misfits());
        if (fit.rows == 0) throw InputError("--peaks holds no peaks: every file is empty");
        if (fit.rows == fit.off_reference()) {
            throw InputError("none of the " + counted(fit.rows, "peak") + " is on the reference (which has " +
                             listed(reference().contigs() | std::views::transform(&genome::Contig::name)) +
                             "); give peaks and reference of the same assembly");
        }
        genome::require_assembly(fit, reference(), "--peaks", "peaks", options_.skip_invalid);
    }

    const genome::ReferenceGenome& reference() const { return regions_.reference(); }
    bool has_peaks(const std::string& contig) const {
        return std::ranges::any_of(
            peaks_, [&](const Peaks& peaks) { return !peaks.set.spans(contig).empty(); });
    }

    /// All bins of a contig with their labels. Each thread handles eight labels, which share a byte.
    BitRows label_bins(const std::string& contig, std::int64_t count) const {
        BitRows labels(files_.size());
        labels.resize(static_cast<std::size_t>(count));
        const auto bytes = static_cast<std::int64_t>(labels.row_bytes());
        parallel_for(bytes, options_.threads, [&](std::int64_t byte) {
            const auto first = static_cast<std::size_t>(byte) * 8;
            for (std::size_t label = first; label < std::min(first + 8, files_.size()); ++label)
                mark_covered_bins(
                    peaks_[label].set.spans(contig), options_.bin, count,
                    [&](std::int64_t bin) { labels.set(static_cast<std::size_t>(bin), label); });
        });
        return labels;
    }

    /// The bins of a contig with a label.
    std::vector<std::int64_t> labelled_bins(const genome::Contig& contig) const {
        const BitRows labels = label_bins(contig.name, contig.length / options_.bin);
        std::vector<std::int64_t> bins;
        for (std::size_t i = 0; i < labels.rows(); ++i)
            if (labels.any(i)) bins.push_back(static_cast<std::int64_t>(i));
        return bins;
    }

    /// Whether a bin can be a row, as far as N in its window say.
    bool has_letters(const ContigSequence& sequence, const Interval& where) const {
        const Interval window = genome::window_around(where, options_.window);
        return static_cast<double>(sequence.count_n(window.begin, window.end)) <=
               std::floor(most_n * static_cast<double>(options_.window));
    }

    /// Draws the bins without a peak by the GC of their windows.
    void match_negatives() {
        GcMatcher matcher(options_.seed);
        for (std::size_t index = 0; index < reference().contigs().size(); ++index) {
            const genome::Contig& contig = reference().contigs()[index];
            if (!has_peaks(contig.name)) continue;
            stop_if_asked();
            const BitRows labels = label_bins(contig.name, contig.length / options_.bin);
            const ContigSequence sequence(reference(), contig);
            const std::string dna = reference().fetch({contig.name, 0, contig.length});
            GcCounter counter(dna);
            for (std::size_t i = 0; i < labels.rows(); ++i) {
                const Interval where = regions_.place_of(contig.name, static_cast<std::int64_t>(i));
                if (!regions_.admits(where) || !has_letters(sequence, where)) continue;
                const Interval window = genome::window_around(where, options_.window);
                const double gc = counter.share(window.begin, window.end);
                const Split split = regions_.split_of(where);
                if (labels.any(i))
                    matcher.add_peak(split, gc);
                else if (!std::ranges::any_of(peaks_,
                                              [&](const Peaks& peaks) { return peaks.set.overlaps(where); }))
                    matcher.add_candidate({index, where.begin, split}, gc);
            }
        }
        for (const GcMatcher::Window& window : matcher.draw(options_.negatives->ratio))
            matched_[reference().contigs()[window.contig].name].push_back(window.begin / options_.bin);
    }

    /// The bins of a contig that become rows.
    std::vector<std::int64_t> choose_rows(const genome::Contig& contig, const BitRows& labels,
                                          const ContigSequence& sequence) {
        std::vector<std::int64_t> chosen, unlabelled;
        for (std::size_t i = 0; i < labels.rows(); ++i) {
            const auto bin = static_cast<std::int64_t>(i);
            const Interval where = regions_.place_of(contig.name, bin);
            const bool wanted = !options_.negatives || labels.any(i);
            const bool none =
                options_.negatives && (options_.negatives->ratio == 0 || options_.negatives->by_gc);
            if ((!wanted && none) || !regions_.admits(where)) continue;
            if (!has_letters(sequence, where)) {
                left_out_n_ += wanted ? 1 : 0;
                continue;
            }
            (wanted ? chosen : unlabelled).push_back(bin);
        }
        if (options_.negatives && options_.negatives->by_gc) {
            const auto matched = matched_.find(contig.name);
            if (matched != matched_.end()) unlabelled = matched->second;
            chosen.insert(chosen.end(), unlabelled.begin(), unlabelled.end());
            std::ranges::sort(chosen);
        } else {
            draw_negatives(contig, unlabelled, chosen);
        }
        return chosen;
    }

    /// Adds bins of `unlabelled` to `chosen`, as many as the ratio requires, in order.
    void draw_negatives(const genome::Contig& contig, std::vector<std::int64_t>& unlabelled,
                        std::vector<std::int64_t>& chosen) const {
        const Rng stream = Rng(options_.seed).split("negatives").split(contig.name);
        std::ranges::sort(unlabelled, {}, [&](std::int64_t bin) {
            return stream.split(static_cast<std::uint64_t>(bin)).key();
        });
        const auto wanted = static_cast<std::size_t>(std::llround(
            options_.negatives.value_or(Negatives()).ratio * static_cast<double>(chosen.size())));
        unlabelled.resize(std::min(unlabelled.size(), wanted));
        chosen.insert(chosen.end(), unlabelled.begin(), unlabelled.end());
        std::ranges::sort(chosen);
    }

    /// Adds all bins that --include and --exclude allow, regardless of labels and N.
    std::int64_t add_bins(const genome::Contig& contig, const BitRows& labels, ContigSequence& sequence) {
        std::int64_t added = 0;
        for (std::size_t i = 0; i < labels.rows(); ++i) {
            const Interval where = regions_.place_of(contig.name, static_cast<std::int64_t>(i));
            if (!regions_.admits(where)) continue;
            add_bin(stretches_, contig.name, static_cast<std::int64_t>(i), regions_.split_of(where));
            matrix_.append(std::as_bytes(labels.row(i)));
            sequence.keep(where);
            ++added;
        }
        return added;
    }

    void build_contig(const genome::Contig& contig) {
        if (options_.negatives && !has_peaks(contig.name)) return;
        const std::int64_t count = contig.length / options_.bin;
        const BitRows labels = label_bins(contig.name, count);
        ContigSequence sequence(reference(), contig);
        const std::vector<std::int64_t> rows = choose_rows(contig, labels, sequence);
        std::vector<SplitWindow> windows;
        for (const std::int64_t bin : rows) {
            const Interval where = regions_.place_of(contig.name, bin);
            windows.push_back({genome::window_around(where, options_.window), regions_.split_of(where)});
        }
        const std::vector<bool> kept = without_shared_windows(windows);
        std::int64_t written = add_bins(contig, labels, sequence);
        left_out_shared_ += std::ranges::count(kept, false);
        for (std::size_t i = 0; i < rows.size(); ++i) {
            if (!kept[i]) continue;
            sequence.keep(windows[i].window);
            writer_.add({.where = regions_.place_of(contig.name, rows[i]), .split = windows[i].split},
                        labels.row(static_cast<std::size_t>(rows[i])));
            ++written;
        }
        if (written > 0) store_.add(contig.name, sequence.kept());
    }

    void report() const {
        if (left_out_n_ > 0)
            log_info("left out {} whose window has more than {:g} of N", counted(left_out_n_, "bin"), most_n);
        if (left_out_shared_ > 0)
            log_info("left out {} whose window reaches into one that is held out",
                     counted(left_out_shared_, "bin"));
        log_info("{} of {} bp: {} for training, {} for validation, {} for test",
                 counted(writer_.rows(), "bin"), options_.bin, writer_.rows(Split::train),
                 writer_.rows(Split::validation), writer_.rows(Split::test));
        for (const Split split : {Split::validation, Split::test}) {
            if (writer_.rows(split) > 0 && !writer_.tells_apart(split)) {
                log_warning("the {} rows of {} have all the same labels, so that no AUROC can be computed",
                            writer_.rows(split), to_string(split));
            }
        }
    }

    Json details() const {
        Json parameters{{"bin", options_.bin},
                        {"bins", options_.negatives ? "any" : "all"},
                        {"negatives", to_json(options_.negatives.value_or(Negatives()))},
                        {"seed", options_.seed},
                        {"max_n_fraction", most_n},
                        {"held_out", regions_.held_out()}};
        Json inputs = regions_.inputs();
        for (std::size_t i = 0; i < peaks_.size(); ++i)
            for (const Json& checksum : peaks_[i].checksums)
                inputs.push_back({{"role", "peaks"}, {"label", i}, {"sha256", checksum}});
        return {
            {"parameters", parameters}, {"inputs", inputs}, {"contigs", contigs_json(reference().contigs())}};
    }

    const ChromatinOptions& options_;
    fs::path folder_;
    BinRegions regions_;
    std::vector<LabelFiles> files_;
    TwoBitWriter store_;
    ExampleWriter writer_;
    LabelWriter matrix_;  ///< bins.npy
    std::vector<BinStretch> stretches_;
    std::vector<Peaks> peaks_;
    std::map<std::string, std::vector<std::int64_t>> matched_;  ///< bins without a peak, by contig
    std::int64_t left_out_n_ = 0, left_out_shared_ = 0;
};

}  // namespace

void ChromatinOptions::validate() const {
    if (bin < 1 || window < bin)
        throw ConfigError("--window must be at least as long as --bin, and --bin at least 1");
}

void build_chromatin(const ChromatinOptions& options, const fs::path& folder) {
    options.validate();
    ChromatinBuilder(options, folder).build();
}

}  // namespace bigbird::examples
