// SPDX-License-Identifier: Apache-2.0
// Runners of forward and of the commands that score in bigbird-dna-tensors: each calls the library and prints
// a summary.
#include "commands/commands.hpp"

#include "bigbird/core/counted.hpp"
#include "bigbird/core/error.hpp"
#include "bigbird/core/formats/checksum.hpp"
#include "bigbird/core/log.hpp"
#include "bigbird/core/version.hpp"
#include "bigbird/model/device/device.hpp"
#include "bigbird/model/forward_tensors.hpp"
#include "bigbird/task_models/score/score.hpp"

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

int run(const task_models::PredictSpec& spec) {
    if (spec.dry_run) {
        const task_models::PredictForecast forecast = task_models::forecast_predict(spec);
        const std::string text =
            spec.json ? task_models::to_json(forecast).dump(2) + "\n" : task_models::describe(forecast);
        std::fputs(text.c_str(), stdout);
        return 0;
    }
    if (spec.outputs.paths.empty()) throw ConfigError("--output is needed, or --dry-run");
    const auto [report, seconds] = timed([&] { return task_models::predict(spec); });
    log_info("{} of {} rows scored in {:.1f} s{}", report.scored, report.rows, seconds,
             report.scored < report.rows ? "; the column status says why the others have no scores" : "");
    if (report.not_numbers > 0) {
        log_warning("{} of {} scored rows have scores that are no numbers (NA): the model's weights overflow",
                    report.not_numbers, report.scored);
    }
    if (report.truncated > 0) {
        log_warning("{} {}: their middle was scored (status truncated)", report.truncated,
                    spec.by_records() ? "sequences are longer than what the model reads"
                                      : "windows have more tokens than the model has positions");
    }
    return 0;
}

int run(const task_models::VariantSpec& spec) {
    if (spec.dry_run) {
        std::fputs(describe(task_models::forecast_variants(spec)).c_str(), stdout);
        return 0;
    }
    if (spec.outputs.paths.empty()) throw ConfigError("--output is needed, or --dry-run");
    const auto [report, seconds] = timed([&] { return task_models::predict_variants(spec); });
    log_info("{} of {} alleles scored in {:.1f} s", report.scored, report.rows, seconds);
    return 0;
}

int run(const task_models::BackgroundSpec& spec) {
    const auto [report, seconds] = timed([&] { return task_models::build_background(spec); });
    log_info("effects of {} variants and {} shuffled ones ranked in {:.1f} s", report.variants,
             report.shuffled, seconds);
    return 0;
}

int run(const task_models::MutagenesisSpec& spec) {
    const auto [report, seconds] = timed([&] { return task_models::predict_mutagenesis(spec); });
    const bool stretches = spec.by_stretches();
    log_info("{} of {} bases scored in {:.1f} s{}", stretches ? "stretches" : "substitutions",
             report.bases - (stretches ? 0 : report.without_letter), seconds,
             report.without_letter > 0 && !stretches
                 ? "; " + std::to_string(report.without_letter) + " bases are N and have none (NA)"
                 : "");
    return 0;
}

int run(const task_models::AttributeSpec& spec) {
    constexpr double most_gap = 0.05;  // largest accepted gap, as a share of the difference
    const auto [report, seconds] = timed([&] { return task_models::attribute(spec); });
    log_info("{} bases attributed in {:.1f} s", report.bases, seconds);
    if (report.tiled > 0) {
        log_warning(
            "regions longer than the scored part of a window were cut into tiles of that length, each with a "
            "score of its own ({} cuts)",
            report.tiled);
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

int run(const task_models::EmbedSpec& spec) {
    const auto [report, seconds] = timed([&] { return task_models::embed(spec); });
    log_info("{} of {} rows embedded in {:.1f} s", report.embedded, report.rows, seconds);
    if (report.truncated > 0) {
        log_warning(
            "{} rows have more tokens than the model has positions: their middle was embedded (status "
            "truncated)",
            report.truncated);
    }
    return 0;
}

int run(const task_models::PredictTokensSpec& spec) {
    const auto [report, seconds] = timed([&] { return task_models::predict_tokens(spec); });
    log_info("{} of {} bases of {} regions scored in {:.1f} s, in {} rows", report.scored, report.bases,
             report.regions, seconds, report.rows);
    if (report.truncated > 0) {
        log_warning("{} windows have more tokens than the model has positions: only their middle was read",
                    report.truncated);
    }
    return 0;
}

int run(const task_models::ExportMotifsSpec& spec) {
    log_info("{} written", counted(task_models::export_motifs(spec), "motif"));
    return 0;
}

int run(const task_models::MarginalizeSpec& spec) {
    log_info("{} scored", counted(task_models::marginalize_motifs(spec), "background"));
    return 0;
}

}  // namespace bigbird::cli
