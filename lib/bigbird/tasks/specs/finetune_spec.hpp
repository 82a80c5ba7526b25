// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bigbird/core/choice.hpp"
#include "bigbird/examples/build/chromatin.hpp"
#include "bigbird/examples/build/promoters.hpp"
#include "bigbird/examples/build/sequences.hpp"
#include "bigbird/examples/build/tracks.hpp"
#include "bigbird/examples/examples.hpp"
#include "bigbird/rows/window.hpp"
#include "bigbird/tasks/specs/architectures.hpp"
#include "bigbird/tasks/specs/profile_spec.hpp"
#include "bigbird/training/specs/run_spec.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace bigbird::tasks {

/// Low-rank adaptation of a token model's encoder (model/adapter.hpp).
struct LoraSpec {
    std::int64_t rank = 0;  ///< 0: all weights are trained
    double alpha = 0;       ///< 0: twice the rank
    double dropout = 0;
    std::string base{};  ///< the pretrained model's path, which the adapter's file names; set by finetune()

    double alpha_or_default() const { return alpha > 0 ? alpha : 2 * static_cast<double>(rank); }
};

/// Settings of a training step on labeled windows. Bin models do not use a part of the window.
struct ClassifierSpec {
    std::int64_t batch_size = 32;  ///< windows per step, of all ranks together
    /// Weight of positives in the loss. nullopt: for each label, its zeros / its ones in train, at most
    /// largest_balanced_weight.
    std::optional<double> positive_weight = 1;
    std::optional<rows::WindowBounds> window = std::nullopt;  ///< part of the examples' windows; none: all
    bool both_strands = false;      ///< each window is read on a strand drawn for (seed, epoch, row)
    bool calibrates = true;         ///< fit a temperature and biases on the validation rows
    std::int64_t batch_tokens = 0;  ///< padded ids that go through the network at once; 0: fits the device
    std::uint64_t seed = 0;
    LoraSpec lora{};
};

/// What --architecture probe fits on embeddings. best: standardized features, the penalty with the lowest
/// loss in a cross-validation on train. geneb: as the benchmark GENEB, features as they are and C = 1.
enum class ProbeKind : std::uint8_t { best, geneb };
inline constexpr Choices<ProbeKind, 2> probe_kinds{{{ProbeKind::best, "best"}, {ProbeKind::geneb, "geneb"}}};

/// gkm-svm and kmer-ridge.
struct LinearSpec {
    int word = 0, informative = 0;     ///< 0: 5 and 5 (kmer-ridge), 8 and 5 (gkm-svm)
    std::int64_t most_windows = 4000;  ///< gkm-svm; its features take 16 bytes each in memory
};

/// Loss of coverage (numbers_target()).
enum class CoverageLoss : std::uint8_t { poisson, poisson_multinomial, log_squared };
inline constexpr Choices<CoverageLoss, 3> coverage_losses{
    {{CoverageLoss::poisson, "poisson"},
     {CoverageLoss::poisson_multinomial, "poisson-multinomial"},
     {CoverageLoss::log_squared, "log-squared"}}};

/// Further options of a bin model: --architecture bigbird-bins, or BigBird with --head bins.
struct BinsSpec {
    /// bigbird-bins: a preset (bins::preset), or a JSON file of bins::BinsConfig.
    std::string config = "tiny";
    /// Bases of all bins of a window; 0: the configuration's number, or as many as the positions allow.
    std::int64_t window = 0;
    std::int64_t shift = 3;   ///< maximum shift of a training window in bases, to either side
    double averaging = 0.99;  ///< decay per step of the weight average; 0: the model has the last weights
    CoverageLoss loss = CoverageLoss::poisson_multinomial;  ///< for examples with numbers
    /// Number of filters of the first convolution, if any, that are initialized with motifs of the training
    /// bins (motifs::find_enriched).
    std::int64_t motifs = 0;
    std::filesystem::path motif_file{};  ///< file for these motifs, in MEME's format; empty: none
    std::filesystem::path teacher{};     ///< Teacher's; empty: none
};

