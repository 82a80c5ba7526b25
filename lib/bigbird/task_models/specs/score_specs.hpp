// SPDX-License-Identifier: Apache-2.0
// What predict-promoter, predict-chromatin, predict-tokens, predict-variants and embed are asked for.
#pragma once

#include "bigbird/core/choice.hpp"
#include "bigbird/examples/examples.hpp"
#include "bigbird/outputs/output_spec.hpp"
#include "bigbird/rows/window.hpp"
#include "bigbird/task_models/specs/compute_spec.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bigbird::task_models {

/// How the scores of a region's tiles, or of a row's bins, become one: a row per tile, or one row with their
/// mean or their largest.
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

/// What becomes of a sequence that is longer than what the model reads.
enum class Longer : std::uint8_t { cut, refuse };
/// The values of --longer.
inline constexpr Choices<Longer, 2> longer_choices{{{Longer::cut, "cut"}, {Longer::refuse, "refuse"}}};

/// What predict-chromatin, predict-promoter and predict-sequences are asked for.
struct PredictSpec : ComputeSpec {
    examples::Task task = examples::Task::chromatin;
    std::vector<std::filesystem::path> models;  ///< several: the mean of their probabilities
    /// Either BED rows ("-": standard input) on the reference …
    std::filesystem::path regions;
    std::vector<std::filesystem::path> references;
    rows::Anchor anchor = rows::Anchor::centre;  ///< chromatin only; promoters lie about the row's TSS
    bool skip_invalid = false;
    /// … or sequences without a place in a genome, FASTA or a table ("-": standard input) …
    std::filesystem::path sequences;
    std::string sequence_column = "sequence", id_column = "id";  ///< rows::SequenceColumns
    Longer longer = Longer::cut;                                 ///< the middle is scored, or none
    /// … or the rows of an example folder, all or those of one split.
    std::filesystem::path examples;
    std::optional<examples::Split> split;

    /// Regions are cut into tiles of this many bases, each scored on its own; 0: they are not. A promoter
    /// row without a strand is scanned on both.
    std::int64_t tile = 0;
    /// Unset: `none` for tiles, `mean` for the bins of a row that is longer than a bin.
    std::optional<Pool> pool;
    /// Whether rows have an id and a length, and no place in a genome.
    bool by_records() const { return !sequences.empty() || task == examples::Task::sequences; }
    /// What becomes of a region's tiles.
    Pool tile_pool() const { return tile > 0 ? pool.value_or(Pool::none) : Pool::none; }

    outputs::OutputSpec outputs;  ///< overlap is chosen by predict()
    std::string labels;           ///< LabelTable::select; "": all
    std::string track_labels;     ///< of tracks, among `labels`; "": the same
    Strands strands = Strands::none;
    bool dry_run = false, json = false;  ///< say what it would take, in lines or as JSON

    /// Throws ConfigError where fields do not go together; files are not looked at.
    void validate() const;
};

/// What predict-tokens is asked for.
struct PredictTokensSpec : ComputeSpec {
    std::filesystem::path model;
    std::vector<std::filesystem::path> references;
    std::filesystem::path regions;  ///< BED, or "-"
    bool skip_invalid = false;
    bool each_base = false;  ///< a row a base, in place of one for each run of bases with equal scores
    Strands strands = Strands::none;
    std::string labels;        ///< LabelTable::select; "": all
    std::string track_labels;  ///< of tracks, among `labels`; "": the same
    outputs::OutputSpec outputs;
};

/// What of a label's scores is written.
enum class Quantity : std::uint8_t { ref, alt, difference, log_odds, quantile, p };
/// As columns have it: "ref", "alt", "difference", "log_odds", "quantile", "p".
std::string_view to_string(Quantity quantity);
/// "ref", "alt", "difference", "log-odds", "quantile" and "p", separated by commas, each once; of no words
/// the first four, and the others where effects are `ranked` among a background, which those need. Throws
/// ConfigError.
std::vector<Quantity> parse_quantities(std::string_view words, bool ranked);

/// How the difference of two tracks over some bins becomes one effect (bin_effects.hpp).
enum class BinScorer : std::uint8_t { centre, max, mean, l2, sum };
/// The values of --scorer.
inline constexpr Choices<BinScorer, 5> bin_scorer_choices{{{BinScorer::centre, "centre"},
                                                           {BinScorer::max, "max"},
                                                           {BinScorer::mean, "mean"},
                                                           {BinScorer::l2, "l2"},
                                                           {BinScorer::sum, "sum"}}};

/// What predict-variants is asked for.
struct VariantSpec : ComputeSpec {
    std::vector<std::filesystem::path> models;  ///< chromatin or promoter models, or one pretrained model
    std::filesystem::path tss;                  ///< of promoter models: whose windows are scored (BED)
    std::filesystem::path variants;             ///< VCF or BCF, "-": standard input
    std::vector<std::filesystem::path> references;
    std::string labels;                ///< LabelTable::select; "": all
    std::string quantities;            ///< parse_quantities
    std::filesystem::path background;  ///< of build_background(); "": the model folder's own, if any
    BinScorer scorer = BinScorer::centre;
    std::int64_t bins = 1;           ///< about the variant's, as many on both sides
    std::int64_t top = 10;           ///< labels of an allele in VCF and BCF, where `labels` chooses none
    std::int64_t window = 2000;      ///< bases that a pretrained model sees; a task model has its own
    std::optional<Strands> strands;  ///< none: average; of a promoter model none, since a TSS has its strand
    bool skip_invalid = false;       ///< write rows however many do not fit the reference
    bool strict = false;             ///< end at the first row that cannot be scored
    bool dry_run = false;            ///< say what it would take
    outputs::OutputSpec outputs{.tracks = false};

