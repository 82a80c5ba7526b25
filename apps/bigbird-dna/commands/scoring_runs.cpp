// SPDX-License-Identifier: Apache-2.0
// Runners of forward and of the commands that score in bigbird-dna-tensors: each calls the library and prints
// a summary.
#include "commands/commands.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/formats/checksum.hpp"
#include "bigbird/core/log.hpp"
#include "bigbird/core/version.hpp"
#include "bigbird/core/words.hpp"
#include "bigbird/model/device/device.hpp"
#include "bigbird/model/forward_tensors.hpp"
#include "bigbird/scoring/letters/letters.hpp"
#include "bigbird/scoring/motifs/motifs.hpp"
#include "bigbird/scoring/rows/predict.hpp"
#include "bigbird/scoring/variants/variants.hpp"

#include <chrono>
#include <cstdio>
#include <string>
#include <utility>

namespace bigbird::cli {

namespace {

/// What `work` returns, and the seconds that it took.
template <typename Work>
auto timed(const Work& work) {
    const auto start = std::chrono::steady_clock::now();
    auto report = work();
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
    return std::pair(std::move(report), taken.count());
}

}  // namespace

int run(const ForwardOptions& options) {
    prepare_output(options.output.output, options.output.overwrite);
    model::set_compute_threads(options.threads);
    const at::Device device = model::open_device(options.device);
    const model::TensorMap inputs = model::read_safetensors(options.input);
    const model::ForwardSpec spec{options.type, model::usable_attention(options.attention, device)};
    const model::TensorMap outputs = model::forward_tensors(options.model, inputs, spec, device);
    model::write_safetensors(outputs, options.output.output,
                             {{"bigbird_dna_version", std::string(version())},
                              {"input_sha256", sha256_of_file(options.input)},
                              {"config_sha256", sha256_of_file(options.model / "config.json")},
                              {"dtype", options.type}});
    return 0;
}

int run(const tasks::PredictSpec& spec) {
    if (spec.dry_run) {
        std::fputs(describe(tasks::forecast_predict(spec)).c_str(), stdout);
        return 0;
    }
    if (spec.outputs.paths.empty()) throw ConfigError("--output is needed, or --dry-run");
    const auto [report, seconds] = timed([&] { return tasks::predict(spec); });
    log_info("{} of {} rows scored in {:.1f} s{}", report.scored, report.rows, seconds,
             report.scored < report.rows ? "; the column status says why the others have no scores" : "");
    if (report.not_numbers > 0) {
        log_warning("{} of {} scored rows have scores that are no numbers (NA): the model's weights overflow",
                    report.not_numbers, report.scored);
    }
    if (report.truncated > 0) {
        log_warning("{}: the middle was scored (status truncated)",
                    spec.by_records()
                        ? counted(report.truncated, "sequence") + " longer than what the model reads"
                        : counted(report.truncated, traits_of(spec.task).labels_bases ? "row" : "window") +
                              " with more tokens than the model has positions");
    }
    return 0;
}

int run(const tasks::VariantSpec& spec) {
    if (spec.splicing) return run_splicing(spec);
    if (spec.dry_run) {
        std::fputs(describe(tasks::forecast_variants(spec)).c_str(), stdout);
        return 0;
    }
    if (spec.outputs.paths.empty()) throw ConfigError("--output is needed, or --dry-run");
    const auto [report, seconds] = timed([&] { return tasks::predict_variants(spec); });
    log_info("{} of {} alleles scored in {:.1f} s{}", report.scored, report.rows, seconds,
             report.scored < report.rows ? "; their status says why the others have no scores" : "");
    if (report.not_numbers > 0) {
        log_warning(
            "{} of {} scored alleles have effects that are no numbers (NA): scores of 0 or 1 have no log "
            "odds, or the model's weights overflow",
            report.not_numbers, report.scored);
    }
    return 0;
}

int run(const tasks::BackgroundSpec& spec) {
    const auto [report, seconds] = timed([&] { return tasks::build_background(spec); });
    log_info("effects of {} and {} shuffled ranked{} in {:.1f} s", counted(report.variants, "variant"),
             report.shuffled, report.peaks > 0 ? ", " + counted(report.peaks, "peak") + " scored" : "",
             seconds);
    return 0;
}

int run(const tasks::MutagenesisSpec& spec) {
    const auto [report, seconds] = timed([&] { return tasks::predict_mutagenesis(spec); });
    const bool stretches = spec.by_stretches();
    log_info("{} of {} bases scored in {:.1f} s{}", stretches ? "stretches" : "substitutions",
             report.bases - (stretches ? 0 : report.without_letter), seconds,
             report.without_letter > 0 && !stretches
                 ? "; none (NA) of " + counted(report.without_letter, "base") + ", N"
                 : "");
    return 0;
}

int run(const tasks::AttributeSpec& spec) {
    constexpr double most_gap = 0.05;  // largest accepted gap, as a share of the difference
    const auto [report, seconds] = timed([&] { return tasks::attribute(spec); });
    log_info("{} attributed in {:.1f} s", counted(report.bases, "base"), seconds);
    if (report.tiled > 0) {
        log_warning(
            "regions longer than the scored part of a window were cut into tiles of that length, each with a "
            "score of its own ({})",
            counted(report.tiled, "cut"));
    }
    if (report.difference > 0) {
        const double share = report.gap / report.difference;
        log_info(
            "completeness: contributions sum to the difference between sequence and baseline within {:.3g}%",
            100 * share);
        if (share > most_gap)
            log_warning(
                "that is much: integrated-gradients is exact where deeplift is not, and shuffled "
                "baselines are nearer to sequence than zero");
    }
    return 0;
}

int run(const tasks::EmbedSpec& spec) {
    const auto [report, seconds] = timed([&] { return tasks::embed(spec); });
    log_info("{} of {} rows embedded in {:.1f} s", report.embedded, report.rows, seconds);
    if (report.truncated > 0) {
        log_warning(
            "{} with more tokens than the model has positions: the middle was embedded (status "
            "truncated)",
            counted(report.truncated, "row"));
    }
    return 0;
}

int run(const tasks::ExportMotifsSpec& spec) {
    log_info("{} written", counted(tasks::export_motifs(spec), "motif"));
    return 0;
}

int run(const tasks::MarginalizeSpec& spec) {
    log_info("{} scored", counted(tasks::marginalize_motifs(spec), "background"));
    return 0;
}

}  // namespace bigbird::cli