/// How a record's strand is used.
enum class RecordStrand : std::uint8_t { automatic, both, given };
inline constexpr Choices<RecordStrand, 3> record_strands{
    {{RecordStrand::automatic, "auto"}, {RecordStrand::both, "both"}, {RecordStrand::given, "given"}}};

/// Loss of numbers: the squared error of standardized ones, or Poisson's likelihood of counts.
enum class NumberLoss : std::uint8_t { squared, poisson };
inline constexpr Choices<NumberLoss, 2> number_losses{
    {{NumberLoss::squared, "squared"}, {NumberLoss::poisson, "poisson"}}};

/// Options of sequence models. `members` and the fields after it are for bigbird-sequence.
struct SequenceSpec {
    /// both: labels do not depend on the strand. given: records are on their strand, and positions may
    /// matter. automatic: chosen_strand().
    RecordStrand strand = RecordStrand::automatic;
    NumberLoss loss = NumberLoss::squared;
    std::int64_t members = 3;  ///< networks with different seeds, whose mean is the model
    /// Whether a regression on k-mers contributes, with the weight that is best on validation.
    bool with_kmers = true;
    std::filesystem::path config{};  ///< a JSON file of all or part of sequences::Config; empty: its defaults
    std::int64_t motifs = 32;  ///< maximum number of filters initialized with motifs of the training rows
    std::filesystem::path motif_output{};  ///< file for these motifs; empty: none
    std::int64_t shift =
        3;  ///< maximum shift of a training record in bases, to either side; 0 if the strand is given
    double smoothing = 0.02;  ///< classes_target()'s
    double averaging = 0.99;  ///< decay per step of the weight average; 0: the last weights
};

/// Options of a model that labels bases, which has no example folder and starts from a pretrained model.
struct TokensSpec {
    std::filesystem::path labels;  ///< BED, column 4
    std::vector<std::filesystem::path> references;
    /// Contigs, regions and BED files to train on; empty: each contig from its first to its last labeled
    /// base.
    std::vector<std::string> include;
    std::vector<std::string> validation, test;  ///< held out, as examples::HoldOuts
    std::int64_t window = 0;                    ///< bases; 0: as many as the model can read

    /// `window`, or `fitting` if it is 0. Throws ConfigError if it is above `fitting`.
    std::int64_t window_bases(std::int64_t fitting) const;
};

/// Options of a run of finetune-*. `window`: nullopt means the window that a baseline was published with,
/// else the examples' full windows.
struct FinetuneSpec : ClassifierSpec {
    examples::Task task = examples::Task::chromatin;
    std::filesystem::path examples;          ///< folder that a build command wrote
    std::string architecture{bigbird_name};  ///< of the table (architectures.hpp)
    std::filesystem::path pretrained;        ///< bigbird: run or model folder, ours or transformers'
    /// bigbird: only the pretrained model's shape and tokenizer; its weights are drawn at random.
    bool random_weights = false;
    std::filesystem::path output;  ///< run folder

    double epochs = 1;  ///< epochs over train, if the schedule's total_steps are 0; 0: as rate_over() chooses
    /// Minimum number of steps for `epochs`: with few windows, more epochs are needed.
    std::int64_t fewest_steps = 1;
    training::LearningRateSpec learning_rate{.warmup_steps = -1, .total_steps = 0};
    /// The loss is a mean over hundreds of labels, so gradients are small. Embeddings of rare tokens have
    /// gradients below pretraining's epsilon of 1e-6, which would slow down their training.
    training::OptimizerSpec optimizer{.epsilon = 1e-8};
    training::RunSpec run;
    std::int64_t evaluate_every = -1;  ///< steps; -1: ten times per run; 0: only at the end
    /// Number of evaluations without improvement after which a run stops; 0: never. None: waits_for()
    /// decides.
    std::optional<std::int64_t> patience = std::nullopt;

    /// "classification": transformers' head; "linear": the paper's single layer on [CLS]; "bins": one layer
    /// for all bins of a window; "tokens": one layer for each token.
    std::string head = "classification";
    std::string pooling = "cls";    ///< tasks::pooling_choices
    std::optional<double> dropout;  ///< none: the pretrained model's
    LinearSpec linear;
    ProbeKind probe = ProbeKind::best;
    BinsSpec bins;
    SequenceSpec sequence;
    TokensSpec tokens;

