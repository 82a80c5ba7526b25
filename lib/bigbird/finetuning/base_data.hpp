// SPDX-License-Identifier: Apache-2.0
// Windows of one split for training and validation. A window is within a stretch of the split's bases, so no
// window sees a base that another split scores.
#pragma once

#include "bigbird/core/rng.hpp"
#include "bigbird/examples/base_labels.hpp"
#include "bigbird/finetuning/training_data.hpp"
#include "bigbird/genome/regions/interval_set.hpp"
#include "bigbird/tasks/model_folder.hpp"
#include "bigbird/tasks/specs/finetune_spec.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace bigbird::tasks {

struct LabelWindow {
    genome::Interval where;
    bool reverse = false;  ///< read as its reverse complement
    /// Bases that count in the loss: [counted_begin, counted_end) of the window on the forward strand.
    std::int64_t counted_begin = 0, counted_end = 0;
    bool operator==(const LabelWindow&) const = default;
};

/// Const calls are thread-safe.
class LabelWindows {
public:
    /// Divides `bases` into stretches without runs of 64 or more N. Reads their sequence once, on `threads`
    /// threads. `reference` and `labels` must outlive this.
    LabelWindows(const genome::ReferenceGenome& reference, const examples::BaseLabels& labels,
                 const genome::IntervalSet& bases, int threads);

    std::int64_t bases() const { return bases_; }
    /// Number of these bases with each label.
    const std::vector<std::int64_t>& counts() const { return counts_; }

    /// About `count` stretches of at most `length` bases, evenly spaced. Uses stretches shorter than half the
    /// length only if there are no others.
    std::vector<std::string> samples(std::int64_t count, std::int64_t length) const;
    /// Draws a random base, and a window of at most `size` bases that has it at a random position. Draws the
    /// strand if `both_strands`. All bases count. Requires bases() > 0.
    LabelWindow draw(Rng rng, std::int64_t size, bool both_strands) const;
    /// Windows of at most `size` bases whose counted bases cover every stretch once. All bases count except
    /// `margin` bases at each end, if the stretch continues there.
    std::vector<LabelWindow> tiles(std::int64_t size, std::int64_t margin) const;

    /// The window's sequence on the strand that the network reads.
    std::string sequence(const LabelWindow& window) const;
    /// The label of each letter of sequence(); -1 for letters that do not count.
    std::vector<std::int32_t> labels(const LabelWindow& window) const;

private:
    const genome::ReferenceGenome& reference_;
    const examples::BaseLabels& labels_;
    std::vector<genome::Interval> stretches_;
    std::vector<std::int64_t> ends_;  ///< bases up to the end of each stretch
    std::int64_t bases_ = 0;
    std::vector<std::int64_t> counts_;
};

/// The loss weight per base with which each label weighs the same. The smallest is 1, the others are at most
/// 100.
std::vector<double> balanced_weights(const std::vector<std::int64_t>& counts);

/// (length, labels) float32: the number of each id's bases with each label. `labels`: one for each base of
/// the window, -1 where it does not count. `length` is at least the number of spans.
at::Tensor label_counts(std::span<const TokenSpan> spans, std::span<const std::int32_t> labels,
                        std::int64_t label_count, std::int64_t length);

/// The two splits that training uses.
struct LabelSplits {
    LabelWindows train, validation;
};

/// Training data with a label for each base. A base has the probabilities of its token, and the loss of a
/// window is the mean over its bases of -ln p(label). So a token learns the share of each label among its
/// bases. Validation is at most four million bases, in evenly spaced windows.
class BaseData : public TrainingData {
public:
    /// `splits` must outlive this. Throws InputError if train has no base, or none with a label.
    BaseData(std::shared_ptr<const TaskNetwork> network, const LabelSplits& splits, const TaskInfo& info,
             rows::LabelTable labels, const ClassifierSpec& spec, int threads = 1);

    const rows::LabelTable& labels() const override { return labels_; }
    std::unique_ptr<Target> target(const at::Device& device) const override;
    void start(TaskNetwork& network, const Target& target, bool speaks) const override;
    void say(const TaskNetwork& network, std::int64_t steps, std::int64_t batch_size) const override;
    Batch train(std::int64_t begin, std::int64_t end) override;
    double weight(std::int64_t begin, std::int64_t end) const override;
    std::int64_t dropout_sample(std::int64_t first, std::int64_t place) const override {
        return first + place;
    }
    Wanted wanted(const Batch& batch, std::span<const std::size_t> group,
                  std::int64_t segments) const override;
    std::int64_t validation_size() const override { return std::ssize(tiles_); }
    std::int64_t validation_chunk(std::int64_t) const override { return 64; }
    Batch validation(std::int64_t begin, std::int64_t end) const override;
    ScoredRows score(const TaskNetwork& network, const Target& target, const Batch& batch,
                     std::int64_t batch_tokens) const override;

private:
    /// The window that is sample `number` of the run, from 0.
    LabelWindow sample(std::int64_t number) const;
    Batch batch_of(const LabelWindows& source, std::span<const LabelWindow> windows) const;

    std::shared_ptr<const TaskNetwork> network_;
    const LabelSplits& splits_;
    std::int64_t window_;
    rows::LabelTable labels_;
    std::uint64_t seed_;
    bool both_strands_;
    int threads_;
    std::vector<double> weights_;     // weight of each label
    std::vector<LabelWindow> tiles_;  // windows of validation
};

}  // namespace bigbird::tasks
