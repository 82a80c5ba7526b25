// SPDX-License-Identifier: Apache-2.0
// Windows of many bins, cut from labeled stretches of the genome, for training and validation. A window reads
// only its stretch: bases beyond it are N, and bins there do not count. So no window reads a base that
// another split scores.
#pragma once

#include "bigbird/bins/config.hpp"
#include "bigbird/bins/motifs.hpp"
#include "bigbird/core/ranked_bits.hpp"
#include "bigbird/core/rng.hpp"
#include "bigbird/examples/labelled_bins.hpp"
#include "bigbird/finetuning/training_data.hpp"
#include "bigbird/tasks/specs/finetune_spec.hpp"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace bigbird::tasks {

/// Distillation: one network learns from the labels and from what other networks make of them (Hinton et al.,
/// arXiv:1503.02531). Probabilities of the labels of train's rows, by other models. Immutable; thread-safe.
class Teacher {
public:
    /// `path`: float32 .npy with a row per row of train and a column per label, as predict --split train
    /// writes it; a row of NaN has no scores. `bins`: those of the same folder. Throws InputError, also if no
    /// row has scores.
    Teacher(const std::filesystem::path& path, const examples::ExampleSet& examples,
            const examples::LabelledBins& bins);

    /// The probabilities of the bin at a row of bins.npy; empty if it is no row of train, or has no
    /// scores.
    std::span<const float> scores(std::int64_t row) const;

private:
    RankedBits rows_;  // by row of bins.npy: whether it has scores
    examples::LabelMatrix scores_;
};

/// Where a window of bins begins, its strand, and its bins that count in the loss.
struct BinWindow {
    std::size_t stretch = 0;  ///< index in LabelledBins::stretches()
    std::int64_t first = 0;   ///< its first bin; may be before the stretch
    std::int64_t shift = 0;   ///< shift of the sequence in bases; the labels are not shifted
    bool reverse = false;     ///< read as the reverse complement, with bins from the last to the first
    /// Bins that count: [counted_begin, counted_end) of the window, before it is reversed.
    std::int64_t counted_begin = 0, counted_end = 0;
    bool operator==(const BinWindow&) const = default;
};

/// At most `most` of the windows, evenly spaced, in order. Requires most > 0.
std::vector<BinWindow> evenly_spaced(std::vector<BinWindow> windows, std::int64_t most);

/// Cuts windows of one split. Const calls are thread-safe.
class BinWindows {
public:
    /// `bins` must outlive this. Bins with half or more N do not count. Reads all of the split's sequence
    /// once, on `threads` threads.
    BinWindows(const examples::LabelledBins& bins, const bins::Grid& grid, examples::Split split,
               int threads);

    /// Number of bins that count.
    std::int64_t usable() const { return counts_.ones(); }
    /// Number of these bins with each label.
    std::vector<std::int64_t> positives() const;
    /// Number of a window's bins that count.
    std::int64_t counted(const BinWindow& window) const;

    /// The row of bins.npy of the i-th bin that counts.
    std::int64_t row(std::int64_t i) const { return counts_.place_of(i); }
    /// Calls visit(row) for each bin that counts, in order.
    template <typename Visit>
    void for_each_row(const Visit& visit) const {
        for (std::int64_t row = 0; row < counts_.size(); ++row)
            if (counts_[row]) visit(row);
    }
    /// The letters of the bin at a row of bins.npy.
    std::string sequence_of(std::int64_t row) const;
    const examples::LabelledBins& bins() const { return bins_; }

    /// Draws a random bin, and a window that has it at a random position. Shifts the window by at most
    /// `shift` bases, and draws the strand if `both_strands`. All its bins count. Requires usable() > 0.
    BinWindow draw(Rng rng, std::int64_t shift, bool both_strands) const;
    /// Windows whose counted bins, the cores, cover each stretch once.
    std::vector<BinWindow> tiles() const;

