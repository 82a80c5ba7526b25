// SPDX-License-Identifier: Apache-2.0
// Settings of the commands that score rows: predict-*, build-background, attribute and embed.
#pragma once

#include "bigbird/core/choice.hpp"
#include "bigbird/core/files.hpp"
#include "bigbird/examples/examples.hpp"
#include "bigbird/networks/files/profile_model.hpp"
#include "bigbird/outputs/output_spec.hpp"
#include "bigbird/rows/window.hpp"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bigbird::tasks {

/// Where and how a network computes.
struct ComputeSpec {
    std::int64_t batch_tokens = 0;                   ///< padded tokens per batch; 0: fits the device
    std::string device = "auto";                     ///< model::open_device
    std::string dtype = "auto";                      ///< parse_compute_options
    int threads = 0;                                 ///< 0: all that are available to this process
    std::optional<networks::Component> component{};  ///< of a ChromBPNet model; unset: nobias
};

/// The input of a command: BED rows ("-": standard input) on the reference, or sequences without genome
/// coordinates, as FASTA or a table ("-": standard input).
struct RowsSpec : ComputeSpec {
    std::filesystem::path regions;
    std::vector<std::filesystem::path> references;
    std::filesystem::path sequences;
};

/// Which strands of a window are scored: the given one, the mean of both, or only the reverse complement.
enum class Strands : std::uint8_t { none, average, only };
/// The values of --reverse-complement.
inline constexpr Choices<Strands, 3> strand_choices{
    {{Strands::none, "none"}, {Strands::average, "average"}, {Strands::only, "only"}}};

/// How the scores of a region's tiles, or of a row's bins, are combined: a row per tile, or one row with
/// their mean or maximum.
enum class Pool : std::uint8_t { none, mean, max };
/// The values of --pool.
inline constexpr Choices<std::optional<Pool>, 4> pool_choices{
    {{std::nullopt, "auto"}, {Pool::none, "none"}, {Pool::mean, "mean"}, {Pool::max, "max"}}};
/// The values of --anchor.
inline constexpr Choices<rows::Anchor, 2> anchor_choices{
    {{rows::Anchor::centre, "centre"}, {rows::Anchor::summit, "summit"}}};
/// The values of --split.
inline constexpr Choices<std::optional<examples::Split>, 4> split_choices{
    {{examples::Split::train, "train"},
     {examples::Split::validation, "validation"},
     {examples::Split::test, "test"},
     {std::nullopt, "all"}}};

/// Settings of predict.
struct PredictSpec : RowsSpec {
    examples::Task task = examples::Task::chromatin;
    std::vector<std::filesystem::path> models;  ///< several: the mean of their probabilities
    rows::Anchor anchor =
        rows::Anchor::centre;  ///< chromatin only; promoter windows are around the row's TSS
    bool skip_invalid = false;
    std::string sequence_column = "sequence", id_column = "id";  ///< rows::SequenceColumns
    std::optional<bool> header{};                                ///< rows::SequenceColumns
    /// Instead of rows or sequences: the rows of an example folder, all or those of one split.
    std::filesystem::path examples;
    std::optional<examples::Split> split;

    /// Cuts regions into tiles of this many bases, which are scored separately; 0: no tiles. A promoter row
    /// without a strand is scored on both strands.
    std::int64_t tile = 0;
    /// Default: `none` with tiles; `mean` over the bins of a row that is longer than a bin.
    std::optional<Pool> pool;
    /// Whether rows have an id and a length instead of genome coordinates.
    bool by_records() const { return !sequences.empty() || traits_of(task).has_records; }
    /// How the scores of a region's tiles are combined.
    Pool tile_pool() const { return tile > 0 ? pool.value_or(Pool::none) : Pool::none; }

    outputs::OutputSpec outputs;  ///< as given; see output_spec()
    std::string labels;           ///< LabelTable::select; "": all
    Strands strands = Strands::none;
    /// Whether an output is a track.
    bool writes_tracks() const;
    bool dry_run = false;  ///< print an estimate of the cost

    /// Throws ConfigError if fields contradict each other. Does not access files.
    void validate() const;
    /// `outputs` with what follows from the other fields.
    outputs::OutputSpec output_spec() const;
};

/// The quantities that can be written for each label.
enum class Quantity : std::uint8_t {
    ref,
    alt,
    difference,
    log_odds,
    quantile,
    p,
    log2_fold_change,
    jsd,
    jsd_p,
    active_allele_quantile
};
/// The name in columns: "ref", …, "log_odds", …
std::string_view to_string(Quantity quantity);
/// What a run has beside the scores of both alleles.
struct EffectKinds {
    bool ranked = false;    ///< quantile, p and jsd_p: there is a background
    bool profiles = false;  ///< log2_fold_change and jsd: models give profiles
    bool peaks = false;     ///< active_allele_quantile: that background has reads of peaks
};
/// Parses a comma-separated list of names without duplicates; "-" in them is "_". An empty list means all
/// that the run has. Throws ConfigError for names that are not known, or that the run does not have.
std::vector<Quantity> parse_quantities(std::string_view words, const EffectKinds& kinds);

