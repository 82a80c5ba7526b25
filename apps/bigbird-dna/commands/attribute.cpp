// SPDX-License-Identifier: Apache-2.0
#include "commands/commands.hpp"

#include "bigbird/core/parse_number.hpp"

namespace bigbird::cli {

using tasks::AttributeSpec;

namespace {

/// Parses "zero", "shuffled" or "shuffled:20".
void set_baseline(AttributeSpec& spec, const std::string& text) {
    const std::size_t colon = text.find(':');
    spec.baseline = parse_choice(tasks::attribution_baseline_choices, "--baseline", text.substr(0, colon));
    if (colon == std::string::npos) return;
    const bool shuffled = spec.baseline == tasks::AttributionBaseline::shuffled;
    spec.shuffles = shuffled ? parse_number<std::int64_t>(text.substr(colon + 1)).value_or(0) : 0;
}

}  // namespace

void setup_attribute(Program& program, Runner<AttributeSpec> run) {
    const auto [command, spec] = program.add<AttributeSpec>(
        "attribute", "Explanations of a model",
        "Compute what each base contributes to a score, by gradients.\nWrites one row per base and label, "
        "with the hypothetical contributions of A, C, G and T. Tracks contain each "
        "base's own contribution. Token models divide a token's contribution among its bases and give no "
        "contributions for other letters (NA).",
        "--model --reference --regions --sequences --labels --method --baseline --output --device",
        {{"What each base of a region contributes to the CTCF labels",
          "--model chromatin/run --reference ../test_data/genome/22.fa.gz --regions sites.bed --labels "
          "'*CTCF*' --output contributions.tsv.gz"},
         {"Arrays for TF-MoDISco, by DeepLIFT with dinucleotide shuffles as baseline",
          "--model chromatin/run --reference ../test_data/genome/22.fa.gz --regions sites.bed --method "
          "deeplift --baseline shuffled --output 'contributions/{label}.npz'"}},
        std::move(run));
    add_letter_inputs(command, spec, "Bin, sequence or token model, or file of a published model",
                      "attributed");
    add_choice_option(command, "--method", spec.method, tasks::attribution_method_choices,
                      "Attribution method");
    add_parsed(
        command, "--baseline", "zero|shuffled|shuffled:N",
        [&spec = spec](const std::string& text) { set_baseline(spec, text); },
        "Baseline of integrated-gradients and deeplift. zero: all zeros; shuffled:N: the mean over N "
        "dinucleotide shuffles; shuffled: the same with 10",
        "zero");
    add_choice_option(command, "--target", spec.target, tasks::attribution_target_choices,
                      "Score of a ChromBPNet, BPNet or Cherimoya model: log counts, or the profile's shape; "
                      "default: counts");
    command.add_flag("--mean-centered", spec.mean_centered, "Subtract each base's mean over A, C, G and T");
    add_letter_outputs(command, spec, "Contributions");
    add_device_option(command, spec.device);
    add_threads_option(command, spec.threads);
}

}  // namespace bigbird::cli
