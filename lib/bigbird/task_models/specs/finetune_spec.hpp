// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bigbird/core/choice.hpp"
#include "bigbird/examples/examples.hpp"
#include "bigbird/rows/window.hpp"
#include "bigbird/training/specs/optimizer_spec.hpp"
#include "bigbird/training/specs/run_spec.hpp"
#include "bigbird/training/specs/schedule.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace bigbird::task_models {

/// How the windows of train are drawn: each once per epoch, or windows with and without a label equally
/// often.
enum class Sampling : std::uint8_t { uniform, balanced };
inline constexpr Choices<Sampling, 2> samplings{
    {{Sampling::uniform, "uniform"}, {Sampling::balanced, "balanced"}}};

/// Settings of a training step on labeled windows. Bin models do not use sampling or a part of the window.
struct ClassifierSpec {
    std::int64_t batch_size = 32;  ///< windows per step, of all ranks together
    /// The weight of a 1 in the loss, against a 0; none: for each label its zeros / its ones in train, at
    /// most largest_balanced_weight.
    std::optional<double> positive_weight = 1;
    Sampling sampling = Sampling::uniform;
    std::optional<rows::WindowBounds> window = std::nullopt;  ///< part of the examples' windows; none: all
    bool both_strands = false;      ///< each window on a strand drawn for (seed, epoch, row)
    bool calibrates = true;         ///< a temperature and biases are fitted on the rows of validation
    std::int64_t batch_tokens = 0;  ///< padded ids that go through the network at once; 0: fits the device
    std::uint64_t seed = 0;
};

/// gkm-svm and kmer-ridge.
struct LinearSpec {
    int word = 0, informative = 0;  ///< 0: 5 and 5 (kmer-ridge), 8 and 5 (gkm-svm)
    double penalty = 0;             ///< kmer-ridge; 0: the best of 1e-3 … 1000 by mean AUROC on validation
    double cost = 1;                ///< C of gkm-svm
    std::int64_t most_windows = 4000;  ///< gkm-svm; its features take 16 bytes each in memory
};

/// Loss of coverage (coverage_target()).
enum class CoverageLoss : std::uint8_t { poisson, poisson_multinomial, log_squared };
inline constexpr Choices<CoverageLoss, 3> coverage_losses{
    {{CoverageLoss::poisson, "poisson"},
     {CoverageLoss::poisson_multinomial, "poisson-multinomial"},
     {CoverageLoss::log_squared, "log-squared"}}};

/// Further options of a bin model: --architecture bigbird-bins, or BigBird with --head bins.
struct BinsSpec {
    /// bigbird-bins: a preset (bins::preset), or a JSON file of bins::BinsConfig.
    std::string config = "tiny";
    /// Bins that go through the network at once; 0: the configuration's, or as many as fit the positions.
    std::int64_t window_bins = 0;
    std::int64_t margin_bins = -1;  ///< -1: an eighth of the window, or the configuration's with its window
    std::int64_t shift = 3;         ///< bases that a window of train is moved by, at most, to either side
    double averaging = 0.99;  ///< decay per step of the averaged weights; 0: the last weights are the model
    CoverageLoss loss = CoverageLoss::poisson_multinomial;  ///< for examples with numbers
    /// Filters of the first convolution, where there is one, that begin as motifs of the training bins
    /// (bins::find_motifs).
    std::int64_t motifs = 0;
    std::filesystem::path motif_file{};  ///< where they are written in MEME's format; empty: nowhere
};

/// How a record's strand is used.
enum class RecordStrand : std::uint8_t { automatic, both, given };
inline constexpr Choices<RecordStrand, 3> record_strands{
    {{RecordStrand::automatic, "auto"}, {RecordStrand::both, "both"}, {RecordStrand::given, "given"}}};

/// Loss of numbers: the squared error of standardized ones, or Poisson's likelihood of counts.
enum class NumberLoss : std::uint8_t { squared, poisson };
inline constexpr Choices<NumberLoss, 2> number_losses{
    {{NumberLoss::squared, "squared"}, {NumberLoss::poisson, "poisson"}}};

/// Models of sequences. Members and what follows are of bigbird-sequence.
struct SequenceSpec {
    /// both: a label holds for the reverse complement, too. given: records are on their strand, and a base's
    /// distance from the middle may matter. automatic: chosen_strand().
    RecordStrand strand = RecordStrand::automatic;
    NumberLoss loss = NumberLoss::squared;
    std::int64_t members = 3;  ///< networks of different seeds, whose mean is the model
    /// Whether regression on k-mers contributes, with the weight that is best on validation.
    bool with_kmers = true;
    std::filesystem::path config{};  ///< a JSON file of all or part of sequences::Config; empty: its defaults
    std::int64_t motifs = 32;        ///< filters that begin as motifs of the training rows, at most
    std::filesystem::path motif_output{};  ///< where they are written; empty: nowhere
    std::int64_t shift = 3;   ///< bases that a record of train is moved by, at most, to either side; 0
                              ///< where the strand is given
    double smoothing = 0.02;  ///< classes_target()'s
    double averaging = 0.99;  ///< decay per step of the averaged weights; 0: the last weights
};