/// How the difference of two tracks over some bins becomes one effect (variant_scorers.hpp).
enum class BinScorer : std::uint8_t { centre, max, mean, l2, sum };
/// The values of --scorer.
inline constexpr Choices<BinScorer, 5> bin_scorer_choices{{{BinScorer::centre, "centre"},
                                                           {BinScorer::max, "max"},
                                                           {BinScorer::mean, "mean"},
                                                           {BinScorer::l2, "l2"},
                                                           {BinScorer::sum, "sum"}}};

/// What the effects of variants depend on.
struct EffectSpec : ComputeSpec {
    std::vector<std::filesystem::path> models;  ///< chromatin or promoter models, or one pretrained model
    std::filesystem::path tss;                  ///< BED of TSSs whose windows are scored, for promoter models
    std::filesystem::path variants;             ///< VCF or BCF; "-": standard input
    std::vector<std::filesystem::path> references;
    std::string labels;  ///< LabelTable::select; "": all
    BinScorer scorer = BinScorer::centre;
    std::int64_t bins = 1;           ///< number of bins, centered on the variant's bin
    std::int64_t window = 2000;      ///< bases that a pretrained model reads; task models define their own
    std::optional<Strands> strands;  ///< unset: average, or for promoter models only the TSS's strand
    bool skip_invalid = false;       ///< accept any number of rows that do not match the reference

    /// Throws ConfigError if `scorer` and `bins` do not match.
    void validate() const;
};
/// Scores of splice variants as the program `spliceai` computes them, with its faults, or without them.
enum class SpliceMode : std::uint8_t { spliceai, exact };
/// The values of --mode.
inline constexpr Choices<SpliceMode, 2> splice_mode_choices{
    {{SpliceMode::spliceai, "spliceai"}, {SpliceMode::exact, "exact"}}};

/// Settings of predict-variants.
struct VariantSpec : EffectSpec {
    std::string quantities;            ///< see parse_quantities()
    std::filesystem::path background;  ///< file of build_background(); "": the model folder's own, if any
    bool dry_run = false;              ///< print an estimate of the cost
    outputs::OutputSpec outputs{.tracks = false, .variants = true};  ///< as given; see output_spec()

    bool splicing = false;  ///< whether `models` are splice networks; then `quantities` may be "status"
    std::filesystem::path annotation;  ///< genes of splice variants (rows::read_splice_genes)
    std::int64_t distance = 50;        ///< bases on each side of a variant where splice sites may change
    /// Leave out gains at annotated splice sites and losses elsewhere; unset: only Pangolin's, as its
    /// program.
    std::optional<bool> mask{};
    SpliceMode mode = SpliceMode::spliceai;

    /// Throws ConfigError if `quantities` is not valid, if `scorer` and `bins` do not match, or if a format
    /// of standard output is given without such an output.
    void validate() const;
    /// `outputs` with what follows from the other fields.
    outputs::OutputSpec output_spec() const;
};
/// Settings of build-background.
struct BackgroundSpec : EffectSpec {
    std::filesystem::path output;
    Overwrite overwrite = Overwrite::refuse;
    std::int64_t count =
        10'000;  ///< maximum number of variants and of peaks, and number of shuffled variants
    std::filesystem::path regions;  ///< BED of peaks whose reads are stored, for models that give profiles
};
/// The values of --reverse-complement, which is optional.
inline constexpr Choices<std::optional<Strands>, 3> variant_strand_choices{
    {{Strands::none, "none"}, {Strands::average, "average"}, {Strands::only, "only"}}};

/// The score that a substitution changes: the mean over the bins that its region overlaps, or the score of
/// the bin that contains the base.
enum class MutagenesisScore : std::uint8_t { region, own_bin };
/// The values of --score.
inline constexpr Choices<MutagenesisScore, 2> mutagenesis_score_choices{
    {{MutagenesisScore::region, "region"}, {MutagenesisScore::own_bin, "own-bin"}}};
/// The values of predict-mutagenesis --write.
inline constexpr Choices<Quantity, 2> effect_choices{
    {{Quantity::log_odds, "log_odds"}, {Quantity::difference, "difference"}}};

/// What predict-mutagenesis and attribute have in common: they score rows whose letters change.
struct LetterSpec : RowsSpec {
    std::vector<std::filesystem::path> models;  ///< several: the mean of their probabilities
    std::string labels;                         ///< LabelTable::select; "": all
    Strands strands =
        Strands::average;  ///< for bin models; for predict-mutagenesis also other chromatin models
    outputs::OutputSpec outputs;

    bool by_records() const { return !sequences.empty(); }
    /// Throws ConfigError unless there are either regions on a reference, or sequences.
    void validate() const;
};

