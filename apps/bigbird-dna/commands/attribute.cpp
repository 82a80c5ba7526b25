// SPDX-License-Identifier: Apache-2.0
#include "commands/commands.hpp"

#include "bigbird/core/parse_number.hpp"

namespace bigbird::cli {

using task_models::AttributeSpec;

namespace {

/// Parses "zero", "shuffled" or "shuffled:20".
void set_baseline(AttributeSpec& spec, const std::string& text) {
    const std::size_t colon = text.find(':');
    spec.baseline =
        parse_choice(task_models::attribution_baseline_choices, "--baseline", text.substr(0, colon));
    if (colon == std::string::npos) return;
    const bool shuffled = spec.baseline == task_models::AttributionBaseline::shuffled;
    spec.shuffles = shuffled ? parse_number<std::int64_t>(text.substr(colon + 1)).value_or(0) : 0;
}

}  // namespace

void setup_attribute(Program& program, Runner<AttributeSpec> run) {
    auto spec = std::make_shared<AttributeSpec>();
    CLI::App& command = program.add(
        "attribute", "Variants",
        "Compute what each base contributes to the score of a region or sequence, by gradients: writes one "
        "row per base and label, with the hypothetical contributions of A, C, G and T. Tracks contain each "
        "base's own contribution. Token models divide a token's contribution among its bases and give no "
        "contributions for other letters (NA).",
        spec, std::move(run));
    add_value(command, "-m,--model", "DIR", spec->models,
              "Bin, sequence or token model; given several times, the mean of the models' scores")
        ->required();
    add_reference_option(command, spec->references, false);
    add_value(command, "--regions", "BED", spec->regions,
              "BED whose bases are attributed, or '-' for standard input");
    add_value(command, "--sequences", "FILE", spec->sequences,
              "FASTA or table whose records are attributed, or '-' for standard input");
    add_labels_option(command, spec->labels);
    add_choice_option(command, "--method", spec->method, task_models::attribution_method_choices,
                      "Attribution method");
    command
        .add_option_function<std::string>(
            "--baseline", [spec](const std::string& text) { set_baseline(*spec, text); },
            "Baseline of integrated-gradients and deeplift: all zeros, or the mean over N dinucleotide "
            "shuffles; shuffled: 10 of them")
        ->type_name("zero|shuffled|shuffled:N")
        ->default_str("zero");
    add_value(command, "--shuffles", "N", spec->shuffles, "");
    command.add_flag("--mean-centered", spec->mean_centered, "Subtract each base's mean over A, C, G and T");
    add_choice_option(command, "--reverse-complement", spec->strands, task_models::strand_choices,
                      "Chromatin models: average the scores of both strands, or score only the given one "
                      "(none) or its reverse complement (only)");
    add_letter_outputs(command, spec->outputs, "Contributions");
    add_device_option(command, spec->device);
    add_threads_option(command, spec->threads);
    set_help(
        command,
        {{"--model", "--reference", "--regions", "--sequences", "--labels", "--method", "--baseline",
          "--output", "--device"},
         {{"What each base of a region contributes to the CTCF labels",
           "bigbird-dna attribute --model chromatin/run --reference ../test_data/genome/22.fa.gz --regions "
           "sites.bed --labels '*CTCF*' --output contributions.tsv.gz"},
          {"Arrays for TF-MoDISco, by DeepLIFT with dinucleotide shuffles as baseline",
           "bigbird-dna attribute --model chromatin/run --reference ../test_data/genome/22.fa.gz --regions "
           "sites.bed --method deeplift --baseline shuffled --output 'contributions/{label}.npz'"}}});
}

}  // namespace bigbird::cli