/// A run of finetune-* as its options ask for it. `window`: none means the one that a baseline was published
/// for, else the examples' full windows.
struct FinetuneSpec : ClassifierSpec {
    examples::Task task = examples::Task::chromatin;
    std::filesystem::path examples;  ///< folder of build-promoters or build-chromatin
    /// "bigbird-bins", or a baseline's (baselines/names/architecture_names.hpp).
    std::string architecture = "bigbird";
    std::filesystem::path pretrained;  ///< bigbird: run or model folder, ours or transformers'
    /// bigbird: only the pretrained model's shape and tokenizer; its weights are drawn at random.
    bool random_weights = false;
    std::filesystem::path output;  ///< run folder

    double epochs = 1;  ///< epochs over train, if the schedule's total_steps are 0; 0: epochs_for()
    /// Lower bound on the steps that follow from `epochs`: few windows need more epochs.
    std::int64_t fewest_steps = 1;
    training::LearningRateSpec learning_rate{.warmup_steps = -1, .total_steps = 0};
    /// The loss is a mean over hundreds of labels, so gradients are small: rare tokens' embeddings have
    /// gradients below pretraining's epsilon of 1e-6, which would hold them back.
    training::OptimizerSpec optimizer{.epsilon = 1e-8};
    training::RunSpec run;
    std::int64_t evaluate_every = -1;  ///< steps; -1: ten times per run; 0: only at the end
    /// Number of evaluations without improvement after which a run stops; 0: never. None: waits_for()
    /// decides.
    std::optional<std::int64_t> patience = std::nullopt;

    /// bigbird's; or "linear": the paper's single layer on [CLS]; or "bins": a layer for each bin.
    std::string head = "classification";
    std::string pooling = "cls";    ///< parse_pooling()
    std::optional<double> dropout;  ///< none: the pretrained model's
    LinearSpec linear;
    BinsSpec bins;
    SequenceSpec sequence;

    std::string device = "auto", dtype = "auto", attention = "automatic";
    int threads = 0;  ///< 0: all
    int processes = 1;

    bool is_bigbird() const;
    bool is_bins() const;  ///< --architecture bigbird-bins, or bigbird with --head bins
    bool is_linear() const;
    bool is_sequence() const;  ///< --architecture bigbird-sequence
    /// Throws ConfigError where options do not belong together.
    void validate() const;
    /// The rate over the entire run: total_steps or, where they are 0, `epochs` over `samples` at `per_step`
    /// per step, at least one step.
    training::LearningRateSpec rate_over(std::int64_t samples, std::int64_t per_step) const;
    /// `patience`; if unset, 3, or 0 if the schedule's total_steps are given.
    std::int64_t waits_for() const;
    /// The length that was asked for: "10 epochs", "500 steps".
    std::string length() const;
};

/// Default training of a bin model, chosen on validation bins (docs/development/measurements.md).
FinetuneSpec bin_model_spec();
/// Default training of a bin model on examples with coverage.
FinetuneSpec coverage_model_spec();
/// Default training of a model of sequences, chosen on validation rows.
FinetuneSpec sequence_model_spec();
/// Epochs for `rows` rows of train: 250,000 rows in all, but at least 6 and at most 15 epochs.
double epochs_for(std::int64_t rows);
/// The linear model that a bin model is compared with: ridge regression on the 5-mers of a bin's own bases.
FinetuneSpec floor_spec(std::int64_t bin);

/// Loss weight per base: 1, or balanced so that every label has the same sum (at most 100 times the least).
enum class LabelWeights : std::uint8_t { uniform, balanced };
inline constexpr Choices<LabelWeights, 2> label_weight_choices{
    {{LabelWeights::uniform, "uniform"}, {LabelWeights::balanced, "balanced"}}};

/// finetune-tokens. It ignores FinetuneSpec's examples and its fields of windows, baselines and bins. A
/// learning_rate.peak of 0 means peak_of().
struct FinetuneTokensSpec : FinetuneSpec {
    FinetuneTokensSpec() {
        head = "tokens";
        batch_size = 8;
        learning_rate.peak = 0;
    }

    std::filesystem::path labels;  ///< BED, column 4
    std::vector<std::filesystem::path> references;
    std::string none_label = "none";  ///< label of bases of no row
    /// Contigs, regions and BED files that are learned from; none: each contig from its first to its last
    /// labeled base.
    std::vector<std::string> include;
    std::vector<std::string> validation, test;  ///< held out, as examples::HoldOuts
    std::int64_t window = 0;                    ///< bases; 0: as many as the model's positions hold
    std::int64_t margin = -1;  ///< at each end of a window, only context in prediction; -1: an eighth of it
    LabelWeights label_weights = LabelWeights::uniform;

    /// Throws ConfigError where options do not belong together.
    void validate() const;
    /// `window`, or `fitting` where it is 0. Throws ConfigError where it is above `fitting`.
    std::int64_t window_bases(std::int64_t fitting) const;
    /// The peak of the learning rate: as given, else 0.128 over the hidden size, which is 1e-3 of tiny's 128
    /// and 1.7e-4 of base's 768.
    double peak_of(std::int64_t hidden_size) const;
    /// The margin of a window. Throws ConfigError where the margins leave no base between them.
    std::int64_t margin_bases(std::int64_t window_bases) const;
};

}  // namespace bigbird::task_models