    /// Throws ConfigError where `quantities` cannot be parsed, or `scorer` and `bins` do not fit.
    void validate() const;
};
/// What build-background is asked for.
struct BackgroundSpec : VariantSpec {
    std::filesystem::path output;
    std::int64_t count = 10'000;  ///< most variants; and how many are shuffled
    std::uint64_t seed = 0;
};
/// The values of --reverse-complement, which may be left out.
inline constexpr Choices<std::optional<Strands>, 3> variant_strand_choices{
    {{Strands::none, "none"}, {Strands::average, "average"}, {Strands::only, "only"}}};

/// Whose score a substitution changes: the mean over the bins that its region touches, or the bin that holds
/// the base.
enum class MutagenesisScore : std::uint8_t { region, own_bin };
/// The values of --score.
inline constexpr Choices<MutagenesisScore, 2> mutagenesis_score_choices{
    {{MutagenesisScore::region, "region"}, {MutagenesisScore::own_bin, "own-bin"}}};
/// The values of predict-mutagenesis --write.
inline constexpr Choices<Quantity, 2> effect_choices{
    {{Quantity::log_odds, "log_odds"}, {Quantity::difference, "difference"}}};

/// What predict-mutagenesis is asked for.
struct MutagenesisSpec : ComputeSpec {
    std::vector<std::filesystem::path> models;  ///< several: the mean of their probabilities
    /// Either BED rows ("-": standard input) on the reference, of bin models and models of windows, or FASTA
    /// or a table, of all models.
    std::filesystem::path regions;
    std::vector<std::filesystem::path> references;
    std::filesystem::path sequences;
    std::string labels;  ///< LabelTable::select; "": all
    Quantity quantity = Quantity::log_odds;
    MutagenesisScore score = MutagenesisScore::region;
    std::int64_t deleted = 0, shuffled = 0;  ///< bases of a stretch, in place of substitutions
    Strands strands = Strands::average;      ///< of bin and other chromatin models
    bool skip_invalid = false;
    outputs::OutputSpec outputs;

    bool by_records() const { return !sequences.empty(); }
    bool by_stretches() const { return deleted > 0 || shuffled > 0; }
    /// Throws ConfigError where there is nothing to change, or fields do not go together.
    void validate() const;
};

/// How attribute tells what each letter contributes.
enum class AttributionMethod : std::uint8_t { integrated_gradients, input_x_gradient, saliency, deeplift };
/// The values of --method.
inline constexpr Choices<AttributionMethod, 4> attribution_method_choices{
    {{AttributionMethod::integrated_gradients, "integrated-gradients"},
     {AttributionMethod::input_x_gradient, "input-x-gradient"},
     {AttributionMethod::saliency, "saliency"},
     {AttributionMethod::deeplift, "deeplift"}}};
/// What sequences are compared with: no letters, or dinucleotide shuffles of their own.
enum class AttributionBaseline : std::uint8_t { zero, shuffled };
/// The values of --baseline.
inline constexpr Choices<AttributionBaseline, 2> attribution_baseline_choices{
    {{AttributionBaseline::zero, "zero"}, {AttributionBaseline::shuffled, "shuffled"}}};

/// What attribute is asked for.
struct AttributeSpec : ComputeSpec {
    std::vector<std::filesystem::path> models;  ///< bin models or sequence models; several: their mean
    /// Either BED rows ("-": standard input) on the reference, of bin models, or FASTA or a table.
    std::filesystem::path regions;
    std::vector<std::filesystem::path> references;
    std::filesystem::path sequences;
    std::string labels;  ///< LabelTable::select; "": all
    AttributionMethod method = AttributionMethod::integrated_gradients;
    AttributionBaseline baseline = AttributionBaseline::zero;  ///< of integrated gradients and DeepLIFT
    std::int64_t shuffles = 10;                                ///< of each sequence
    bool mean_centered = false;  ///< less the mean over letters of a base; sums are then no differences
    Strands strands =
        Strands::average;  ///< of bin models; a sequence model reads the strands it was made for
    outputs::OutputSpec outputs;

    bool has_baseline() const {
        return method == AttributionMethod::integrated_gradients || method == AttributionMethod::deeplift;
    }
    /// Throws ConfigError where there is nothing to attribute, or fields do not go together.
    void validate() const;
    /// Throws ConfigError where this is not to be had of models that read tokens.
    void require_tokens_fit() const;
};

/// One vector a row: the mean over its tokens ([CLS] and [SEP] left out) or that of [CLS]; or one a token.
enum class EmbedPooling : std::uint8_t { mean, cls, token };
/// The values of embed's --pooling.
inline constexpr Choices<EmbedPooling, 3> embed_pooling_choices{
    {{EmbedPooling::mean, "mean"}, {EmbedPooling::cls, "cls"}, {EmbedPooling::token, "token"}}};

/// What embed is asked for.
struct EmbedSpec : ComputeSpec {
    std::filesystem::path model;  ///< pretrained or fine-tuned, ours or transformers'
    /// Either BED rows ("-": standard input) on the reference …
    std::filesystem::path regions;
    std::vector<std::filesystem::path> references;
    std::int64_t window = 0;  ///< bases about a row's middle; 0: the row itself
    bool use_strand = false;  ///< rows on the minus strand are reverse-complemented
    bool skip_invalid = false;
    /// … or the records of a FASTA.
    std::filesystem::path sequences;

    EmbedPooling pooling = EmbedPooling::mean;
    std::int64_t layer = -1;  ///< 0: the embeddings, 1 … layers; -1: the last
    outputs::OutputSpec outputs{.tracks = false};

    /// Throws ConfigError where there is nothing to embed.
    void validate() const;
};

}  // namespace bigbird::task_models
