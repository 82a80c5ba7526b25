// SPDX-License-Identifier: Apache-2.0
// Every command's setup and runner, and the one table of commands of both programs. setup_X adds command X.
// It passes the parsed options to `run`, which does the work and returns the exit code.
#pragma once

#include "options/option_groups.hpp"
#include "support/help_formatter.hpp"
#include "support/program.hpp"

#include "bigbird/pretraining/specs/pretrain_spec.hpp"
#include "bigbird/tasks/specs/finetune_spec.hpp"
#include "bigbird/tasks/specs/score_specs.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace bigbird::cli {

struct EvaluateMlmOptions {
    pretraining::MlmEvaluationSpec spec;
    OutputOptions output;
    std::filesystem::path token_scores;
};

struct ForwardOptions {
    std::filesystem::path model, input;
    OutputOptions output;
    std::string type = "fp32", attention = "automatic", device = "auto";
    int threads = 0;
};

struct FinetuneOptions {
    tasks::FinetuneSpec spec;
    /// What the task gives a meaning.
    std::string window, kmer_length, loss, config;
    std::optional<std::int64_t> motifs;
};

/// Settings of a command that makes a folder.
template <typename Spec>
struct FolderOptions {
    Spec spec;
    OutputOptions output;
};

/// Runs `build`, which fills the folder.
template <typename Spec>
Runner<FolderOptions<Spec>> folder_of(void (*build)(const Spec&, const std::filesystem::path&)) {
    return [build](const FolderOptions<Spec>& options) {
        options.output.make_folder([&](const std::filesystem::path& folder) { build(options.spec, folder); });
        return 0;
    };
}

struct InfoOptions {
    std::filesystem::path path;
    bool json = false, verify = false, labels = false, program = false;
    int threads = 0;
    OutputOptions output{};  ///< a model folder to make of a published network
};

/// A row of `info --program`.
struct ProgramPart {
    std::string part;
    bool usable = false;
    std::string details;  ///< a description or, if it cannot be used, the reason
};
/// Prints the row as a line of JSON, by which the checking processes pass it on.
void print_part(const ProgramPart& part);

// ---- commands that need no LibTorch
void setup_build_chromatin(Program& program);
void setup_build_documents(Program& program);
void setup_build_promoters(Program& program);
void setup_build_sequences(Program& program);
void setup_build_tracks(Program& program);
void setup_completion(Program& program);
void setup_decode(Program& program);
void setup_encode(Program& program);
void setup_evaluate(Program& program);
/// Call it after all other commands: it lists their names.
void setup_help(Program& program);
void setup_merge(Program& program);
void setup_motifs_compare(Program& program);
void setup_motifs_find(Program& program);
void setup_motifs_scan(Program& program);
void setup_show_attention(Program& program);
void setup_tokenize(Program& program);
void setup_train_tokenizer(Program& program);
int run(const InfoOptions& options);
/// predict-variants with a splice model.
int run_splicing(const tasks::VariantSpec& spec);

// ---- commands that need LibTorch; their runners exist only in bigbird-dna-tensors
void setup_attribute(Program& program, Runner<tasks::AttributeSpec> run);
void setup_build_background(Program& program, Runner<tasks::BackgroundSpec> run);
void setup_embed(Program& program, Runner<tasks::EmbedSpec> run);
void setup_evaluate_mlm(Program& program, Runner<EvaluateMlmOptions> run);
void setup_finetune(Program& program, Runner<FinetuneOptions> run);
void setup_forward(Program& program, Runner<ForwardOptions> run);
void setup_info(Program& program, Runner<InfoOptions> run);
void setup_motifs_export(Program& program, Runner<tasks::ExportMotifsSpec> run);
void setup_motifs_marginalize(Program& program, Runner<tasks::MarginalizeSpec> run);
void setup_predict(Program& program, Runner<tasks::PredictSpec> run);
void setup_predict_mutagenesis(Program& program, Runner<tasks::MutagenesisSpec> run);
void setup_predict_variants(Program& program, Runner<tasks::VariantSpec> run);
void setup_pretrain(Program& program, Runner<pretraining::PretrainSpec> run);
void setup_train(Program& program, Runner<tasks::TrainSpec> run);
int run(const EvaluateMlmOptions& options);
int run(const FinetuneOptions& options);
int run(const ForwardOptions& options);
int run(const pretraining::PretrainSpec& spec);
int run(const tasks::AttributeSpec& spec);
int run(const tasks::BackgroundSpec& spec);
int run(const tasks::EmbedSpec& spec);
int run(const tasks::ExportMotifsSpec& spec);
int run(const tasks::MarginalizeSpec& spec);
int run(const tasks::MutagenesisSpec& spec);
int run(const tasks::PredictSpec& spec);
int run(const tasks::TrainSpec& spec);
int run(const tasks::VariantSpec& spec);
/// Prints the rows of `info --program` that need LibTorch as lines of JSON, each as soon as it is known.
int run_info_with_tensors(const InfoOptions& options);

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
    setup_train(program, tensors);
    if constexpr (all) setup_build_chromatin(program);
    if constexpr (all) setup_build_tracks(program);
    if constexpr (all) setup_build_sequences(program);
    if constexpr (all) setup_build_promoters(program);
    setup_finetune(program, tensors);
    setup_predict(program, tensors);
    if constexpr (all) setup_evaluate(program);
    setup_predict_variants(program, tensors);
    setup_build_background(program, tensors);
    setup_attribute(program, tensors);
    setup_predict_mutagenesis(program, tensors);
    if constexpr (all) setup_motifs_find(program);
    if constexpr (all) setup_motifs_scan(program);
    if constexpr (all) setup_motifs_compare(program);
    setup_motifs_marginalize(program, tensors);
    if constexpr (all) setup_build_documents(program);
    if constexpr (all) setup_train_tokenizer(program);
    if constexpr (all) setup_tokenize(program);
    setup_pretrain(program, tensors);
    setup_evaluate_mlm(program, tensors);
    setup_embed(program, tensors);
    if constexpr (all) setup_merge(program);
    setup_info(program, info);
    if constexpr (all) setup_encode(program);
    if constexpr (all) setup_decode(program);
    setup_forward(program, tensors);
    if constexpr (all) setup_show_attention(program);
    setup_motifs_export(program, tensors);
    if constexpr (all) setup_completion(program);
    if constexpr (all) setup_help(program);
}

}  // namespace bigbird::cli