/// Settings of predict-mutagenesis. Bin models and window models take regions, all models take sequences.
struct MutagenesisSpec : LetterSpec {
    Quantity quantity = Quantity::log_odds;
    MutagenesisScore score = MutagenesisScore::region;
    std::int64_t deleted = 0, shuffled = 0;  ///< length of a stretch in bases; 0: substitute bases instead
    bool skip_invalid = false;

    std::int64_t stretch() const { return std::max(deleted, shuffled); }
    bool by_stretches() const { return stretch() > 0; }
};

/// How attribute computes the contribution of each letter.
enum class AttributionMethod : std::uint8_t { integrated_gradients, input_x_gradient, saliency, deeplift };
/// The values of --method.
inline constexpr Choices<AttributionMethod, 4> attribution_method_choices{
    {{AttributionMethod::integrated_gradients, "integrated-gradients"},
     {AttributionMethod::input_x_gradient, "input-x-gradient"},
     {AttributionMethod::saliency, "saliency"},
     {AttributionMethod::deeplift, "deeplift"}}};
/// What sequences are compared with: all zeros, or their own dinucleotide shuffles.
enum class AttributionBaseline : std::uint8_t { zero, shuffled };
/// The values of --baseline.
inline constexpr Choices<AttributionBaseline, 2> attribution_baseline_choices{
    {{AttributionBaseline::zero, "zero"}, {AttributionBaseline::shuffled, "shuffled"}}};

/// The score of a model that gives profiles: log counts, or the profile's shape.
enum class AttributionTarget : std::uint8_t { counts, profile };
/// The values of --target.
inline constexpr Choices<std::optional<AttributionTarget>, 2> attribution_target_choices{
    {{AttributionTarget::counts, "counts"}, {AttributionTarget::profile, "profile"}}};

/// Settings of attribute, for bin, sequence and token models, and models that give profiles. `strands` is for
/// bin models and profiles; others use the strands of their training. Gradients are fp32 on every device: in
/// bf16 contributions would not sum to the difference of scores.
struct AttributeSpec : LetterSpec {
    AttributeSpec() { dtype = "fp32"; }

    AttributionMethod method = AttributionMethod::integrated_gradients;
    AttributionBaseline baseline = AttributionBaseline::zero;  ///< for integrated gradients and DeepLIFT
    std::int64_t shuffles = 10;                                ///< per sequence
    bool mean_centered = false;  ///< subtract each base's mean over letters, which changes the sums
    std::optional<AttributionTarget> target{};  ///< only of models that give profiles; unset: counts

    bool has_baseline() const {
        return method == AttributionMethod::integrated_gradients || method == AttributionMethod::deeplift;
    }
    /// Throws ConfigError if there is nothing to attribute, or if fields contradict each other.
    void validate() const;
    /// Throws ConfigError if these settings are not supported for models that read tokens.
    void require_tokens_fit() const;
};

/// Which vectors are written: per row the mean over its tokens, without [CLS] and [SEP] or with them (as
/// model cards often do); per row that of [CLS]; or one per token.
enum class EmbedPooling : std::uint8_t { mean, mean_special, cls, token };
/// The values of embed's --pooling.
inline constexpr Choices<EmbedPooling, 4> embed_pooling_choices{{{EmbedPooling::mean, "mean"},
                                                                 {EmbedPooling::mean_special, "mean-special"},
                                                                 {EmbedPooling::cls, "cls"},
                                                                 {EmbedPooling::token, "token"}}};

/// Settings of embed.
struct EmbedSpec : RowsSpec {
    std::filesystem::path model;  ///< pretrained or fine-tuned, made by this program or by transformers
    std::int64_t window = 0;      ///< bases around a row's middle; 0: the row itself
    bool use_strand = false;      ///< reverse-complement rows on the minus strand
    bool skip_invalid = false;
    EmbedPooling pooling = EmbedPooling::mean;
    std::int64_t layer = -1;  ///< 0: the embeddings; 1 …: that layer; -1: the last
    outputs::OutputSpec outputs{.tracks = false};

    /// Throws ConfigError if there is nothing to embed.
    void validate() const;
};

/// Settings of motifs-export and motifs-marginalize.
struct ExportMotifsSpec : ComputeSpec {
    std::filesystem::path model;
    std::vector<std::filesystem::path> references;  ///< sequence that filters read; if empty, random bases
    std::filesystem::path output;
    Overwrite overwrite = Overwrite::refuse;
};

struct MarginalizeSpec : ComputeSpec {
    std::filesystem::path model, motifs;
    std::filesystem::path backgrounds;  ///< a BED file, or the word `shuffled`
    std::vector<std::filesystem::path> references;
    std::vector<std::int64_t> spacings;  ///< bases between two motifs; if empty, motifs are inserted singly
    std::filesystem::path output = "-";
    std::filesystem::path profile;  ///< table of mean profiles; "": none
    Overwrite overwrite = Overwrite::refuse;
};
/// Value of MarginalizeSpec::backgrounds for backgrounds drawn from the reference.
inline constexpr const char* shuffled_backgrounds = "shuffled";

}  // namespace bigbird::tasks