    /// The grid's window_bases() letters.
    std::string sequence(const BinWindow& window) const;
    /// Copies labels (window_bins, labels), 0 or 1, and sets `counts` to 1 for each bin that counts, else 0.
    void copy_labels(const BinWindow& window, std::span<std::uint8_t> labels,
                     std::span<std::uint8_t> counts) const;
    /// As copy_labels(), but (window_bins, 2 labels): a bin's labels, then the teacher's probabilities of
    /// them, -1 where it has none.
    void copy_taught(const BinWindow& window, const Teacher& teacher, std::span<float> targets,
                     std::span<std::uint8_t> counts) const;
    /// Copies numbers; bins that do not count get 0.
    void copy_numbers(const BinWindow& window, std::span<float> numbers,
                      std::span<std::uint8_t> counts) const;

private:
    /// Calls copy(row, index) for each bin of a window that counts, with its index in the window, and writes
    /// `counts`.
    template <typename Copy>
    void copy_bins(const BinWindow& window, std::span<std::uint8_t> counts, const Copy& copy) const;
    bool is_usable(const examples::BinStretch& stretch, std::int64_t bin) const;

    /// Index in LabelledBins::stretches() of the stretch with a row of bins.npy.
    std::size_t stretch_of(std::int64_t row) const;

    const examples::LabelledBins& bins_;
    bins::Grid grid_;
    examples::Split split_;
    RankedBits counts_;  // by row of bins.npy
};

/// The mean of each track over the counted bins of train. The track's numbers are divided by it.
std::vector<double> mean_numbers(const BinWindows& train);

/// Training data of bin models: randomly drawn windows, with all bins of a window in the loss.
class BinData : public TrainingData {
public:
    /// `bins` must outlive this. `teacher`: none if null. Throws InputError if no bin of train counts, or if
    /// none has a label.
    BinData(std::shared_ptr<const BinNetwork> network, const examples::LabelledBins& bins,
            const ClassifierSpec& spec, const BinsSpec& of_bins = {}, int threads = 1,
            std::shared_ptr<const Teacher> teacher = nullptr);

    const rows::LabelTable& labels() const override { return bins_.label_table(); }
    std::unique_ptr<Target> target(const at::Device& device) const override;
    void start(TaskNetwork& network, const Target& target, bool speaks) const override;
    void say(const TaskNetwork& network, std::int64_t steps, std::int64_t batch_size) const override;
    Batch train(std::int64_t begin, std::int64_t end) override;
    double weight(std::int64_t begin, std::int64_t end) const override;
    std::int64_t validation_size() const override { return std::ssize(tiles_); }
    std::int64_t validation_chunk(std::int64_t batch_tokens) const override {
        return network_->windows_at_once(batch_tokens);
    }
    Batch validation(std::int64_t begin, std::int64_t end) const override;

    const BinWindows& training() const { return training_; }

private:
    /// The window that is sample `number` of the run, from 0.
    BinWindow sample(std::int64_t number) const;
    Batch batch_of(const BinWindows& source, std::span<const BinWindow> windows) const;
    /// Initializes the first filters with motifs of the training bins.
    void plant(const BinNetwork& network, bool speaks) const;

    std::shared_ptr<const BinNetwork> network_;
    bins::Grid grid_;
    const examples::LabelledBins& bins_;
    ClassifierSpec spec_;
    BinsSpec of_bins_;
    int threads_;
    BinWindows training_, validation_;
    std::shared_ptr<const Teacher> teacher_;
    std::vector<std::int64_t> positives_;  // positives of each label among train's bins
    std::vector<double> means_;            // means of numbers
    std::vector<BinWindow> tiles_;         // windows of validation, or an evenly spaced part of them
};

/// Limits on a sample of train's bins, enriched in rare labels, for the motif search.
struct SampleSize {
    std::int64_t background = 0;  ///< drawn from all
    std::int64_t of_label = 0;    ///< each label gets extra bins up to this number,
    std::int64_t of_labels = 0;   ///< but all labels together get at most this many extra bins
};

/// Returns all bins that count, in order, if there are at most `background` of them; else a sample of at most
/// background + of_labels bins, drawn by `rng`. Reads each label once and the sequence of the sample; memory
/// does not grow with the genome.
motifs::LabelledSequence sample_of(const BinWindows& windows, const SampleSize& size, const Rng& rng);

}  // namespace bigbird::tasks