    std::string device = "auto", dtype = "auto";
    int threads = 0;  ///< 0: all
    int processes = 1;

    /// The row of `architecture` and `head`. Throws ConfigError if there is none.
    const Architecture& row() const { return architecture_of(architecture, head, task); }
    /// Throws ConfigError if options do not belong together.
    void validate() const;
    /// The rate over the entire run: total_steps or, where they are 0, `epochs` over `samples` at `per_step`
    /// per step, at least one step. If `epochs` are 0, too: 250,000 samples in all, but at least 6 and at
    /// most 15 epochs.
    training::LearningRateSpec rate_over(std::int64_t samples, std::int64_t per_step) const;
    /// `patience`; if unset, 3, or 0 if the schedule's total_steps are given.
    std::int64_t waits_for() const;
    /// The peak of the learning rate of a pretrained model: as given, or if it is 0 1e-3 times (128 /
    /// hidden size) squared: 1e-3 of tiny's 128 and narrower ones, 2.8e-5 of base's 768. With LoRA at least
    /// 5e-4.
    double peak_of(std::int64_t hidden_size) const;
    /// The requested length: "10 epochs", "500 steps".
    std::string length() const;
};

/// Default training of a bin model, chosen on validation bins (docs/development/measurements.md).
FinetuneSpec bin_model_spec();
/// Default training of a bin model on examples with coverage.
FinetuneSpec coverage_model_spec();
/// Default training of a model of promoters: DeePromoter's network.
FinetuneSpec promoter_model_spec();
/// Default training of a model of sequences, chosen on validation rows.
FinetuneSpec sequence_model_spec();

/// Default training of a model that labels bases. A learning_rate.peak of 0 means peak_of(). A
/// positive_weight of none gives each label the same total weight in the loss, a base at most 100 times the
/// smallest weight; else it is 1.
FinetuneSpec token_model_spec();

/// Default training of a model of profiles (train with peaks and signal).
FinetuneSpec profile_model_spec();

/// Options of the command train: from peaks, coverage, both (profiles at single bases), labeled sequences
/// (task sequences) or TSSs (task promoter) to an evaluated model in one folder.
struct TrainSpec {
    /// By default, every bin becomes a row, with the tutorial's windows. Bin models read bins.npy, which has
    /// no windows.
    TrainSpec() {
        examples.window = 1000;
        examples.chooses_hold_outs = true;
        tracks.bin = 128;
        promoters.bounds = promoter_model_spec().row().published;
        promoters.negatives = examples::NegativeKind::genomic;
        promoters.chooses_hold_outs = true;
    }

    examples::ChromatinOptions examples;  ///< all but splits, seed and threads
    examples::TrackOptions
        tracks;  ///< signals, bin size and how signals are read; its regions are in `examples`
    examples::SequencesOptions sequences;  ///< all but splits and seed
    examples::PromoterOptions promoters;   ///< TSSs, window and negatives; its references are in `examples`
    ProfileSpec profiles;                  ///< of peaks and signal together
    /// Held-out data. For peaks: contigs, regions and BED files; chosen automatically if not given. For
    /// sequences: a table, or drawn if neither a table nor the split is given.
    std::vector<std::string> validation, test;
    FinetuneSpec model = bin_model_spec();  ///< examples and output follow from `output`
    /// Peaks: number of folds of a cross-validation; 0: none. `fold`: train this one only, from 1; 0: all.
    int folds = 0, fold = 0;
    std::filesystem::path output;
    std::int64_t min_positives = 10;  ///< test bins that a label needs to count in means, if any has as many
    std::filesystem::path known_motifs{};  ///< motifs to compare with what the model learned; empty: none
    std::string command{};                 ///< the command line, for the report
    bool force = false;                    ///< discard the output of an earlier train in `output`
    bool dry_run = false;

    bool makes_profiles() const { return !examples.peaks.empty() && !tracks.signals.empty(); }
};

}  // namespace bigbird::tasks
