// SPDX-License-Identifier: Apache-2.0
// Every command's setup and runner, and the one table of commands of both programs. setup_X adds command X.
// It passes the parsed options to `run`, which does the work and returns the exit code.
#pragma once

#include "support/program.hpp"

#include "bigbird/examples/examples.hpp"

namespace bigbird::pretraining {
struct PretrainSpec;
}
namespace bigbird::task_models {
struct AttributeSpec;
struct BackgroundSpec;
struct EmbedSpec;
struct ExportMotifsSpec;
struct FinetuneSpec;
struct FinetuneTokensSpec;
struct MarginalizeSpec;
struct MutagenesisSpec;
struct PredictSpec;
struct PredictTokensSpec;
struct TrainSpec;
struct VariantSpec;
}  // namespace bigbird::task_models
namespace bigbird::training {
struct LoopResult;
}

namespace bigbird::cli {

struct BuildChromatinOptions;
struct BuildDocumentsOptions;
struct BuildPromotersOptions;
struct BuildSequencesOptions;
struct BuildTracksOptions;
struct CompletionOptions;
struct DecodeOptions;
struct EncodeOptions;
struct EvaluateMlmOptions;
struct EvaluateOptions;
struct EvaluateTokensOptions;
struct ForwardOptions;
struct HelpOptions;
struct InfoOptions;
struct MergeOptions;
struct MotifsCompareOptions;
struct MotifsFindOptions;
struct MotifsScanOptions;
struct ShowAttentionOptions;
struct TokenizeOptions;
struct TrainTokenizerOptions;

// ---- commands that need no LibTorch
void setup_build_chromatin(Program& program, Runner<BuildChromatinOptions> run);
void setup_build_documents(Program& program, Runner<BuildDocumentsOptions> run);
void setup_build_promoters(Program& program, Runner<BuildPromotersOptions> run);
void setup_build_sequences(Program& program, Runner<BuildSequencesOptions> run);
void setup_build_tracks(Program& program, Runner<BuildTracksOptions> run);
void setup_completion(Program& program, Runner<CompletionOptions> run);
void setup_decode(Program& program, Runner<DecodeOptions> run);
void setup_encode(Program& program, Runner<EncodeOptions> run);
void setup_evaluate(Program& program, examples::Task task, Runner<EvaluateOptions> run);
void setup_evaluate_tokens(Program& program, Runner<EvaluateTokensOptions> run);
/// Call it after all other commands: it lists their names.
void setup_help(Program& program, Runner<HelpOptions> run);
void setup_merge(Program& program, Runner<MergeOptions> run);
void setup_motifs_compare(Program& program, Runner<MotifsCompareOptions> run);
void setup_motifs_find(Program& program, Runner<MotifsFindOptions> run);
void setup_motifs_scan(Program& program, Runner<MotifsScanOptions> run);
void setup_show_attention(Program& program, Runner<ShowAttentionOptions> run);
void setup_tokenize(Program& program, Runner<TokenizeOptions> run);
void setup_train_tokenizer(Program& program, Runner<TrainTokenizerOptions> run);
int run(const BuildChromatinOptions& options);
int run(const BuildDocumentsOptions& options);
int run(const BuildPromotersOptions& options);
int run(const BuildSequencesOptions& options);
int run(const BuildTracksOptions& options);
int run(const CompletionOptions& options);
int run(const DecodeOptions& options);
int run(const EncodeOptions& options);
int run(const EvaluateOptions& options);
int run(const EvaluateTokensOptions& options);
int run(const HelpOptions& options);
int run(const InfoOptions& options);
int run(const MergeOptions& options);
int run(const MotifsCompareOptions& options);
int run(const MotifsFindOptions& options);
int run(const MotifsScanOptions& options);
int run(const ShowAttentionOptions& options);
int run(const TokenizeOptions& options);
int run(const TrainTokenizerOptions& options);

// ---- commands that need LibTorch; their runners exist only in bigbird-dna-tensors
void setup_attribute(Program& program, Runner<task_models::AttributeSpec> run);
void setup_build_background(Program& program, Runner<task_models::BackgroundSpec> run);
void setup_embed(Program& program, Runner<task_models::EmbedSpec> run);
void setup_evaluate_mlm(Program& program, Runner<EvaluateMlmOptions> run);
void setup_finetune(Program& program, examples::Task task, Runner<task_models::FinetuneSpec> run);
void setup_finetune_tokens(Program& program, Runner<task_models::FinetuneTokensSpec> run);
void setup_forward(Program& program, Runner<ForwardOptions> run);
void setup_info(Program& program, Runner<InfoOptions> run);
void setup_motifs_export(Program& program, Runner<task_models::ExportMotifsSpec> run);
void setup_motifs_marginalize(Program& program, Runner<task_models::MarginalizeSpec> run);
void setup_predict(Program& program, examples::Task task, Runner<task_models::PredictSpec> run);
void setup_predict_mutagenesis(Program& program, Runner<task_models::MutagenesisSpec> run);
void setup_predict_tokens(Program& program, Runner<task_models::PredictTokensSpec> run);
void setup_predict_variants(Program& program, Runner<task_models::VariantSpec> run);
void setup_pretrain(Program& program, Runner<pretraining::PretrainSpec> run);
void setup_train(Program& program, Runner<task_models::TrainSpec> run);
int run(const EvaluateMlmOptions& options);
int run(const ForwardOptions& options);
int run(const pretraining::PretrainSpec& spec);
int run(const task_models::AttributeSpec& spec);
int run(const task_models::BackgroundSpec& spec);
int run(const task_models::EmbedSpec& spec);
int run(const task_models::ExportMotifsSpec& spec);
int run(const task_models::FinetuneSpec& spec);
int run(const task_models::FinetuneTokensSpec& spec);
int run(const task_models::MarginalizeSpec& spec);
int run(const task_models::MutagenesisSpec& spec);
int run(const task_models::PredictSpec& spec);
int run(const task_models::PredictTokensSpec& spec);
int run(const task_models::TrainSpec& spec);
int run(const task_models::VariantSpec& spec);
/// Prints the rows of `info --program` that need LibTorch as lines of JSON, each as soon as it is known.
int run_info_with_tensors(const InfoOptions& options);
/// Logs which model finetune-* kept, and whether longer training would probably improve it.
void report_finetuned(const task_models::FinetuneSpec& spec, const training::LoopResult& result);

// ---- commands that forward to another command, chosen by the task of their inputs
void setup_evaluate_verb(Program& program);
void setup_finetune_verb(Program& program);
void setup_predict_verb(Program& program);

/// Runs a command in this process.
struct RunHere {
    template <typename Options>
    int operator()(const Options& options) const {
        return run(options);
    }
};

/// Adds the commands in the order of the help. `tensors` runs those that need LibTorch. With `all` false only
/// those are added: bigbird-dna-tensors is never asked for others, and does not link them.
template <bool all, typename Tensors>
void add_commands(Program& program, const Tensors& tensors, const Runner<InfoOptions>& info) {
    using examples::Task;
    [[maybe_unused]] const RunHere here;
    if constexpr (all) setup_build_documents(program, here);
    if constexpr (all) setup_train_tokenizer(program, here);
    if constexpr (all) setup_encode(program, here);
    if constexpr (all) setup_decode(program, here);
    if constexpr (all) setup_tokenize(program, here);
    setup_pretrain(program, tensors);
    setup_evaluate_mlm(program, tensors);
    setup_train(program, tensors);
    setup_finetune_verb(program);
    setup_predict_verb(program);
    if constexpr (all) setup_evaluate_verb(program);
    if constexpr (all) setup_build_promoters(program, here);
    setup_finetune(program, Task::promoter, tensors);
    setup_predict(program, Task::promoter, tensors);
    if constexpr (all) setup_evaluate(program, Task::promoter, here);
    if constexpr (all) setup_build_chromatin(program, here);
    if constexpr (all) setup_build_tracks(program, here);
    setup_finetune(program, Task::chromatin, tensors);
    setup_predict(program, Task::chromatin, tensors);
    if constexpr (all) setup_evaluate(program, Task::chromatin, here);
    if constexpr (all) setup_build_sequences(program, here);
    setup_finetune(program, Task::sequences, tensors);
    setup_predict(program, Task::sequences, tensors);
    if constexpr (all) setup_evaluate(program, Task::sequences, here);
    setup_finetune_tokens(program, tensors);
    setup_predict_tokens(program, tensors);
    if constexpr (all) setup_evaluate_tokens(program, here);
    setup_predict_variants(program, tensors);
    setup_build_background(program, tensors);
    setup_predict_mutagenesis(program, tensors);
    setup_attribute(program, tensors);
    setup_embed(program, tensors);
    if constexpr (all) setup_motifs_scan(program, here);
    if constexpr (all) setup_motifs_compare(program, here);
    if constexpr (all) setup_motifs_find(program, here);
    setup_motifs_export(program, tensors);
    setup_motifs_marginalize(program, tensors);
    if constexpr (all) setup_merge(program, here);
    setup_forward(program, tensors);
    if constexpr (all) setup_show_attention(program, here);
    setup_info(program, info);
    if constexpr (all) setup_completion(program, here);
    if constexpr (all) setup_help(program, here);
}

}  // namespace bigbird::cli
